/*
 * batch.c - many files asked about at once: there already, to be uploaded
 * straight to the store, or to be sent through the host.
 *
 * A URL lets its holder create that one object and nothing else, so it is given
 * for what a PUT through the host would take too.  What a PUT would look at
 * beyond that is looked at when a ref is to move.
 */
#include "host/batch.h"

#include <stdlib.h>
#include <string.h>

#include "flow/lookup.h"
#include "host/answer.h"
#include "host/batch_read.h"
#include "host/host.h"
#include "host/put.h"
#include "repo/layout.h"
#include "util/json.h"
#include "util/text.h"

#define URL_LIFE_S 3600

typedef struct batch {
    fdl_host_request *request;
    fdl_store *store;
    fdl_batch_files files; /* as asked for */
    uint64_t *sizes;       /* of what is there */
    fdl_version whole;     /* of the version looked at last; no id: not complete yet */
    const char *whole_of;  /* a key of that version */
    json_t *answers;
} batch;

/* ---- what is asked -------------------------------------------------------------------- */

/* May it be created at all?  An original is named by its sha256, which is then part of what is signed. */
static fdl_code check_file(batch *b, size_t i, fdl_error *error) {
    const char *key = b->files.keys[i];
    fdl_key_kind kind = fdl_host_key_kind(key, b->request->host->data_dir);
    fdl_code code = fdl_host_may_create(key, kind, error);
    if (code == FDL_OK && kind == FDL_KIND_SOURCE) {
        const char *name = key + strlen(FDL_KEY_SOURCES);
        if (b->files.sha256[i] && strcmp(b->files.sha256[i], name) != 0)
            code = fdl_fail(error, FDL_USAGE, key, "'%s' is not named by its sha256", key);
        b->files.sha256[i] = name;
    }
    return code;
}

/* A push names one version or a few, many files each: each version is looked at once. */
static fdl_code check_versions(batch *b, fdl_error *error) {
    const char *seen = "";
    size_t prefix = strlen(FDL_KEY_VERSIONS) + FDL_ID_BYTES;
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < b->files.count; i++) {
        fdl_key_kind kind = fdl_host_key_kind(b->files.keys[i], b->request->host->data_dir);
        if (kind != FDL_KIND_VERSION || strncmp(seen, b->files.keys[i], prefix) == 0)
            continue;
        seen = b->files.keys[i];
        code = fdl_host_check_gone(b->request->repo, seen, kind, error);
    }
    return code;
}

/* What is asked, and whether it may be asked at all. */
static fdl_code read_files(batch *b, fdl_error *error) {
    const fdl_buf *body = &b->request->body;
    fdl_code code = fdl_batch_read(body->data ? body->data : "", body->length, &b->files, error);
    if (code == FDL_REFUSED)
        return fdl_answer_fail(b->request, MHD_HTTP_CONTENT_TOO_LARGE, error, code, NULL, "%s", error->message);
    if (code == FDL_OK)
        code = fdl_alloc(&b->sizes, b->files.count ? b->files.count : 1, sizeof *b->sizes, error);
    for (size_t i = 0; code == FDL_OK && i < b->files.count; i++)
        code = check_file(b, i, error);
    return code;
}

/* ---- what is answered ------------------------------------------------------------------- */

static json_t *pack_url(const char *key, const fdl_upload_url *url) {
    json_t *headers = json_object();
    for (size_t i = 0; i < url->header_count; i++)
        (void)json_object_set_new(headers, url->names[i], json_string(url->values[i]));
    return json_pack("{s:s, s:{s:s, s:o, s:i}}", "key", key, "upload", "url", url->url, "headers", headers,
                     "expires_in", URL_LIFE_S);
}

static bool goes_through_us(const batch *b, size_t i) {
    return !b->store->ops->presign || b->files.bytes[i] > FDL_UPLOAD_LIMIT_BYTES ||
           b->files.bytes[i] < b->request->host->options.direct_bytes;
}

/* Of a complete version only what its record names, and signed with the sha256 that the record says. */
static fdl_code check_whole(batch *b, size_t i, fdl_error *error) {
    const char *key = b->files.keys[i];
    size_t prefix = strlen(FDL_KEY_VERSIONS) + FDL_ID_BYTES;
    fdl_code code = FDL_OK;
    if (fdl_host_key_kind(key, b->request->host->data_dir) != FDL_KIND_VERSION ||
        strcmp(fdl_host_version_file(key), FDL_FILE_VERSION) == 0)
        return FDL_OK;
    if (!b->whole_of || strncmp(b->whole_of, key, prefix) != 0) {
        fdl_version_clear(&b->whole);
        b->whole_of = key;
        code = fdl_host_read_whole(b->request->repo, key, &b->whole, error);
    }
    if (code != FDL_OK || !b->whole.id[0])
        return code;
    const fdl_file_record *record = fdl_host_record_of(&b->whole, fdl_host_version_file(key));
    if (!record || record->bytes != b->files.bytes[i] || (b->files.sha256[i] && strcmp(record->sha256, b->files.sha256[i]) != 0))
        return fdl_host_not_named(key, error);
    b->files.sha256[i] = record->sha256;
    return FDL_OK;
}

static fdl_code answer_file(batch *b, size_t i, fdl_error *error) {
    const char *key = b->files.keys[i];
    fdl_upload_url url = {0};
    json_t *answer = NULL;
    fdl_code code = b->sizes[i] == b->files.bytes[i] ? FDL_OK : check_whole(b, i, error);
    if (code != FDL_OK)
        return code;
    if (b->sizes[i] == b->files.bytes[i]) {
        answer = json_pack("{s:s, s:b}", "key", key, "exists", 1);
    } else if (goes_through_us(b, i)) {
        answer = json_pack("{s:s, s:i}", "key", key, "status", MHD_HTTP_CONTENT_TOO_LARGE);
    } else {
        fdl_upload_terms terms = {
            .size_bytes = b->files.bytes[i],
            .sha256 = b->files.sha256[i],
            .content_type = fdl_host_content_type(key, fdl_host_key_kind(key, b->request->host->data_dir)),
            .expires_s = URL_LIFE_S,
        };
        code = fdl_store_presign(b->store, key, &terms, &url, error);
        if (code == FDL_OK)
            answer = pack_url(key, &url);
        else if (code == FDL_UNSUPPORTED) /* a bucket that we reach without credentials of our own */
            answer = json_pack("{s:s, s:i}", "key", key, "status", MHD_HTTP_CONTENT_TOO_LARGE);
        code = code == FDL_UNSUPPORTED ? FDL_OK : code;
    }
    fdl_upload_url_clear(&url);
    if (code == FDL_OK && json_array_append_new(b->answers, answer) != 0)
        code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    return code;
}

fdl_code fdl_host_batch_answer(fdl_host_request *request, fdl_error *error) {
    batch b = {.request = request, .store = fdl_repo_store(request->repo), .answers = json_array()};
    fdl_code code = read_files(&b, error);
    if (code == FDL_OK)
        code = check_versions(&b, error);
    if (code == FDL_OK)
        code = fdl_lookup(b.store, request->host->context->jobs, b.files.keys, b.files.count, b.sizes, error);
    for (size_t i = 0; code == FDL_OK && i < b.files.count; i++)
        code = answer_file(&b, i, error);
    if (code == FDL_OK)
        code = fdl_answer_json(request, MHD_HTTP_OK, json_pack("{s:O}", "files", b.answers), error);
    fdl_version_clear(&b.whole);
    json_decref(b.answers);
    fdl_batch_clear(&b.files);
    free(b.sizes);
    return code;
}
