/*
 * http.c - a repository behind a web server or an fdl host.
 *
 * To read, nothing is asked of the server but GET and HEAD with Content-Length;
 * ranges and ETags make reading cheaper and safer where it has them.  To write,
 * it must take PUT and DELETE and honour their conditions.  It lists nothing.
 *
 * Who we are is said by FDL_TOKEN, else by ~/.netrc, to the host of the address
 * alone.
 */
#include <stdlib.h>
#include <string.h>

#include "store/backends.h"
#include "store/http_internal.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/text.h"
#include "util/url.h"

/* A host checks a version in full before it answers for the ref. */
#define WRITE_IDLE_S 600

static fdl_http_store *of_remote(fdl_remote *remote) {
    return (fdl_http_store *)((char *)remote - offsetof(fdl_http_store, remote));
}

/* ---- sending -------------------------------------------------------------- */

/* The address is a URL already and stays as it is; the key is literal; a host's questions are a word without value. */
static fdl_code make_url(const fdl_http_store *self, const fdl_remote_request *request, fdl_buf *url,
                         fdl_error *error) {
    fdl_code code = fdl_buf_add_str(url, self->base.address, error);
    if (code == FDL_OK && request->key)
        code = fdl_url_add_path(url, request->key, error);
    return code == FDL_OK && request->param_count ? fdl_buf_add_format(url, error, "?%s", request->params->name) : code;
}

static fdl_code send_once(fdl_remote *remote, const fdl_remote_request *request, fdl_http_response *response,
                          fdl_error *error) {
    fdl_http_store *self = of_remote(remote);
    fdl_http_headers headers = {0};
    fdl_buf url;
    fdl_buf_init(&url, 16 << 10);
    fdl_code code = make_url(self, request, &url, error);
    for (size_t i = 0; code == FDL_OK && request->extra && i < request->extra->count; i++)
        code = fdl_http_add(&headers, request->extra->items[i].name, request->extra->items[i].value, error);
    if (code == FDL_OK && self->bearer)
        code = fdl_http_add(&headers, "Authorization", self->bearer, error);
    if (code == FDL_OK) {
        fdl_http_request ready = request->http;
        ready.url = url.data;
        ready.headers = &headers;
        ready.follow = true;
        ready.netrc = !self->bearer;
        code = fdl_http_send(self->http, &ready, response, error);
    }
    fdl_http_headers_clear(&headers);
    fdl_buf_clear(&url);
    return code;
}

/* ---- what an answer means ------------------------------------------------- */

/* {"error":{"code","message","key"?}}, as fdl's own hosts word it. */
typedef struct told {
    fdl_code code; /* FDL_OK: it said nothing that we understand */
    char message[FDL_MESSAGE_LIMIT_BYTES / 2];
    char key[FDL_KEY_LIMIT_BYTES];
} told;

static void listen_to(const fdl_http_response *response, told *out) {
    fdl_error said;
    const char *text = response->text.data ? response->text.data : "";
    *out = (told){.code = fdl_json_error(text, response->text.length, &said)};
    if (out->code == FDL_OK)
        return;
    if (!fdl_str_fit(out->message, sizeof out->message, said.message))
        fdl_str_fit(out->message, sizeof out->message, fdl_code_name(out->code));
    fdl_str_fit(out->key, sizeof out->key, said.key);
}

bool fdl_http_gives_reason(const fdl_http_response *response) {
    told t;
    listen_to(response, &t);
    return t.code != FDL_OK;
}

static bool missing(const fdl_http_response *response) {
    return response->status == 404 || response->status == 410;
}

static bool refused(const fdl_http_response *response, fdl_condition condition) {
    if (condition.kind == FDL_ALWAYS)
        return false;
    return response->status == 412 || response->status == 304 ||
           (missing(response) && condition.kind == FDL_IF_MATCH);
}

/* A host that gives its reason in our words means it; a bare 409 is another write under way. */
static bool stays(const fdl_http_response *response) {
    told t;
    if (response->status != 409)
        return false;
    listen_to(response, &t);
    return t.code != FDL_OK && t.code != FDL_BUSY;
}

