/*
 * sources.c - original files, kept beside a version that is being built, and
 * their list in dataset.json.
 */
#include "flow/sources.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "repo/layout.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/text.h"

void fdl_source_key(char out[FDL_SOURCE_KEY_BYTES], const char *sha256) {
    snprintf(out, FDL_SOURCE_KEY_BYTES, FDL_KEY_SOURCES "%.64s", sha256);
}

/* ---- the list ------------------------------------------------------------------- */

static bool is_sha256(const char *text) {
    return text && strlen(text) == FDL_SHA256_BYTES - 1 && strspn(text, "0123456789abcdef") == FDL_SHA256_BYTES - 1;
}

static const char *text_of(const json_t *object, const char *field) {
    return json_string_value(json_object_get(object, field));
}

fdl_code fdl_sources_check(const json_t *dataset, const char *name, fdl_error *error) {
    const json_t *list = json_object_get(dataset, "sources");
    size_t index = 0;
    const json_t *entry = NULL;
    if (!list || json_is_null(list))
        return FDL_OK;
    if (!json_is_array(list))
        return fdl_fail(error, FDL_REFUSED, name, "'%s': 'sources' is not a list", name);
    json_array_foreach(list, index, entry) {
        const json_t *sha256 = json_object_get(entry, "sha256"), *bytes = json_object_get(entry, "bytes");
        if (!text_of(entry, "name"))
            return fdl_fail(error, FDL_REFUSED, name, "'%s': 'sources[%zu]' has no name", name, index);
        if (sha256 && !json_is_null(sha256) && !is_sha256(json_string_value(sha256)))
            return fdl_fail(error, FDL_REFUSED, name, "'%s': 'sources[%zu].sha256' is not 64 hex digits", name, index);
        if (bytes && !json_is_null(bytes) && (!json_is_integer(bytes) || json_integer_value(bytes) < 0))
            return fdl_fail(error, FDL_REFUSED, name, "'%s': 'sources[%zu].bytes' is not a whole number", name, index);
    }
    return FDL_OK;
}

fdl_code fdl_sources_each(const json_t *dataset, fdl_kept_source_callback callback, void *data, fdl_error *error) {
    fdl_code code = FDL_OK;
    size_t index = 0;
    const json_t *entry = NULL;
    json_array_foreach(json_object_get(dataset, "sources"), index, entry) {
        const json_t *bytes = json_object_get(entry, "bytes");
        fdl_kept_source source = {.name = text_of(entry, "name"), .sha256 = text_of(entry, "sha256")};
        if (code != FDL_OK || !source.name || !is_sha256(source.sha256) || !json_is_integer(bytes) ||
            json_integer_value(bytes) < 0)
            continue;
        source.bytes = (uint64_t)json_integer_value(bytes);
        code = callback(data, &source, error);
    }
    return code;
}

/*
 * The list, made if need be, before the tables, where people look first.  A
 * copy of what was there: the parent's description shares its entries with this
 * one, and must not change.
 */
static fdl_code list_of(json_t *dataset, json_t **out, fdl_error *error) {
    json_t *before = json_object_get(dataset, "sources");
    json_t *tables = json_incref(json_object_get(dataset, "tables"));
    bool is_new = !json_is_array(before);
    if (is_new)
        json_object_del(dataset, "tables");
    fdl_code code = fdl_json_set(dataset, "sources", is_new ? json_array() : json_deep_copy(before), error);
    if (code == FDL_OK && is_new && tables)
        code = fdl_json_set(dataset, "tables", json_incref(tables), error);
    json_decref(tables);
    *out = json_object_get(dataset, "sources");
    return code;
}

static json_t *find_entry(const json_t *list, const char *name) {
    size_t index = 0;
    json_t *entry = NULL;
    json_array_foreach(list, index, entry) {
        const char *known = text_of(entry, "name");
        if (known && strcmp(known, name) == 0)
            return entry;
    }
    return NULL;
}

/* ---- keeping -------------------------------------------------------------------------- */

/* A copy first, then its sha256: what is listed is what was copied, whoever writes to the original meanwhile. */
static fdl_code copy_source(const char *path, const char *folder, char sha256[FDL_SHA256_BYTES], uint64_t *bytes,
                            fdl_error *error) {
    char *copy = NULL, *kept = NULL;
    fdl_code code = fdl_str_format(&copy, error, "%s/copy", folder);
    if (code == FDL_OK)
        code = fdl_file_copy(path, copy, error);
    if (code == FDL_OK)
        code = fdl_sha256_file(copy, sha256, bytes, error);
    if (code == FDL_OK)
        code = fdl_str_format(&kept, error, "%s/%s", folder, sha256);
    if (code == FDL_OK)
        code = fdl_file_rename(copy, kept, error);
    free(kept);
    free(copy);
    return code;
}

static fdl_code enter(json_t *list, const char *name, const char *sha256, uint64_t bytes, fdl_error *error) {
    json_t *entry = find_entry(list, name);
    fdl_code code = FDL_OK;
    if (!entry) {
        entry = json_object();
        if (!entry || json_array_append_new(list, entry) != 0)
            return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
        code = fdl_json_set(entry, "name", json_string(name), error);
    }
    if (code == FDL_OK)
        code = fdl_json_set(entry, "bytes", json_integer((json_int_t)bytes), error);
    return code == FDL_OK ? fdl_json_set(entry, "sha256", json_string(sha256), error) : code;
}

static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A pipe would be waited for, a device read without end. */
static fdl_code check_file(const char *path, fdl_error *error) {
    struct stat info;
    if (stat(path, &info) != 0)
        return fdl_file_error(error, "read", path, errno);
    return S_ISREG(info.st_mode) ? FDL_OK : fdl_fail(error, FDL_FAILED, path, "cannot keep '%s': it is not a file", path);
}

fdl_code fdl_sources_check_paths(const char *const *paths, size_t count, fdl_error *error) {
    for (size_t i = 0; i < count; i++) {
        const char *name = last_name(paths[i]);
        if (!*name || !fdl_utf8_valid(name, strlen(name)))
            return fdl_fail(error, FDL_USAGE, paths[i], "'%s' has no name to be listed by", paths[i]);
        for (size_t j = 0; j < i; j++)
            if (strcmp(last_name(paths[j]), name) == 0)
                return fdl_fail(error, FDL_USAGE, paths[i], "'%s' and '%s' would be listed by the same name", paths[j],
                                paths[i]);
        fdl_code code = check_file(paths[i], error);
        if (code != FDL_OK)
            return code;
    }
    return FDL_OK;
}

fdl_code fdl_sources_keep(const char *const *paths, size_t count, const char *folder, json_t *dataset,
                          fdl_error *error) {
    char *sources = NULL;
    json_t *list = NULL;
    if (count == 0)
        return FDL_OK;
    fdl_code code = list_of(dataset, &list, error);
    if (code == FDL_OK)
        code = fdl_str_format(&sources, error, "%s/" FDL_FOLDER_SOURCES, folder);
    if (code == FDL_OK)
        code = fdl_folder_make(sources, error);
    for (size_t i = 0; i < count && code == FDL_OK; i++) {
        char sha256[FDL_SHA256_BYTES];
        uint64_t bytes = 0;
        code = copy_source(paths[i], sources, sha256, &bytes, error);
        if (code == FDL_OK)
            code = enter(list, last_name(paths[i]), sha256, bytes, error);
    }
    free(sources);
    return code;
}
