/*
 * cmd_url.c - fdl url
 */
#include "cli/cli.h"

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    fdl_location found = {0};
    fdl_code code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_locate(repo, c->operands[1], &found, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:s, s:s}", "id", found.target.id, "url", found.catalog_url));
    else if (code == FDL_OK)
        cli_print("%s\n", found.catalog_url);
    fdl_location_clear(&found);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_url = {
    .name = "url",
    .operands = "<repo> [<rev>]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "Print where the catalog of a version lies",
    .run = run,
};
