/*
 * cmd_commit.c - fdl commit
 */
#include "cli/cli.h"
#include "util/text.h"

static const cli_option options[] = {
    CLI_COMMIT_OPTIONS,
    {"push", 0, NULL, "push at once"},
    {0},
};

static fdl_code push(cli *c, fdl_push_result *pushed) {
    fdl_push_options options_push = {0};
    return fdl_push(&c->context, c->operands[0], &options_push, pushed, &c->error);
}

static json_t *as_json(const fdl_commit_result *result, const fdl_push_result *pushed) {
    json_t *document = json_pack("{s:b, s:s?, s:I, s:I, s:I, s:I}", "made", result->made, "id",
                                 result->id[0] ? result->id : NULL, "seq", (json_int_t)result->seq, "tables",
                                 (json_int_t)result->table_count, "files", (json_int_t)result->file_count,
                                 "catalog_bytes", (json_int_t)result->catalog_bytes);
    if (document && pushed->pushed)
        json_object_set_new(document, "pushed", json_integer((json_int_t)pushed->pushed_count));
    if (document && pushed->waiting[0])
        json_object_set_new(document, "request", cli_json_request(&pushed->request));
    return document;
}

static void tell(cli *c, const fdl_commit_result *result, const fdl_push_result *pushed) {
    char size[32], tables[64], files[64];
    if (!result->made && result->id[0])
        cli_print("nothing to commit: everything equals version %s\n", result->id);
    else if (!result->made)
        cli_print("nothing to commit: the catalog is empty\n");
    else
        cli_print("version %s (seq %lld): %s, %s, a catalog of %s\n", result->id, (long long)result->seq,
                  cli_count(result->table_count, "table", tables), cli_count(result->file_count, "file", files),
                  fdl_size_text(result->catalog_bytes, size));
    if (pushed->waiting[0])
        cli_print_waiting(pushed->branch, pushed->waiting, &pushed->request);
    if (result->made && !cli_flag(c, "push"))
        cli_say(c, "it is on this machine only; publish it with 'fdl push %s'", c->operands[0]);
}

static fdl_code run(cli *c) {
    fdl_commit_result result = {0};
    fdl_push_result pushed = {0};
    fdl_commit_options commit = {0};
    fdl_code code = cli_commit_options(c, &commit);
    if (code == FDL_OK)
        code = fdl_commit(&c->context, c->operands[0], &commit, &result, &c->error);
    if (code == FDL_OK && cli_flag(c, "push"))
        code = push(c, &pushed);
    if (code == FDL_OK && c->json)
        code = cli_json(c, as_json(&result, &pushed));
    else if (code == FDL_OK)
        tell(c, &result, &pushed);
    fdl_push_result_clear(&pushed);
    return code;
}

const cli_command cli_cmd_commit = {
    .name = "commit",
    .operands = "<work>",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Make a version of the working catalog, on this machine only",
    .details = "The version holds the last snapshot. When every table, its rows, schema and description\n"
               "equal the parent's, no version is made. The working catalog is only read.",
    .options = options,
    .run = run,
};
