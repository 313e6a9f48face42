/*
 * run.c - a job that publishes: checkout, a command, commit, push.
 *
 * Each attempt has a working catalog of its own that nobody else knows, so that a
 * command that failed half-way, or was too slow, leaves nothing to clean up.
 * What it made and could not be pushed is the one thing worth keeping.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fdl.h"
#include "flow/scratch.h"
#include "flow/work.h"
#include "util/options.h"
#include "util/spawn.h"
#include "util/text.h"

enum { WORK, ATTACH, DATA_PATH, REPO, BASE_VERSION, VARIABLES };

typedef struct attempt {
    fdl_repo *repo;
    const fdl_run_options *options;
    fdl_run_result *result;
    char *folder;
    char *work;
    bool ran; /* the command came to its end */
    char *variables[VARIABLES + 1];
} attempt;

void fdl_run_result_clear(fdl_run_result *result) {
    fdl_push_result_clear(&result->push);
    memset(result, 0, sizeof *result);
}

static fdl_code set(attempt *a, int which, const char *name, const char *before, const char *value, fdl_error *error) {
    return fdl_str_format(&a->variables[which], error, "%s=%s%s%s", name, before ? before : "", before ? "\n" : "",
                          value);
}

static fdl_code tell_command(attempt *a, const fdl_checkout_result *checkout, fdl_error *error) {
    fdl_work work = {0};
    char *secret = NULL, *data_path = NULL;
    fdl_code code = fdl_work_init(a->work, &work, error);
    if (code == FDL_OK)
        code = fdl_work_data_path(&work, a->repo, &data_path, error);
    if (code == FDL_OK)
        code = fdl_secret_statement(a->repo, &secret, error);
    if (code == FDL_OK)
        code = set(a, WORK, "FDL_WORK", NULL, a->work, error);
    if (code == FDL_OK)
        code = set(a, ATTACH, "FDL_ATTACH", secret, checkout->attach_statement, error);
    if (code == FDL_OK)
        code = set(a, DATA_PATH, "FDL_DATA_PATH", NULL, data_path, error);
    if (code == FDL_OK)
        code = set(a, REPO, "FDL_REPO", NULL, fdl_repo_address(a->repo), error);
    if (code == FDL_OK)
        code = set(a, BASE_VERSION, "FDL_BASE_VERSION", NULL, checkout->base, error);
    free(data_path);
    free(secret);
    fdl_work_clear(&work);
    return code;
}

static fdl_code check_out(attempt *a, fdl_error *error) {
    fdl_checkout_options options = {.revision = a->options->branch};
    fdl_checkout_result checkout = {0};
    fdl_code code = fdl_scratch_make(&a->folder, error);
    if (code == FDL_OK)
        code = fdl_str_format(&a->work, error, "%s/work.sqlite", a->folder);
    if (code == FDL_OK)
        code = fdl_checkout(a->repo, a->work, &options, &checkout, error);
    if (code == FDL_OK && !checkout.branch[0])
        code = fdl_fail(error, FDL_USAGE, a->options->branch, "'%s' is no branch, so nothing can be pushed to it",
                        a->options->branch);
    if (code == FDL_OK)
        code = tell_command(a, &checkout, error);
    fdl_checkout_result_clear(&checkout);
    return code;
}

static fdl_code run_command(attempt *a, fdl_error *error) {
    int status = 0;
    const char *name = a->options->command[0];
    int output_to = a->options->output_to_stderr ? STDERR_FILENO : STDOUT_FILENO;
    fdl_code code = fdl_spawn_attached(a->options->command, a->variables, output_to, &status, error);
    if (code == FDL_OK && status != 0) /* 128 and more, as shells count: a signal */
        code = fdl_fail(error, FDL_FAILED, name, "'%s' ended with %d; nothing is committed", name, status);
    a->ran = code == FDL_OK;
    return code;
}

static void attempt_clear(attempt *a) {
    fdl_scratch_remove(a->folder);
    free(a->work);
    for (int i = 0; i < VARIABLES; i++)
        free(a->variables[i]);
}

/* After a conflict, what was made is of no use: it is about a version that is not the newest. */
static void keep(attempt *a) {
    fdl_note(fdl_repo_context(a->repo), FDL_NOTE_WARNING, "what the command made is kept; go on with 'fdl %s %s'",
             a->result->commit.made ? "push" : "commit", a->work);
    free(a->folder); /* the name alone: the folder stays */
    a->folder = NULL;
}

static fdl_code attempt_once(fdl_repo *repo, const fdl_run_options *options, fdl_run_result *result, fdl_error *error) {
    attempt a = {.repo = repo, .options = options, .result = result};
    const fdl_context *context = fdl_repo_context(repo);
    fdl_code code = check_out(&a, error);
    if (code == FDL_OK)
        code = run_command(&a, error);
    if (code == FDL_OK)
        code = fdl_commit(context, a.work, &options->commit, &result->commit, error);
    if (code == FDL_OK && result->commit.made)
        code = fdl_push(context, a.work, NULL, &result->push, error);
    if (code != FDL_OK && code != FDL_CONFLICT && a.ran)
        keep(&a);
    attempt_clear(&a);
    return code;
}

fdl_code fdl_run(fdl_repo *repo, const fdl_run_options *options, fdl_run_result *out, fdl_error *error) {
    fdl_code code = FDL_CONFLICT;
    options = FDL_OPTIONS(fdl_run_options, options);
    memset(out, 0, sizeof *out);
    if (!options->command || !options->command[0])
        return fdl_fail(error, FDL_USAGE, NULL, "name the command to run, behind '--'");
    for (long n = 1; code == FDL_CONFLICT && n <= options->retries + 1; n++) {
        fdl_run_result_clear(out);
        out->attempts = n;
        code = attempt_once(repo, options, out, error);
        if (code == FDL_CONFLICT && n <= options->retries)
            fdl_note(fdl_repo_context(repo), FDL_NOTE_INFO, "%s: running the command again on the new version",
                     error->message);
    }
    return code;
}
