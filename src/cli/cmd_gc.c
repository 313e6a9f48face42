/*
 * cmd_gc.c - fdl gc
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "util/text.h"

/* Of the files left alone, so many are named. */
#define LEFT_SHOWN 1000

static const cli_option options[] = {
    {"grace", 0, "TIME", "spare what is younger, such as 14d (the default), 36h, 30m or 0s"},
    {"prune-unreachable", 0, NULL, "forget versions, too, that no branch or tag leads to"},
    {"dry-run", 'n', NULL, "only tell what would be deleted"},
    {0},
};

static fdl_code take_grace(cli *c, int64_t *ms) {
    static const struct {
        char letter;
        int64_t ms;
    } units[] = {{'s', 1000}, {'m', 60000}, {'h', 3600000}, {'d', 86400000}, {'w', 604800000}};
    const char *text = cli_value(c, "grace");
    char *end = NULL;
    *ms = FDL_GRACE_MS;
    if (!text)
        return FDL_OK;
    errno = 0;
    long long number = text[0] >= '0' && text[0] <= '9' ? strtoll(text, &end, 10) : -1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!errno && number >= 0 && number < 1000000 && end[0] == units[i].letter && !end[1]) {
            *ms = number * units[i].ms;
            return FDL_OK;
        }
    }
    return fdl_fail(&c->error, FDL_USAGE, text, "--grace takes a time such as 14d, 36h, 30m or 0s, not '%s'", text);
}

static fdl_code add_left(void *data, const fdl_deletion *left, fdl_error *error) {
    (void)error;
    if (json_array_size(data) < LEFT_SHOWN)
        json_array_append_new(data, json_string(left->key));
    return FDL_OK;
}

static fdl_code print_json(cli *c, const fdl_gc_options *gc, const fdl_gc_result *result) {
    json_t *left = json_array();
    fdl_code code = left ? fdl_plan_walk(result->left, add_left, left, &c->error)
                         : fdl_fail(&c->error, FDL_FAILED, NULL, "out of memory");
    if (code != FDL_OK) {
        json_decref(left);
        return code;
    }
    json_t *head = json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:o}", "dry_run", gc->dry_run, "grace_seconds",
                             (json_int_t)(gc->grace_ms / 1000), "versions", (json_int_t)result->versions,
                             "needed_files", (json_int_t)result->needed_files, "young_files",
                             (json_int_t)result->young_files, "young_bytes", (json_int_t)result->young_bytes, "left",
                             left);
    if (head)
        json_object_set_new(head, "left_count", json_integer((json_int_t)fdl_plan_count(result->left)));
    return cli_json_deletions(c, head, result->plan);
}

static fdl_code tell(cli *c, const fdl_gc_options *gc, const fdl_gc_result *result) {
    char size[32], count[64];
    fdl_code code = FDL_OK;
    uint64_t gone = fdl_plan_count(result->plan);
    if (gc->dry_run || c->verbose)
        code = cli_print_deletions(c, result->plan);
    if (code == FDL_OK && fdl_plan_count(result->left) > 0) {
        cli_say(c, "not needed and left alone, since fdl did not make them:");
        code = cli_print_deletions(c, result->left);
    }
    if (code != FDL_OK)
        return code;
    if (gone == 0)
        cli_print("nothing to delete");
    else
        cli_print("%s %s, %s", gc->dry_run ? "would delete" : "deleted", cli_count(gone, "object", count),
                  fdl_size_text(fdl_plan_bytes(result->plan), size));
    cli_print("; %s needed by ", cli_count(result->needed_files, "file", count));
    cli_print("%s", cli_count(result->versions, "version", count));
    if (result->young_files > 0)
        cli_print("; %s (%s) within the grace", cli_count(result->young_files, "more file", count),
                  fdl_size_text(result->young_bytes, size));
    cli_print("\n");
    return FDL_OK;
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    fdl_gc_options gc = {.prune_unreachable = cli_flag(c, "prune-unreachable"), .dry_run = cli_flag(c, "dry-run")};
    fdl_gc_result result = {0};
    fdl_code code = take_grace(c, &gc.grace_ms);
    if (code == FDL_OK)
        code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_gc(repo, &gc, &result, &c->error);
    if (code == FDL_OK && c->json)
        code = print_json(c, &gc, &result);
    else if (code == FDL_OK)
        code = tell(c, &gc, &result);
    fdl_gc_result_clear(&result);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_gc = {
    .name = "gc",
    .operands = "<repo>",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Delete data files that no version needs",
    .details = "Deletes *.parquet and *.puffin files in the data folder that no live version names, and\n"
               "what stopped pushes left. What is younger than the grace stays, since a writer may be\n"
               "about to publish a version that names it; the grace also runs from the end of the last\n"
               "version that named a file. --grace 0s is for times when nobody writes.",
    .options = options,
    .run = run,
};
