/*
 * remote_put.c - writing an object in one request, and finding out what became
 * of a write whose answer was lost.
 *
 * A conditional write is sent without anybody repeating it behind our back.
 * When its answer is lost, or is a 5xx that may come from in between, the object
 * itself is asked:
 *
 *   PUT If-Match: "a" -- lost or 5xx --> read --> our bytes          done
 *                                             --> still "a"          send again
 *                                             --> something else     FDL_UNCERTAIN
 *
 * Sending again is safe, also where reading is not allowed: the condition lets at
 * most one of the copies through.
 * "Something else" may be built on ours, so only the caller can tell, who knows
 * what the bytes mean.
 */
#include <string.h>

#include "store/remote_write.h"
#include "util/ident.h"

/* ---- conditions ------------------------------------------------------------- */

bool fdl_remote_same_etag(const char *a, const char *b) {
    size_t length_a = strlen(a);
    size_t length_b = strlen(b);
    if (length_a >= 2 && a[0] == '"' && a[length_a - 1] == '"') {
        a++;
        length_a -= 2;
    }
    if (length_b >= 2 && b[0] == '"' && b[length_b - 1] == '"') {
        b++;
        length_b -= 2;
    }
    return length_a == length_b && memcmp(a, b, length_a) == 0;
}

fdl_code fdl_remote_add_condition(fdl_http_headers *headers, fdl_condition condition, fdl_error *error) {
    if (condition.kind == FDL_IF_ABSENT)
        return fdl_http_add(headers, "If-None-Match", "*", error);
    if (condition.kind == FDL_IF_MATCH)
        return fdl_http_add(headers, "If-Match", condition.etag, error);
    return FDL_OK;
}

fdl_code fdl_remote_conflict(const char *key, fdl_condition condition, fdl_error *error) {
    if (condition.kind == FDL_IF_ABSENT)
        return fdl_fail(error, FDL_CONFLICT, key, "'%s' exists already", key);
    return fdl_fail(error, FDL_CONFLICT, key, "'%s' is not what was read: somebody changed it meanwhile", key);
}

/* ---- settling ------------------------------------------------------------- */

static fdl_code hash_sink(void *data, const void *bytes, size_t length, fdl_error *error) {
    return fdl_sha256_add(data, bytes, length, error);
}

static fdl_code digest_of_object(fdl_remote *remote, const char *key, char out[65], fdl_object *object,
                                 fdl_error *error) {
    fdl_sha256 hash;
    fdl_code code = fdl_sha256_start(&hash, error);
    if (code != FDL_OK)
        return code;
    code = fdl_remote_get(remote, key, NULL, hash_sink, &hash, object, error);
    if (code == FDL_OK)
        return fdl_sha256_finish(&hash, out, error);
    fdl_sha256_drop(&hash);
    return code;
}

fdl_remote_verdict fdl_remote_settle(fdl_remote *remote, const char *key, fdl_condition condition,
                                     uint64_t length_bytes, const char *sha256, const char *etag, fdl_object *object) {
    fdl_error ignored;
    char digest[65];
    fdl_code code = fdl_remote_head(remote, key, object, &ignored);
    if (code == FDL_NOT_FOUND)
        return condition.kind == FDL_IF_MATCH ? FDL_WRITE_UNKNOWN : FDL_WRITE_NOT_DONE;
    if (code == FDL_DENIED)
        return FDL_WRITE_UNREADABLE;
    if (code != FDL_OK)
        return FDL_WRITE_UNKNOWN;
    if (object->size_bytes == length_bytes) {
        if (etag && fdl_remote_same_etag(object->etag, etag))
            return FDL_WRITE_DONE;
        if (sha256 && digest_of_object(remote, key, digest, object, &ignored) == FDL_OK && strcmp(digest, sha256) == 0)
            return FDL_WRITE_DONE;
    }
    if (condition.kind == FDL_IF_MATCH && fdl_remote_same_etag(object->etag, condition.etag))
        return FDL_WRITE_NOT_DONE;
    return condition.kind == FDL_ALWAYS ? FDL_WRITE_NOT_DONE : FDL_WRITE_UNKNOWN;
}

fdl_code fdl_remote_uncertain(const char *key, fdl_error *error) {
    return fdl_fail(error, FDL_UNCERTAIN, key,
                    "the answer to writing '%s' was lost, and what is there now does not tell", key);
}

/* ---- put ------------------------------------------------------------------ */

/* Whether the write is done.  202 only says that it was heard. */
static bool taken(const fdl_http_response *response) {
    return fdl_remote_success(response) && response->status != 202;
}

