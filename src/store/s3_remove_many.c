/*
 * s3_remove_many.c - deleting a thousand objects with one request.
 *
 *   POST ?delete  <Delete><Quiet>true</Quiet><Object><Key>..</Key></Object>..</Delete>
 *
 * The answer tells only what could not be deleted.  Servers that do not know the
 * request say so as FDL_UNSUPPORTED, and the caller deletes key by key.
 */
#include <stdlib.h>
#include <string.h>

#include "store/s3_internal.h"
#include "store/s3_xml.h"
#include "util/buf.h"
#include "util/ident.h"
#include "util/text.h"

enum {
    BODY_LIMIT_BYTES = 8 << 20,   /* 1000 keys of 1024 bytes, each byte an entity */
    ANSWER_LIMIT_BYTES = 16 << 20,
};

/* ---- the question ----------------------------------------------------------- */

static const char *entity(char byte) {
    switch (byte) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    default:
        return NULL;
    }
}

static fdl_code add_text(fdl_buf *xml, const char *text, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (; *text && code == FDL_OK; text++) {
        const char *name = entity(*text);
        code = name ? fdl_buf_add_str(xml, name, error) : fdl_buf_add(xml, text, 1, error);
    }
    return code;
}

static fdl_code compose(const fdl_s3 *s3, const char *const *keys, size_t count, fdl_buf *xml, fdl_error *error) {
    fdl_code code = fdl_buf_add_str(xml, "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>",
                                    error);
    for (size_t i = 0; i < count && code == FDL_OK; i++) {
        code = fdl_buf_add_str(xml, "<Object><Key>", error);
        if (code == FDL_OK)
            code = add_text(xml, s3->prefix, error);
        if (code == FDL_OK)
            code = add_text(xml, keys[i], error);
        if (code == FDL_OK)
            code = fdl_buf_add_str(xml, "</Key></Object>", error);
    }
    return code == FDL_OK ? fdl_buf_add_str(xml, "</Delete>", error) : code;
}

/* ---- the answer --------------------------------------------------------------- */

/* The first key that was not deleted. */
typedef struct leftover {
    bool found;
    bool passing; /* a failure that passes */
    char key[FDL_KEY_LIMIT_BYTES];
    char code[64];
    char message[300];
} leftover;

static bool is_passing(const char *code) {
    return strcmp(code, "InternalError") == 0 || strcmp(code, "SlowDown") == 0 ||
           strcmp(code, "ServiceUnavailable") == 0 || strcmp(code, "OperationAborted") == 0;
}

static fdl_code on_event(void *data, const fdl_xml_event *event, fdl_error *error) {
    leftover *l = data;
    (void)error;
    if (l->found || event->open)
        return FDL_OK;
    if (event->depth == 3 && strcmp(event->parent, "Error") == 0) {
        if (strcmp(event->name, "Key") == 0)
            fdl_str_fit(l->key, sizeof l->key, event->text);
        else if (strcmp(event->name, "Code") == 0)
            fdl_str_fit(l->code, sizeof l->code, event->text);
        else if (strcmp(event->name, "Message") == 0)
            fdl_str_fit(l->message, sizeof l->message, event->text);
    }
    if (event->depth == 2 && strcmp(event->name, "Error") == 0) {
        l->found = strcmp(l->code, "NoSuchKey") != 0;
        l->passing = is_passing(l->code);
    }
    return FDL_OK;
}

static fdl_code read_answer(const fdl_s3 *s3, const fdl_http_response *response, bool *again, fdl_error *error) {
    leftover l = {0};
    const char *text = response->text.data ? response->text.data : "";
    fdl_code code = fdl_xml_walk(text, response->text.length, response->host, on_event, &l, error);
    if (code != FDL_OK || !l.found)
        return code;
    *again = l.passing;
    const char *key = fdl_str_starts(l.key, s3->prefix) ? l.key + strlen(s3->prefix) : l.key;
    return fdl_fail(error, strcmp(l.code, "AccessDenied") == 0 ? FDL_DENIED : FDL_FAILED, key,
                    "'%s' does not delete '%s': %s, %s", response->host, key, l.code, l.message);
}

/* Whether the server does not know this request at all. */
static bool is_unknown(const fdl_http_response *response) {
    return response->status == 501 || response->status == 405 || response->status == 404 ||
           fdl_s3_error_is(response, "NotImplemented") || fdl_s3_error_is(response, "MalformedXML");
}

static fdl_code send(fdl_s3 *s3, const fdl_remote_request *request, bool *again, fdl_error *error) {
    fdl_http_response response = {0};
    fdl_code code = fdl_remote_call(&s3->remote, request, &response, error);
    if (code == FDL_OK && fdl_remote_success(&response))
        code = read_answer(s3, &response, again, error);
    else if (code == FDL_OK && is_unknown(&response) && !fdl_s3_error_is(&response, "NoSuchBucket"))
        code = fdl_fail(error, FDL_UNSUPPORTED, NULL, "'%s' deletes no lists of objects", response.host);
    else if (code == FDL_OK)
        code = s3->remote.explain(&s3->remote, request, &response, error);
    fdl_http_response_clear(&response);
    return code;
}

fdl_code fdl_s3_remove_many(fdl_store *store, const char *const *keys, size_t count, fdl_error *error) {
    static const fdl_sigv4_param params[] = {{"delete", ""}};
    fdl_s3 *s3 = (fdl_s3 *)store;
    fdl_http_headers headers = {0};
    char sha256[65];
    fdl_buf xml;
    fdl_buf_init(&xml, BODY_LIMIT_BYTES);
    fdl_code code = compose(s3, keys, count, &xml, error);
    if (code == FDL_OK)
        code = fdl_sha256_bytes(xml.data, xml.length, sha256, error);
    if (code == FDL_OK)
        code = fdl_remote_add_checksum(&headers, sha256, error);
    if (code == FDL_OK) {
        fdl_http_body body = {.bytes = xml.data, .fd = -1, .length_bytes = xml.length};
        fdl_remote_request request = {
            .http = {.method = "POST", .body = &body, .text_limit_bytes = ANSWER_LIMIT_BYTES},
            .extra = &headers,
            .params = params,
            .param_count = 1,
            .payload = sha256,
        };
        bool again = true;
        for (int attempt = 1; again; attempt++) {
            again = false;
            code = send(s3, &request, &again, error);
            again = again && attempt < FDL_REMOTE_ATTEMPTS;
            if (again)
                fdl_remote_wait(attempt, NULL);
        }
    }
    fdl_http_headers_clear(&headers);
    fdl_buf_clear(&xml);
    return code;
}
