/*
 * diff.c - what one version has and another has not, from their catalogs alone.
 *
 *   figures and columns   the descriptions of both, side by side
 *   files and bytes       the lists of both, which come sorted by path
 *   the rest              comments, keys, macros, options: fdl_frozen_compare
 *
 * Data files are never changed once they are written, so what was rewritten
 * shows as a file removed and a file added, whether or not its rows are others.
 */
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "flow/opened.h"
#include "flow/same_rows.h"
#include "flow/scratch.h"
#include "util/json.h"
#include "util/text.h"

typedef struct file {
    char *path;
    char *table; /* as key_of_table makes it */
    int64_t bytes;
} file;

typedef struct side {
    fdl_opened opened;
    json_t *tables;
    file *files;
    size_t file_count;
} side;

typedef struct diff {
    side sides[2];
    json_t *tables;      /* the result, unchanged ones included at first */
    json_t *places;      /* the same objects by key_of_table */
    json_t *differences;
} diff;

static fdl_code no_memory(fdl_error *error) {
    return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
}

/* "4.main.towns": no two names give the same. */
static fdl_code key_of_table(char **out, const char *schema, const char *name, fdl_error *error) {
    return fdl_str_format(out, error, "%zu.%s.%s", strlen(schema), schema, name);
}

/* ---- what each side has ------------------------------------------------------------- */

static fdl_code take_file(void *data, const fdl_data_file *found, fdl_error *error) {
    side *s = data;
    fdl_code code = fdl_grow(&s->files, s->file_count, sizeof *s->files, error);
    if (code != FDL_OK)
        return code;
    file *f = &s->files[s->file_count++];
    *f = (file){.bytes = found->size_bytes};
    code = fdl_str_copy(&f->path, found->path, error);
    return code == FDL_OK ? key_of_table(&f->table, found->schema_name, found->table_name, error) : code;
}

static fdl_code read_side(fdl_repo *repo, const char *scratch, const fdl_version *version, side *s, fdl_error *error) {
    fdl_code code = fdl_opened_get(repo, scratch, version, &s->opened, error);
    if (code == FDL_OK)
        code = fdl_frozen_files(s->opened.frozen, take_file, s, error);
    if (code == FDL_OK)
        code = fdl_frozen_describe(s->opened.frozen, &s->tables, error);
    return code;
}

static void side_clear(side *s) {
    for (size_t i = 0; i < s->file_count; i++) {
        free(s->files[i].path);
        free(s->files[i].table);
    }
    free(s->files);
    json_decref(s->tables);
    fdl_opened_clear(&s->opened);
}

/* ---- tables and columns ---------------------------------------------------------------- */

/* What a table or column is like, without its name and what else is told apart. */
static json_t *without(const json_t *object, const char *const *fields) {
    json_t *copy = object ? json_copy((json_t *)object) : json_null();
    for (; object && copy && *fields; fields++)
        json_object_del(copy, *fields);
    return copy;
}

static const json_t *find_column(const json_t *columns, const char *name) {
    size_t i = 0;
    json_t *column = NULL;
    json_array_foreach(columns, i, column) if (strcmp(fdl_json_text(column, "name"), name) == 0) return column;
    return NULL;
}

static fdl_code add_column(json_t *out, const json_t *before, const json_t *after, fdl_error *error) {
    static const char *const said[] = {"name", NULL};
    json_t *column = json_pack("{s:s, s:o, s:o}", "name", fdl_json_text(after ? after : before, "name"), "before",
                               without(before, said), "after", without(after, said));
    return json_array_append_new(out, column) == 0 ? FDL_OK : no_memory(error);
}

/* In the order of the second version, then those that only the first has. */
static fdl_code changed_columns(json_t *out, const json_t *from, const json_t *to, fdl_error *error) {
    size_t i = 0;
    json_t *column = NULL;
    fdl_code code = FDL_OK;
    json_array_foreach(to, i, column) {
        const json_t *before = find_column(from, fdl_json_text(column, "name"));
        if (code == FDL_OK && !(before && json_equal(before, column)))
            code = add_column(out, before, column, error);
    }
    json_array_foreach(from, i, column) {
        if (code == FDL_OK && !find_column(to, fdl_json_text(column, "name")))
            code = add_column(out, column, NULL, error);
    }
    return code;
}

