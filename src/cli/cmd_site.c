/*
 * cmd_site.c - fdl site
 */
#include "cli/cli.h"

static const cli_option options[] = {
    {"allowed-signers", 0, "FILE", "whose signature is good: a file as ssh-keygen(1) describes it"},
    {"root", 0, "URL", "where readers find the repository (the url in fdl.json, else its address)"},
    {0},
};

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    size_t pages = 0;
    char count[64];
    fdl_page_options page = {.root = cli_value(c, "root"), .allowed_signers = cli_value(c, "allowed-signers")};
    fdl_code code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_site(repo, c->operands[1], &page, &pages, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:s, s:I}", "folder", c->operands[1], "pages", (json_int_t)pages));
    else if (code == FDL_OK)
        cli_print("wrote %s to '%s'\n", cli_count(pages, "page", count), c->operands[1]);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_site = {
    .name = "site",
    .operands = "<repo> <dir>",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "Write pages about a repository for a browser",
    .details = "Static files for any web server: the newest version with its tables, changes and the\n"
               "statement to attach it, branches, tags and history, and a page for each version. They\n"
               "read without script.",
    .options = options,
    .run = run,
};
