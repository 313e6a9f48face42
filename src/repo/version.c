/*
 * version.c - reading what a version says of itself: version.json, and
 * expired.json once it is gone.
 *
 * Both may come from anyone.  Unknown fields are passed over, so that a later
 * 0.x can add some; known ones must keep their rules (version_check.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repo/ancestors.h"
#include "repo/internal.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/text.h"

static void catalog_clear(fdl_catalog_record *catalog) {
    free(catalog->format);
    free(catalog->storage);
    free(catalog->file.path);
}

void fdl_version_clear(fdl_version *version) {
    if (!version)
        return;
    free(version->format);
    free(version->author_name);
    free(version->author_email);
    free(version->message);
    catalog_clear(&version->catalog);
    free(version->packed.path);
    free(version->dataset.path);
    free(version->files.path);
    for (size_t i = 0; i < version->other_count; i++)
        catalog_clear(&version->others[i]);
    free(version->others);
    memset(version, 0, sizeof *version);
}

/* ---- fields ------------------------------------------------------------- */

/* What an inner object is called in errors: "versions/<id>/version.json#catalog". */
#define INNER_BYTES (FDL_KEY_BYTES + 16)
static const char *inner_name(char out[INNER_BYTES], const char *name, const char *field) {
    snprintf(out, INNER_BYTES, "%s#%s", name, field);
    return out;
}

static fdl_code copy_string(const json_t *object, const char *name, const char *field, char **out, fdl_error *error) {
    const char *text = NULL;
    fdl_code code = fdl_json_string(object, name, field, &text, error);
    return code == FDL_OK ? fdl_str_copy(out, text, error) : code;
}

/* Into an array of fixed size: longer text breaks the field's rule whatever it says. */
static fdl_code fit_string(const json_t *object, const char *name, const char *field, char *out, size_t out_bytes,
                           fdl_error *error) {
    const char *text = NULL;
    fdl_code code = fdl_json_string(object, name, field, &text, error);
    if (code == FDL_OK && !fdl_str_fit(out, out_bytes, text))
        code =
            fdl_fail(error, FDL_FAILED, name, "'%s': field '%s' is longer than %zu bytes", name, field, out_bytes - 1);
    return code;
}

/* null is as good as absent. */
static bool has(const json_t *object, const char *field) {
    const json_t *value = json_object_get(object, field);
    return value && !json_is_null(value);
}

static fdl_code parse_file(const json_t *object, const char *name, fdl_file_record *out, fdl_error *error) {
    int64_t bytes = 0;
    fdl_code code = copy_string(object, name, "path", &out->path, error);
    if (code == FDL_OK)
        code = fdl_json_count(object, name, "bytes", &bytes, error);
    if (code == FDL_OK)
        code = fit_string(object, name, "sha256", out->sha256, sizeof out->sha256, error);
    out->bytes = (uint64_t)bytes;
    return code;
}

static fdl_code parse_file_field(const json_t *document, const char *name, const char *field, fdl_file_record *out,
                                 fdl_error *error) {
    char inner[INNER_BYTES];
    json_t *object = NULL;
    fdl_code code = fdl_json_object(document, name, field, &object, error);
    return code == FDL_OK ? parse_file(object, inner_name(inner, name, field), out, error) : code;
}

static fdl_code parse_parents(const json_t *document, const char *name, fdl_version *out, fdl_error *error) {
    json_t *parents = NULL;
    fdl_code code = fdl_json_array_optional(document, name, "parents", &parents, error);
    if (code != FDL_OK)
        return code;
    if (!parents || json_array_size(parents) > 1)
        return fdl_fail(error, FDL_FAILED, name, "'%s': field 'parents' is not a list of none or one version", name);
    const json_t *parent = json_array_get(parents, 0);
    const char *id = parent ? json_string_value(parent) : "";
    /* "" in the list must not pass for no parent. */
    if (!id || (parent && !*id) || !fdl_str_fit(out->parent, sizeof out->parent, id))
        return fdl_fail(error, FDL_FAILED, name, "'%s': field 'parents' does not hold a version id", name);
    return FDL_OK;
}

static fdl_code parse_author(const json_t *document, const char *name, fdl_version *out, fdl_error *error) {
    char inner[INNER_BYTES];
    json_t *author = NULL;
    const char *email = NULL;
    fdl_code code = fdl_json_object(document, name, "author", &author, error);
    inner_name(inner, name, "author");
    if (code == FDL_OK)
        code = copy_string(author, inner, "name", &out->author_name, error);
    if (code == FDL_OK)
        code = fdl_json_string_optional(author, inner, "email", &email, error);
    return code == FDL_OK ? fdl_str_copy(&out->author_email, email, error) : code;
}

