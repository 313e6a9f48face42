/*
 * sigv4.c - AWS Signature Version 4.
 *
 * The order of steps and names follows AWS's description, so that the two can
 * be read side by side.  Header names are lower-cased and sorted, values
 * trimmed; parameters are encoded, then sorted.
 */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store/sigv4.h"
#include "util/buf.h"
#include "util/crypto.h"
#include "util/ident.h"
#include "util/text.h"
#include "util/url.h"

#define ALGORITHM "AWS4-HMAC-SHA256"

enum {
    CANONICAL_LIMIT_BYTES = 256 << 10, /* headers and query at their limits, encoded */
    PARAM_LIMIT = 64,
    HMAC_BYTES = 32,
};

/* What one signature is made of, once computed. */
typedef struct signing {
    char instant[20];   /* 20130524T000000Z */
    char day[12];       /* 20130524 */
    char scope[160];    /* 20130524/us-east-1/s3/aws4_request */
    char signature[65]; /* hex */
} signing;

/* ---- time and scope ------------------------------------------------------- */

static fdl_code start(const fdl_sigv4_key *key, int64_t time_ms, signing *out, fdl_error *error) {
    time_t seconds = (time_t)(time_ms / 1000);
    struct tm utc;
    if (!gmtime_r(&seconds, &utc) || strftime(out->instant, sizeof out->instant, "%Y%m%dT%H%M%SZ", &utc) != 16)
        return fdl_fail(error, FDL_FAILED, NULL, "cannot sign a request: this machine's clock shows no usable time");
    memcpy(out->day, out->instant, 8);
    out->day[8] = '\0';
    int length = snprintf(out->scope, sizeof out->scope, "%s/%s/%s/aws4_request", out->day, key->region, key->service);
    if (length < 0 || (size_t)length >= sizeof out->scope)
        return fdl_fail(error, FDL_USAGE, NULL, "the region '%s' is too long", key->region);
    return FDL_OK;
}

/* ---- query ---------------------------------------------------------------- */

/* "name=value" by name first: '=' counts as the end. */
static int compare_pairs(const void *a, const void *b) {
    const char *left = *(char *const *)a;
    const char *right = *(char *const *)b;
    size_t left_name = strcspn(left, "=");
    size_t right_name = strcspn(right, "=");
    int order = memcmp(left, right, left_name < right_name ? left_name : right_name);
    if (order != 0)
        return order;
    return left_name != right_name ? (left_name < right_name ? -1 : 1) : strcmp(left, right);
}

static fdl_code encode_param(const fdl_sigv4_param *param, char **out, fdl_error *error) {
    fdl_buf text;
    fdl_buf_init(&text, CANONICAL_LIMIT_BYTES);
    fdl_code code = fdl_url_add_value(&text, param->name, error);
    if (code == FDL_OK)
        code = fdl_buf_add(&text, "=", 1, error);
    if (code == FDL_OK)
        code = fdl_url_add_value(&text, param->value, error);
    if (code == FDL_OK && !(*out = fdl_buf_detach(&text, NULL)))
        code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    fdl_buf_clear(&text);
    return code;
}

fdl_code fdl_sigv4_query(const fdl_sigv4_param *params, size_t count, char **out, fdl_error *error) {
    char *pairs[PARAM_LIMIT] = {NULL};
    fdl_buf query;
    fdl_buf_init(&query, CANONICAL_LIMIT_BYTES);
    fdl_code code = FDL_OK;
    if (count > PARAM_LIMIT)
        return fdl_fail(error, FDL_FAILED, NULL, "more than %d query parameters", PARAM_LIMIT);
    for (size_t i = 0; i < count && code == FDL_OK; i++)
        code = encode_param(&params[i], &pairs[i], error);
    if (code == FDL_OK)
        qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t i = 0; i < count && code == FDL_OK; i++)
        code = fdl_buf_add_format(&query, error, "%s%s", i ? "&" : "", pairs[i]);
    for (size_t i = 0; i < count; i++)
        free(pairs[i]);
    if (code == FDL_OK && !(*out = fdl_buf_detach(&query, NULL)))
        code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    fdl_buf_clear(&query);
    return code;
}

/* ---- headers -------------------------------------------------------------- */

static int compare_headers(const void *a, const void *b) {
    const fdl_http_header *left = a;
    const fdl_http_header *right = b;
    return strcmp(left->name, right->name);
}

