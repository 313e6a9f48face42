/*
 * sigv4.h - AWS Signature Version 4, in a header or in the URL.
 *
 * Pure computation: no network, no clock, no environment.  The caller says what
 * will be sent, byte for byte, and when; this says which headers or which query
 * to add.  Both forms are one algorithm:
 *
 *   canonical request -> its sha256 in a string to sign -> HMAC with a key that
 *   is derived from the secret, the day, the region and the service
 */
#ifndef FDL_STORE_SIGV4_H
#define FDL_STORE_SIGV4_H

#include <stdint.h>

#include "fdl/error.h"
#include "util/http.h"

#define FDL_SIGV4_UNSIGNED "UNSIGNED-PAYLOAD"

/* Who signs, and for where.  Nothing of this but the access key and the region ever leaves. */
typedef struct fdl_sigv4_key {
    const char *access_key;
    const char *secret_key;
    const char *session_token; /* NULL: none */
    const char *region;
    const char *service; /* "s3" */
} fdl_sigv4_key;

/* A query parameter, not yet encoded. */
typedef struct fdl_sigv4_param {
    const char *name;
    const char *value;
} fdl_sigv4_param;

typedef struct fdl_sigv4_request {
    const char *method;
    const char *host; /* as in the Host header */
    const char *path; /* percent-encoded once, as sent; starts with '/' */
    const fdl_sigv4_param *params;
    size_t param_count;
    int64_t time_ms;
} fdl_sigv4_request;

/* The parameters as they must be sent: encoded, sorted, joined; "" for none.  Released with free(). */
fdl_code fdl_sigv4_query(const fdl_sigv4_param *params, size_t count, char **out, fdl_error *error);

/*
 * Signs every header already in `headers` (without Host), and adds x-amz-date,
 * x-amz-content-sha256, x-amz-security-token and Authorization.  `payload` is
 * the hex sha256 of the body, or FDL_SIGV4_UNSIGNED.
 */
fdl_code fdl_sigv4_sign(const fdl_sigv4_key *key, const fdl_sigv4_request *request, const char *payload,
                        fdl_http_headers *headers, fdl_error *error);

/*
 * The query that makes the URL itself good for `expires_s` seconds (1 to
 * 604800).  Whoever uses it sends exactly the headers in `headers`.  Released
 * with free().
 */
fdl_code fdl_sigv4_presign(const fdl_sigv4_key *key, const fdl_sigv4_request *request, const fdl_http_headers *headers,
                           int64_t expires_s, char **query, fdl_error *error);

#endif
