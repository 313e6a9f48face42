/*
 * request.c - a request's way through the host; request.h draws it.
 *
 * Refusals come before the body where they can.  A small body is read to its end
 * all the same: a client that is still sending when the connection closes never
 * sees why.
 */
#include "host/request.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/answer.h"
#include "host/host.h"
#include "host/log.h"
#include "host/route.h"
#include "util/ident.h"
#include "util/text.h"

#define DRAIN_LIMIT_BYTES (1u << 20)
#define SLOWEST_BYTES_PER_S 1024 /* on average, once it took longer than a connection may be silent */

const char *fdl_host_header(const fdl_host_request *request, const char *name) {
    return fdl_mhd.lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

/* ---- the target ---------------------------------------------------------------- */

/* The request line is here.  What is returned comes back with every later call. */
void *fdl_host_on_target(void *host, const char *target, struct MHD_Connection *connection) {
    fdl_host_request *request;
    size_t length = strlen(target);
    if (fdl_alloc(&request, 1, sizeof *request, NULL) != FDL_OK)
        return NULL;
    request->host = host;
    request->connection = connection;
    request->target_cut = length > FDL_HOST_TARGET_BYTES;
    fdl_buf_init(&request->body, FDL_HOST_SMALL_BODY_LIMIT_BYTES);
    if (fdl_str_copy_n(&request->target, target, request->target_cut ? FDL_HOST_TARGET_BYTES : length, NULL) != FDL_OK) {
        free(request);
        return NULL;
    }
    return request;
}

/* Key, kind and query.  The daemon's own decoding hides %2F and %00, so the target is decoded here, once. */
static fdl_code read_target(fdl_host_request *request, fdl_error *error) {
    const char *path = request->target;
    if (strcmp(path, "*") == 0 && request->method == FDL_METHOD_OPTIONS)
        path = "/";
    if (strncasecmp(path, "http://", 7) == 0 || strncasecmp(path, "https://", 8) == 0) { /* as to a proxy */
        path = strchr(path, ':') + 3;
        path += strcspn(path, "/?");
    }
    size_t length = strcspn(path, "?");
    const char *query = path[length] ? path + length + 1 : "";
    if (request->target_cut)
        return fdl_answer_fail(request, MHD_HTTP_URI_TOO_LONG, error, FDL_USAGE, NULL, "the path is too long");
    if (length == 0 || path[0] != '/')
        return fdl_fail(error, FDL_USAGE, NULL, "the path does not start with '/'");
    fdl_code code = fdl_host_key_decode(path + 1, length - 1, request->key, error);
    if (!fdl_str_fit(request->query, sizeof request->query, query))
        (void)fdl_str_fit(request->query, sizeof request->query, "?"); /* none of ours */
    if (code == FDL_OK)
        request->kind = fdl_host_key_kind(request->key, request->host->data_dir);
    return code;
}

/* ---- the headers ---------------------------------------------------------------- */

typedef struct framing {
    unsigned lengths;
    unsigned codings;
} framing;

static enum MHD_Result count_framing(void *data, enum MHD_ValueKind kind, const char *name, const char *value) {
    framing *found = data;
    (void)kind;
    (void)value;
    found->lengths += strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0;
    found->codings += strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0;
    return MHD_YES;
}

/* Where a body ends must not be a matter of opinion between us and a proxy in front of us. */
static fdl_code read_framing(fdl_host_request *request, fdl_error *error) {
    framing found = {0};
    fdl_mhd.get_connection_values(request->connection, MHD_HEADER_KIND, count_framing, &found);
    const char *coding = fdl_host_header(request, MHD_HTTP_HEADER_TRANSFER_ENCODING);
    const char *length = fdl_host_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    request->has_length = !coding;
    if (found.lengths + found.codings > 1 || (coding && strcasecmp(coding, "chunked") != 0)) {
        request->last = true;
        return fdl_fail(error, FDL_USAGE, NULL, "the request does not say plainly how long its body is");
    }
    for (const char *at = length; at && *at; at++) {
        if (!isdigit((unsigned char)*at) || request->length_bytes > (UINT64_MAX - 9) / 10) {
            request->last = true;
            return fdl_fail(error, FDL_USAGE, NULL, "Content-Length is no number");
        }
        request->length_bytes = request->length_bytes * 10 + (uint64_t)(*at - '0');
    }
    return FDL_OK;
}

static fdl_host_method method_of(const char *name) {
    static const struct {
        const char *name;
        fdl_host_method method;
    } methods[] = {{"GET", FDL_METHOD_GET},   {"HEAD", FDL_METHOD_HEAD},     {"PUT", FDL_METHOD_PUT},
                   {"POST", FDL_METHOD_POST}, {"DELETE", FDL_METHOD_DELETE}, {"OPTIONS", FDL_METHOD_OPTIONS}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(name, methods[i].name) == 0)
            return methods[i].method;
    return FDL_METHOD_OTHER;
}

/* The token of "Bearer <token>", or the password of "Basic <base64 of name:password>". */
static bool read_token(const char *header, char *token, size_t token_bytes) {
    size_t length;
    if (strncasecmp(header, "Bearer ", 7) == 0)
        return fdl_str_fit(token, token_bytes, header + 7);
    if (strncasecmp(header, "Basic ", 6) != 0 || !fdl_base64_decode(header + 6, token, token_bytes - 1, &length))
        return false;
    token[length] = '\0';
    const char *colon = strchr(token, ':');
    if (!colon)
        return false;
    memmove(token, colon + 1, strlen(colon + 1) + 1);
    return true;
}

static fdl_code read_role(fdl_host_request *request, fdl_error *error) {
    char token[512];
    const fdl_host *host = request->host;
    const char *header = fdl_host_header(request, MHD_HTTP_HEADER_AUTHORIZATION);
    request->role = host->options.reading_needs_token ? FDL_ROLE_NONE : FDL_ROLE_READ;
    if (!header || !host->options.tokens)
        return FDL_OK;
    fdl_host_role role = FDL_ROLE_NONE;
    if (read_token(header, token, sizeof token))
        role = fdl_host_tokens_find(&request->host->tokens, token, request->who);
    if (role == FDL_ROLE_NONE)
        return fdl_answer_fail(request, MHD_HTTP_UNAUTHORIZED, error, FDL_DENIED, NULL,
                               "this host does not know the token; ask its owner for one");
    request->role = role;
    return FDL_OK;
}

/* ---- what is to be done ----------------------------------------------------------- */

static fdl_code check_role(fdl_host_request *request, fdl_error *error) {
    static const char *const names[] = {"", "read", "write", "approve"};
    const fdl_host_options *options = &request->host->options;
    fdl_host_role needed = request->route->role;
    bool reading = request->method & (FDL_METHOD_GET | FDL_METHOD_HEAD);
    if (request->kind == FDL_KIND_SOURCE && reading && options->public_sources)
        needed = FDL_ROLE_READ;
    if (request->role >= needed)
        return FDL_OK;
    if (!options->tokens && !reading)
        return fdl_answer_fail(request, MHD_HTTP_METHOD_NOT_ALLOWED, error, FDL_UNSUPPORTED, request->key,
                               "this host takes no writes: it was started without --tokens");
    if (!options->tokens)
        return fdl_answer_fail(request, MHD_HTTP_FORBIDDEN, error, FDL_DENIED, request->key,
                               "'%s' is not public on this host", request->key);
    if (!request->who[0])
        return fdl_fail(error, FDL_DENIED, request->key, "this needs a token of role %s: set FDL_TOKEN", names[needed]);
    return fdl_fail(error, FDL_DENIED, request->key, "the token '%s' is of role %s, and this needs %s", request->who,
                    names[request->role], names[needed]);
}

static fdl_code find_route(fdl_host_request *request, fdl_error *error) {
    static const struct {
        fdl_host_method method;
        const char *name;
    } all[] = {{FDL_METHOD_GET, "GET"},   {FDL_METHOD_HEAD, "HEAD"},     {FDL_METHOD_PUT, "PUT"},
               {FDL_METHOD_POST, "POST"}, {FDL_METHOD_DELETE, "DELETE"}, {FDL_METHOD_OPTIONS, "OPTIONS"}};
    char allowed[64] = "";
    unsigned methods;
    request->route = fdl_host_route_find(request, &methods);
    if (request->route)
        return FDL_OK;
    if (!methods)
        return fdl_fail(error, FDL_NOT_FOUND, request->key, "no '%s' here", request->key);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!(methods & all[i].method))
            continue;
        size_t at = strlen(allowed);
        (void)fdl_str_fit(allowed + at, sizeof allowed - at, at ? ", " : "");
        at = strlen(allowed);
        (void)fdl_str_fit(allowed + at, sizeof allowed - at, all[i].name);
    }
    fdl_code code = fdl_answer_fail(request, MHD_HTTP_METHOD_NOT_ALLOWED, error, FDL_UNSUPPORTED, request->key,
                                    "'%s' does not take %s here", request->key, request->method_name);
    fdl_answer_header(request, MHD_HTTP_HEADER_ALLOW, allowed);
    return code;
}