static fdl_code parse_others(const json_t *document, const char *name, fdl_version *out, fdl_error *error) {
    char inner[INNER_BYTES];
    json_t *catalogs = NULL;
    fdl_code code = fdl_json_array_optional(document, name, "catalogs", &catalogs, error);
    size_t count = code == FDL_OK ? json_array_size(catalogs) : 0;
    if (count == 0)
        return code;
    code = fdl_alloc(&out->others, count, sizeof *out->others, error);
    inner_name(inner, name, "catalogs");
    for (; out->other_count < count && code == FDL_OK; out->other_count++) {
        const json_t *object = json_array_get(catalogs, out->other_count);
        fdl_catalog_record *other = &out->others[out->other_count];
        code = copy_string(object, inner, "ducklake", &other->format, error);
        if (code == FDL_OK)
            code = copy_string(object, inner, "storage", &other->storage, error);
        if (code == FDL_OK)
            code = parse_file(object, inner, &other->file, error);
    }
    return code;
}

static fdl_code parse_ducklake(const json_t *document, const char *name, fdl_version *out, fdl_error *error) {
    char inner[INNER_BYTES];
    json_t *ducklake = NULL, *snapshots = NULL;
    fdl_code code = fdl_json_object(document, name, "ducklake", &ducklake, error);
    inner_name(inner, name, "ducklake");
    if (code == FDL_OK)
        code = copy_string(ducklake, inner, "format", &out->catalog.format, error);
    if (code == FDL_OK)
        code = fdl_json_count(ducklake, inner, "snapshot_id", &out->snapshot_id, error);
    if (code == FDL_OK)
        code = fdl_json_array_optional(ducklake, inner, "snapshots", &snapshots, error);
    if (code != FDL_OK)
        return code;
    const json_t *first = json_array_get(snapshots, 0), *last = json_array_get(snapshots, 1);
    if (json_array_size(snapshots) != 2 || !json_is_integer(first) || !json_is_integer(last))
        return fdl_fail(error, FDL_FAILED, name, "'%s': field 'snapshots' is not a list of two whole numbers", inner);
    out->first_snapshot = json_integer_value(first);
    out->last_snapshot = json_integer_value(last);
    return FDL_OK;
}

static fdl_code parse_catalog(const json_t *document, const char *name, fdl_version *out, fdl_error *error) {
    char inner[INNER_BYTES];
    json_t *object = NULL;
    fdl_code code = fdl_json_object(document, name, "catalog", &object, error);
    inner_name(inner, name, "catalog");
    if (code == FDL_OK)
        code = parse_file(object, inner, &out->catalog.file, error);
    if (code == FDL_OK)
        code = copy_string(object, inner, "storage", &out->catalog.storage, error);
    if (code == FDL_OK && has(object, "zstd"))
        code = parse_file_field(object, inner, "zstd", &out->packed, error);
    return code;
}

/* ---- version.json ------------------------------------------------------- */

/* Who we are talking to, before what it says: format first, then id. */
static fdl_code parse_identity(const json_t *document, const char *name, const char *id, fdl_version *out,
                               fdl_error *error) {
    fdl_code code = copy_string(document, name, "fdl", &out->format, error);
    if (code == FDL_OK)
        code = fdl_format_check(out->format, name, error);
    if (code == FDL_OK)
        code = fit_string(document, name, "id", out->id, sizeof out->id, error);
    if (code == FDL_OK && strcmp(out->id, id) != 0)
        code = fdl_fail(error, FDL_FAILED, name, "'%s' says it is version '%s', not '%s'; do not trust it", name,
                        out->id, id);
    return code;
}

static fdl_code parse_fields(const json_t *document, const char *name, const char *id, fdl_version *out,
                             fdl_error *error) {
    fdl_code code = parse_identity(document, name, id, out, error);
    if (code == FDL_OK)
        code = fdl_json_count(document, name, "seq", &out->seq, error);
    if (code == FDL_OK)
        code = parse_parents(document, name, out, error);
    if (code == FDL_OK)
        code = fdl_ancestors_parse(document, name, &out->ancestors, error);
    if (code == FDL_OK)
        code = fit_string(document, name, "created_at", out->created_at, sizeof out->created_at, error);
    if (code == FDL_OK)
        code = parse_author(document, name, out, error);
    if (code == FDL_OK)
        code = copy_string(document, name, "message", &out->message, error);
    if (code == FDL_OK)
        code = parse_catalog(document, name, out, error);
    if (code == FDL_OK)
        code = parse_file_field(document, name, "dataset", &out->dataset, error);
    if (code == FDL_OK && has(document, "files"))
        code = parse_file_field(document, name, "files", &out->files, error);
    if (code == FDL_OK)
        code = parse_others(document, name, out, error);
    if (code == FDL_OK)
        code = parse_ducklake(document, name, out, error);
    return code == FDL_OK ? fdl_version_check(out, name, error) : code;
}

