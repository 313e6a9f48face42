/*
 * s3_put.c - writing an object in one request, and finding out what became of a
 * write whose answer was lost.
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
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/s3_internal.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

/* ---- the body ------------------------------------------------------------- */

static fdl_code open_body(const fdl_source *source, fdl_s3_body *out, fdl_error *error) {
    *out = (fdl_s3_body){.http = {.fd = -1, .path = source->path}};
    if (source->sha256 && !fdl_str_fit(out->sha256, sizeof out->sha256, source->sha256))
        return fdl_fail(error, FDL_USAGE, NULL, "'%s' is no sha256", source->sha256);
    if (!source->path) {
        out->http.bytes = source->bytes ? source->bytes : "";
        out->http.length_bytes = source->length_bytes;
        return FDL_OK;
    }
    struct stat file;
    out->http.fd = open(source->path, O_RDONLY | O_CLOEXEC);
    if (out->http.fd < 0 || fstat(out->http.fd, &file) != 0)
        return fdl_file_error(error, "read", source->path, errno);
    if (!S_ISREG(file.st_mode))
        return fdl_fail(error, FDL_FAILED, source->path, "cannot send '%s': it is not a file", source->path);
    out->http.length_bytes = (uint64_t)file.st_size;
    return FDL_OK;
}

static void close_body(fdl_s3_body *body) {
    if (body->http.fd >= 0)
        close(body->http.fd);
}