static fdl_code explain_denied(const fdl_http_store *self, const fdl_http_response *response, const char *what,
                               const char *key, fdl_error *error) {
    told t;
    listen_to(response, &t);
    if (response->status == 401 && self->bearer)
        return fdl_fail(error, FDL_DENIED, key,
                        "'%s' does not know the token in FDL_TOKEN (401): set FDL_TOKEN to one that may %s",
                        response->host, what);
    if (response->status == 401)
        return fdl_fail(error, FDL_DENIED, key,
                        "'%s' wants to know who we are before we %s '%s' (401): set FDL_TOKEN, or name a token in "
                        "~/.netrc; ask its owner for one",
                        response->host, what, key && *key ? key : self->base.address);
    return fdl_fail(error, FDL_DENIED, key,
                    "'%s' does not let us %s '%s' (403%s%s): set FDL_TOKEN to a token that may, or ask its owner for "
                    "one",
                    response->host, what, key && *key ? key : self->base.address, t.message[0] ? ", " : "", t.message);
}

static fdl_code explain_read(const fdl_http_store *self, const fdl_http_response *response, const char *key,
                             fdl_error *error) {
    switch (response->status) {
    case 404:
    case 410:
        return fdl_fail(error, FDL_NOT_FOUND, key, "no '%s' at '%s'", key, self->base.address);
    case 401:
    case 403:
        return explain_denied(self, response, "read", key, error);
    case 429:
    case 503:
        return fdl_fail(error, FDL_BUSY, key, "'%s' is overloaded (%d) and did not give '%s': try again later",
                        response->host, response->status, key);
    default:
        return fdl_fail(error, FDL_FAILED, key, "'%s' answers %d for '%s': check the address, or try again later",
                        response->host, response->status, key);
    }
}

/* The key of the error becomes that of the request, where its number is told. */
static fdl_code explain_waiting(const fdl_http_response *response, const char *key, fdl_error *error) {
    char request[64] = "";
    json_t *document = NULL;
    int64_t number = 0;
    if (fdl_json_parse(response->text.data, response->text.length, "", &document, NULL) == FDL_OK &&
        fdl_json_count(document, "", "request", &number, NULL) == FDL_OK)
        snprintf(request, sizeof request, "refs/requests/%lld", (long long)number);
    json_decref(document);
    return fdl_fail(error, FDL_WAITING, request[0] ? request : key, "'%s' wrote '%s' down%s%s, to be approved",
                    response->host, key, request[0] ? " as " : "", request);
}

static fdl_code explain_write(const fdl_http_store *self, const fdl_http_response *response, const char *key,
                              fdl_error *error) {
    const char *host = response->host;
    const char *name = key ? key : self->base.address;
    const char *elsewhere = fdl_http_get(&response->headers, "Location");
    told t;
    listen_to(response, &t);
    if (response->status == 202 && key)
        return explain_waiting(response, key, error);
    if (response->status == 401 || response->status == 403)
        return explain_denied(self, response, "write", key, error);
    if (t.code != FDL_OK)
        return fdl_fail(error, t.code, t.key[0] ? t.key : key, "%s", t.message);
    if (response->status >= 300 && response->status < 400)
        return fdl_fail(error, FDL_FAILED, key, "'%s' sends the write of '%s' elsewhere ('%s'): use that address", host,
                        name, elsewhere ? elsewhere : "?");
    switch (response->status) {
    case 404:
    case 405:
    case 501:
        return fdl_fail(error, FDL_UNSUPPORTED, key,
                        "'%s' takes no writes (%d); name a folder, a bucket or an fdl host", self->base.address,
                        response->status);
    case 412:
        return fdl_fail(error, FDL_CONFLICT, key, "'%s' is not what '%s' expects (412)", name, host);
    case 413:
        return fdl_fail(error, FDL_REFUSED, key, "'%s' takes no file as large as '%s' (413)", host, name);
    case 409:
    case 429:
    case 503:
        return fdl_fail(error, FDL_BUSY, key, "'%s' is busy (%d) and did not take '%s': try again later", host,
                        response->status, name);
    default:
        return fdl_fail(error, FDL_FAILED, key, "'%s' answers %d to writing '%s': try again later", host,
                        response->status, name);
    }
}

