/*
 * version_check.c - what holds of every version.json, read or to be written.
 *
 * One list of rules for both: what we write we can read, and what a stranger
 * wrote cannot lead out of the version's folder.
 */
#include <stdint.h>
#include <string.h>

#include "repo/internal.h"
#include "util/ident.h"
#include "util/text.h"

#define OTHER_CATALOGS_LIMIT 64u

static fdl_code breaks(const char *name, const char *field, const char *value, const char *rule, fdl_error *error) {
    return fdl_fail(error, FDL_FAILED, name, "'%s': field '%s' is '%.300s', not %s", name, field, value, rule);
}

static fdl_code check_text(const char *name, const char *field, const char *text, fdl_error *error) {
    if (!text)
        return fdl_fail(error, FDL_FAILED, name, "'%s' has no field '%s'", name, field);
    if (!fdl_utf8_valid(text, strlen(text)))
        return fdl_fail(error, FDL_USAGE, name, "the %s of a version must be valid UTF-8", field);
    return FDL_OK;
}

static bool is_sha256(const char *text) {
    return strlen(text) == FDL_SHA256_BYTES - 1 && strspn(text, "0123456789abcdef") == FDL_SHA256_BYTES - 1;
}

static fdl_code check_file(const fdl_file_record *file, const char *id, const char *name, const char *path_field,
                           const char *hash_field, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    fdl_code code = check_text(name, path_field, file->path, error);
    if (code != FDL_OK)
        return code;
    if (fdl_key_version(key, id, file->path, NULL) != FDL_OK || fdl_key_check(key, NULL) != FDL_OK)
        return breaks(name, path_field, file->path, "a plain path inside the version's folder", error);
    if (!is_sha256(file->sha256))
        return breaks(name, hash_field, file->sha256, "64 hex digits in lower case", error);
    if (file->bytes > INT64_MAX)
        return fdl_fail(error, FDL_FAILED, name, "'%s': the size of '%s' is out of range", name, file->path);
    return FDL_OK;
}

static fdl_code check_ids(const fdl_version *version, const char *name, fdl_error *error) {
    if (!fdl_uuid_valid(version->id))
        return breaks(name, "id", version->id, "a UUID in lower case", error);
    if (version->seq < 1)
        return fdl_fail(error, FDL_FAILED, name, "'%s': field 'seq' is not a whole number of 1 or more", name);
    if (version->parent[0] && !fdl_uuid_valid(version->parent))
        return breaks(name, "parents", version->parent, "a UUID in lower case", error);
    if (strcmp(version->parent, version->id) == 0)
        return breaks(name, "parents", version->parent, "another version", error);
    if (version->ancestors.count > FDL_ANCESTORS_LIMIT)
        return fdl_fail(error, FDL_FAILED, name, "'%s': field 'ancestors' has more than %d entries", name,
                        FDL_ANCESTORS_LIMIT);
    for (size_t i = 0; i < version->ancestors.count; i++)
        if (!fdl_uuid_valid(version->ancestors.ids[i]))
            return breaks(name, "ancestors", version->ancestors.ids[i], "a UUID in lower case", error);
    return FDL_OK;
}

static fdl_code check_story(const fdl_version *version, const char *name, fdl_error *error) {
    int64_t ms = 0;
    if (!fdl_time_parse(version->created_at, &ms) || !fdl_str_ends(version->created_at, "Z"))
        return breaks(name, "created_at", version->created_at, "a time in UTC such as '2026-10-15T09:00:00Z'", error);
    fdl_code code = check_text(name, "author.name", version->author_name, error);
    if (code == FDL_OK && version->author_email)
        code = check_text(name, "author.email", version->author_email, error);
    if (code == FDL_OK)
        code = check_text(name, "message", version->message, error);
    return code;
}

static fdl_code check_catalogs(const fdl_version *version, const char *name, fdl_error *error) {
    fdl_code code = check_text(name, "ducklake.format", version->catalog.format, error);
    if (code == FDL_OK)
        code = check_text(name, "catalog.storage", version->catalog.storage, error);
    if (code == FDL_OK)
        code = check_file(&version->catalog.file, version->id, name, "catalog.path", "catalog.sha256", error);
    if (code == FDL_OK && version->packed.path)
        code = check_file(&version->packed, version->id, name, "catalog.zstd.path", "catalog.zstd.sha256", error);
    if (version->other_count > OTHER_CATALOGS_LIMIT)
        return fdl_fail(error, FDL_FAILED, name, "'%s': field 'catalogs' has more than %u entries", name,
                        OTHER_CATALOGS_LIMIT);
    for (size_t i = 0; i < version->other_count && code == FDL_OK; i++) {
        const fdl_catalog_record *other = &version->others[i];
        code = check_text(name, "catalogs.ducklake", other->format, error);
        if (code == FDL_OK)
            code = check_text(name, "catalogs.storage", other->storage, error);
        if (code == FDL_OK)
            code = check_file(&other->file, version->id, name, "catalogs.path", "catalogs.sha256", error);
    }
    return code;
}

fdl_code fdl_version_check(const fdl_version *version, const char *name, fdl_error *error) {
    fdl_code code = check_text(name, "fdl", version->format, error);
    if (code == FDL_OK)
        code = fdl_format_check(version->format, name, error);
    if (code == FDL_OK)
        code = check_ids(version, name, error);
    if (code == FDL_OK)
        code = check_story(version, name, error);
    if (code == FDL_OK)
        code = check_catalogs(version, name, error);
    if (code == FDL_OK)
        code = check_file(&version->dataset, version->id, name, "dataset.path", "dataset.sha256", error);
    if (code == FDL_OK && version->files.path)
        code = check_file(&version->files, version->id, name, "files.path", "files.sha256", error);
    if (code == FDL_OK &&
        (version->snapshot_id < 0 || version->first_snapshot < 0 || version->first_snapshot > version->last_snapshot))
        code = fdl_fail(error, FDL_FAILED, name,
                        "'%s': field 'ducklake.snapshots' does not tell a first and a last "
                        "snapshot",
                        name);
    return code;
}
