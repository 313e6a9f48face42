/*
 * http.h - what plain HTTP tells beyond the store contract: what a host answers
 * to a question, and how a web server hands out a file.
 */
#ifndef FDL_STORE_HTTP_H
#define FDL_STORE_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "fdl/store.h"

/*
 * Sends `method` to "<key>?<word>" ("" is the root) with a JSON body (NULL:
 * none), once, and hands out the answer's body, released with free().
 * FDL_UNSUPPORTED: this store is no host, or one that does not know the word.
 */
fdl_code fdl_http_ask(fdl_store *store, const char *method, const char *key, const char *word, const char *body,
                      char **out, size_t *length_bytes, fdl_error *error);

/* How a server hands out a file, as far as readers depend on it. */
typedef struct fdl_http_manners {
    bool parts;       /* of a part asked for it sends that part, and says so */
    bool strong_etag; /* so that a read that breaks off can go on */
    bool tells_time;
    int64_t ahead_ms; /* its clock, of ours, where it tells the time */
} fdl_http_manners;

/*
 * Looks at the file at `key` with a HEAD and a GET of a part.  FDL_FAILED, saying
 * what: no length, or compressed.  FDL_UNSUPPORTED: this store is no HTTP.
 */
fdl_code fdl_http_look(fdl_store *store, const char *key, fdl_http_manners *out, fdl_error *error);

/* Who we are there: "FDL_TOKEN", "~/.netrc", or NULL; for messages.  FDL_UNSUPPORTED as above. */
fdl_code fdl_http_who(fdl_store *store, const char **out, fdl_error *error);

#endif