static fdl_code explain(fdl_remote *remote, const fdl_remote_request *request, const fdl_http_response *response,
                        fdl_error *error) {
    const fdl_http_store *self = of_remote(remote);
    const char *method = request->http.method;
    bool reads = strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
    return reads ? explain_read(self, response, request->key, error)
                 : explain_write(self, response, request->key, error);
}

int64_t fdl_http_ahead_ms(const fdl_http_response *response) {
    int64_t theirs = fdl_http_date(fdl_http_get(&response->headers, "Date"));
    return theirs ? theirs - fdl_now_ms() : 0;
}

/* ---- short operations ----------------------------------------------------- */

static fdl_code http_get(fdl_store *store, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                         fdl_object *object, fdl_error *error) {
    return fdl_remote_get(&((fdl_http_store *)store)->remote, key, range, sink, sink_data, object, error);
}

static fdl_code http_head(fdl_store *store, const char *key, fdl_object *object, fdl_error *error) {
    return fdl_remote_head(&((fdl_http_store *)store)->remote, key, object, error);
}

static fdl_code http_remove(fdl_store *store, const char *key, fdl_condition condition, fdl_error *error) {
    return fdl_remote_remove(&((fdl_http_store *)store)->remote, key, condition, error);
}

/* store.c answers for this while can_list is false. */
static fdl_code http_list(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback,
                          void *data, fdl_error *error) {
    (void)depth;
    (void)callback;
    (void)data;
    return fdl_fail(error, FDL_UNSUPPORTED, prefix, "'%s' cannot list what it holds; name the folder or bucket itself", store->address);
}

static void http_free(fdl_store *store) {
    fdl_http_store *self = (fdl_http_store *)store;
    fdl_http_forget(self);
    fdl_http_free(self->http);
    pthread_mutex_destroy(&self->lock);
    free(self->bearer);
    free(self->base.address);
    free(self);
}

static const fdl_store_ops http_ops = {
    .kind = "http",
    .get = http_get,
    .head = http_head,
    .put = fdl_http_put,
    .announce = fdl_http_announce,
    .vouched = fdl_http_vouched,
    .remove = http_remove,
    .list = http_list,
    .free = http_free,
};

/* ---- opening -------------------------------------------------------------- */

/* Scheme and host in lower case, one final '/'. */
static fdl_code canonical(const char *address, char **out, fdl_error *error) {
    fdl_url url = {0};
    fdl_code code = fdl_url_parse(address, &url, error);
    if (code == FDL_OK)
        code = fdl_str_format(out, error, "%s://%s%s%s", url.tls ? "https" : "http", url.authority, url.path,
                              fdl_str_ends(url.path, "/") ? "" : "/");
    fdl_url_clear(&url);
    return code;
}

static fdl_code read_token(char **bearer, fdl_error *error) {
    const char *token = getenv("FDL_TOKEN");
    if (!token || !*token)
        return FDL_OK;
    for (const char *at = token; *at; at++) {
        if (*at <= ' ' || *at > '~')
            return fdl_fail(error, FDL_USAGE, NULL, "FDL_TOKEN holds a character that no token has: set it anew");
    }
    return fdl_str_format(bearer, error, "Bearer %s", token);
}

fdl_code fdl_store_open_http(const fdl_context *context, const char *address, fdl_store **out, fdl_error *error) {
    fdl_http_store *self;
    fdl_code code = fdl_alloc(&self, 1, sizeof *self, error);
    if (code != FDL_OK)
        return code;
    pthread_mutex_init(&self->lock, NULL);
    self->base.ops = &http_ops;
    self->base.context = context;
    self->remote = (fdl_remote){.send = send_once,
                                .stays = stays,
                                .refused = refused,
                                .missing = missing,
                                .explain = explain,
                                .plain = true,
                                .write_idle_limit_s = WRITE_IDLE_S};
    code = canonical(address, &self->base.address, error);
    if (code == FDL_OK)
        code = read_token(&self->bearer, error);
    if (code == FDL_OK)
        code = fdl_http_open(NULL, &self->http, error);
    if (code != FDL_OK) {
        http_free(&self->base);
        return code;
    }
    *out = &self->base;
    return FDL_OK;
}
