/*
 * files_read.c - files.json read one file at a time.
 *
 * A tree of a million files would take a gigabyte.  So only the frame of the
 * document, its tables and their lists, is walked here, by finding where each
 * value ends; what is inside a list is handed to jansson piece by piece.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "repo/files_json.h"
#include "repo/record.h"
#include "util/json.h"

/* A part of the document: one value, or what is left to look at. */
typedef struct piece {
    const char *at;
    const char *end;
} piece;

typedef struct walk {
    const char *name;  /* of the document */
    const char *start;
    fdl_file_entry_callback callback;
    void *data;
    fdl_file_entry entry; /* the table it belongs to is filled in already */
} walk;

/* ---- where things begin and end --------------------------------------------------- */

static fdl_code broken(const walk *w, const char *at, const char *what, fdl_error *error) {
    size_t line = 1;
    for (const char *c = w->start; c < at; c++)
        line += *c == '\n';
    return fdl_fail(error, FDL_FAILED, w->name, "'%s' is no list of files, line %zu: %s", w->name, line, what);
}

static void skip_space(piece *p) {
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
        p->at++;
}

/* Steps over `wanted` if it is next. */
static bool take(piece *p, char wanted) {
    skip_space(p);
    if (p->at == p->end || *p->at != wanted)
        return false;
    p->at++;
    return true;
}

/* Behind the closing quote; NULL when there is none. */
static const char *string_end(const char *at, const char *end) {
    bool escaped = false;
    for (at++; at < end && (escaped || *at != '"'); at++)
        escaped = !escaped && *at == '\\';
    return at < end ? at + 1 : NULL;
}