static uint64_t body_limit(const fdl_host_request *request) {
    switch (request->route->body) {
    case FDL_BODY_SMALL:
        return FDL_HOST_SMALL_BODY_LIMIT_BYTES;
    case FDL_BODY_STREAMED:
        return request->host->options.limits.upload_bytes;
    default:
        return 0;
    }
}

static fdl_code too_large(fdl_host_request *request, fdl_error *error) {
    return fdl_answer_fail(request, MHD_HTTP_CONTENT_TOO_LARGE, error, FDL_REFUSED, request->key,
                           "the body is larger than the %llu bytes that this host takes here",
                           (unsigned long long)body_limit(request));
}

static fdl_code begin(fdl_host_request *request, const char *method, fdl_error *error) {
    request->began_ms = fdl_now_ms();
    request->method = method_of(method);
    if (!fdl_str_fit(request->method_name, sizeof request->method_name, method))
        (void)fdl_str_fit(request->method_name, sizeof request->method_name, "?");
    fdl_code code = read_framing(request, error);
    if (code == FDL_OK)
        code = read_target(request, error);
    if (code == FDL_OK)
        code = read_role(request, error);
    if (code == FDL_OK)
        code = find_route(request, error);
    if (code == FDL_OK)
        code = check_role(request, error);
    if (code == FDL_OK && request->length_bytes > body_limit(request))
        code = too_large(request, error);
    if (code == FDL_OK && request->route->begin)
        code = request->route->begin(request, error);
    return code;
}

