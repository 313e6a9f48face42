/*
 * publish.c - the C API from end to end: opens a repository, finds a version and
 * the statement to read it with, checks out, commits and pushes.
 *
 *   cc publish.c -o publish $(pkg-config --cflags --libs fdl)
 *   ./publish REPO WORK.sqlite "What is new"
 *
 * Run it twice.  The first time it makes the working catalog and prints the
 * statement to write to it with; the second time it publishes what was written.
 */
#include <fdl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void show_note(void *data, fdl_note_level level, const char *line) {
    (void)data;
    if (level != FDL_NOTE_DETAIL)
        fprintf(stderr, "%s\n", line);
}

/* What readers paste into DuckDB; in an empty repository there is nothing to read yet. */
static fdl_code tell_how_to_read(fdl_repo *repo, const char *revision, fdl_error *error) {
    fdl_target target;
    fdl_location location = {0};
    char *secret = NULL, *attach = NULL;
    fdl_code code = fdl_resolve(repo, revision, &target, error);
    if (code == FDL_NOT_FOUND && target.branch[0]) {
        printf("no version yet\n");
        return FDL_OK;
    }
    if (code == FDL_OK)
        code = fdl_locate(repo, target.id, &location, error);
    if (code == FDL_OK)
        code = fdl_secret_statement(repo, &secret, error); /* for a bucket */
    if (code == FDL_OK)
        code = fdl_attach_statement(repo, &location, NULL, "lake", &attach, error);
    if (code == FDL_OK)
        printf("read version %lld with:\n%s%s%s\n", (long long)location.version.seq, secret ? secret : "",
               secret ? "\n" : "", attach);
    free(secret);
    free(attach);
    fdl_location_clear(&location);
    return code;
}

static fdl_code check_out(fdl_repo *repo, const char *work, fdl_error *error) {
    fdl_checkout_options options = {.revision = "HEAD"};
    fdl_checkout_result result;
    fdl_code code = fdl_checkout(repo, work, &options, &result, error);
    if (code != FDL_OK)
        return code;
    printf("write with:\n%s\n", result.attach_statement);
    fdl_checkout_result_clear(&result);
    return FDL_OK;
}

static fdl_code publish(const fdl_context *context, const char *work, const char *message, fdl_error *error) {
    fdl_commit_options options = {.message = message, .author_name = "Ada", .author_email = "ada@example.org"};
    fdl_commit_result commit;
    fdl_push_options to = {.branch = NULL}; /* the one checked out */
    fdl_push_result push = {0};
    fdl_code code = fdl_commit(context, work, &options, &commit, error);
    if (code == FDL_OK && !commit.made)
        printf("nothing new\n");
    if (code == FDL_OK) /* also what an earlier run committed and could not push */
        code = fdl_push(context, work, &to, &push, error);
    for (size_t i = 0; i < push.pushed_count; i++)
        printf("%s -> %s\n", push.branch, push.pushed[i]);
    fdl_push_result_clear(&push);
    return code;
}

int main(int argc, char **argv) {
    fdl_context context = {.note = show_note};
    fdl_repo *repo = NULL;
    fdl_error error;
    if (argc != 4) {
        fprintf(stderr, "usage: publish REPO WORK.sqlite MESSAGE\n");
        return 2;
    }
    fdl_code code = fdl_repo_open(&context, argv[1], &repo, &error);
    if (code == FDL_OK && access(argv[2], F_OK) != 0)
        code = check_out(repo, argv[2], &error);
    else if (code == FDL_OK)
        code = publish(&context, argv[2], argv[3], &error);
    if (code == FDL_OK)
        code = tell_how_to_read(repo, NULL, &error);
    if (code == FDL_CONFLICT)
        fprintf(stderr, "somebody else was quicker; check out again and redo the work\n");
    if (code != FDL_OK)
        fprintf(stderr, "%s: %s\n", fdl_code_name(code), error.message);
    fdl_repo_free(repo);
    return fdl_exit_status(code);
}
