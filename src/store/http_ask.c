/* http_ask.c - see http.h. */
#include "store/http.h"

#include <string.h>

#include "store/http_internal.h"

#define ANSWER_LIMIT_BYTES (64u << 20)

static fdl_code no_host(const fdl_store *store, fdl_error *error) {
    return fdl_fail(error, FDL_UNSUPPORTED, NULL, "'%s' is no fdl host that keeps requests", store->address);
}

static fdl_code ask(fdl_http_store *self, const char *method, const char *key, const char *word, const char *body,
                    fdl_http_response *response, fdl_error *error) {
    fdl_http_headers headers = {0};
    fdl_sigv4_param param = {.name = word};
    fdl_http_body bytes = {.bytes = body ? body : "", .fd = -1, .length_bytes = body ? strlen(body) : 0};
    bool reads = strcmp(method, "GET") == 0;
    fdl_remote_request request = {
        .http = {.method = method, .body = reads ? NULL : &bytes, .once = !reads, .text_limit_bytes = ANSWER_LIMIT_BYTES},
        .key = key,
        .extra = &headers,
        .params = &param,
        .param_count = 1,
    };
    fdl_code code = body ? fdl_http_add(&headers, "Content-Type", "application/json", error) : FDL_OK;
    if (code == FDL_OK)
        code = fdl_remote_call(&self->remote, &request, response, error);
    if (code == FDL_OK && !fdl_remote_success(response)) {
        bool unknown = response->status == 405 || response->status == 501 || (reads && response->status == 404);
        code = unknown ? no_host(&self->base, error)
                       : self->remote.explain(&self->remote, &request, response, error);
    }
    fdl_http_headers_clear(&headers);
    return code;
}

fdl_code fdl_http_ask(fdl_store *store, const char *method, const char *key, const char *word, const char *body,
                      char **out, size_t *length_bytes, fdl_error *error) {
    fdl_http_response response = {0};
    if (strcmp(store->ops->kind, "http") != 0)
        return no_host(store, error);
    fdl_code code = ask((fdl_http_store *)store, method, key, word, body, &response, error);
    if (code == FDL_OK && !(*out = fdl_buf_detach(&response.text, length_bytes)))
        code = fdl_fail(error, FDL_FAILED, key, "out of memory");
    fdl_http_response_clear(&response);
    return code;
}
