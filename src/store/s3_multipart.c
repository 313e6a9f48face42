/*
 * s3_multipart.c - writing a large object in parts.
 *
 *   POST ?uploads -> id;  PUT ?partNumber=n&uploadId=id, each part -> ETag;
 *   POST ?uploadId=id with all ETags, under the condition -> the object is there
 *
 * No reader sees anything before the last step, which is the only one that the
 * condition is about, and the only one whose lost answer is a question: the
 * object's ETag then tells, since S3 makes it from the parts' (md5 of their
 * md5s, "-" and their number).  Whatever fails, the parts are given up, since
 * they cost money and nobody lists them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/s3_internal.h"
#include "store/s3_xml.h"
#include "util/buf.h"
#include "util/crypto.h"
#include "util/parallel.h"
#include "util/text.h"

#define PART_LIMIT 10000u
#define OBJECT_LIMIT_BYTES (5ull << 40)
#define MIB (1ull << 20)

enum {
    UPLOAD_ID_BYTES = 1024,
    PARTS_AT_ONCE = 4,
    COMPLETE_LIMIT_BYTES = 4 << 20, /* 10,000 parts of 200 bytes */
    COMPLETE_IDLE_S = 600,          /* a store may copy terabytes together before it answers */
};

typedef struct upload {
    fdl_s3 *s3;
    const char *key;
    const fdl_remote_body *body;
    fdl_condition condition;
    uint64_t part_bytes;
    unsigned part_count;
    char id[UPLOAD_ID_BYTES];
    char (*etags)[FDL_ETAG_LIMIT_BYTES];
} upload;

/* As configured, or larger where 10,000 of that size would not do; whole MiB, then. */
static uint64_t choose_part_bytes(uint64_t length_bytes, uint64_t wanted_bytes) {
    uint64_t least = (length_bytes + PART_LIMIT - 1) / PART_LIMIT;
    return least <= wanted_bytes ? wanted_bytes : (least + MIB - 1) / MIB * MIB;
}

/* Other transfers run beside this one, so a single object takes few of the jobs. */
static int parts_at_once(const fdl_s3 *s3) {
    const fdl_context *context = s3->base.context;
    int jobs = context && context->jobs > 0 ? context->jobs : PARTS_AT_ONCE;
    return jobs < PARTS_AT_ONCE ? jobs : PARTS_AT_ONCE;
}

/* ---- start and parts ------------------------------------------------------ */

/* What would be refused at the end is refused before the first part. */
static fdl_code check_condition(const upload *u, fdl_error *error) {
    fdl_object now;
    if (u->condition.kind == FDL_ALWAYS)
        return FDL_OK;
    fdl_code code = fdl_remote_head(&u->s3->remote, u->key, &now, error);
    bool absent = code == FDL_NOT_FOUND;
    if (code != FDL_OK && !absent)
        return code == FDL_DENIED ? FDL_OK : code; /* may write but not read: the last step decides */
    if (u->condition.kind == FDL_IF_ABSENT)
        return absent ? FDL_OK : fdl_remote_conflict(u->key, u->condition, error);
    return !absent && fdl_remote_same_etag(now.etag, u->condition.etag) ? FDL_OK
                                                                    : fdl_remote_conflict(u->key, u->condition, error);
}

static fdl_code start(upload *u, fdl_error *error) {
    static const fdl_http_body nothing = {.bytes = "", .fd = -1};
    static const fdl_sigv4_param params[] = {{"uploads", ""}};
    fdl_http_response response = {0};
    fdl_remote_request request = {
        .http = {.method = "POST", .body = &nothing}, .key = u->key, .params = params, .param_count = 1};
    fdl_code code = fdl_remote_expect(&u->s3->remote, &request, &response, error);
    if (code == FDL_OK && (!fdl_s3_field(response.text.data, response.text.length, "InitiateMultipartUploadResult",
                                         "UploadId", u->id, sizeof u->id) ||
                           !*u->id))
        code = fdl_fail(error, FDL_FAILED, u->key, "'%s' starts an upload without an id: is it an s3 endpoint?",
                        response.host);
    fdl_http_response_clear(&response);
    return code;
}

