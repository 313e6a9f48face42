/*
 * deletions.c - how commands show what they delete: line by line, as it stands
 * in the plan, since there may be a million of them.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "util/text.h"

static fdl_code print_line(void *data, const fdl_deletion *deletion, fdl_error *error) {
    char size[32];
    (void)data, (void)error;
    cli_print("  %-9s", deletion->kind);
    cli_print_text(deletion->key, "");
    if (deletion->bytes > 0)
        cli_print(" (%s)", fdl_size_text(deletion->bytes, size));
    cli_print("\n");
    return FDL_OK;
}

fdl_code cli_print_deletions(cli *c, fdl_plan *plan) {
    return fdl_plan_walk(plan, print_line, NULL, &c->error);
}

static fdl_code print_item(void *data, const fdl_deletion *deletion, fdl_error *error) {
    bool *first = data;
    json_t *item = json_pack("{s:s, s:s, s:I, s:s*, s:s*}", "kind", deletion->kind, "key", deletion->key, "bytes",
                             (json_int_t)deletion->bytes, "version", *deletion->version ? deletion->version : NULL,
                             "sha256", *deletion->sha256 ? deletion->sha256 : NULL);
    char *text = item ? json_dumps(item, 0) : NULL;
    json_decref(item);
    if (!text)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    cli_print("%s\n    ", *first ? "" : ",");
    cli_print_json(text);
    *first = false;
    free(text);
    return FDL_OK;
}

fdl_code cli_json_deletions(cli *c, json_t *head, fdl_plan *plan) {
    bool first = true;
    char *text = head ? json_dumps(head, JSON_INDENT(2)) : NULL;
    json_decref(head);
    if (!text)
        return fdl_fail(&c->error, FDL_FAILED, NULL, "out of memory");
    text[strlen(text) - strlen("\n}")] = '\0';
    cli_print("%s,\n  \"deletions\": [", text);
    free(text);
    fdl_code code = fdl_plan_walk(plan, print_item, &first, &c->error);
    if (code == FDL_OK)
        cli_print("%s],\n  \"count\": %llu,\n  \"bytes\": %llu\n}\n", first ? "" : "\n  ",
                  (unsigned long long)fdl_plan_count(plan), (unsigned long long)fdl_plan_bytes(plan));
    return code;
}
