/*
 * cmd_init.c - fdl init
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "util/text.h"

static const cli_option options[] = {
    {"data-dir", 0, "DIR", "where data files lie, below the repository (data/)"},
    {"id", 0, "UUID", "the id of the repository, instead of a new one"},
    {"url", 0, "URL", "the public address readers will use"},
    {"branch", 0, "NAME", "the default branch (main)"},
    {"from", 0, "FILE", "start with what this DuckLake catalog (DuckDB or SQLite) holds, as the first version"},
    {"message", 'm', "MSG", "with --from: what the version is"},
    {"author", 0, "AUTHOR", "with --from: 'Name <email>', instead of FDL_AUTHOR_NAME and _EMAIL or git's configuration"},
    {"allow-encrypted", 0, NULL, "with --from: publish an encrypted catalog, its keys included"},
    {"unsafe-no-conditions", 0, NULL, "accept a store that ignores conditional writes: two writers can lose work"},
    {0},
};

static fdl_code import(cli *c, fdl_repo *repo, const fdl_init_options *init, fdl_import_result *result) {
    char message[256];
    const char *name = strrchr(cli_value(c, "from"), '/');
    snprintf(message, sizeof message, "Imported from %s", name ? name + 1 : cli_value(c, "from"));
    fdl_import_options options = {.from = cli_value(c, "from"), .init = *init};
    fdl_code code = cli_author(c, cli_value(c, "author"), &c->author_name, &c->author_email);
    options.commit.message = cli_value(c, "message") ? cli_value(c, "message") : message;
    options.commit.author_name = c->author_name;
    options.commit.author_email = c->author_email;
    options.commit.allow_encrypted = cli_flag(c, "allow-encrypted");
    return code == FDL_OK ? fdl_import(repo, &options, result, &c->error) : code;
}

static void tell_import(const fdl_import_result *result) {
    char files[64], size[32];
    if (result->push.pushed_count > 0)
        cli_print("%s -> %s\n%s copied, %s\n", cli_short_ref(result->push.branch), result->commit.id,
                  cli_count(result->copied.files, "data file", files), fdl_size_text(result->copied.bytes, size));
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    const fdl_config *config = NULL;
    fdl_import_result imported = {0};
    bool created = false;
    fdl_init_options init = {
        .data_dir = cli_value(c, "data-dir"),
        .id = cli_value(c, "id"),
        .url = cli_value(c, "url"),
        .branch = cli_value(c, "branch"),
    };
    c->context.unsafe_no_conditions = cli_flag(c, "unsafe-no-conditions");
    fdl_code code = cli_open(c, &repo);
    if (code == FDL_OK && cli_value(c, "from")) {
        code = import(c, repo, &init, &imported);
        created = imported.created;
    } else if (code == FDL_OK) {
        code = fdl_init(repo, &init, &created, &c->error);
    }
    if (code == FDL_OK)
        code = fdl_repo_config(repo, &config, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:s, s:b, s:s*, s:s, s:s*, s:s*}", "repo", fdl_repo_address(repo), "created",
                                     created, "id", config->id, "data_dir", config->data_dir, "url", config->url,
                                     "version", imported.commit.made ? imported.commit.id : NULL));
    else if (code == FDL_OK && created)
        cli_print("made the repository '%s'\n", fdl_repo_address(repo));
    else if (code == FDL_OK)
        cli_print("'%s' is a repository already; nothing changed\n", fdl_repo_address(repo));
    if (code == FDL_OK && !c->json)
        tell_import(&imported);
    fdl_import_result_clear(&imported);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_init = {
    .name = "init",
    .operands = "<repo>",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Make a repository",
    .details = "Writes fdl.json and HEAD. A second init changes nothing and says so.\n"
               "With --from, the data files of a DuckLake are copied and its last snapshot becomes the\n"
               "first version. It is only read. Rows inlined in its catalog must be flushed before.",
    .options = options,
    .run = run,
};
