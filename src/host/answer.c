/*
 * answer.c - answers, and the headers that all of them have.
 */
#include "host/answer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/host.h"
#include "util/json.h"
#include "util/text.h"

void fdl_answer_drop(fdl_host_request *request) {
    if (request->response)
        fdl_mhd.destroy_response(request->response);
    request->response = NULL;
    request->status = 0;
    request->answer_bytes = 0;
    request->cache = NULL;
}

fdl_code fdl_answer_response(fdl_host_request *request, unsigned status, struct MHD_Response *response,
                             uint64_t body_bytes, fdl_error *error) {
    fdl_answer_drop(request);
    if (!response)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    request->response = response;
    request->status = status;
    request->answer_bytes = body_bytes;
    return FDL_OK;
}

fdl_code fdl_answer_bytes(fdl_host_request *request, unsigned status, const char *content_type, const char *bytes,
                          size_t length_bytes, fdl_error *error) {
    struct MHD_Response *response =
        fdl_mhd.create_response_from_buffer(length_bytes, (void *)(uintptr_t)bytes, MHD_RESPMEM_MUST_COPY);
    fdl_code code = fdl_answer_response(request, status, response, length_bytes, error);
    if (code == FDL_OK && content_type)
        fdl_answer_header(request, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    return code;
}

fdl_code fdl_answer_json(fdl_host_request *request, unsigned status, json_t *document, fdl_error *error) {
    char *text = NULL;
    size_t length = 0;
    fdl_code code = document ? fdl_json_write(document, &text, &length, error)
                             : fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    if (code == FDL_OK)
        code = fdl_answer_bytes(request, status, "application/json", text, length, error);
    free(text);
    json_decref(document);
    return code;
}

fdl_code fdl_answer_file(fdl_host_request *request, unsigned status, int fd, uint64_t offset_bytes,
                         uint64_t length_bytes, fdl_error *error) {
    struct MHD_Response *response = fdl_mhd.create_response_from_fd_at_offset64(length_bytes, fd, offset_bytes);
    if (!response)
        close(fd);
    return fdl_answer_response(request, status, response, length_bytes, error);
}

void fdl_answer_header(fdl_host_request *request, const char *name, const char *value) {
    if (request->response)
        (void)fdl_mhd.add_response_header(request->response, name, value);
}

/* ---- errors ------------------------------------------------------------------ */

static unsigned status_of(const fdl_host_request *request, fdl_code code) {
    switch (code) {
    case FDL_USAGE:
        return MHD_HTTP_BAD_REQUEST;
    case FDL_CONFLICT:
    case FDL_REFUSED:
    case FDL_EXPIRED:
        return MHD_HTTP_CONFLICT;
    case FDL_NOT_FOUND:
        return MHD_HTTP_NOT_FOUND;
    case FDL_BUSY:
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    case FDL_DENIED:
        return request->who[0] ? MHD_HTTP_FORBIDDEN : MHD_HTTP_UNAUTHORIZED;
    case FDL_UNSUPPORTED:
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    default:
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}

void fdl_answer_error(fdl_host_request *request, unsigned status, const fdl_error *error) {
    fdl_error worse;
    json_t *document =
        json_pack("{s:{s:s, s:s, s:s*}}", "error", "code", fdl_code_name(error->code), "message", error->message,
                  "key", error->key[0] ? error->key : NULL);
    status = status ? status : status_of(request, error->code);
    if (fdl_answer_json(request, status, document, &worse) != FDL_OK &&
        fdl_answer_bytes(request, status, NULL, "", 0, &worse) != FDL_OK)
        return; /* no memory at all: fdl_answer_send ends the connection */
    if (status == MHD_HTTP_UNAUTHORIZED)
        fdl_answer_header(request, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"fdl\", Basic realm=\"fdl\"");
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        fdl_answer_header(request, MHD_HTTP_HEADER_RETRY_AFTER, "5");
}

fdl_code fdl_answer_fail(fdl_host_request *request, unsigned status, fdl_error *error, fdl_code code, const char *key,
                         const char *format, ...) {
    char line[FDL_MESSAGE_LIMIT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    fdl_fail(error, code, key, "%s", line);
    fdl_answer_error(request, status, error);
    request->told = true;
    return code;
}

/* ---- sending ----------------------------------------------------------------- */

enum MHD_Result fdl_answer_send(fdl_host_request *request) {
    if (!request->response)
        return MHD_NO;
    fdl_answer_header(request, MHD_HTTP_HEADER_CACHE_CONTROL, request->cache ? request->cache : "no-store");
    fdl_answer_header(request, "X-Content-Type-Options", "nosniff");
    fdl_answer_header(request, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    fdl_answer_header(request, "Access-Control-Expose-Headers",
                      "Accept-Ranges, Content-Length, Content-Range, ETag, FDL-Version, Last-Modified, Retry-After");
    if (request->last || atomic_load(&request->host->stopping))
        fdl_answer_header(request, MHD_HTTP_HEADER_CONNECTION, "close");
    return fdl_mhd.queue_response(request->connection, request->status, request->response);
}
