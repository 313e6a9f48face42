/*
 * spawn.h - another program, run to its end: words in, words out, no shell.
 *
 * For small helpers that others keep well (git, ssh-keygen).  What they print
 * is kept up to a limit; they may ask a person for a passphrase on the terminal.
 */
#ifndef FDL_UTIL_SPAWN_H
#define FDL_UTIL_SPAWN_H

#include "fdl/error.h"

/* Of each of the two outputs; the rest is read and dropped. */
#define FDL_SPAWN_OUTPUT_LIMIT_BYTES 65536

typedef struct fdl_spawned {
    int status;    /* the exit code; 128 and the signal's number for one that was killed */
    char *output;  /* stdout, NUL-terminated */
    char *message; /* stderr, without final newlines */
} fdl_spawned;

/*
 * Runs argv[0], looked for in PATH; argv ends with NULL.  Its stdin is the file
 * `input_path`; NULL: ours, for it may have to ask a person.  FDL_OK however it ended.
 * FDL_NOT_FOUND: there is no such program.
 */
fdl_code fdl_spawn(const char *const *argv, const char *input_path, fdl_spawned *out, fdl_error *error);
void fdl_spawned_clear(fdl_spawned *spawned);

/*
 * Runs argv[0] with our own terminal and files, and `variables` ("NAME=value",
 * NULL behind the last) added to our environment.  `output_to` takes its stdout:
 * STDOUT_FILENO or STDERR_FILENO.  While it runs we ignore SIGINT and SIGQUIT, as
 * system(3) does: what a person stops is the program, and we tell how it ended.
 * `status` as in fdl_spawned.
 */
fdl_code fdl_spawn_attached(const char *const *argv, char *const *variables, int output_to, int *status,
                            fdl_error *error);

/* The last line of its message, where programs say what stopped them; "" for none.  Changes the message. */
const char *fdl_spawned_reason(fdl_spawned *spawned);

#endif
