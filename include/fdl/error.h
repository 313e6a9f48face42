/*
 * error.h - how every call reports failure.
 *
 * A failing function returns a code and fills the caller's fdl_error with the
 * same code, one line for a person, and the key, file or ref the line is about.
 * The first failure is the one reported: callers pass it up unchanged.  The
 * struct owns no memory, so raising an error cannot itself fail.
 */
#ifndef FDL_ERROR_H
#define FDL_ERROR_H

#if defined(__GNUC__)
#define FDL_API __attribute__((visibility("default")))
#define FDL_PRINTF(text_index, first_index) __attribute__((format(printf, text_index, first_index)))
#else
#define FDL_API
#define FDL_PRINTF(text_index, first_index)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * 0 to 7 are also the exit codes of the program.  The codes above 7 tell
 * callers inside the library what kind of failure it was; for the program they
 * are plain failures, FDL_WAITING apart (see fdl_exit_status).
 */
typedef enum fdl_code {
    FDL_OK = 0,
    FDL_FAILED = 1,      /* anything without a code of its own */
    FDL_USAGE = 2,       /* the caller's words are wrong */
    FDL_CONFLICT = 3,    /* the thing is not in the state the caller saw: a ref moved, a tag exists */
    FDL_EXPIRED = 4,     /* the version expired or was withdrawn */
    FDL_NOT_FOUND = 5,   /* no such key, ref, version or repository */
    FDL_BUSY = 6,        /* locked by another process, for longer than we wait */
    FDL_REFUSED = 7,     /* the content breaks a rule */
    FDL_DENIED = 8,      /* no permission */
    FDL_UNSUPPORTED = 9, /* this store cannot do that (a plain web server takes no writes) */
    FDL_UNCERTAIN = 10,  /* the answer was lost: the call may or may not have taken effect */
    FDL_WAITING = 11     /* not done and no failure: a host wrote it down as a request, which somebody has to approve */
} fdl_code;

#define FDL_MESSAGE_LIMIT_BYTES 2048
#define FDL_KEY_LIMIT_BYTES 1100 /* S3 keys have at most 1024 bytes */

typedef struct fdl_error {
    fdl_code code;
    char message[FDL_MESSAGE_LIMIT_BYTES]; /* one line, lower case, no final newline */
    char key[FDL_KEY_LIMIT_BYTES];         /* what it is about; may be empty */
} fdl_error;

/*
 * Fills `error` and returns `code`, so that a failing path is one line:
 *     return fdl_fail(error, FDL_NOT_FOUND, key, "no ref '%s'", name);
 * `key` may be NULL.  Control characters in the result are shown as '?', since
 * names come from strangers and messages go to terminals.
 */
FDL_API fdl_code fdl_fail(fdl_error *error, fdl_code code, const char *key, const char *format, ...) FDL_PRINTF(4, 5);

/* "ok", "failure", "usage", "conflict", "expired", "not_found", "busy", "refused", "denied", ...: stable, for JSON. */
FDL_API const char *fdl_code_name(fdl_code code);

/* The exit code of the program for `code`: itself up to 7, 0 for FDL_WAITING, else 1. */
FDL_API int fdl_exit_status(fdl_code code);

#ifdef __cplusplus
}
#endif
#endif
