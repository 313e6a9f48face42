/*
 * s3_request.c - one request to a bucket: where it goes, how it is signed, and
 * what the answer means in our codes.
 *
 *   AWS, virtual host   BUCKET.s3.REGION.amazonaws.com/PREFIX/KEY
 *   AWS, path style     s3.REGION.amazonaws.com/BUCKET/PREFIX/KEY      (a bucket with dots)
 *   another endpoint    HOST:PORT/[PATH/]BUCKET/PREFIX/KEY
 *
 * A bucket of another region answers 301 or 400 and names its region; then the
 * request is signed again for that one, once, and later requests go there at
 * once.  The name only becomes part of an AWS host name, so an answer cannot
 * send our credentials elsewhere; redirects are never followed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/s3_internal.h"
#include "store/s3_xml.h"
#include "util/ident.h"
#include "util/text.h"

#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* AWS refuses a signature whose time is 15 minutes off. */
#define SKEW_MS (15 * 60 * 1000)

static fdl_s3 *of_remote(fdl_remote *remote) {
    return (fdl_s3 *)((char *)remote - offsetof(fdl_s3, remote));
}

/* ---- where ---------------------------------------------------------------- */

typedef struct place {
    bool tls;
    char *host;
    char *path; /* percent-encoded */
} place;

static void place_clear(place *p) {
    free(p->host);
    free(p->path);
}

static fdl_code make_host(const fdl_s3 *s3, const char *region, char **out, fdl_error *error) {
    const char *bucket = s3->path_style ? "" : s3->bucket;
    const char *dot = s3->path_style ? "" : ".";
    if (s3->endpoint.authority)
        return fdl_str_format(out, error, "%s%s%s", bucket, dot, s3->endpoint.authority);
    return fdl_str_format(out, error, "%s%ss3.%s.amazonaws.com%s", bucket, dot, region,
                          fdl_str_starts(region, "cn-") ? ".cn" : "");
}

/* `key` NULL: the bucket itself. */
static fdl_code make_path(const fdl_s3 *s3, const char *key, char **out, fdl_error *error) {
    fdl_buf path;
    fdl_buf_init(&path, 16 << 10);
    fdl_code code = FDL_OK;
    if (s3->endpoint.path && !fdl_str_ends(s3->endpoint.path, "/"))
        code = fdl_buf_add_str(&path, s3->endpoint.path, error);
    else if (s3->endpoint.path)
        code = fdl_buf_add(&path, s3->endpoint.path, strlen(s3->endpoint.path) - 1, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&path, "/", error);
    if (code == FDL_OK && s3->path_style)
        code = fdl_url_add_path(&path, s3->bucket, error);
    if (code == FDL_OK && key && s3->path_style)
        code = fdl_buf_add_str(&path, "/", error);
    if (code == FDL_OK && key)
        code = fdl_url_add_path(&path, s3->prefix, error);
    if (code == FDL_OK && key)
        code = fdl_url_add_path(&path, key, error);
    if (code == FDL_OK && !(*out = fdl_buf_detach(&path, NULL)))
        code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    fdl_buf_clear(&path);
    return code;
}

static fdl_code make_place(const fdl_s3 *s3, const char *key, const char *region, place *out, fdl_error *error) {
    out->tls = s3->endpoint.authority ? s3->endpoint.tls : true;
    fdl_code code = make_host(s3, region, &out->host, error);
    return code == FDL_OK ? make_path(s3, key, &out->path, error) : code;
}

static fdl_code make_url(const place *p, const char *query, char **out, fdl_error *error) {
    return fdl_str_format(out, error, "%s://%s%s%s%s", p->tls ? "https" : "http", p->host, p->path, *query ? "?" : "",
                          query);
}

/* ---- the region ----------------------------------------------------------- */

static void get_region(fdl_s3 *s3, char out[FDL_S3_REGION_BYTES]) {
    pthread_mutex_lock(&s3->lock);
    memcpy(out, s3->region, FDL_S3_REGION_BYTES);
    pthread_mutex_unlock(&s3->lock);
}