static void refuse(fdl_host_request *request, const fdl_error *error) {
    request->refused = true;
    if (!request->told)
        fdl_answer_error(request, 0, error);
}

static enum MHD_Result on_headers(fdl_host_request *request, const char *method) {
    fdl_error error;
    request->state = FDL_REQUEST_BODY;
    request->counted = true;
    atomic_fetch_add(&request->host->in_flight, 1);
    fdl_host_connection_busy(&request->host->connections, request->connection, true);
    if (begin(request, method, &error) == FDL_OK)
        return MHD_YES;
    refuse(request, &error);
    if (!request->last && request->has_length && request->length_bytes <= DRAIN_LIMIT_BYTES &&
        !(request->length_bytes && fdl_host_header(request, MHD_HTTP_HEADER_EXPECT)))
        return MHD_YES;
    request->last = true;
    return fdl_answer_send(request);
}

/* A body that drips keeps the daemon's clock for silence from ever striking. */
static bool too_slow(const fdl_host_request *request) {
    int64_t took_s = (fdl_now_ms() - request->began_ms) / 1000;
    return took_s > (int64_t)request->host->options.limits.idle_s &&
           request->received_bytes < (uint64_t)took_s * SLOWEST_BYTES_PER_S;
}

static enum MHD_Result on_piece(fdl_host_request *request, const char *bytes, size_t length) {
    fdl_error error;
    request->received_bytes += length;
    if (too_slow(request))
        return MHD_NO;
    if (request->refused) /* a body of known length ends by itself */
        return request->has_length || request->received_bytes < DRAIN_LIMIT_BYTES ? MHD_YES : MHD_NO;
    fdl_code code = FDL_OK;
    if (request->received_bytes > body_limit(request))
        code = too_large(request, &error);
    else if (request->route->body == FDL_BODY_SMALL)
        code = fdl_buf_add(&request->body, bytes, length, &error);
    else
        code = request->route->piece(request, bytes, length, &error);
    if (code != FDL_OK)
        refuse(request, &error);
    return MHD_YES;
}

