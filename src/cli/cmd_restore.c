/*
 * cmd_restore.c - fdl restore
 */
#include <stdlib.h>

#include "cli/cli.h"

static const cli_option options[] = {
    {"message", 'm', "MSG", "why"},
    {"branch", 'b', "NAME", "the branch that gets the new version, instead of HEAD's"},
    {"author", 0, "AUTHOR", "'Name <email>', instead of FDL_AUTHOR_NAME and _EMAIL or git's configuration"},
    {0},
};

static json_t *as_json(const fdl_restore_result *result) {
    json_t *document = json_pack("{s:b, s:s, s:I, s:s, s:s}", "made", result->made, "id", result->id, "seq",
                     (json_int_t)result->seq, "from", result->from, "branch", cli_short_ref(result->branch));
    if (document && result->request.state != FDL_NOT_ASKED)
        json_object_set_new(document, "request", cli_json_request(&result->request));
    return document;
}

static void tell(const fdl_restore_result *result) {
    if (!result->made)
        cli_print("nothing to restore: %s has the content of %s already\n", cli_short_ref(result->branch),
                  result->from);
    else if (result->request.state != FDL_NOT_ASKED)
        cli_print_waiting(result->branch, result->id, &result->request);
    else
        cli_print("%s -> %s (seq %lld) with the content of %s\n", cli_short_ref(result->branch), result->id,
                  (long long)result->seq, result->from);
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    fdl_restore_result result = {0};
    char *name = NULL, *email = NULL;
    fdl_code code = cli_author(c, cli_value(c, "author"), &name, &email);
    fdl_restore_options restore = {
        .revision = c->operands[1],
        .branch = cli_value(c, "branch"),
        .message = cli_value(c, "message"),
        .author_name = name,
        .author_email = email,
    };
    if (code == FDL_OK)
        code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_restore(repo, &restore, &result, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, as_json(&result));
    else if (code == FDL_OK)
        tell(&result);
    fdl_repo_free(repo);
    free(email);
    free(name);
    return code;
}

const cli_command cli_cmd_restore = {
    .name = "restore",
    .operands = "<repo> <rev>",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "Put a new version with an older one's content on top of the branch",
    .details = "Data files are shared, so it takes as long as a small commit. What was published in\n"
               "between stays in the history.",
    .options = options,
    .run = run,
};
