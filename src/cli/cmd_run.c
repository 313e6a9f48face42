/*
 * cmd_run.c - fdl run
 */
#include "cli/cli.h"

static const cli_option options[] = {
    CLI_COMMIT_OPTIONS,
    {"branch", 'b', "NAME", "the branch to build on (HEAD)"},
    {"retries", 0, "N", "how often to start again when others were quicker (3)"},
    {0},
};

static json_t *as_json(const fdl_run_result *result) {
    const fdl_commit_result *commit = &result->commit;
    json_t *document = json_pack("{s:b, s:s?, s:I, s:s?, s:I}", "made", commit->made, "id", commit->id[0] ? commit->id : NULL,
                     "seq", (json_int_t)commit->seq, "branch",
                     result->push.pushed_count > 0 ? cli_short_ref(result->push.branch) : NULL, "attempts",
                     (json_int_t)result->attempts);
    if (document && result->push.waiting[0])
        json_object_set_new(document, "request", cli_json_request(&result->push.request));
    return document;
}

static void tell(const fdl_run_result *result) {
    if (!result->commit.made)
        cli_print("nothing to publish: everything equals what is there\n");
    else if (result->push.waiting[0])
        cli_print_waiting(result->push.branch, result->push.waiting, &result->push.request);
    else
        cli_print("%s -> %s\n", cli_short_ref(result->push.branch), result->commit.id);
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    fdl_run_result result = {0};
    fdl_run_options job = {
        .command = c->operands + 1, .branch = cli_value(c, "branch"), .output_to_stderr = c->json};
    fdl_code code = cli_number(c, "retries", 3, 0, 1000, &job.retries);
    if (code == FDL_OK)
        code = cli_commit_options(c, &job.commit);
    if (code == FDL_OK)
        code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_run(repo, &job, &result, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, as_json(&result));
    else if (code == FDL_OK)
        tell(&result);
    fdl_run_result_clear(&result);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_run = {
    .name = "run",
    .operands = "<repo> -- <command> [<argument>...]",
    .min_operands = 2,
    .max_operands = CLI_OPERANDS_LIMIT,
    .summary = "Run a job that writes tables, and publish what it made",
    .details = "Checks out, runs the command, commits and pushes. The command finds in its environment\n"
               "FDL_ATTACH, the statements that attach the catalog as lake to write to; FDL_WORK, the\n"
               "working catalog; FDL_DATA_PATH, where data files go; FDL_REPO and FDL_BASE_VERSION.\n"
               "When it fails, nothing is committed. When nothing changed, no version is made. When\n"
               "others moved the branch meanwhile, it starts again from their version.",
    .options = options,
    .run = run,
};
