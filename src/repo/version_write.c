/*
 * version_write.c - the bytes of version.json: one field a line, in the order
 * people read them.  The same record always makes the same bytes, for the
 * signature is over them.
 */
#include <stdlib.h>
#include <string.h>

#include "repo/ancestors.h"
#include "repo/internal.h"
#include "util/buf.h"
#include "util/json.h"

static fdl_code out_of_memory(fdl_error *error) {
    return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
}

/* ---- the document ------------------------------------------------------- */

static fdl_code add_file_fields(json_t *object, const fdl_file_record *file, fdl_error *error) {
    fdl_code code = fdl_json_set(object, "bytes", json_integer((json_int_t)file->bytes), error);
    return code == FDL_OK ? fdl_json_set(object, "sha256", json_string(file->sha256), error) : code;
}

/* `catalog` gives the storage, and for one of `catalogs` the format; NULL for a file that is no catalog. */
static fdl_code file_object(const fdl_file_record *file, const char *format, const char *storage, json_t **out,
                            fdl_error *error) {
    json_t *object = json_object();
    fdl_code code = object ? FDL_OK : out_of_memory(error);
    if (code == FDL_OK && format)
        code = fdl_json_set(object, "ducklake", json_string(format), error);
    if (code == FDL_OK)
        code = fdl_json_set(object, "path", json_string(file->path), error);
    if (code == FDL_OK && storage)
        code = fdl_json_set(object, "storage", json_string(storage), error);
    if (code == FDL_OK)
        code = add_file_fields(object, file, error);
    if (code == FDL_OK)
        *out = object;
    else
        json_decref(object);
    return code;
}

static fdl_code set_file(json_t *document, const char *field, const fdl_file_record *file, fdl_error *error) {
    json_t *object = NULL;
    fdl_code code = file_object(file, NULL, NULL, &object, error);
    return code == FDL_OK ? fdl_json_set(document, field, object, error) : code;
}

static fdl_code set_others(json_t *document, const fdl_version *version, fdl_error *error) {
    json_t *array = json_array();
    fdl_code code = array ? FDL_OK : out_of_memory(error);
    for (size_t i = 0; i < version->other_count && code == FDL_OK; i++) {
        const fdl_catalog_record *other = &version->others[i];
        json_t *object = NULL;
        code = file_object(&other->file, other->format, other->storage, &object, error);
        if (code == FDL_OK && json_array_append_new(array, object) != 0)
            code = out_of_memory(error);
    }
    if (code == FDL_OK)
        return fdl_json_set(document, "catalogs", array, error);
    json_decref(array);
    return code;
}

static fdl_code set_who_and_when(json_t *document, const fdl_version *version, fdl_error *error) {
    fdl_code code = fdl_json_set(document, "fdl", json_string(version->format), error);
    if (code == FDL_OK)
        code = fdl_json_set(document, "id", json_string(version->id), error);
    if (code == FDL_OK)
        code = fdl_json_set(document, "seq", json_integer(version->seq), error);
    if (code == FDL_OK)
        code = fdl_json_set(document, "parents", version->parent[0] ? json_pack("[s]", version->parent) : json_array(),
                            error);
    if (code == FDL_OK)
        code = fdl_ancestors_set(document, &version->ancestors, error);
    if (code == FDL_OK)
        code = fdl_json_set(document, "created_at", json_string(version->created_at), error);
    if (code == FDL_OK)
        code = fdl_json_set(document, "author",
                            version->author_email
                                ? json_pack("{s:s, s:s}", "name", version->author_name, "email", version->author_email)
                                : json_pack("{s:s}", "name", version->author_name),
                            error);
    return code == FDL_OK ? fdl_json_set(document, "message", json_string(version->message), error) : code;
}

static fdl_code set_catalog(json_t *document, const fdl_version *version, fdl_error *error) {
    json_t *object = NULL;
    fdl_code code = file_object(&version->catalog.file, NULL, version->catalog.storage, &object, error);
    if (code == FDL_OK && version->packed.path)
        code = set_file(object, "zstd", &version->packed, error);
    if (code == FDL_OK)
        return fdl_json_set(document, "catalog", object, error);
    json_decref(object);
    return code;
}

