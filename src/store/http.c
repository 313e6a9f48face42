/*
 * http.c - a repository behind any web server, to read from.
 *
 * Nothing is asked of the server but GET and HEAD with Content-Length; ranges
 * and ETags make reading cheaper and safer where it has them.  It takes no
 * writes and lists nothing; store.c says so before a call gets here.
 */
#include <stdlib.h>
#include <string.h>

#include "store/backends.h"
#include "store/remote.h"
#include "util/text.h"
#include "util/url.h"

typedef struct http_store {
    fdl_store base;
    fdl_remote remote;
    fdl_http *http;
} http_store;

static http_store *of_remote(fdl_remote *remote) {
    return (http_store *)((char *)remote - offsetof(http_store, remote));
}

/* The address is a URL already and stays as it is; the key is literal. */
static fdl_code send_once(fdl_remote *remote, const fdl_remote_request *request, fdl_http_response *response,
                          fdl_error *error) {
    http_store *self = of_remote(remote);
    fdl_buf url;
    fdl_buf_init(&url, 16 << 10);
    fdl_code code = fdl_buf_add_str(&url, self->base.address, error);
    if (code == FDL_OK)
        code = fdl_url_add_path(&url, request->key, error);
    if (code == FDL_OK) {
        fdl_http_request ready = request->http;
        ready.url = url.data;
        ready.headers = request->extra;
        ready.follow = true;
        code = fdl_http_send(self->http, &ready, response, error);
    }
    fdl_buf_clear(&url);
    return code;
}

static fdl_code explain(fdl_remote *remote, const fdl_remote_request *request, const fdl_http_response *response,
                        fdl_error *error) {
    const char *address = of_remote(remote)->base.address;
    const char *key = request->key;
    switch (response->status) {
    case 404:
    case 410:
        return fdl_fail(error, FDL_NOT_FOUND, key, "no '%s' at '%s'", key, address);
    case 401:
    case 403:
        return fdl_fail(error, FDL_DENIED, key, "'%s' does not let us read '%s' (%d): ask its owner for access",
                        response->host, key, response->status);
    case 429:
    case 503:
        return fdl_fail(error, FDL_BUSY, key, "'%s' is overloaded (%d) and did not give '%s': try again later",
                        response->host, response->status, key);
    default:
        return fdl_fail(error, FDL_FAILED, key, "'%s' answers %d for '%s': check the address, or try again later",
                        response->host, response->status, key);
    }
}

static fdl_code http_get(fdl_store *store, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                         fdl_object *object, fdl_error *error) {
    return fdl_remote_get(&((http_store *)store)->remote, key, range, sink, sink_data, object, error);
}

static fdl_code http_head(fdl_store *store, const char *key, fdl_object *object, fdl_error *error) {
    return fdl_remote_head(&((http_store *)store)->remote, key, object, error);
}

/* store.c answers for these while can_write and can_list are false. */
static fdl_code http_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                         fdl_object *object, fdl_error *error) {
    (void)source;
    (void)condition;
    (void)object;
    return fdl_fail(error, FDL_UNSUPPORTED, key, "'%s' takes no writes", store->address);
}

static fdl_code http_remove(fdl_store *store, const char *key, fdl_condition condition, fdl_error *error) {
    (void)condition;
    return fdl_fail(error, FDL_UNSUPPORTED, key, "'%s' takes no writes", store->address);
}

static fdl_code http_list(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback,
                          void *data, fdl_error *error) {
    (void)depth;
    (void)callback;
    (void)data;
    return fdl_fail(error, FDL_UNSUPPORTED, prefix, "'%s' cannot list what it holds", store->address);
}

static void http_free(fdl_store *store) {
    http_store *self = (http_store *)store;
    fdl_http_free(self->http);
    free(self->base.address);
    free(self);
}

static const fdl_store_ops http_ops = {
    .kind = "http",
    .get = http_get,
    .head = http_head,
    .put = http_put,
    .remove = http_remove,
    .list = http_list,
    .free = http_free,
};

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

fdl_code fdl_store_open_http(const fdl_context *context, const char *address, fdl_store **out, fdl_error *error) {
    http_store *self;
    fdl_code code = fdl_alloc(&self, 1, sizeof *self, error);
    if (code != FDL_OK)
        return code;
    self->base.ops = &http_ops;
    self->base.context = context;
    self->remote.send = send_once;
    self->remote.explain = explain;
    code = canonical(address, &self->base.address, error);
    if (code == FDL_OK)
        code = fdl_http_open(NULL, &self->http, error);
    if (code != FDL_OK) {
        http_free(&self->base);
        return code;
    }
    *out = &self->base;
    return FDL_OK;
}
