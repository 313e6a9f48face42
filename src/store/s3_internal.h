/*
 * s3_internal.h - what the files of the S3 backend share.
 *
 *   s3.c            opening, and the short operations
 *   s3_list.c       listing by pages
 *   s3_request.c    one signed request; the region; what an answer means
 *   s3_put.c        writing in one request, and settling what became of it
 *   s3_multipart.c  writing in parts
 *   s3_remove.c     deleting one
 *   s3_remove_many.c  deleting a thousand
 *   s3_purge.c      deleting for good; the clock
 */
#ifndef FDL_STORE_S3_INTERNAL_H
#define FDL_STORE_S3_INTERNAL_H

#include <pthread.h>

#include "fdl/store.h"
#include "store/aws_config.h"
#include "store/remote.h"
#include "store/s3.h"
#include "util/url.h"

#define FDL_S3_REGION_BYTES 64

typedef enum fdl_s3_versioning {
    FDL_S3_VERSIONING_UNKNOWN, /* not asked yet */
    FDL_S3_PLAIN,
    FDL_S3_VERSIONED /* now, or once: old states of objects may be there */
} fdl_s3_versioning;

typedef struct fdl_s3 {
    fdl_store base;
    fdl_remote remote;
    fdl_http *http;
    fdl_aws_config config;
    fdl_s3_options options; /* no zeros */
    char *bucket;
    char *prefix;     /* "" or ends with '/' */
    fdl_url endpoint; /* authority NULL: AWS itself, host made from bucket and region */
    bool path_style;
    pthread_mutex_t lock; /* guards what follows */
    fdl_s3_versioning versioning;
    char region[FDL_S3_REGION_BYTES];
} fdl_s3;

/* The bytes of a put, opened: memory or a file, with their length and digest. */
typedef struct fdl_s3_body {
    fdl_http_body http;
    char sha256[65]; /* "" until needed */
} fdl_s3_body;

/* The fdl_remote callbacks. */
fdl_code fdl_s3_send(fdl_remote *remote, const fdl_remote_request *request, fdl_http_response *response,
                     fdl_error *error);
fdl_code fdl_s3_explain(fdl_remote *remote, const fdl_remote_request *request, const fdl_http_response *response,
                        fdl_error *error);

/* The key cannot be stored beside what is there: a server on a file system, where "a" and "a/b" exclude each other. */
bool fdl_s3_blocked(const fdl_http_response *response);

/* ---- conditions ----------------------------------------------------------- */

/* Whether an answer says that the condition of a write did not hold. */
bool fdl_s3_condition_failed(const fdl_http_response *response, fdl_condition condition);

/* Adds "If-None-Match: *", "If-Match: <etag>" or nothing. */
fdl_code fdl_s3_add_condition(fdl_http_headers *headers, fdl_condition condition, fdl_error *error);

fdl_code fdl_s3_conflict(const char *key, fdl_condition condition, fdl_error *error);

/* How two ETags compare: quotes do not count. */
bool fdl_s3_same_etag(const char *a, const char *b);

/* Whether the XML of an answer says <Error><Code>code</Code>. */
bool fdl_s3_error_is(const fdl_http_response *response, const char *code);

/* ---- doubt ---------------------------------------------------------------- */

/* Whether the server may have done what it did not confirm; `code` is what fdl_remote_call returned. */
bool fdl_s3_doubtful(fdl_code code, const fdl_http_response *response);

typedef enum fdl_s3_verdict {
    FDL_S3_DONE,       /* the object is what we wrote */
    FDL_S3_NOT_DONE,   /* the object is what it was */
    FDL_S3_UNREADABLE, /* it must not be read: the key may be missing, where listing is not allowed */
    FDL_S3_UNKNOWN     /* neither */
} fdl_s3_verdict;

/*
 * Reads the object to tell what became of a write.  `sha256` and `etag` are of
 * what was written; either may be NULL.  `object` is filled when done.
 */
fdl_s3_verdict fdl_s3_settle(fdl_s3 *s3, const char *key, fdl_condition condition, uint64_t length_bytes,
                             const char *sha256, const char *etag, fdl_object *object);

/* FDL_UNCERTAIN with the line for it. */
fdl_code fdl_s3_uncertain(const char *key, fdl_error *error);

/* ---- writing -------------------------------------------------------------- */

/* The hex sha256 of a part of a body. */
fdl_code fdl_s3_digest(const fdl_http_body *body, char out[65], fdl_error *error);

/* x-amz-checksum-sha256, from the hex digest. */
fdl_code fdl_s3_add_checksum(fdl_http_headers *headers, const char *sha256, fdl_error *error);

/* The operations that are long. */
fdl_code fdl_s3_list(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback, void *data,
                     fdl_error *error);
fdl_code fdl_s3_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                    fdl_object *object, fdl_error *error);
fdl_code fdl_s3_put_parts(fdl_s3 *s3, const char *key, const fdl_s3_body *body, fdl_condition condition,
                          fdl_object *object, fdl_error *error);
fdl_code fdl_s3_remove(fdl_store *store, const char *key, fdl_condition condition, fdl_error *error);
fdl_code fdl_s3_remove_many(fdl_store *store, const char *const *keys, size_t count, fdl_error *error);
fdl_code fdl_s3_purge(fdl_store *store, const char *key, fdl_error *error);
fdl_code fdl_s3_clock(fdl_store *store, int64_t *now_ms, fdl_error *error);

#endif