/* It becomes part of a host name: letters, digits and '-' only. */
static bool good_region(const char *region) {
    return *region && region[strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

/* The region an answer says the bucket is in; false when it says none, or the one we used. */
static bool other_region(const fdl_http_response *response, const char *used, char out[FDL_S3_REGION_BYTES]) {
    if (response->status != 301 && response->status != 307 && response->status != 400)
        return false;
    const char *named = fdl_http_get(&response->headers, "x-amz-bucket-region");
    bool told = named && fdl_str_fit(out, FDL_S3_REGION_BYTES, named);
    if (!told)
        told = fdl_s3_field(response->text.data, response->text.length, "Error", "Region", out, FDL_S3_REGION_BYTES);
    return told && good_region(out) && strcmp(out, used) != 0;
}

static void set_region(fdl_s3 *s3, const char *region) {
    pthread_mutex_lock(&s3->lock);
    bool changed = strcmp(s3->region, region) != 0;
    fdl_str_fit(s3->region, sizeof s3->region, region);
    pthread_mutex_unlock(&s3->lock);
    if (changed)
        fdl_note(s3->base.context, FDL_NOTE_DETAIL, "bucket '%s' is in region '%s'", s3->bucket, region);
}

/* ---- sending -------------------------------------------------------------- */

static fdl_sigv4_key signing_key(const fdl_s3 *s3, const char *region) {
    return (fdl_sigv4_key){s3->config.access_key, s3->config.secret_key, s3->config.session_token, region, "s3"};
}

static fdl_code make_headers(const fdl_s3 *s3, const place *p, const char *region, const fdl_remote_request *request,
                             fdl_http_headers *out, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; request->extra && i < request->extra->count && code == FDL_OK; i++)
        code = fdl_http_add(out, request->extra->items[i].name, request->extra->items[i].value, error);
    if (code != FDL_OK || !s3->config.access_key)
        return code;
    fdl_sigv4_key key = signing_key(s3, region);
    fdl_sigv4_request what = {.method = request->http.method,
                              .host = p->host,
                              .path = p->path,
                              .params = request->params,
                              .param_count = request->param_count,
                              .time_ms = fdl_now_ms()};
    return fdl_sigv4_sign(&key, &what, request->payload ? request->payload : EMPTY_SHA256, out, error);
}

static fdl_code send_to_region(fdl_s3 *s3, const char *region, const fdl_remote_request *request,
                               fdl_http_response *response, fdl_error *error) {
    place p = {0};
    char *query = NULL;
    char *url = NULL;
    fdl_http_headers headers = {0};
    fdl_http_request ready = request->http;
    fdl_code code = make_place(s3, request->key, region, &p, error);
    if (code == FDL_OK)
        code = fdl_sigv4_query(request->params, request->param_count, &query, error);
    if (code == FDL_OK)
        code = make_url(&p, query, &url, error);
    if (code == FDL_OK)
        code = make_headers(s3, &p, region, request, &headers, error);
    if (code == FDL_OK) {
        ready.url = url;
        ready.headers = &headers;
        code = fdl_http_send(s3->http, &ready, response, error);
    }
    fdl_http_headers_clear(&headers);
    free(url);
    free(query);
    place_clear(&p);
    return code;
}

fdl_code fdl_s3_send(fdl_remote *remote, const fdl_remote_request *request, fdl_http_response *response,
                     fdl_error *error) {
    fdl_s3 *s3 = of_remote(remote);
    char used[FDL_S3_REGION_BYTES];
    char told[FDL_S3_REGION_BYTES];
    get_region(s3, used);
    *response = (fdl_http_response){.outcome = FDL_HTTP_STOPPED};
    fdl_code code = send_to_region(s3, used, request, response, error);
    if (code != FDL_OK || !other_region(response, used, told))
        return code;
    fdl_http_response_clear(response);
    code = send_to_region(s3, told, request, response, error);
    /* Kept only once it proved right. */
    if (code == FDL_OK && response->status < 500 && !other_region(response, told, used))
        set_region(s3, told);
    return code;
}

/* ---- what an answer means ------------------------------------------------- */

typedef struct told {
    char code[64];
    char message[300];
    char region[FDL_S3_REGION_BYTES];
} told;

static void read_error(const fdl_http_response *response, told *out) {
    const char *text = response->text.data;
    size_t length = response->text.length;
    fdl_s3_field(text, length, "Error", "Code", out->code, sizeof out->code);
    fdl_s3_field(text, length, "Error", "Message", out->message, sizeof out->message);
    if (!fdl_s3_field(text, length, "Error", "Region", out->region, sizeof out->region)) {
        const char *region = fdl_http_get(&response->headers, "x-amz-bucket-region");
        fdl_str_fit(out->region, sizeof out->region, region ? region : "");
    }
}

/* How far our clock is from the server's, in milliseconds; 0 when it does not say. */
static int64_t skew_of(const fdl_http_response *response) {
    int64_t theirs = fdl_http_date(fdl_http_get(&response->headers, "Date"));
    return theirs ? fdl_now_ms() - theirs : 0;
}

static fdl_code explain_skew(const fdl_http_response *response, int64_t skew_ms, const char *key, fdl_error *error) {
    long long minutes = (long long)((skew_ms < 0 ? -skew_ms : skew_ms) / 60000);
    if (minutes == 0)
        return fdl_fail(error, FDL_FAILED, key, "'%s' says that this machine's clock is wrong: set the clock",
                        response->host);
    return fdl_fail(error, FDL_FAILED, key, "this machine's clock is %lld minutes %s that of '%s': set the clock",
                    minutes, skew_ms < 0 ? "behind" : "ahead of", response->host);
}

static fdl_code explain_denied(const fdl_s3 *s3, const fdl_http_response *response, const told *t, const char *key,
                               fdl_error *error) {
    const char *space = *t->code ? " " : "";
    const char *name = key ? key : s3->base.address;
    if (!s3->config.access_key)
        return fdl_fail(error, FDL_DENIED, key,
                        "'%s' denies '%s' (%d%s%s) without credentials, and %s has any: set AWS_ACCESS_KEY_ID and "
                        "AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
                        response->host, name, response->status, space, t->code, s3->config.credential_source);
    if (fdl_str_starts(t->code, "ExpiredToken") || strcmp(t->code, "TokenRefreshRequired") == 0)
        return fdl_fail(error, FDL_DENIED, key, "the credentials from %s have expired: get new ones",
                        s3->config.credential_source);
    return fdl_fail(error, FDL_DENIED, key, "'%s' denies '%s' (%d%s%s) to the credentials from %s", response->host,
                    name, response->status, space, t->code, s3->config.credential_source);
}

static bool is_credential_trouble(const told *t) {
    static const char *const codes[] = {"ExpiredToken",         "ExpiredTokenException", "InvalidToken",
                                        "TokenRefreshRequired", "InvalidAccessKeyId",    "SignatureDoesNotMatch"};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (strcmp(t->code, codes[i]) == 0)
            return true;
    }
    return false;
}