static fdl_code set_what(json_t *document, const fdl_version *version, fdl_error *error) {
    fdl_code code = set_catalog(document, version, error);
    if (code == FDL_OK)
        code = set_file(document, "dataset", &version->dataset, error);
    if (code == FDL_OK && version->files.path)
        code = set_file(document, "files", &version->files, error);
    if (code == FDL_OK && version->other_count)
        code = set_others(document, version, error);
    if (code == FDL_OK)
        code = fdl_json_set(document, "ducklake",
                            json_pack("{s:s, s:I, s:[I, I]}", "format", version->catalog.format, "snapshot_id",
                                      (json_int_t)version->snapshot_id, "snapshots",
                                      (json_int_t)version->first_snapshot, (json_int_t)version->last_snapshot),
                            error);
    return code;
}

/* ---- its bytes ---------------------------------------------------------- */

static fdl_code add_scalar(fdl_buf *out, const json_t *value, fdl_error *error) {
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    fdl_code code = text ? fdl_buf_add_str(out, text, error) : out_of_memory(error);
    free(text);
    return code;
}

/* A value on one line: { "name": "bob" }, [8, 12].  No deeper than what this file builds. */
static fdl_code add_inline(fdl_buf *out, json_t *value, fdl_error *error) {
    if (!json_is_object(value) && !json_is_array(value))
        return add_scalar(out, value, error);
    const char *before = json_is_object(value) ? "{ " : "[";
    const char *after = json_is_object(value) ? " }" : "]";
    const char *key = NULL;
    json_t *item = NULL;
    size_t index = 0;
    fdl_code code = fdl_buf_add_str(out, before, error);
    json_object_foreach(value, key, item) {
        if (code == FDL_OK)
            code = fdl_buf_add_format(out, error, "%s\"%s\": ", index++ ? ", " : "", key);
        if (code == FDL_OK)
            code = add_inline(out, item, error);
    }
    json_array_foreach(value, index, item) {
        if (code == FDL_OK && index)
            code = fdl_buf_add_str(out, ", ", error);
        if (code == FDL_OK)
            code = add_inline(out, item, error);
    }
    return code == FDL_OK ? fdl_buf_add_str(out, after, error) : code;
}

static fdl_code add_document(fdl_buf *out, json_t *document, fdl_error *error) {
    const char *field = NULL;
    json_t *value = NULL;
    const char *separator = "{\n";
    fdl_code code = FDL_OK;
    json_object_foreach(document, field, value) {
        if (code == FDL_OK)
            code = fdl_buf_add_format(out, error, "%s  \"%s\": ", separator, field);
        if (code == FDL_OK)
            code = add_inline(out, value, error);
        separator = ",\n";
    }
    return code == FDL_OK ? fdl_buf_add_str(out, "\n}\n", error) : code;
}

fdl_code fdl_version_write(const fdl_version *version, char **out, size_t *length_bytes, fdl_error *error) {
    fdl_buf bytes;
    fdl_buf_init(&bytes, FDL_LIMIT_VERSION_BYTES);
    json_t *document = json_object();
    fdl_code code = document ? fdl_version_check(version, FDL_FILE_VERSION, error) : out_of_memory(error);
    if (code == FDL_OK)
        code = set_who_and_when(document, version, error);
    if (code == FDL_OK)
        code = set_what(document, version, error);
    if (code == FDL_OK)
        code = add_document(&bytes, document, error);
    if (code == FDL_REFUSED)
        code = fdl_fail(error, FDL_REFUSED, FDL_FILE_VERSION,
                        "'%s' would be larger than %u bytes, which no reader accepts; shorten the message",
                        FDL_FILE_VERSION, FDL_LIMIT_VERSION_BYTES);
    if (code == FDL_OK && !(*out = fdl_buf_detach(&bytes, length_bytes)))
        code = out_of_memory(error);
    json_decref(document);
    fdl_buf_clear(&bytes);
    return code;
}
