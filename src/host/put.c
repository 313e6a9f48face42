/*
 * put.c - a file sent through the host.
 *
 *   body -> a file without a name on this machine, hashed as it comes
 *        -> is it what was promised, and may it be there?  -> the store, if nothing is there yet
 *
 * So nothing that broke off, is too long or has another sha256 ever reaches the
 * store, and memory stays flat.  The file has no name: whatever happens to the
 * host, nothing is left of it.
 */
#include "host/put.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "host/answer.h"
#include "host/conditions.h"
#include "host/host.h"
#include "repo/layout.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

typedef struct upload {
    int fd;
    char path[64]; /* by which the file without a name is read */
    fdl_sha256 hash;
    char promised[FDL_SHA256_BYTES]; /* "" when nobody said */
    char sha256[FDL_SHA256_BYTES];
} upload;

/* ---- what may be there -------------------------------------------------------------- */

static bool is_file_of_version(const char *file) {
    static const char *const files[] = {FDL_FILE_VERSION, FDL_FILE_SIGNATURE, FDL_FILE_CATALOG, FDL_FILE_DATASET,
                                        FDL_FILE_FILES};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(file, files[i]) == 0)
            return true;
    return strcmp(file, FDL_FILE_PACKED) == 0 ||
           (fdl_str_starts(file, FDL_FOLDER_CATALOGS "/") && fdl_str_ends(file, ".duckdb"));
}

fdl_code fdl_host_may_create(const char *key, fdl_key_kind kind, fdl_error *error) {
    bool data = kind == FDL_KIND_DATA && (fdl_str_ends(key, ".parquet") || fdl_str_ends(key, ".puffin"));
    bool version = kind == FDL_KIND_VERSION && is_file_of_version(fdl_host_version_file(key));
    if (data || version || kind == FDL_KIND_SOURCE)
        return FDL_OK;
    return fdl_fail(error, FDL_DENIED, key,
                    "a writer does not create '%s': data files end with .parquet or .puffin, versions have their own "
                    "files, and all else is the host's",
                    key);
}

fdl_code fdl_host_check_gone(fdl_repo *repo, const char *key, fdl_key_kind kind, fdl_error *error) {
    char id[FDL_ID_BYTES];
    fdl_expiry expiry = {0};
    if (kind != FDL_KIND_VERSION)
        return FDL_OK;
    memcpy(id, key + strlen(FDL_KEY_VERSIONS), sizeof id - 1);
    id[sizeof id - 1] = '\0';
    fdl_code code = fdl_expiry_read(repo, id, &expiry, error);
    if (code == FDL_OK && expiry.expired)
        code = fdl_fail(error, FDL_EXPIRED, key, "version '%s' is gone (%s) and takes no more files", id, expiry.reason);
    fdl_expiry_clear(&expiry);
    return code;
}

const fdl_file_record *fdl_host_record_of(const fdl_version *version, const char *file) {
    const fdl_file_record *const records[] = {&version->catalog.file, &version->packed, &version->dataset, &version->files};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        if (records[i]->path && strcmp(records[i]->path, file) == 0)
            return records[i];
    for (size_t i = 0; i < version->other_count; i++)
        if (strcmp(version->others[i].file.path, file) == 0)
            return &version->others[i].file;
    return NULL;
}

fdl_code fdl_host_read_whole(fdl_repo *repo, const char *key, fdl_version *out, fdl_error *error) {
    char id[FDL_ID_BYTES];
    memcpy(id, key + strlen(FDL_KEY_VERSIONS), sizeof id - 1);
    id[sizeof id - 1] = '\0';
    fdl_code code = fdl_version_read(repo, id, out, error);
    /* A record that cannot be read makes a version that no ref ever gets. */
    return code == FDL_NOT_FOUND || code == FDL_FAILED ? FDL_OK : code;
}

fdl_code fdl_host_not_named(const char *key, fdl_error *error) {
    return fdl_fail(error, FDL_REFUSED, key,
                    "the version of '%s' is complete: it takes no file any more but those that its version.json names", key);
}

/*
 * version.json comes last, so once it is there the version is whole, and others may read it: a signature or a
 * catalog laid beside it would change what they see.  A mirror that fills up brings what the record names.
 */
static fdl_code check_whole(const fdl_host_request *request, const upload *u, fdl_error *error) {
    fdl_version version = {0};
    fdl_object object = {0};
    const char *file = request->kind == FDL_KIND_VERSION ? fdl_host_version_file(request->key) : FDL_FILE_VERSION;
    if (strcmp(file, FDL_FILE_VERSION) == 0)
        return FDL_OK;
    fdl_code code = fdl_host_read_whole(request->repo, request->key, &version, error);
    const fdl_file_record *record = fdl_host_record_of(&version, file);
    bool named = record && strcmp(record->sha256, u->sha256) == 0;
    if (code == FDL_OK && version.id[0] && !named) {
        code = fdl_store_head(fdl_repo_store(request->repo), request->key, &object, error);
        if (code == FDL_NOT_FOUND) /* what is there is compared as ever */
            code = fdl_host_not_named(request->key, error);
    }
    fdl_version_clear(&version);
    return code;
}

