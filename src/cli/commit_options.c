/*
 * commit_options.c - see CLI_COMMIT_OPTIONS.
 */
#include "cli/cli.h"

fdl_code cli_commit_options(cli *c, fdl_commit_options *out) {
    fdl_code code = cli_author(c, cli_value(c, "author"), &c->author_name, &c->author_email);
    *out = (fdl_commit_options){
        .message = cli_value(c, "message"),
        .author_name = c->author_name,
        .author_email = c->author_email,
        .dataset_path = cli_value(c, "dataset"),
        .dbt_folder = cli_value(c, "dbt"),
        .sources = c->repeated,
        .source_count = c->repeated_count,
        .sign_key = cli_value(c, "sign"),
        .allow_empty = cli_flag(c, "allow-empty"),
        .keep_snapshots = cli_flag(c, "keep-snapshots"),
        .flush_inlined = cli_flag(c, "flush-inlined"),
        .allow_encrypted = cli_flag(c, "allow-encrypted"),
    };
    return code;
}
