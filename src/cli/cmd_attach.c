/*
 * cmd_attach.c - fdl attach
 */
#include <stdlib.h>

#include "cli/cli.h"

static const cli_option options[] = {
    {"as", 0, "NAME", "the name to attach as (lake)"},
    {"duckdb", 0, "RELEASE", "for readers with that DuckDB: 1.4, 1.5.0, ..."},
    {"local", 0, NULL, "keep the catalog on this machine and attach it from there"},
    {0},
};

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    fdl_location found = {0};
    char *statement = NULL, *secret = NULL;
    fdl_code code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_locate(repo, c->operands[1], &found, &c->error);
    if (code == FDL_OK && cli_value(c, "duckdb"))
        code = fdl_location_for_duckdb(repo, &found, cli_value(c, "duckdb"), &c->error);
    if (code == FDL_OK && cli_flag(c, "local"))
        code = fdl_location_keep(repo, &found, &c->error);
    if (code == FDL_OK)
        code = fdl_attach_statement(repo, &found, NULL, cli_value(c, "as"), &statement, &c->error);
    if (code == FDL_OK)
        code = fdl_secret_statement(repo, &secret, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:s, s:s, s:s, s:s*, s:s*, s:s}", "id", found.target.id, "url", found.catalog_url,
                                     "ducklake", found.format, "local", found.local_path, "secret", secret, "attach",
                                     statement));
    else if (code == FDL_OK)
        cli_print("%s%s%s\n", secret ? secret : "", secret ? "\n" : "", statement);
    free(secret);
    free(statement);
    fdl_location_clear(&found);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_attach = {
    .name = "attach",
    .operands = "<repo> [<rev>]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "Print the ATTACH statement to read a version with",
    .details = "Paste it into DuckDB with the ducklake extension (and httpfs for a remote repository).\n"
               "DuckDB releases differ in the DuckLake format they read; a version may carry its catalog in\n"
               "several, and --duckdb chooses the right one.\n"
               "DuckDB reads a catalog afar piece by piece, each piece a round trip. With --local it comes packed\n"
               "in one, is checked against its record, and stays in $XDG_CACHE_HOME/fdl/catalogs (~/.cache);\n"
               "only the data is read from the repository then. The same version is not fetched twice. What was\n"
               "not asked for in 30 days goes by itself, and deleting the folder harms nothing.",
    .options = options,
    .run = run,
};