/* The record says which version it is of; that its folder agrees is seen here, the rest when a ref is to move. */
static fdl_code check_record(const fdl_host_request *request, const upload *u, fdl_error *error) {
    char id[FDL_ID_BYTES];
    char *bytes = NULL;
    size_t length = 0;
    fdl_version version = {0};
    if (request->kind != FDL_KIND_VERSION || strcmp(fdl_host_version_file(request->key), FDL_FILE_VERSION) != 0)
        return FDL_OK;
    memcpy(id, request->key + strlen(FDL_KEY_VERSIONS), sizeof id - 1);
    id[sizeof id - 1] = '\0';
    fdl_code code = fdl_file_read(u->path, FDL_LIMIT_VERSION_BYTES, &bytes, &length, error);
    if (code == FDL_OK)
        code = fdl_version_parse(bytes, length, id, &version, error);
    if (code != FDL_OK)
        code = fdl_fail(error, FDL_REFUSED, request->key, "%s", error->message);
    fdl_version_clear(&version);
    free(bytes);
    return code;
}

/* ---- the body ------------------------------------------------------------------------- */

static bool is_hex(const char *text) {
    return strlen(text) == FDL_SHA256_BYTES - 1 &&
           strspn(text, "0123456789abcdefABCDEF") == FDL_SHA256_BYTES - 1;
}

/* What the body's sha256 is to be: FDL-SHA256 in hex, S3's header in base64, or an original's name. */
static fdl_code read_promise(const fdl_host_request *request, upload *u, fdl_error *error) {
    unsigned char bytes[33];
    size_t length = 0;
    const char *hex = fdl_host_header(request, "FDL-SHA256");
    const char *base64 = fdl_host_header(request, "x-amz-checksum-sha256");
    const char *name = request->kind == FDL_KIND_SOURCE ? request->key + strlen(FDL_KEY_SOURCES) : NULL;
    if ((hex && !is_hex(hex)) || (base64 && (!fdl_base64_decode(base64, bytes, sizeof bytes, &length) || length != 32)))
        return fdl_fail(error, FDL_USAGE, request->key, "the request's sha256 is none");
    for (size_t i = 0; hex && i < FDL_SHA256_BYTES; i++)
        u->promised[i] = hex[i] >= 'A' && hex[i] <= 'F' ? (char)(hex[i] - 'A' + 'a') : hex[i];
    for (size_t i = 0; base64 && !hex && i < 32; i++)
        snprintf(u->promised + 2 * i, 3, "%02x", bytes[i]);
    if (name && u->promised[0] && strcmp(name, u->promised) != 0)
        return fdl_fail(error, FDL_USAGE, request->key, "'%s' is not named by the sha256 %s", request->key, u->promised);
    if (name)
        (void)fdl_str_fit(u->promised, sizeof u->promised, name);
    return FDL_OK;
}

static fdl_code open_spool(upload *u, fdl_error *error) {
    const char *folder = getenv("TMPDIR");
    char *near = NULL, *path = NULL;
    fdl_code code = fdl_str_format(&near, error, "%s/fdl-upload", folder && *folder ? folder : "/tmp");
    if (code == FDL_OK)
        code = fdl_temp_create(near, &path, &u->fd, error);
    if (code == FDL_OK) {
        unlink(path);
        snprintf(u->path, sizeof u->path, "/proc/self/fd/%d", u->fd);
    }
    free(path);
    free(near);
    return code;
}

/* A create-only PUT may say so; nothing else makes sense. */
static fdl_code check_conditions(fdl_host_request *request, fdl_error *error) {
    const char *none = fdl_host_header(request, MHD_HTTP_HEADER_IF_NONE_MATCH);
    if (!fdl_host_header(request, MHD_HTTP_HEADER_IF_MATCH) && (!none || strcmp(none, "*") == 0))
        return FDL_OK;
    return fdl_answer_fail(request, MHD_HTTP_PRECONDITION_FAILED, error, FDL_CONFLICT, request->key,
                           "'%s' is created once and never replaced", request->key);
}

