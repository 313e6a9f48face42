/*
 * checker.c - runs "fdl admit", which limits itself (src/cli/cmd_admit.c), and
 * hears what it found.
 *
 * A catalog is a DuckDB file that a stranger made.  One with a free list that runs
 * in a circle keeps DuckDB busy for ever while it opens it, and nothing in the
 * same process can end that.
 */
#include "flow/checker.h"

#include <string.h>

#include "repo/layout.h"
#include "util/json.h"
#include "util/spawn.h"

/* 128 and more: a signal ended it. */
static fdl_code judge(const fdl_spawned *ended, const char *id, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    if (ended->status == 0)
        return FDL_OK;
    fdl_code code = fdl_json_error(ended->output, strlen(ended->output), error);
    if (code != FDL_OK)
        return code;
    code = fdl_key_version(key, id, FDL_FILE_CATALOG, error);
    if (code == FDL_OK && ended->status >= 128)
        return fdl_fail(error, FDL_REFUSED, key, "looking at '%s' took too long, or ended DuckDB (signal %d)", key,
                        ended->status - 128);
    return code == FDL_OK ? fdl_fail(error, FDL_FAILED, key, "the program that looks at versions failed: %.200s",
                                     ended->message)
                          : code;
}

fdl_code fdl_checker_admit(fdl_repo *repo, const char *branch, const char *expected, const char *id,
                           fdl_error *error) {
    const fdl_context *context = fdl_repo_context(repo);
    const char *library = context->libduckdb;
    const char *argv[] = {context->checker, "admit", "--json",  "--quiet", "--",
                          fdl_repo_address(repo), branch, expected[0] ? expected : "-", id, NULL};
    const char *with_library[] = {context->checker, "admit", "--json", "--quiet", "--libduckdb", library, "--",
                                  fdl_repo_address(repo), branch, expected[0] ? expected : "-", id, NULL};
    fdl_spawned ended = {0};
    fdl_code code = fdl_spawn(library ? with_library : argv, "/dev/null", &ended, error);
    if (code == FDL_OK)
        code = judge(&ended, id, error);
    fdl_spawned_clear(&ended);
    return code;
}