/* One of them is NULL for a table that was added or removed. */
static fdl_code add_table(diff *d, const json_t *from, const json_t *to, fdl_error *error) {
    static const char *const said[] = {"schema", "name", "kind", "columns", NULL};
    const json_t *known = to ? to : from;
    char *key = NULL;
    json_t *columns = json_array();
    json_t *table = json_pack("{s:s, s:s, s:s, s:o, s:o, s:i, s:i, s:i, s:i, s:O}", "schema", fdl_json_text(known, "schema"),
                              "name", fdl_json_text(known, "name"), "kind", fdl_json_text(known, "kind"), "before",
                              without(from, said), "after", without(to, said), "files_added", 0, "files_removed", 0,
                              "bytes_added", 0, "bytes_removed", 0, "columns", columns);
    fdl_code code = table ? FDL_OK : no_memory(error);
    if (code == FDL_OK)
        code = key_of_table(&key, fdl_json_text(known, "schema"), fdl_json_text(known, "name"), error);
    if (code == FDL_OK && (json_array_append(d->tables, table) != 0 || json_object_set(d->places, key, table) != 0))
        code = no_memory(error);
    if (code == FDL_OK)
        code = changed_columns(columns, json_object_get(from, "columns"), json_object_get(to, "columns"), error);
    json_decref(columns);
    json_decref(table);
    free(key);
    return code;
}

static int order_of(const json_t *a, const json_t *b) {
    int order = strcmp(fdl_json_text(a, "schema"), fdl_json_text(b, "schema"));
    if (order == 0)
        order = strcmp(fdl_json_text(a, "name"), fdl_json_text(b, "name"));
    return order ? order : strcmp(fdl_json_text(a, "kind"), fdl_json_text(b, "kind"));
}

static fdl_code join_tables(diff *d, fdl_error *error) {
    const json_t *from = d->sides[0].tables, *to = d->sides[1].tables;
    fdl_code code = FDL_OK;
    for (size_t i = 0, j = 0; code == FDL_OK && (i < json_array_size(from) || j < json_array_size(to));) {
        const json_t *a = json_array_get(from, i), *b = json_array_get(to, j);
        int order = !a ? 1 : !b ? -1 : order_of(a, b);
        code = add_table(d, order <= 0 ? a : NULL, order >= 0 ? b : NULL, error);
        i += order <= 0;
        j += order >= 0;
    }
    return code;
}

/* ---- files --------------------------------------------------------------------------------- */

static fdl_code count(json_t *table, const char *field, int64_t more, fdl_error *error) {
    return fdl_json_set(table, field, json_integer(json_integer_value(json_object_get(table, field)) + more), error);
}

/* A file of a table that only an earlier snapshot of the version has is counted nowhere. */
static fdl_code count_file(diff *d, const file *f, const char *files, const char *bytes, fdl_error *error) {
    json_t *table = json_object_get(d->places, f->table);
    fdl_code code = table ? count(table, files, 1, error) : FDL_OK;
    return code == FDL_OK && table ? count(table, bytes, f->bytes, error) : code;
}