/* A copy of `headers` and Host with lower-case names, sorted. */
static fdl_code sort_headers(const char *host, const fdl_http_headers *headers, fdl_http_headers *out,
                             fdl_error *error) {
    fdl_code code = fdl_http_add(out, "host", host, error);
    for (size_t i = 0; i < headers->count && code == FDL_OK; i++)
        code = fdl_http_add(out, headers->items[i].name, headers->items[i].value, error);
    if (code != FDL_OK)
        return code;
    for (size_t i = 0; i < out->count; i++) {
        for (char *at = out->items[i].name; *at; at++) {
            if (*at >= 'A' && *at <= 'Z')
                *at = (char)(*at - 'A' + 'a');
        }
    }
    qsort(out->items, out->count, sizeof *out->items, compare_headers);
    return FDL_OK;
}

/* "host;x-amz-date" */
static fdl_code list_names(const fdl_http_headers *sorted, fdl_buf *out, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < sorted->count && code == FDL_OK; i++)
        code = fdl_buf_add_format(out, error, "%s%s", i ? ";" : "", sorted->items[i].name);
    return code;
}

/* Trimmed, runs of spaces as one. */
static fdl_code add_value(fdl_buf *out, const char *value, fdl_error *error) {
    fdl_code code = FDL_OK;
    bool gap = false;
    bool any = false;
    for (const char *at = value; *at && code == FDL_OK; at++) {
        if (*at == ' ' || *at == '\t') {
            gap = true;
            continue;
        }
        if (gap && any)
            code = fdl_buf_add(out, " ", 1, error);
        if (code == FDL_OK)
            code = fdl_buf_add(out, at, 1, error);
        gap = false;
        any = true;
    }
    return code;
}

static fdl_code add_headers(fdl_buf *out, const fdl_http_headers *sorted, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < sorted->count && code == FDL_OK; i++) {
        code = fdl_buf_add_format(out, error, "%s:", sorted->items[i].name);
        if (code == FDL_OK)
            code = add_value(out, sorted->items[i].value, error);
        if (code == FDL_OK)
            code = fdl_buf_add(out, "\n", 1, error);
    }
    return code;
}

/* ---- the signature -------------------------------------------------------- */

static bool hmac(const void *key, size_t key_length, const char *text, unsigned char out[HMAC_BYTES]) {
    unsigned length = 0;
    return fdl_crypto.HMAC(fdl_crypto.EVP_sha256(), key, (int)key_length, (const unsigned char *)text, strlen(text), out, &length) &&
           length == HMAC_BYTES;
}

/* HMAC by day, region, service and the end mark, each with the one before as its key; then the text itself. */
static fdl_code sign_text(const fdl_sigv4_key *key, signing *s, const char *text, fdl_error *error) {
    unsigned char mac[HMAC_BYTES];
    char *first = NULL;
    fdl_code code = fdl_crypto_open(error);
    if (code == FDL_OK)
        code = fdl_str_format(&first, error, "AWS4%s", key->secret_key);
    if (code != FDL_OK)
        return code;
    bool done = hmac(first, strlen(first), s->day, mac) && hmac(mac, HMAC_BYTES, key->region, mac) &&
                hmac(mac, HMAC_BYTES, key->service, mac) && hmac(mac, HMAC_BYTES, "aws4_request", mac) &&
                hmac(mac, HMAC_BYTES, text, mac);
    explicit_bzero(first, strlen(first));
    free(first);
    if (!done)
        return fdl_fail(error, FDL_FAILED, NULL, "cannot sign a request: libcrypto refuses");
    for (size_t i = 0; i < HMAC_BYTES; i++)
        snprintf(s->signature + 2 * i, 3, "%02x", mac[i]);
    explicit_bzero(mac, sizeof mac);
    return FDL_OK;
}