static fdl_code explain_other(const fdl_s3 *s3, const fdl_http_response *response, const told *t, const char *key,
                              fdl_error *error) {
    const char *name = key ? key : s3->base.address;
    if (*t->code)
        return fdl_fail(error, FDL_FAILED, key, "'%s' answers %d for '%s': %s, %s", response->host, response->status,
                        name, t->code, t->message);
    return fdl_fail(error, FDL_FAILED, key, "'%s' answers %d for '%s': is it an s3 endpoint?", response->host,
                    response->status, name);
}

bool fdl_s3_blocked(const fdl_http_response *response) {
    return response->status >= 400 &&
           (fdl_s3_error_is(response, "ObjectParentIsFile") || fdl_s3_error_is(response, "XMinioParentIsObject") ||
            fdl_s3_error_is(response, "ExistingObjectIsDirectory") ||
            fdl_s3_error_is(response, "XMinioObjectExistsAsDirectory"));
}

/* The objects on the way to the key are asked for, so that the message can name the one in its place. */
static fdl_code explain_blocked(fdl_remote *remote, const char *key, fdl_error *error) {
    char parent[FDL_KEY_LIMIT_BYTES];
    fdl_object ignored;
    fdl_error missing;
    for (const char *slash = strchr(key, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - key), key);
        if (fdl_remote_head(remote, parent, &ignored, &missing) == FDL_OK)
            return fdl_fail(error, FDL_CONFLICT, key,
                            "cannot store '%s': '%s' is an object, and this server keeps none below one", key, parent);
    }
    return fdl_fail(error, FDL_CONFLICT, key,
                    "cannot store '%s': there are objects below '%s/', and this server keeps none above them", key,
                    key);
}

