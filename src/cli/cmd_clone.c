/*
 * cmd_clone.c - fdl clone
 */
#include "cli/cli.h"
#include "util/text.h"

static const cli_option options[] = {
    {"ref", 0, "REF", "only this branch or tag, instead of all"},
    {"all", 0, NULL, "catalogs and data of every ancestor too, not only of what refs name"},
    {"sources", 0, NULL, "original files too"},
    {0},
};

static fdl_code run(cli *c) {
    fdl_repo *from = NULL, *to = NULL;
    fdl_clone_result result = {0};
    fdl_clone_options clone = {.ref = cli_value(c, "ref"), .all = cli_flag(c, "all"),
                               .sources = cli_flag(c, "sources")};
    char size[32], versions[64], files[64], refs[64];
    fdl_code code = cli_open(c, &from);
    if (code == FDL_OK)
        code = fdl_repo_open(&c->context, c->operands[1], &to, &c->error);
    if (code == FDL_OK)
        code = fdl_clone(from, to, &clone, &result, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:s, s:I, s:I, s:I, s:I}", "repo", fdl_repo_address(to), "versions",
                                     (json_int_t)result.versions, "files", (json_int_t)result.sent.files, "bytes",
                                     (json_int_t)result.sent.bytes, "refs", (json_int_t)result.refs));
    else if (code == FDL_OK && result.sent.files == 0 && result.refs == 0)
        cli_print("'%s' has everything already\n", fdl_repo_address(to));
    else if (code == FDL_OK)
        cli_print("%s, %s, %s copied; %s set\n", cli_count(result.versions, "version", versions),
                  cli_count(result.sent.files, "file", files), fdl_size_text(result.sent.bytes, size),
                  cli_count(result.refs, "ref", refs));
    fdl_repo_free(to);
    fdl_repo_free(from);
    return code;
}

const cli_command cli_cmd_clone = {
    .name = "clone",
    .operands = "<repo> <repo2>",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "Mirror a repository",
    .details = "Copies what <repo2> lacks: the history behind every branch and tag, and the catalogs and\n"
               "data of the versions they name. Run again it copies only what is new; one that was\n"
               "stopped goes on where it was.",
    .options = options,
    .run = run,
};
