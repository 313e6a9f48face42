/*
 * s3_internal.h - what the files of the S3 backend share.
 *
 *   s3.c            opening, and the short operations
 *   s3_list.c       listing by pages
 *   s3_request.c    one signed request; the region; what an answer means
 *   s3_multipart.c  writing in parts
 *   s3_remove_many.c  deleting a thousand
 *   s3_purge.c      deleting for good; the clock
 *   s3_presign.c    urls for somebody else's upload
 */
#ifndef FDL_STORE_S3_INTERNAL_H
#define FDL_STORE_S3_INTERNAL_H

#include <pthread.h>

#include "fdl/store.h"
#include "store/aws_config.h"
#include "store/remote_write.h"
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

/* The fdl_remote callbacks. */
fdl_code fdl_s3_send(fdl_remote *remote, const fdl_remote_request *request, fdl_http_response *response,
                     fdl_error *error);
fdl_code fdl_s3_explain(fdl_remote *remote, const fdl_remote_request *request, const fdl_http_response *response,
                        fdl_error *error);

/* The key cannot be stored beside what is there: a server on a file system, where "a" and "a/b" exclude each other. */
bool fdl_s3_blocked(const fdl_http_response *response);

/* Whether an answer says that the condition of a write did not hold; and that there is no such object. */
bool fdl_s3_condition_failed(const fdl_http_response *response, fdl_condition condition);
bool fdl_s3_missing(const fdl_http_response *response);

/* Whether the XML of an answer says <Error><Code>code</Code>. */
bool fdl_s3_error_is(const fdl_http_response *response, const char *code);

/* The operations that are long. */
fdl_code fdl_s3_list(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback, void *data,
                     fdl_error *error);
fdl_code fdl_s3_put_parts(fdl_s3 *s3, const char *key, const fdl_remote_body *body, fdl_condition condition,
                          fdl_object *object, fdl_error *error);
fdl_code fdl_s3_remove_many(fdl_store *store, const char *const *keys, size_t count, fdl_error *error);
fdl_code fdl_s3_purge(fdl_store *store, const char *key, fdl_error *error);
fdl_code fdl_s3_presign_upload(fdl_store *store, const char *key, const fdl_upload_terms *upload, fdl_upload_url *out,
                               fdl_error *error);
fdl_code fdl_s3_clock(fdl_store *store, int64_t *now_ms, fdl_error *error);

#endif