fdl_code fdl_host_put_begin(fdl_host_request *request, fdl_error *error) {
    upload *u = NULL;
    fdl_code code = fdl_host_may_create(request->key, request->kind, error);
    if (code == FDL_OK)
        code = check_conditions(request, error);
    if (code == FDL_OK)
        code = fdl_alloc(&u, 1, sizeof *u, error);
    if (code != FDL_OK)
        return code;
    u->fd = -1;
    request->own = u;
    code = read_promise(request, u, error);
    if (code == FDL_OK)
        code = fdl_sha256_start(&u->hash, error);
    return code == FDL_OK ? open_spool(u, error) : code;
}

fdl_code fdl_host_put_piece(fdl_host_request *request, const char *bytes, size_t length_bytes, fdl_error *error) {
    upload *u = request->own;
    fdl_code code = fdl_sha256_add(&u->hash, bytes, length_bytes, error);
    return code == FDL_OK ? fdl_fd_write(u->fd, request->key, bytes, length_bytes, error) : code;
}

void fdl_host_put_end(fdl_host_request *request) {
    upload *u = request->own;
    if (!u)
        return;
    fdl_sha256_drop(&u->hash);
    if (u->fd >= 0)
        close(u->fd);
    free(u);
}

/* ---- into the store --------------------------------------------------------------------- */

static fdl_code hash_piece(void *data, const void *bytes, size_t length, fdl_error *error) {
    return fdl_sha256_add(data, bytes, length, error);
}

/* What is there already: the same bytes, which is as good, or others. */
static fdl_code compare(const fdl_host_request *request, const upload *u, bool *same, fdl_object *object,
                        fdl_error *error) {
    char found[FDL_SHA256_BYTES] = "";
    fdl_sha256 hash = {0};
    fdl_store *store = fdl_repo_store(request->repo);
    fdl_code code = fdl_store_head(store, request->key, object, error);
    *same = false;
    if (code != FDL_OK || object->size_bytes != request->received_bytes)
        return code;
    code = fdl_sha256_start(&hash, error);
    if (code == FDL_OK)
        code = fdl_store_get(store, request->key, NULL, hash_piece, &hash, object, error);
    if (code == FDL_OK)
        code = fdl_sha256_finish(&hash, found, error);
    else
        fdl_sha256_drop(&hash);
    *same = code == FDL_OK && strcmp(found, u->sha256) == 0;
    return code;
}

static fdl_code answer_there(fdl_host_request *request, const upload *u, fdl_object *object, fdl_error *error) {
    fdl_error first = *error;
    bool same = false;
    fdl_code code = compare(request, u, &same, object, error);
    if (code == FDL_NOT_FOUND) { /* something else is in the way */
        *error = first;
        return first.code;
    }
    if (code == FDL_OK && !same)
        code = fdl_answer_fail(request, MHD_HTTP_PRECONDITION_FAILED, error, FDL_CONFLICT, request->key,
                               "'%s' is there already with other bytes", request->key);
    return code;
}

static fdl_code check_promise(const fdl_host_request *request, upload *u, fdl_error *error) {
    fdl_code code = fdl_sha256_finish(&u->hash, u->sha256, error);
    if (code == FDL_OK && u->promised[0] && strcmp(u->promised, u->sha256) != 0)
        code = fdl_fail(error, FDL_USAGE, request->key, "the bytes for '%s' have sha256 %s, and not %s as promised",
                        request->key, u->sha256, u->promised);
    return code;
}

fdl_code fdl_host_put_answer(fdl_host_request *request, fdl_error *error) {
    upload *u = request->own;
    char etag[FDL_HTTP_ETAG_BYTES];
    fdl_object object = {0};
    unsigned status = MHD_HTTP_CREATED;
    fdl_store *store = fdl_repo_store(request->repo);
    fdl_code code = check_promise(request, u, error);
    if (code == FDL_OK)
        code = check_record(request, u, error);
    if (code == FDL_OK)
        code = fdl_host_check_gone(request->repo, request->key, request->kind, error);
    if (code == FDL_OK)
        code = check_whole(request, u, error);
    if (code == FDL_OK)
        code = fdl_host_root_check(&request->host->root, request->key, error);
    if (code == FDL_OK) {
        /* A folder would hash it once more to find what we know. */
        fdl_source source = {.path = u->path, .sha256 = store->local ? NULL : u->sha256};
        code = fdl_store_put(store, request->key, &source, (fdl_condition){.kind = FDL_IF_ABSENT}, &object, error);
        if (code == FDL_CONFLICT) {
            status = MHD_HTTP_OK;
            code = answer_there(request, u, &object, error);
        }
    }
    if (code != FDL_OK)
        return code;
    fdl_http_etag(object.etag, etag);
    code = fdl_answer_bytes(request, status, NULL, "", 0, error);
    if (code == FDL_OK)
        fdl_answer_header(request, MHD_HTTP_HEADER_ETAG, etag);
    return code;
}
