/*
 * host.h - a repository behind HTTP: `fdl serve` as a library.
 *
 * A host keeps no state of its own; everything is in the store, so any number of
 * them may stand before one repository.  docs/http.md says what it answers.
 */
#ifndef FDL_HOST_H
#define FDL_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FDL_HOST_TOKEN_BYTES 48 /* a token that fdl_host_token_add makes, with the NUL */

typedef enum fdl_host_log { FDL_HOST_LOG_TEXT, FDL_HOST_LOG_JSON, FDL_HOST_LOG_OFF } fdl_host_log;

/* 0 is the default everywhere. */
typedef struct fdl_host_limits {
    unsigned connections;             /* at once: 4096 */
    unsigned connections_per_address; /* 256 */
    unsigned idle_s;                  /* without a byte, and from one request to the end of the next one's header: 60 */
    uint64_t upload_bytes;            /* of one file sent through the host: 5 GiB */
} fdl_host_limits;

/* The strings are copied. */
typedef struct fdl_host_options {
    const char *repo;   /* a folder or s3://, as fdl_repo_open takes it */
    const char *listen; /* NULL: "127.0.0.1:8080"; or "[::1]:8080", ":8080" for every address; port 0: any free one */

    const char *tokens;       /* the token file; NULL: reading is open, nothing can be written */
    bool reading_needs_token; /* --private */
    bool public_sources;      /* sources/ like everything else; else only for tokens that may write */

    const char *const *approve; /* patterns of branch names whose moves wait for approval; "*" is all */
    size_t approve_count;

    const char *tls_certificate; /* PEM files; both or none */
    const char *tls_key;

    /* Files below this size, and all of a folder, are sent through the host and not straight to the store. */
    uint64_t direct_bytes;

    fdl_host_limits limits;

    /* Gets one line a request, without a newline, from many threads at once; may be NULL. */
    fdl_host_log log_format;
    void (*log)(void *log_data, const char *line);
    void *log_data;
} fdl_host_options;

typedef struct fdl_host fdl_host;

/*
 * Listens and answers until fdl_host_stop.  FDL_USAGE: options that contradict
 * each other; FDL_NOT_FOUND: not a repository; FDL_BUSY: the address is taken.
 */
FDL_API fdl_code fdl_host_start(const fdl_context *context, const fdl_host_options *options, fdl_host **out,
                                fdl_error *error);

/* "http://127.0.0.1:8080/": the address as listened on, with the real port. */
FDL_API const char *fdl_host_url(const fdl_host *host);
FDL_API int fdl_host_port(const fdl_host *host);

/*
 * Takes no new connections and lets what is being answered end, for at most
 * `wait_ms`.  FDL_BUSY: the time ran out with work in the store still going on;
 * `host` must then be left as it is until the process ends.
 */
FDL_API fdl_code fdl_host_stop(fdl_host *host, int wait_ms, fdl_error *error);

/* After a stop that was FDL_OK; NULL is fine. */
FDL_API void fdl_host_free(fdl_host *host);

/*
 * Makes a token and appends its salted hash to the token file, which is created
 * (mode 0600) when missing.  `role` is "read", "write" or "approve".  The token
 * stands nowhere but in `token`.  FDL_CONFLICT: the file has that name already.
 */
FDL_API fdl_code fdl_host_token_add(const char *file, const char *name, const char *role,
                                    char token[FDL_HOST_TOKEN_BYTES], fdl_error *error);

#ifdef __cplusplus
}
#endif
#endif