fdl_code fdl_version_parse(const char *bytes, size_t length_bytes, const char *id, fdl_version *out, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    json_t *document = NULL;
    fdl_version version = {0};
    fdl_error local;
    if (!error)
        error = &local;
    fdl_code code = fdl_key_version(key, id, FDL_FILE_VERSION, error);
    if (code != FDL_OK)
        return code;
    code = fdl_json_parse(bytes, length_bytes, key, &document, error);
    if (code == FDL_OK)
        code = parse_fields(document, key, id, &version, error);
    json_decref(document);
    if (code != FDL_OK) {
        fdl_version_clear(&version);
        /* The message may speak of an inner object; the key is the document's. */
        return fdl_fail(error, code, key, "%s", error->message);
    }
    *out = version;
    return FDL_OK;
}

fdl_code fdl_version_load(fdl_repo *repo, const char *id, fdl_version *out, char **bytes, size_t *length_bytes,
                          fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *read = NULL;
    fdl_code code = fdl_key_version(key, id, FDL_FILE_VERSION, error);
    if (code == FDL_OK)
        code = fdl_document_read(repo, key, FDL_LIMIT_VERSION_BYTES, &read, length_bytes, NULL, error);
    if (code == FDL_NOT_FOUND)
        code = fdl_fail(error, FDL_NOT_FOUND, key, "no version '%s' in '%s'", id, fdl_repo_address(repo));
    if (code == FDL_OK)
        code = fdl_version_parse(read, *length_bytes, id, out, error);
    if (code == FDL_OK)
        *bytes = read;
    else
        free(read);
    return code;
}

fdl_code fdl_version_read(fdl_repo *repo, const char *id, fdl_version *out, fdl_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    fdl_code code = fdl_version_load(repo, id, out, &bytes, &length, error);
    free(bytes);
    return code;
}

/* ---- expired.json ------------------------------------------------------- */

void fdl_expiry_clear(fdl_expiry *expiry) {
    if (!expiry)
        return;
    free(expiry->text);
    memset(expiry, 0, sizeof *expiry);
}

static fdl_code parse_expiry(const char *bytes, size_t length, const char *key, fdl_expiry *out, fdl_error *error) {
    json_t *document = NULL;
    const char *text = NULL;
    int64_t ms = 0;
    fdl_code code = fdl_json_parse(bytes, length, key, &document, error);
    if (code == FDL_OK)
        code = fit_string(document, key, "expired_at", out->expired_at, sizeof out->expired_at, error);
    if (code == FDL_OK && !fdl_time_parse(out->expired_at, &ms))
        code = fdl_fail(error, FDL_FAILED, key, "'%s': field 'expired_at' is '%s', not a time", key, out->expired_at);
    if (code == FDL_OK)
        code = fit_string(document, key, "reason", out->reason, sizeof out->reason, error);
    if (code == FDL_OK)
        code = fdl_json_string_optional(document, key, "text", &text, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&out->text, text, error);
    json_decref(document);
    return code;
}

fdl_code fdl_expiry_read_state(fdl_repo *repo, const char *id, fdl_expiry *out, char etag[FDL_ETAG_LIMIT_BYTES],
                               fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *bytes = NULL;
    size_t length = 0;
    fdl_object object = {0};
    fdl_expiry expiry = {0};
    fdl_code code = fdl_key_version(key, id, FDL_FILE_EXPIRED, error);
    if (code != FDL_OK)
        return code;
    code = fdl_document_read(repo, key, FDL_LIMIT_EXPIRED_BYTES, &bytes, &length, &object, error);
    if (code == FDL_OK) {
        expiry.expired = true;
        code = parse_expiry(bytes, length, key, &expiry, error);
    } else if (code == FDL_NOT_FOUND || code == FDL_DENIED) {
        /* Whoever may read version.json may read the marker; 403 is how a bucket that nobody may list says "none". */
        code = FDL_OK;
    }
    free(bytes);
    if (code == FDL_OK) {
        *out = expiry;
        fdl_str_fit(etag, FDL_ETAG_LIMIT_BYTES, object.etag);
    } else {
        fdl_expiry_clear(&expiry);
    }
    return code;
}

fdl_code fdl_expiry_read(fdl_repo *repo, const char *id, fdl_expiry *out, fdl_error *error) {
    char etag[FDL_ETAG_LIMIT_BYTES];
    return fdl_expiry_read_state(repo, id, out, etag, error);
}
