/*
 * cmd_init.c - fdl init
 */
#include "cli/cli.h"

static const cli_option options[] = {
    {"data-dir", 0, "DIR", "where data files lie, below the repository (data/)"},
    {"id", 0, "UUID", "the id of the repository, instead of a new one"},
    {"url", 0, "URL", "the public address readers will use"},
    {"branch", 0, "NAME", "the default branch (main)"},
    {"unsafe-no-conditions", 0, NULL, "accept a store that ignores conditional writes: two writers can lose work"},
    {0},
};

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    const fdl_config *config = NULL;
    bool created = false;
    fdl_init_options init = {
        .data_dir = cli_value(c, "data-dir"),
        .id = cli_value(c, "id"),
        .url = cli_value(c, "url"),
        .branch = cli_value(c, "branch"),
    };
    c->context.unsafe_no_conditions = cli_flag(c, "unsafe-no-conditions");
    fdl_code code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_init(repo, &init, &created, &c->error);
    if (code == FDL_OK)
        code = fdl_repo_config(repo, &config, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:s, s:b, s:s*, s:s, s:s*}", "repo", fdl_repo_address(repo), "created", created,
                                     "id", config->id, "data_dir", config->data_dir, "url", config->url));
    else if (code == FDL_OK && created)
        cli_print("made the repository '%s'\n", fdl_repo_address(repo));
    else if (code == FDL_OK)
        cli_print("'%s' is a repository already; nothing changed\n", fdl_repo_address(repo));
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_init = {
    .name = "init",
    .operands = "<repo>",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Make a repository",
    .details = "Writes fdl.json and HEAD. A second init changes nothing and says so.",
    .options = options,
    .run = run,
};