fdl_code fdl_s3_explain(fdl_remote *remote, const fdl_remote_request *request, const fdl_http_response *response,
                        fdl_error *error) {
    const fdl_s3 *s3 = of_remote(remote);
    const char *key = request->key;
    int64_t skew_ms = skew_of(response);
    told t;
    read_error(response, &t);
    bool denied = response->status == 401 || response->status == 403 || is_credential_trouble(&t);
    /* HEAD has no body; there the dates alone tell. */
    if (strcmp(t.code, "RequestTimeTooSkewed") == 0 ||
        (denied && s3->config.access_key && !*t.code && (skew_ms > SKEW_MS || skew_ms < -SKEW_MS)))
        return explain_skew(response, skew_ms, key, error);
    if (fdl_s3_blocked(response) && key)
        return explain_blocked(remote, key, error);
    if (denied)
        return explain_denied(s3, response, &t, key, error);
    switch (response->status) {
    case 301:
    case 302:
    case 307:
    case 308:
    case 400:
        if (*t.region)
            return fdl_fail(error, FDL_FAILED, key, "bucket '%s' is in region '%s': set AWS_REGION to it", s3->bucket,
                            t.region);
        return explain_other(s3, response, &t, key, error);
    case 404:
        if (!key || strcmp(t.code, "NoSuchBucket") == 0)
            return fdl_fail(error, FDL_NOT_FOUND, key, "no bucket '%s' at '%s'", s3->bucket, response->host);
        return fdl_fail(error, FDL_NOT_FOUND, key, "no '%s' in '%s'", key, s3->base.address);
    case 501:
        return fdl_fail(error, FDL_UNSUPPORTED, key, "'%s' cannot do what was asked of '%s': %s, %s", response->host,
                        key ? key : s3->base.address, t.code, t.message);
    case 409:
    case 429:
    case 503:
        return fdl_fail(error, FDL_BUSY, key, "'%s' is busy (%d%s%s) and did not take '%s': try again later",
                        response->host, response->status, *t.code ? " " : "", t.code, key ? key : s3->base.address);
    default:
        return explain_other(s3, response, &t, key, error);
    }
}

/* ---- conditions ----------------------------------------------------------- */

bool fdl_s3_error_is(const fdl_http_response *response, const char *code) {
    char told_code[64];
    return fdl_s3_field(response->text.data, response->text.length, "Error", "Code", told_code, sizeof told_code) &&
           strcmp(told_code, code) == 0;
}

/* Stores differ in how they say it: 412, 304, or 404 when the object to match is gone. */
bool fdl_s3_condition_failed(const fdl_http_response *response, fdl_condition condition) {
    if (condition.kind == FDL_ALWAYS)
        return false;
    if (response->status == 412 || response->status == 304 || fdl_s3_error_is(response, "PreconditionFailed"))
        return true;
    return response->status == 404 && condition.kind == FDL_IF_MATCH && !fdl_s3_error_is(response, "NoSuchBucket") &&
           !fdl_s3_error_is(response, "NoSuchUpload");
}

bool fdl_s3_missing(const fdl_http_response *response) {
    return response->status == 404 && !fdl_s3_error_is(response, "NoSuchBucket");
}

/* ---- signed URLs ---------------------------------------------------------- */

static const fdl_s3 *of_store(fdl_store *store) {
    return strcmp(store->ops->kind, "s3") == 0 ? (const fdl_s3 *)store : NULL;
}

bool fdl_s3_describe(fdl_store *store, fdl_s3_place *out) {
    const fdl_s3 *s3 = of_store(store);
    if (!s3)
        return false;
    *out = (fdl_s3_place){.bucket = s3->bucket,
                          .prefix = s3->prefix,
                          .endpoint = s3->endpoint.authority,
                          .tls = s3->endpoint.authority ? s3->endpoint.tls : true,
                          .path_style = s3->path_style,
                          .anonymous = !s3->config.access_key,
                          .has_session_token = s3->config.session_token != NULL,
                          .credential_source = s3->config.credential_source};
    get_region((fdl_s3 *)store, out->region);
    return true;
}

fdl_code fdl_s3_presign(fdl_store *store, const char *method, const char *key, const fdl_http_headers *headers,
                        int64_t expires_s, char **url, fdl_error *error) {
    static const fdl_http_headers none;
    const fdl_s3 *s3 = of_store(store);
    if (!s3 || !s3->config.access_key)
        return fdl_fail(error, FDL_UNSUPPORTED, key, "'%s' gives no signed urls: that takes a bucket and credentials",
                        store->address);
    char region[FDL_S3_REGION_BYTES];
    char *query = NULL;
    place p = {0};
    get_region((fdl_s3 *)store, region);
    fdl_code code = fdl_key_check(key, error);
    if (code == FDL_OK)
        code = make_place(s3, key, region, &p, error);
    if (code == FDL_OK) {
        fdl_sigv4_key signer = signing_key(s3, region);
        fdl_sigv4_request what = {.method = method, .host = p.host, .path = p.path, .time_ms = fdl_now_ms()};
        code = fdl_sigv4_presign(&signer, &what, headers ? headers : &none, expires_s, &query, error);
    }
    if (code == FDL_OK)
        code = make_url(&p, query, url, error);
    free(query);
    place_clear(&p);
    return code;
}