/* ---- the answer ------------------------------------------------------------------- */

static void make_answer(fdl_host_request *request) {
    fdl_error error;
    fdl_code code = request->route->answer(request, &error);
    if (code == FDL_OK && !request->response)
        code = fdl_fail(&error, FDL_FAILED, request->key, "the host found no answer for '%s'", request->key);
    if (code != FDL_OK && !request->told)
        fdl_answer_error(request, 0, &error);
}

static void run_on_worker(fdl_host_task *task, fdl_repo *repo) {
    fdl_host_request *request = (fdl_host_request *)((char *)task - offsetof(fdl_host_request, task));
    request->repo = repo;
    make_answer(request);
    request->repo = NULL;
    request->state = FDL_REQUEST_ANSWERED;
    fdl_host_resume(request->host, request->connection);
}

static enum MHD_Result on_complete(fdl_host_request *request) {
    fdl_error error;
    fdl_host *host = request->host;
    if (request->refused || request->state == FDL_REQUEST_ANSWERED)
        return fdl_answer_send(request);
    fdl_host_lane lane = request->route->lane;
    if (lane == FDL_LANE_HERE || (lane == FDL_LANE_READ_OBJECT && host->root.fd >= 0)) {
        make_answer(request);
        return fdl_answer_send(request);
    }
    request->state = FDL_REQUEST_WORKING;
    request->task.run = run_on_worker;
    fdl_mhd.suspend_connection(request->connection);
    if (fdl_host_pool_add(lane == FDL_LANE_WRITE ? host->writers : host->readers, &request->task))
        return MHD_YES;
    fdl_fail(&error, FDL_BUSY, NULL, "this host has too much to do: try again in a few seconds");
    fdl_answer_error(request, 0, &error);
    request->state = FDL_REQUEST_ANSWERED;
    fdl_host_resume(request->host, request->connection);
    return MHD_YES;
}

enum MHD_Result fdl_host_on_request(void *host, struct MHD_Connection *connection, const char *url, const char *method,
                                    const char *version, const char *upload, size_t *upload_bytes, void **context) {
    fdl_host_request *request = *context;
    (void)host;
    (void)connection;
    (void)url;
    (void)version;
    if (!request)
        return MHD_NO;
    if (request->state == FDL_REQUEST_NEW)
        return on_headers(request, method);
    if (*upload_bytes > 0) {
        enum MHD_Result result = on_piece(request, upload, *upload_bytes);
        *upload_bytes = 0;
        return result;
    }
    return request->state == FDL_REQUEST_WORKING ? MHD_YES : on_complete(request);
}

void fdl_host_on_end(void *host, struct MHD_Connection *connection, void **context,
                     enum MHD_RequestTerminationCode how) {
    fdl_host *self = host;
    fdl_host_request *request = *context;
    bool complete = how == MHD_REQUEST_TERMINATED_COMPLETED_OK;
    if (!request)
        return;
    *context = NULL;
    fdl_host_log_request(request, complete);
    fdl_host_metrics_count(&self->metrics, request, complete);
    if (request->route && request->route->end)
        request->route->end(request);
    fdl_answer_drop(request);
    fdl_buf_clear(&request->body);
    if (request->counted) {
        fdl_host_connection_busy(&self->connections, connection, false);
        atomic_fetch_sub(&self->in_flight, 1);
    }
    free(request->target);
    free(request);
}
