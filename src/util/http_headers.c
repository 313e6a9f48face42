/*
 * http_headers.c - the headers of a request or an answer, with limits, since
 * they come from strangers.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/curl.h"
#include "util/http.h"
#include "util/text.h"

fdl_code fdl_http_add_n(fdl_http_headers *headers, const char *name, size_t name_length, const char *value,
                        size_t value_length, fdl_error *error) {
    size_t total = headers->total_bytes + name_length + value_length + 4;
    if (headers->count >= FDL_HTTP_HEADER_LIMIT || total > FDL_HTTP_HEADERS_LIMIT_BYTES)
        return fdl_fail(error, FDL_FAILED, NULL, "more http headers than the limit of %d or %u bytes",
                        FDL_HTTP_HEADER_LIMIT, FDL_HTTP_HEADERS_LIMIT_BYTES);
    if (memchr(name, '\n', name_length) || memchr(value, '\n', value_length) || memchr(value, '\r', value_length))
        return fdl_fail(error, FDL_FAILED, NULL, "an http header with a line break in it");

    fdl_http_header made = {NULL, NULL};
    fdl_code code = fdl_grow(&headers->items, headers->count, sizeof made, error);
    if (code == FDL_OK)
        code = fdl_str_copy_n(&made.name, name, name_length, error);
    if (code == FDL_OK)
        code = fdl_str_copy_n(&made.value, value, value_length, error);
    if (code != FDL_OK) {
        free(made.name);
        return code;
    }
    headers->items[headers->count++] = made;
    headers->total_bytes = total;
    return FDL_OK;
}

fdl_code fdl_http_add(fdl_http_headers *headers, const char *name, const char *value, fdl_error *error) {
    return fdl_http_add_n(headers, name, strlen(name), value, strlen(value), error);
}

const char *fdl_http_get(const fdl_http_headers *headers, const char *name) {
    for (size_t i = 0; i < headers->count; i++) {
        if (strcasecmp(headers->items[i].name, name) == 0)
            return headers->items[i].value;
    }
    return NULL;
}

void fdl_http_headers_clear(fdl_http_headers *headers) {
    for (size_t i = 0; i < headers->count; i++) {
        free(headers->items[i].name);
        free(headers->items[i].value);
    }
    free(headers->items);
    *headers = (fdl_http_headers){0};
}

int64_t fdl_http_date(const char *text) {
    fdl_error ignored;
    time_t seconds = text && fdl_curl_open(&ignored) == FDL_OK ? fdl_curl.getdate(text, NULL) : -1;
    return seconds > 0 ? (int64_t)seconds * 1000 : 0;
}
