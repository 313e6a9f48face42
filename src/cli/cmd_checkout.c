/*
 * cmd_checkout.c - fdl checkout
 */
#include <stdlib.h>

#include "cli/cli.h"

static const cli_option options[] = {
    {"ref", 0, "REV", "the version to start from (HEAD)"},
    {"force", 'f', NULL, "replace work that is not pushed; a backup is kept"},
    {0},
};

static json_t *as_json(const cli *c, fdl_repo *repo, const fdl_checkout_result *result, const char *secret) {
    return json_pack("{s:s, s:s, s:s?, s:s?, s:s*, s:s, s:s*}", "work", c->operands[1], "repo", fdl_repo_address(repo),
                     "branch", result->branch[0] ? cli_short_ref(result->branch) : NULL, "base",
                     result->base[0] ? result->base : NULL, "secret", secret, "attach", result->attach_statement, "backup",
                     result->backup);
}

static void tell(const cli *c, const fdl_checkout_result *result, const char *secret) {
    if (result->backup)
        cli_say(c, "the old working catalog is kept as '%s'", result->backup);
    if (result->base[0])
        cli_say(c, "'%s' now holds version %s", c->operands[1], result->base);
    else
        cli_say(c, "'%s' is an empty catalog: the branch has no version yet", c->operands[1]);
    cli_say(c, "write to it in DuckDB with:");
    cli_print("%s%s%s\n", secret ? secret : "", secret ? "\n" : "", result->attach_statement);
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    char *secret = NULL;
    fdl_checkout_result result = {0};
    fdl_checkout_options checkout = {.revision = cli_value(c, "ref"), .force = cli_flag(c, "force")};
    fdl_code code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_checkout(repo, c->operands[1], &checkout, &result, &c->error);
    if (code == FDL_OK)
        code = fdl_secret_statement(repo, &secret, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, as_json(c, repo, &result, secret));
    else if (code == FDL_OK)
        tell(c, &result, secret);
    free(secret);
    fdl_checkout_result_clear(&result);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_checkout = {
    .name = "checkout",
    .operands = "<repo> <work>",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "Make a working catalog from a version",
    .details = "Writes the SQLite working catalog <work>, its state beside it in <work>.fdl/, and prints\n"
               "the ATTACH statement to write to it with DuckDB. From an empty repository it is an\n"
               "empty catalog. Work that is not pushed is never overwritten without --force.",
    .options = options,
    .run = run,
};
