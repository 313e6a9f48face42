/*
 * cmd_log.c - fdl log
 */
#include <limits.h>
#include <string.h>

#include "cli/cli.h"
#include "repo/layout.h"
#include "util/text.h"

static const cli_option options[] = {
    {"max-count", 'n', "N", "show at most N versions"},
    {0},
};

typedef struct printer {
    json_t *versions; /* NULL: text */
    bool first;
    char head[FDL_REF_BYTES];
    fdl_ref_list refs;
} printer;

/* " (HEAD -> main, tag: v1)", as git does. */
static void print_refs(const printer *p, const char *id) {
    const char *before = " (";
    for (size_t i = 0; i < p->refs.count; i++) {
        const fdl_ref *ref = &p->refs.items[i];
        if (strcmp(ref->id, id) != 0)
            continue;
        const char *kind = strcmp(ref->name, p->head) == 0 ? "HEAD -> " : fdl_str_starts(ref->name, FDL_REF_TAGS) ? "tag: " : "";
        cli_print("%s%s%s", before, kind, cli_short_ref(ref->name));
        before = ", ";
    }
    if (*before == ',')
        cli_print(")");
}

static void print_version(printer *p, const fdl_version *version, const fdl_expiry *expiry) {
    if (!p->first)
        cli_print("\n");
    p->first = false;
    cli_print("version %s (seq %lld)", version->id, (long long)version->seq);
    print_refs(p, version->id);
    cli_print("\n");
    if (expiry->expired) {
        cli_print("%s %s", expiry->reason[0] == 'w' ? "Withdrawn:" : "Expired:  ", expiry->expired_at);
        if (expiry->text) {
            cli_print(" ");
            cli_print_text(expiry->text, "           ");
        }
        cli_print("\n");
    }
    cli_print("Author:    ");
    cli_print_text(version->author_name, "           ");
    if (version->author_email) {
        cli_print(" <");
        cli_print_text(version->author_email, "");
        cli_print(">");
    }
    cli_print("\nDate:      %s\n\n    ", version->created_at);
    cli_print_text(version->message, "    ");
    cli_print("\n");
}

static fdl_code take(void *data, const fdl_version *version, const fdl_expiry *expiry, fdl_error *error) {
    printer *p = data;
    if (!p->versions) {
        print_version(p, version, expiry);
        return FDL_OK;
    }
    if (json_array_append_new(p->versions, cli_json_version(version, expiry)) != 0)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    return FDL_OK;
}

/* From refs.json, in one read however many there are.  A history reads as well without. */
static void read_refs(printer *p, fdl_repo *repo) {
    fdl_error ignored;
    if (fdl_head_read(repo, p->head, &ignored) == FDL_OK)
        (void)fdl_refs_json_read(repo, &p->refs, &ignored);
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    long limit = 0;
    printer p = {.versions = c->json ? json_array() : NULL, .first = true};
    fdl_code code = cli_number(c, "max-count", 0, 1, LONG_MAX, &limit);
    if (code == FDL_OK)
        code = cli_open(c, &repo);
    if (code == FDL_OK && !c->json)
        read_refs(&p, repo);
    if (code == FDL_OK)
        code = fdl_log(repo, c->operands[1], (size_t)limit, take, &p, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:O}", "versions", p.versions));
    fdl_ref_list_clear(&p.refs);
    json_decref(p.versions);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_log = {
    .name = "log",
    .operands = "<repo> [<rev>]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "Show the history of a version, newest first",
    .details = "Branches and tags, as refs.json tells them, stand beside the versions they point to. Versions\n"
               "that expired or were withdrawn are shown and marked.",
    .options = options,
    .run = run,
};