static fdl_code join_files(diff *d, fdl_error *error) {
    const side *from = &d->sides[0], *to = &d->sides[1];
    fdl_code code = FDL_OK;
    for (size_t i = 0, j = 0; code == FDL_OK && (i < from->file_count || j < to->file_count);) {
        int order = i == from->file_count ? 1
                    : j == to->file_count ? -1
                                          : strcmp(from->files[i].path, to->files[j].path);
        if (order < 0)
            code = count_file(d, &from->files[i], "files_removed", "bytes_removed", error);
        else if (order > 0)
            code = count_file(d, &to->files[j], "files_added", "bytes_added", error);
        i += order <= 0;
        j += order >= 0;
    }
    return code;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static bool is_of_files(const fdl_difference *difference) {
    return strcmp(difference->kind, "data_file") == 0 || strcmp(difference->kind, "delete_file") == 0;
}

static fdl_code take_difference(void *data, const fdl_difference *difference, fdl_error *error) {
    diff *d = data;
    json_t *said;
    if (is_of_files(difference)) /* counted already */
        return FDL_OK;
    said = json_pack("{s:s, s:s?, s:s?, s:s?, s:I, s:I, s:s}", "kind", difference->kind, "schema",
                     difference->schema_name, "name", difference->name, "item", difference->item, "removed",
                     (json_int_t)difference->removed, "added", (json_int_t)difference->added, "text",
                     difference->text);
    return json_array_append_new(d->differences, said) == 0 ? FDL_OK : no_memory(error);
}

/* A table in which only a key differs is found in the differences. */
static bool is_changed(const json_t *table) {
    return !json_equal(json_object_get(table, "before"), json_object_get(table, "after")) ||
           json_integer_value(json_object_get(table, "files_added")) > 0 ||
           json_integer_value(json_object_get(table, "files_removed")) > 0 ||
           json_array_size(json_object_get(table, "columns")) > 0;
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* "rows": [{"more", "values"}], or null where the columns differ. */
static fdl_code take_row(void *data, const fdl_row_change *change, fdl_error *error) {
    diff *d = data;
    char *key = NULL;
    fdl_code code = key_of_table(&key, change->schema_name, change->table_name, error);
    json_t *table = code == FDL_OK ? json_object_get(d->places, key) : NULL;
    free(key);
    if (!table)
        return code;
    if (!change->values)
        return fdl_json_set(table, "rows", json_null(), error);
    json_t *values = json_loads(change->values, 0, NULL);
    json_t *rows = json_object_get(table, "rows");
    if (values && !rows) {
        rows = json_array();
        code = fdl_json_set(table, "rows", rows, error);
    }
    if (code != FDL_OK) {
        json_decref(values);
        return code;
    }
    return json_array_append_new(rows, json_pack("{s:I, s:o}", "more", (json_int_t)change->more, "values", values)) == 0
               ? FDL_OK
               : no_memory(error);
}

static fdl_code write_document(diff *d, char **out, fdl_error *error) {
    size_t length = 0;
    for (size_t i = json_array_size(d->tables); i-- > 0;)
        if (!is_changed(json_array_get(d->tables, i)))
            json_array_remove(d->tables, i);
    json_t *document = json_pack("{s:O, s:O}", "tables", d->tables, "differences", d->differences);
    fdl_code code = document ? fdl_json_write(document, out, &length, error) : no_memory(error);
    json_decref(document);
    return code;
}

static fdl_code compare(fdl_repo *repo, const char *scratch, int64_t rows, fdl_diff_result *result, fdl_error *error) {
    diff d = {.tables = json_array(), .places = json_object(), .differences = json_array()};
    fdl_code code = d.tables && d.places && d.differences ? FDL_OK : no_memory(error);
    if (code == FDL_OK)
        code = read_side(repo, scratch, &result->from, &d.sides[0], error);
    if (code == FDL_OK && strcmp(result->from.id, result->to.id) != 0) {
        code = read_side(repo, scratch, &result->to, &d.sides[1], error);
        if (code == FDL_OK)
            code = join_tables(&d, error);
        if (code == FDL_OK)
            code = join_files(&d, error);
        if (code == FDL_OK)
            code = fdl_frozen_compare(fdl_repo_context(repo), d.sides[0].opened.path, d.sides[1].opened.path,
                                      take_difference, &d, error);
        if (code == FDL_OK && rows > 0)
            code = fdl_row_changes(repo, d.sides[0].opened.path, d.sides[1].opened.path, scratch, rows, take_row, &d,
                                   error);
    }
    if (code == FDL_OK)
        code = write_document(&d, &result->document, error);
    side_clear(&d.sides[0]);
    side_clear(&d.sides[1]);
    json_decref(d.differences);
    json_decref(d.places);
    json_decref(d.tables);
    return code;
}

/* ---- the verb ---------------------------------------------------------------------------------- */

void fdl_diff_result_clear(fdl_diff_result *result) {
    fdl_version_clear(&result->from);
    fdl_version_clear(&result->to);
    free(result->document);
    memset(result, 0, sizeof *result);
}

static fdl_code find_version(fdl_repo *repo, const char *revision, fdl_version *out, fdl_error *error) {
    fdl_location location = {0};
    fdl_code code = fdl_locate(repo, revision, &location, error);
    if (code != FDL_OK)
        return code;
    *out = location.version;
    location.version = (fdl_version){0};
    fdl_location_clear(&location);
    return FDL_OK;
}

static fdl_code find_parent(fdl_repo *repo, const fdl_version *version, fdl_version *out, fdl_error *error) {
    if (!version->parent[0])
        return fdl_fail(error, FDL_NOT_FOUND, version->id,
                        "version '%s' is the first and has no parent to differ from; 'fdl show' tells what it holds",
                        version->id);
    return find_version(repo, version->parent, out, error);
}

fdl_code fdl_diff(fdl_repo *repo, const char *from, const char *to, int64_t rows, fdl_diff_result *out,
                  fdl_error *error) {
    fdl_diff_result result = {0};
    char *scratch = NULL;
    fdl_code code = from ? find_version(repo, from, &result.from, error) : FDL_OK;
    if (code == FDL_OK)
        code = find_version(repo, to, &result.to, error);
    if (code == FDL_OK && !from)
        code = find_parent(repo, &result.to, &result.from, error);
    if (code == FDL_OK)
        code = fdl_scratch_make(&scratch, error);
    if (code == FDL_OK)
        code = compare(repo, scratch, rows, &result, error);
    fdl_scratch_remove(scratch);
    if (code == FDL_OK)
        *out = result;
    else
        fdl_diff_result_clear(&result);
    return code;
}