/* An fdl_task: parts are independent, and any order will do. */
static fdl_code send_part(void *data, size_t index, fdl_error *error) {
    upload *u = data;
    char number[16];
    char payload[65];
    fdl_http_response response = {0};
    fdl_http_body part = u->body->http;
    part.offset_bytes = index * u->part_bytes;
    part.length_bytes = u->body->http.length_bytes - part.offset_bytes;
    if (part.length_bytes > u->part_bytes)
        part.length_bytes = u->part_bytes;
    snprintf(number, sizeof number, "%zu", index + 1);
    const fdl_sigv4_param params[] = {{"partNumber", number}, {"uploadId", u->id}};
    fdl_remote_request request = {.http = {.method = "PUT", .body = &part},
                                  .key = u->key,
                                  .params = params,
                                  .param_count = 2,
                                  .payload = payload};
    fdl_code code = fdl_remote_digest(&part, payload, error);
    if (code == FDL_OK)
        code = fdl_remote_expect(&u->s3->remote, &request, &response, error);
    const char *etag = code == FDL_OK ? fdl_http_get(&response.headers, "ETag") : NULL;
    if (code == FDL_OK && (!etag || !*etag || !fdl_str_fit(u->etags[index], sizeof *u->etags, etag)))
        code = fdl_fail(error, FDL_FAILED, u->key, "'%s' took a part of '%s' but gave no usable ETag", response.host,
                        u->key);
    fdl_http_response_clear(&response);
    return code;
}

/* Best effort: the first error is the one to report. */
static void give_up(upload *u) {
    const fdl_sigv4_param params[] = {{"uploadId", u->id}};
    fdl_error error;
    fdl_http_response response = {0};
    fdl_remote_request request = {.http = {.method = "DELETE"}, .key = u->key, .params = params, .param_count = 1};
    fdl_code code = fdl_remote_expect(&u->s3->remote, &request, &response, &error);
    if (code != FDL_OK && code != FDL_NOT_FOUND)
        fdl_note(
            u->s3->base.context, FDL_NOTE_WARNING,
            "could not give up the unfinished upload of '%s' (%s): its parts take space until the bucket drops them",
            u->key, error.message);
    fdl_http_response_clear(&response);
}

/* ---- the last step -------------------------------------------------------- */

static fdl_code add_escaped(fdl_buf *xml, const char *text, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (; *text && code == FDL_OK; text++) {
        const char *entity = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '"' ? "&quot;" : NULL;
        code = entity ? fdl_buf_add_str(xml, entity, error) : fdl_buf_add(xml, text, 1, error);
    }
    return code;
}

static fdl_code write_part_list(const upload *u, fdl_buf *xml, fdl_error *error) {
    fdl_code code = fdl_buf_add_str(xml, "<CompleteMultipartUpload>", error);
    for (unsigned i = 0; i < u->part_count && code == FDL_OK; i++) {
        code = fdl_buf_add_format(xml, error, "<Part><PartNumber>%u</PartNumber><ETag>", i + 1);
        if (code == FDL_OK)
            code = add_escaped(xml, u->etags[i], error);
        if (code == FDL_OK)
            code = fdl_buf_add_str(xml, "</ETag></Part>", error);
    }
    return code == FDL_OK ? fdl_buf_add_str(xml, "</CompleteMultipartUpload>", error) : code;
}

/* One part's ETag, if it is an md5: 32 hex digits, quoted or not. */
static bool add_md5(EVP_MD_CTX *md5, const char *etag) {
    char hex[33];
    long length = 0;
    const char *start = *etag == '"' ? etag + 1 : etag;
    if (strspn(start, "0123456789abcdefABCDEF") != 32)
        return false;
    snprintf(hex, sizeof hex, "%.32s", start);
    unsigned char *bytes = fdl_crypto.OPENSSL_hexstr2buf(hex, &length);
    bool added = bytes && length == 16 && fdl_crypto.EVP_DigestUpdate(md5, bytes, 16) == 1;
    fdl_crypto.CRYPTO_free(bytes, __FILE__, __LINE__);
    return added;
}

/* The ETag that S3 will give the whole; false where parts have ETags of another kind. */
static bool expected_etag(const upload *u, char out[FDL_ETAG_LIMIT_BYTES]) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    fdl_error ignored;
    if (fdl_crypto_open(&ignored) != FDL_OK)
        return false;
    EVP_MD_CTX *md5 = fdl_crypto.EVP_MD_CTX_new();
    bool good = md5 && fdl_crypto.EVP_DigestInit_ex(md5, fdl_crypto.EVP_md5(), NULL) == 1;
    for (unsigned i = 0; i < u->part_count && good; i++)
        good = add_md5(md5, u->etags[i]);
    good = good && fdl_crypto.EVP_DigestFinal_ex(md5, digest, &length) == 1 && length == 16;
    fdl_crypto.EVP_MD_CTX_free(md5);
    if (!good)
        return false;
    for (unsigned i = 0; i < length; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    snprintf(out + 2 * length, FDL_ETAG_LIMIT_BYTES - 2 * length, "-%u", u->part_count);
    return true;
}

/* A store may start its answer with 200 before it knows; then the body says how it ended. */
static bool completed(const fdl_http_response *response, char etag[FDL_ETAG_LIMIT_BYTES]) {
    return fdl_remote_success(response) &&
           fdl_s3_field(response->text.data, response->text.length, "CompleteMultipartUploadResult", "ETag", etag,
                        FDL_ETAG_LIMIT_BYTES) &&
           *etag;
}