static fdl_code fill(fdl_remote *remote, const fdl_remote_request *request, const fdl_http_response *response,
                     fdl_object *out, fdl_error *error) {
    const char *key = request->key;
    fdl_object made;
    fdl_code code = fdl_remote_object(key, response, &made, error);
    if (code == FDL_OK && !made.etag[0] && !remote->plain)
        code =
            fdl_fail(error, FDL_FAILED, key, "'%s' took '%s' but gave no ETag: it is no s3 store that fdl can write to",
                     response->host, key);
    if (code == FDL_OK && !made.etag[0] && out)
        code = fdl_remote_head(remote, key, &made, error);
    made.size_bytes = request->http.body->length_bytes;
    if (code == FDL_OK && out)
        *out = made;
    return code;
}

bool fdl_remote_doubtful(fdl_code code, const fdl_http_response *response) {
    return code == FDL_OK ? response->status >= 500 && response->status != 501 : response->outcome == FDL_HTTP_LOST;
}

/* Without a condition, sending again is always right; only what is unknown at the end is said. */
static fdl_code put_always(fdl_remote *remote, const fdl_remote_request *request, fdl_object *object, fdl_error *error) {
    fdl_http_response response = {0};
    fdl_code code = fdl_remote_call(remote, request, &response, error);
    bool lost = fdl_remote_doubtful(code, &response) && response.status != 503;
    if (code == FDL_OK && taken(&response))
        code = fill(remote, request, &response, object, error);
    else if (code == FDL_OK)
        code = remote->explain(remote, request, &response, error);
    if (code != FDL_OK && lost)
        code = fdl_fail(error, FDL_UNCERTAIN, request->key, "%s", error->message);
    fdl_http_response_clear(&response);
    return code;
}

/* One round of a conditional put.  `*again`: in doubt, and the object shows that it was not done. */
static fdl_code put_if_once(fdl_remote *remote, const fdl_remote_request *request, fdl_condition condition, bool *doubt,
                            bool *again, fdl_object *object, fdl_error *error) {
    fdl_http_response response = {0};
    fdl_object now;
    uint64_t length_bytes = request->http.body->length_bytes;
    fdl_code code = fdl_remote_call(remote, request, &response, error);
    bool refused = code == FDL_OK && remote->refused(&response, condition);
    if (code == FDL_OK && taken(&response)) {
        code = fill(remote, request, &response, object, error);
    } else if (fdl_remote_doubtful(code, &response) || (refused && *doubt)) {
        *doubt = true;
        fdl_remote_verdict verdict =
            fdl_remote_settle(remote, request->key, condition, length_bytes, request->payload, NULL, &now);
        *again = verdict == FDL_WRITE_NOT_DONE || (verdict == FDL_WRITE_UNREADABLE && !refused);
        if (verdict == FDL_WRITE_DONE)
            code = FDL_OK;
        else if (verdict == FDL_WRITE_NOT_DONE && code == FDL_OK && !refused)
            code = remote->explain(remote, request, &response, error); /* answered: nothing is under way */
        else
            code = fdl_remote_uncertain(request->key, error);
        if (code == FDL_OK && object)
            *object = now;
    } else if (refused) {
        code = fdl_remote_conflict(request->key, condition, error);
    } else if (code == FDL_OK) {
        code = remote->explain(remote, request, &response, error);
    }
    fdl_http_response_clear(&response);
    return code;
}

static fdl_code put_if(fdl_remote *remote, const fdl_remote_request *request, fdl_condition condition, fdl_object *object,
                       fdl_error *error) {
    bool doubt = false;
    for (int attempt = 1;; attempt++) {
        bool again = false;
        fdl_code code = put_if_once(remote, request, condition, &doubt, &again, object, error);
        if (!again || attempt == FDL_REMOTE_ATTEMPTS)
            return code;
        fdl_remote_wait(attempt, NULL);
    }
}

fdl_code fdl_remote_put(fdl_remote *remote, const char *key, fdl_remote_body *body, fdl_condition condition,
                        fdl_object *object, fdl_error *error) {
    fdl_http_headers headers = {0};
    fdl_remote_request request = {
        .http = {.method = "PUT",
                 .body = &body->http,
                 .once = condition.kind != FDL_ALWAYS,
                 .idle_limit_s = remote->write_idle_limit_s},
        .key = key,
        .extra = &headers,
        .payload = body->sha256,
    };
    fdl_code code = FDL_OK;
    if (!body->sha256[0])
        code = fdl_remote_digest(&body->http, body->sha256, error);
    if (code == FDL_OK)
        code = fdl_remote_add_checksum(&headers, body->sha256, error);
    if (code == FDL_OK)
        code = fdl_remote_add_condition(&headers, condition, error);
    if (code == FDL_OK && condition.kind == FDL_ALWAYS)
        code = put_always(remote, &request, object, error);
    else if (code == FDL_OK)
        code = put_if(remote, &request, condition, object, error);
    fdl_http_headers_clear(&headers);
    return code;
}