static fdl_code sign(const fdl_sigv4_key *key, signing *s, const fdl_sigv4_request *request, const char *query,
                     const fdl_http_headers *sorted, const char *names, const char *payload, fdl_error *error) {
    char digest[65];
    char *text = NULL;
    fdl_buf canonical;
    fdl_buf_init(&canonical, CANONICAL_LIMIT_BYTES);
    fdl_code code = fdl_buf_add_format(&canonical, error, "%s\n%s\n%s\n", request->method, request->path, query);
    if (code == FDL_OK)
        code = add_headers(&canonical, sorted, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(&canonical, error, "\n%s\n%s", names, payload);
    if (code == FDL_OK)
        code = fdl_sha256_bytes(canonical.data, canonical.length, digest, error);
    if (code == FDL_OK)
        code = fdl_str_format(&text, error, ALGORITHM "\n%s\n%s\n%s", s->instant, s->scope, digest);
    if (code == FDL_OK)
        code = sign_text(key, s, text, error);
    free(text);
    fdl_buf_clear(&canonical);
    return code;
}

/* ---- the two forms -------------------------------------------------------- */

fdl_code fdl_sigv4_sign(const fdl_sigv4_key *key, const fdl_sigv4_request *request, const char *payload,
                        fdl_http_headers *headers, fdl_error *error) {
    signing s;
    fdl_http_headers sorted = {0};
    char *query = NULL;
    char *authorization = NULL;
    fdl_buf names;
    fdl_buf_init(&names, FDL_HTTP_HEADERS_LIMIT_BYTES);
    fdl_code code = start(key, request->time_ms, &s, error);
    if (code == FDL_OK)
        code = fdl_http_add(headers, "x-amz-content-sha256", payload, error);
    if (code == FDL_OK)
        code = fdl_http_add(headers, "x-amz-date", s.instant, error);
    if (code == FDL_OK && key->session_token)
        code = fdl_http_add(headers, "x-amz-security-token", key->session_token, error);
    if (code == FDL_OK)
        code = sort_headers(request->host, headers, &sorted, error);
    if (code == FDL_OK)
        code = list_names(&sorted, &names, error);
    if (code == FDL_OK)
        code = fdl_sigv4_query(request->params, request->param_count, &query, error);
    if (code == FDL_OK)
        code = sign(key, &s, request, query, &sorted, names.data, payload, error);
    if (code == FDL_OK)
        code = fdl_str_format(&authorization, error, ALGORITHM " Credential=%s/%s, SignedHeaders=%s, Signature=%s",
                              key->access_key, s.scope, names.data, s.signature);
    if (code == FDL_OK)
        code = fdl_http_add(headers, "Authorization", authorization, error);
    free(authorization);
    free(query);
    fdl_buf_clear(&names);
    fdl_http_headers_clear(&sorted);
    return code;
}

/* The request's own parameters and those that carry the signature; the strings stay where they are. */
static fdl_code presign_query(const fdl_sigv4_key *key, const fdl_sigv4_request *request, const char *credential,
                              const char *instant, const char *expires, const char *names, char **out,
                              fdl_error *error) {
    const fdl_sigv4_param ours[] = {
        {"X-Amz-Algorithm", ALGORITHM}, {"X-Amz-Credential", credential}, {"X-Amz-Date", instant},
        {"X-Amz-Expires", expires},     {"X-Amz-SignedHeaders", names},   {"X-Amz-Security-Token", key->session_token},
    };
    size_t our_count = key->session_token ? 6 : 5;
    fdl_sigv4_param *params = NULL;
    fdl_code code = fdl_alloc(&params, request->param_count + our_count, sizeof *params, error);
    if (code != FDL_OK)
        return code;
    for (size_t i = 0; i < request->param_count; i++)
        params[i] = request->params[i];
    memcpy(params + request->param_count, ours, our_count * sizeof *ours);
    code = fdl_sigv4_query(params, request->param_count + our_count, out, error);
    free(params);
    return code;
}

fdl_code fdl_sigv4_presign(const fdl_sigv4_key *key, const fdl_sigv4_request *request, const fdl_http_headers *headers,
                           int64_t expires_s, char **query, fdl_error *error) {
    signing s;
    fdl_http_headers sorted = {0};
    char *credential = NULL;
    char *unsigned_query = NULL;
    char expires[24];
    fdl_buf names;
    fdl_buf_init(&names, FDL_HTTP_HEADERS_LIMIT_BYTES);
    if (expires_s < 1 || expires_s > 604800)
        return fdl_fail(error, FDL_USAGE, NULL, "a signed url lives 1 to 604800 seconds, not %lld",
                        (long long)expires_s);
    snprintf(expires, sizeof expires, "%lld", (long long)expires_s);
    fdl_code code = start(key, request->time_ms, &s, error);
    if (code == FDL_OK)
        code = sort_headers(request->host, headers, &sorted, error);
    if (code == FDL_OK)
        code = list_names(&sorted, &names, error);
    if (code == FDL_OK)
        code = fdl_str_format(&credential, error, "%s/%s", key->access_key, s.scope);
    if (code == FDL_OK)
        code = presign_query(key, request, credential, s.instant, expires, names.data, &unsigned_query, error);
    if (code == FDL_OK)
        code = sign(key, &s, request, unsigned_query, &sorted, names.data, FDL_SIGV4_UNSIGNED, error);
    if (code == FDL_OK)
        code = fdl_str_format(query, error, "%s&X-Amz-Signature=%s", unsigned_query, s.signature);
    free(unsigned_query);
    free(credential);
    fdl_buf_clear(&names);
    fdl_http_headers_clear(&sorted);
    return code;
}