/* One round of the last step; as put_if_once in remote_put.c. */
static fdl_code complete_once(upload *u, const fdl_remote_request *request, bool *doubt, bool *again,
                              fdl_object *object, fdl_error *error) {
    fdl_http_response response = {0};
    fdl_object now = {.size_bytes = u->body->http.length_bytes};
    char expected[FDL_ETAG_LIMIT_BYTES];
    fdl_code code = fdl_remote_call(&u->s3->remote, request, &response, error);
    bool refused = code == FDL_OK && fdl_s3_condition_failed(&response, u->condition);
    bool lost_id = code == FDL_OK && response.status == 404 && *doubt; /* an earlier round used it up */
    if (code == FDL_OK && completed(&response, now.etag)) {
        if (object)
            *object = now;
    } else if (fdl_remote_doubtful(code, &response) || (fdl_remote_success(&response) && !refused) || lost_id ||
               (refused && *doubt)) {
        *doubt = true;
        bool known = expected_etag(u, expected);
        fdl_remote_verdict verdict =
            fdl_remote_settle(&u->s3->remote, u->key, u->condition, now.size_bytes,
                          known || !u->body->sha256[0] ? NULL : u->body->sha256, known ? expected : NULL, &now);
        *again = (verdict == FDL_WRITE_NOT_DONE || verdict == FDL_WRITE_UNREADABLE) && !lost_id && !refused;
        code = verdict == FDL_WRITE_DONE ? FDL_OK : fdl_remote_uncertain(u->key, error);
        if (code == FDL_OK && object)
            *object = now;
    } else if (refused) {
        code = fdl_remote_conflict(u->key, u->condition, error);
    } else if (code == FDL_OK) {
        code = u->s3->remote.explain(&u->s3->remote, request, &response, error);
    }
    fdl_http_response_clear(&response);
    return code;
}

static fdl_code complete(upload *u, fdl_object *object, fdl_error *error) {
    const fdl_sigv4_param params[] = {{"uploadId", u->id}};
    fdl_http_headers headers = {0};
    char payload[65];
    fdl_http_body body = {.fd = -1};
    fdl_remote_request request = {
        .http = {.method = "POST", .body = &body, .once = true, .idle_limit_s = COMPLETE_IDLE_S},
        .key = u->key,
        .extra = &headers,
        .params = params,
        .param_count = 1,
        .payload = payload,
    };
    fdl_buf xml;
    fdl_buf_init(&xml, COMPLETE_LIMIT_BYTES);
    fdl_code code = write_part_list(u, &xml, error);
    if (code == FDL_OK) {
        body.bytes = xml.data;
        body.length_bytes = xml.length;
        code = fdl_remote_digest(&body, payload, error);
    }
    if (code == FDL_OK)
        code = fdl_remote_add_condition(&headers, u->condition, error);
    bool doubt = false;
    for (int attempt = 1; code == FDL_OK; attempt++) {
        bool again = false;
        code = complete_once(u, &request, &doubt, &again, object, error);
        if (!again || attempt == FDL_REMOTE_ATTEMPTS)
            break;
        fdl_remote_wait(attempt, NULL);
        code = FDL_OK;
    }
    fdl_http_headers_clear(&headers);
    fdl_buf_clear(&xml);
    return code;
}

fdl_code fdl_s3_put_parts(fdl_s3 *s3, const char *key, const fdl_remote_body *body, fdl_condition condition,
                          fdl_object *object, fdl_error *error) {
    upload u = {.s3 = s3, .key = key, .body = body, .condition = condition};
    uint64_t length = body->http.length_bytes;
    if (length > OBJECT_LIMIT_BYTES)
        return fdl_fail(error, FDL_REFUSED, key, "'%s' has %llu bytes; a bucket takes at most 5 TiB", key,
                        (unsigned long long)length);
    u.part_bytes = choose_part_bytes(length, s3->options.part_bytes);
    u.part_count = (unsigned)((length + u.part_bytes - 1) / u.part_bytes);
    fdl_code code = fdl_alloc(&u.etags, u.part_count, sizeof *u.etags, error);
    if (code == FDL_OK)
        code = check_condition(&u, error);
    if (code == FDL_OK)
        code = start(&u, error);
    bool started = code == FDL_OK;
    if (code == FDL_OK)
        code = fdl_parallel(u.part_count, parts_at_once(s3), send_part, &u, error);
    if (code == FDL_OK)
        code = complete(&u, object, error);
    if (started && code != FDL_OK)
        give_up(&u);
    free(u.etags);
    return code;
}