/* Behind the value that begins at `at`; NULL when it does not end. */
static const char *value_end(const char *at, const char *end) {
    size_t depth = 0;
    while (at < end) {
        char c = *at;
        if (c == '"') {
            at = string_end(at, end);
            if (!at)
                return NULL;
        } else if (depth == 0 && (c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\t' || c == '\r')) {
            return at;
        } else {
            depth += c == '{' || c == '[';
            depth -= c == '}' || c == ']';
            at++;
        }
        if (depth == 0 && (c == '"' || c == '}' || c == ']'))
            return at;
    }
    return depth == 0 ? at : NULL;
}

static fdl_code take_value(const walk *w, piece *p, piece *out, fdl_error *error) {
    skip_space(p);
    out->at = p->at;
    out->end = p->at < p->end ? value_end(p->at, p->end) : NULL;
    if (!out->end || out->end == out->at)
        return broken(w, p->at, "a value is missing or does not end", error);
    p->at = out->end;
    return FDL_OK;
}

/* Only whitespace may be left. */
static fdl_code take_end(const walk *w, piece *p, fdl_error *error) {
    skip_space(p);
    return p->at == p->end ? FDL_OK : broken(w, p->at, "something is left over", error);
}

/* ---- lists and objects ----------------------------------------------------------------- */

typedef fdl_code (*item_callback)(walk *w, piece item, fdl_error *error);

static fdl_code each_item(walk *w, piece list, item_callback callback, fdl_error *error) {
    piece item;
    if (!take(&list, '['))
        return broken(w, list.at, "a list is missing", error);
    fdl_code code = FDL_OK;
    if (!take(&list, ']')) {
        do {
            code = take_value(w, &list, &item, error);
            if (code == FDL_OK)
                code = callback(w, item, error);
        } while (code == FDL_OK && take(&list, ','));
        if (code == FDL_OK && !take(&list, ']'))
            code = broken(w, list.at, "a list does not go on", error);
    }
    return code == FDL_OK ? take_end(w, &list, error) : code;
}

static fdl_code load(const walk *w, piece p, int type, json_t **out, fdl_error *error) {
    json_t *value = json_loadb(p.at, (size_t)(p.end - p.at), JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    if (!value || (int)json_typeof(value) != type) {
        json_decref(value);
        return broken(w, p.at, type == JSON_STRING ? "a text is missing" : "an object is missing", error);
    }
    *out = value;
    return FDL_OK;
}

/* The fields of that name, of `count`; each at most once, the others passed over. */
static fdl_code find_fields(walk *w, piece object, const char *const *names, piece *fields, size_t count,
                            fdl_error *error) {
    if (!take(&object, '{'))
        return broken(w, object.at, "an object is missing", error);
    fdl_code code = FDL_OK;
    bool more = !take(&object, '}');
    while (code == FDL_OK && more) {
        piece key, value;
        json_t *name = NULL;
        code = take_value(w, &object, &key, error);
        if (code == FDL_OK)
            code = load(w, key, JSON_STRING, &name, error);
        if (code == FDL_OK && !take(&object, ':'))
            code = broken(w, object.at, "a ':' is missing", error);
        if (code == FDL_OK)
            code = take_value(w, &object, &value, error);
        for (size_t i = 0; i < count && code == FDL_OK; i++)
            if (strcmp(json_string_value(name), names[i]) == 0) {
                if (fields[i].at)
                    code = broken(w, key.at, "a field stands twice", error);
                fields[i] = value;
            }
        json_decref(name);
        more = code == FDL_OK && take(&object, ',');
        if (code == FDL_OK && !more && !take(&object, '}'))
            code = broken(w, object.at, "an object does not go on", error);
    }
    return code == FDL_OK ? take_end(w, &object, error) : code;
}

/* ---- the document ---------------------------------------------------------------------------- */

static fdl_code read_figures(const walk *w, const json_t *object, const char **path, uint64_t *bytes, uint64_t *rows,
                             fdl_error *error) {
    int64_t count = 0;
    fdl_code code = fdl_json_string(object, w->name, "path", path, error);
    if (code == FDL_OK && fdl_key_check(*path, NULL) != FDL_OK)
        code = fdl_fail(error, FDL_FAILED, w->name, "'%s': '%.300s' is no path in a repository", w->name, *path);
    if (code == FDL_OK)
        code = fdl_json_count(object, w->name, "bytes", &count, error);
    *bytes = (uint64_t)count;
    if (code == FDL_OK)
        code = fdl_json_count(object, w->name, "rows", &count, error);
    *rows = (uint64_t)count;
    return code;
}

static fdl_code read_file(walk *w, piece item, fdl_error *error) {
    fdl_file_entry entry = w->entry;
    json_t *object = NULL, *deletes = NULL;
    fdl_code code = load(w, item, JSON_OBJECT, &object, error);
    if (code == FDL_OK)
        code = read_figures(w, object, &entry.path, &entry.bytes, &entry.rows, error);
    if (code == FDL_OK) {
        deletes = json_object_get(object, "delete");
        entry.ended = json_is_true(json_object_get(object, "ended"));
    }
    if (code == FDL_OK && deletes && !json_is_null(deletes))
        code = read_figures(w, deletes, &entry.delete_path, &entry.delete_bytes, &entry.delete_rows, error);
    if (code == FDL_OK)
        code = w->callback(w->data, &entry, error);
    json_decref(object);
    return code;
}

static fdl_code read_table(walk *w, piece item, fdl_error *error) {
    static const char *const names[] = {"schema", "name", "files"};
    piece fields[3] = {{0}};
    json_t *schema = NULL, *table = NULL;
    fdl_code code = find_fields(w, item, names, fields, 3, error);
    if (code == FDL_OK && (!fields[0].at || !fields[1].at || !fields[2].at))
        code = broken(w, item.at, "a table without 'schema', 'name' or 'files'", error);
    if (code == FDL_OK)
        code = load(w, fields[0], JSON_STRING, &schema, error);
    if (code == FDL_OK)
        code = load(w, fields[1], JSON_STRING, &table, error);
    if (code == FDL_OK) {
        w->entry = (fdl_file_entry){.schema = json_string_value(schema), .table = json_string_value(table)};
        code = each_item(w, fields[2], read_file, error);
    }
    json_decref(table);
    json_decref(schema);
    return code;
}

fdl_code fdl_files_parse(const char *bytes, size_t length, const char *name, fdl_file_entry_callback callback, void *data,
                         fdl_error *error) {
    static const char *const names[] = {"tables"};
    walk w = {.name = name, .start = bytes, .callback = callback, .data = data};
    piece tables = {0};
    piece document = {.at = bytes, .end = bytes + length};
    fdl_code code = find_fields(&w, document, names, &tables, 1, error);
    if (code == FDL_OK && !tables.at)
        code = broken(&w, bytes, "it has no field 'tables'", error);
    return code == FDL_OK ? each_item(&w, tables, read_table, error) : code;
}

fdl_code fdl_files_read(fdl_repo *repo, const fdl_version *version, fdl_file_entry_callback callback, void *data,
                        fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *bytes = NULL;
    size_t length = 0;
    if (!version->files.path)
        return fdl_fail(error, FDL_NOT_FOUND, version->id, "version '%s' has no files.json", version->id);
    fdl_code code =
        fdl_record_read(repo, version, &version->files, FDL_LIMIT_FILES_BYTES, key, &bytes, &length, error);
    if (code == FDL_OK)
        code = fdl_files_parse(bytes, length, key, callback, data, error);
    free(bytes);
    return code;
}
