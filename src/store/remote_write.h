/*
 * remote_write.h - what the stores that speak HTTP share when they write: the
 * body, conditions, and what became of a write whose answer was lost.
 *
 * What its server's answers mean a backend tells by the callbacks of its
 * fdl_remote.
 */
#ifndef FDL_STORE_REMOTE_WRITE_H
#define FDL_STORE_REMOTE_WRITE_H

#include "store/remote.h"

/* ---- the body ------------------------------------------------------------- */

/* The bytes of a put, opened: memory or a file, with their length and digest. */
typedef struct fdl_remote_body {
    fdl_http_body http;
    char sha256[65]; /* "" until needed */
} fdl_remote_body;

/* Closed by fdl_remote_body_close, in every case. */
fdl_code fdl_remote_body_open(const fdl_source *source, fdl_remote_body *out, fdl_error *error);
void fdl_remote_body_close(fdl_remote_body *body);

/* The hex sha256 of a part of a body. */
fdl_code fdl_remote_digest(const fdl_http_body *body, char out[65], fdl_error *error);

/* x-amz-checksum-sha256, from the hex digest. */
fdl_code fdl_remote_add_checksum(fdl_http_headers *headers, const char *sha256, fdl_error *error);

/* ---- conditions ----------------------------------------------------------- */

/* Adds "If-None-Match: *", "If-Match: <etag>" or nothing. */
fdl_code fdl_remote_add_condition(fdl_http_headers *headers, fdl_condition condition, fdl_error *error);

fdl_code fdl_remote_conflict(const char *key, fdl_condition condition, fdl_error *error);

/* How two ETags compare: quotes do not count. */
bool fdl_remote_same_etag(const char *a, const char *b);

/* ---- doubt ---------------------------------------------------------------- */

/* Whether the server may have done what it did not confirm; `code` is what fdl_remote_call returned. */
bool fdl_remote_doubtful(fdl_code code, const fdl_http_response *response);

typedef enum fdl_remote_verdict {
    FDL_WRITE_DONE,       /* the object is what we wrote */
    FDL_WRITE_NOT_DONE,   /* the object is what it was */
    FDL_WRITE_UNREADABLE, /* it must not be read: the key may be missing, where listing is not allowed */
    FDL_WRITE_UNKNOWN     /* neither */
} fdl_remote_verdict;

/*
 * Reads the object to tell what became of a write.  `sha256` and `etag` are of
 * what was written; either may be NULL.  `object` is filled when done.
 */
fdl_remote_verdict fdl_remote_settle(fdl_remote *remote, const char *key, fdl_condition condition,
                                     uint64_t length_bytes, const char *sha256, const char *etag, fdl_object *object);

/* FDL_UNCERTAIN with the line for it. */
fdl_code fdl_remote_uncertain(const char *key, fdl_error *error);

/* ---- the operations --------------------------------------------------------- */

/* put of the store contract, in one request; the checksum goes along.  `object` may be NULL. */
fdl_code fdl_remote_put(fdl_remote *remote, const char *key, fdl_remote_body *body, fdl_condition condition,
                        fdl_object *object, fdl_error *error);

/* remove of the store contract. */
fdl_code fdl_remote_remove(fdl_remote *remote, const char *key, fdl_condition condition, fdl_error *error);

#endif
