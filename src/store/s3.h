/*
 * s3.h - what a bucket can do beyond the store contract: say where it is, and
 * hand out signed URLs.
 */
#ifndef FDL_STORE_S3_H
#define FDL_STORE_S3_H

#include <stdbool.h>
#include <stdint.h>

#include "fdl/store.h"
#include "util/http.h"

/* 0: the default. */
typedef struct fdl_s3_options {
    uint64_t multipart_from_bytes; /* larger objects go up in parts; 64 MiB */
    uint64_t part_bytes;           /* of a part, unless the object would have more than 10,000; 32 MiB */
    unsigned page_entries;         /* of a listing; 1000 */
} fdl_s3_options;

/* fdl_store_open_s3 (store/backends.h) with other measures; tests use small ones. */
fdl_code fdl_store_open_s3_with(const fdl_context *context, const char *address, const fdl_s3_options *options,
                                fdl_store **out, fdl_error *error);

/* Where a bucket is, for those who have to tell somebody else (DuckDB's CREATE SECRET).  No secrets. */
typedef struct fdl_s3_place {
    const char *bucket;
    const char *prefix;   /* "" or ends with '/' */
    const char *endpoint; /* "host" or "host:port", as configured; NULL: AWS itself */
    bool tls;
    bool path_style;
    char region[64];
    bool anonymous;
    bool has_session_token;
    const char *credential_source; /* for messages */
} fdl_s3_place;

/* False for a store that is no S3.  Strings belong to the store. */
bool fdl_s3_describe(fdl_store *store, fdl_s3_place *out);

/* Whether the bucket of an S3 store keeps old states of objects, now or once.  FDL_REFUSED: it cannot be told. */
fdl_code fdl_s3_keeps_versions(fdl_store *store, bool *out, fdl_error *error);

/*
 * A URL that lets anybody do `method` on `key` for `expires_s` seconds (at most
 * a week), if they send exactly `headers` along: say Content-Length,
 * If-None-Match and x-amz-checksum-sha256 for an upload; NULL: none.  Released
 * with free().  FDL_UNSUPPORTED for a store that is no S3, or without credentials.
 */
fdl_code fdl_s3_presign(fdl_store *store, const char *method, const char *key, const fdl_http_headers *headers,
                        int64_t expires_s, char **url, fdl_error *error);

#endif