static fdl_code digest_file(const fdl_http_body *body, fdl_sha256 *hash, fdl_error *error) {
    char piece[64 << 10];
    uint64_t done = 0;
    fdl_code code = FDL_OK;
    while (code == FDL_OK && done < body->length_bytes) {
        uint64_t left = body->length_bytes - done;
        ssize_t got = pread(body->fd, piece, left < sizeof piece ? (size_t)left : sizeof piece,
                            (off_t)(body->offset_bytes + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fdl_file_error(error, "read", body->path, errno);
        if (got == 0)
            return fdl_fail(error, FDL_FAILED, body->path, "'%s' became shorter while it was read", body->path);
        code = fdl_sha256_add(hash, piece, (size_t)got, error);
        done += (uint64_t)got;
    }
    return code;
}

fdl_code fdl_s3_digest(const fdl_http_body *body, char out[65], fdl_error *error) {
    fdl_sha256 hash;
    fdl_code code = fdl_sha256_start(&hash, error);
    if (code != FDL_OK)
        return code;
    if (body->bytes)
        code = fdl_sha256_add(&hash, (const char *)body->bytes + body->offset_bytes, body->length_bytes, error);
    else
        code = digest_file(body, &hash, error);
    if (code == FDL_OK)
        return fdl_sha256_finish(&hash, out, error);
    fdl_sha256_drop(&hash);
    return code;
}

/* S3 wants the digest in base64, where it stores it with the object. */
fdl_code fdl_s3_add_checksum(fdl_http_headers *headers, const char *sha256, fdl_error *error) {
    unsigned char bytes[32];
    unsigned char base64[64];
    long length = 0;
    unsigned char *decoded = OPENSSL_hexstr2buf(sha256, &length);
    bool good = decoded && length == (long)sizeof bytes;
    if (good)
        memcpy(bytes, decoded, sizeof bytes);
    OPENSSL_free(decoded);
    if (!good)
        return fdl_fail(error, FDL_USAGE, NULL, "'%s' is no sha256", sha256);
    EVP_EncodeBlock(base64, bytes, sizeof bytes);
    return fdl_http_add(headers, "x-amz-checksum-sha256", (const char *)base64, error);
}

/* ---- settling ------------------------------------------------------------- */

static fdl_code hash_sink(void *data, const void *bytes, size_t length, fdl_error *error) {
    return fdl_sha256_add(data, bytes, length, error);
}

static fdl_code digest_of_object(fdl_s3 *s3, const char *key, char out[65], fdl_object *object, fdl_error *error) {
    fdl_sha256 hash;
    fdl_code code = fdl_sha256_start(&hash, error);
    if (code != FDL_OK)
        return code;
    code = fdl_remote_get(&s3->remote, key, NULL, hash_sink, &hash, object, error);
    if (code == FDL_OK)
        return fdl_sha256_finish(&hash, out, error);
    fdl_sha256_drop(&hash);
    return code;
}

fdl_s3_verdict fdl_s3_settle(fdl_s3 *s3, const char *key, fdl_condition condition, uint64_t length_bytes,
                             const char *sha256, const char *etag, fdl_object *object) {
    fdl_error ignored;
    char digest[65];
    fdl_code code = fdl_remote_head(&s3->remote, key, object, &ignored);
    if (code == FDL_NOT_FOUND)
        return condition.kind == FDL_IF_MATCH ? FDL_S3_UNKNOWN : FDL_S3_NOT_DONE;
    if (code == FDL_DENIED)
        return FDL_S3_UNREADABLE;
    if (code != FDL_OK)
        return FDL_S3_UNKNOWN;
    if (object->size_bytes == length_bytes) {
        if (etag && fdl_s3_same_etag(object->etag, etag))
            return FDL_S3_DONE;
        if (sha256 && digest_of_object(s3, key, digest, object, &ignored) == FDL_OK && strcmp(digest, sha256) == 0)
            return FDL_S3_DONE;
    }
    if (condition.kind == FDL_IF_MATCH && fdl_s3_same_etag(object->etag, condition.etag))
        return FDL_S3_NOT_DONE;
    return condition.kind == FDL_ALWAYS ? FDL_S3_NOT_DONE : FDL_S3_UNKNOWN;
}

fdl_code fdl_s3_uncertain(const char *key, fdl_error *error) {
    return fdl_fail(error, FDL_UNCERTAIN, key,
                    "the answer to writing '%s' was lost, and what is there now does not tell", key);
}

/* ---- put ------------------------------------------------------------------ */

static fdl_code fill(const char *key, const fdl_http_response *response, uint64_t length_bytes, fdl_object *out,
                     fdl_error *error) {
    fdl_object made;
    fdl_code code = fdl_remote_object(key, response, &made, error);
    if (code == FDL_OK && !made.etag[0])
        code =
            fdl_fail(error, FDL_FAILED, key, "'%s' took '%s' but gave no ETag: it is no s3 store that fdl can write to",
                     response->host, key);
    made.size_bytes = length_bytes;
    if (code == FDL_OK && out)
        *out = made;
    return code;
}

bool fdl_s3_doubtful(fdl_code code, const fdl_http_response *response) {
    return code == FDL_OK ? response->status >= 500 && response->status != 501 : response->outcome == FDL_HTTP_LOST;
}

/* Without a condition, sending again is always right; only what is unknown at the end is said. */
static fdl_code put_always(fdl_s3 *s3, const fdl_remote_request *request, fdl_object *object, fdl_error *error) {
    fdl_http_response response = {0};
    fdl_code code = fdl_remote_call(&s3->remote, request, &response, error);
    bool lost = fdl_s3_doubtful(code, &response) && response.status != 503;
    if (code == FDL_OK && fdl_remote_success(&response))
        code = fill(request->key, &response, request->http.body->length_bytes, object, error);
    else if (code == FDL_OK)
        code = s3->remote.explain(&s3->remote, request, &response, error);
    if (code != FDL_OK && lost)
        code = fdl_fail(error, FDL_UNCERTAIN, request->key, "%s", error->message);
    fdl_http_response_clear(&response);
    return code;
}

/* One round of a conditional put.  `*again`: in doubt, and the object shows that it was not done. */
static fdl_code put_if_once(fdl_s3 *s3, const fdl_remote_request *request, fdl_condition condition, bool *doubt,
                            bool *again, fdl_object *object, fdl_error *error) {
    fdl_http_response response = {0};
    fdl_object now;
    uint64_t length_bytes = request->http.body->length_bytes;
    fdl_code code = fdl_remote_call(&s3->remote, request, &response, error);
    bool refused = code == FDL_OK && fdl_s3_condition_failed(&response, condition);
    if (code == FDL_OK && fdl_remote_success(&response)) {
        code = fill(request->key, &response, length_bytes, object, error);
    } else if (fdl_s3_doubtful(code, &response) || (refused && *doubt)) {
        *doubt = true;
        fdl_s3_verdict verdict = fdl_s3_settle(s3, request->key, condition, length_bytes, request->payload, NULL, &now);
        *again = verdict == FDL_S3_NOT_DONE || (verdict == FDL_S3_UNREADABLE && !refused);
        if (verdict == FDL_S3_DONE)
            code = FDL_OK;
        else if (verdict == FDL_S3_NOT_DONE && code == FDL_OK && !refused)
            code = s3->remote.explain(&s3->remote, request, &response, error); /* answered: nothing is under way */
        else
            code = fdl_s3_uncertain(request->key, error);
        if (code == FDL_OK && object)
            *object = now;
    } else if (refused) {
        code = fdl_s3_conflict(request->key, condition, error);
    } else if (code == FDL_OK) {
        code = s3->remote.explain(&s3->remote, request, &response, error);
    }
    fdl_http_response_clear(&response);
    return code;
}

static fdl_code put_if(fdl_s3 *s3, const fdl_remote_request *request, fdl_condition condition, fdl_object *object,
                       fdl_error *error) {
    bool doubt = false;
    for (int attempt = 1;; attempt++) {
        bool again = false;
        fdl_code code = put_if_once(s3, request, condition, &doubt, &again, object, error);
        if (!again || attempt == FDL_REMOTE_ATTEMPTS)
            return code;
        fdl_remote_wait(attempt, NULL);
    }
}

static fdl_code put_whole(fdl_s3 *s3, const char *key, fdl_s3_body *body, fdl_condition condition, fdl_object *object,
                          fdl_error *error) {
    fdl_http_headers headers = {0};
    fdl_remote_request request = {
        .http = {.method = "PUT", .body = &body->http, .once = condition.kind != FDL_ALWAYS},
        .key = key,
        .extra = &headers,
        .payload = body->sha256,
    };
    fdl_code code = FDL_OK;
    if (!body->sha256[0])
        code = fdl_s3_digest(&body->http, body->sha256, error);
    if (code == FDL_OK)
        code = fdl_s3_add_checksum(&headers, body->sha256, error);
    if (code == FDL_OK)
        code = fdl_s3_add_condition(&headers, condition, error);
    if (code == FDL_OK && condition.kind == FDL_ALWAYS)
        code = put_always(s3, &request, object, error);
    else if (code == FDL_OK)
        code = put_if(s3, &request, condition, object, error);
    fdl_http_headers_clear(&headers);
    return code;
}

fdl_code fdl_s3_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                    fdl_object *object, fdl_error *error) {
    fdl_s3 *s3 = (fdl_s3 *)store;
    fdl_s3_body body;
    fdl_code code = open_body(source, &body, error);
    if (code == FDL_OK && body.http.length_bytes > s3->options.multipart_from_bytes)
        code = fdl_s3_put_parts(s3, key, &body, condition, object, error);
    else if (code == FDL_OK)
        code = put_whole(s3, key, &body, condition, object, error);
    close_body(&body);
    return code;
}
