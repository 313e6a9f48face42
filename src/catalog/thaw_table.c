/*
 * thaw_table.c - DuckDB's chunks, seen by SQLite as a table to select from.
 *
 * One INSERT ... SELECT a table is the fastest way that SQLite has to take rows
 * in: nothing is bound, and a statement is not started for each row.  The
 * virtual table walks forward only and has the columns of the widest table.
 *
 * A file's path is looked at on the way: it must lie in its table's folder, and
 * becomes a URL where the working catalog has its data folder on this machine.
 */
#include <stdlib.h>
#include <string.h>

#include "catalog/lake_value.h"
#include "catalog/lake_writer.h"
#include "catalog/sqlite_db.h"
#include "catalog/thaw_table.h"
#include "util/url.h"

#define SQL_LIMIT_BYTES (1u << 16)
#define PATH_LIMIT_BYTES (1u << 16)

typedef struct lake_vtab {
    sqlite3_vtab base;
    fdl_thaw_source *source;
} lake_vtab;

/* ---- cells ------------------------------------------------------------------ */

static int fail(fdl_thaw_source *source, sqlite3_context *out, fdl_code code) {
    source->code = code;
    sqlite3_result_error(out, "cannot thaw", -1);
    return SQLITE_ERROR;
}

static const fdl_duck_string *string_at(const fdl_thaw_source *source, int column) {
    return &((const fdl_duck_string *)source->data[column])[source->row];
}

/* The path as the working catalog shall have it, in source->url when it must be rewritten. */
static fdl_code file_path(fdl_thaw_source *source, const char *path, size_t length) {
    const bool *relative = source->data[source->relative_column];
    const int64_t *table_ids = source->data[source->table_id_column];
    int64_t table_id = table_ids[source->row];
    const char *folder = fdl_duck_is_null(source->validity[source->table_id_column], source->row)
                             ? NULL
                             : fdl_lake_folder_of(&source->folders, table_id);
    if (folder == NULL)
        return fdl_fail(&source->error, FDL_REFUSED, source->file,
                        "'%s' names a file of table %lld, which does not exist", source->file, (long long)table_id);
    if (fdl_duck_is_null(source->validity[source->relative_column], source->row) || !relative[source->row] ||
        !fdl_lake_path_valid(path, length))
        return fdl_fail(&source->error, FDL_REFUSED, source->file, "'%s' names a file outside the data folder: '%.*s'",
                        source->file, (int)(length < 1000 ? length : 1000), path);
    if (source->url_prefix == NULL)
        return FDL_OK;
    source->key.length = 0;
    source->url.length = 0;
    fdl_code code = fdl_buf_add_str(&source->key, folder, &source->error);
    if (code == FDL_OK)
        code = fdl_buf_add(&source->key, path, length, &source->error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&source->url, source->url_prefix, &source->error);
    return code == FDL_OK ? fdl_url_add_path(&source->url, source->key.data, &source->error) : code;
}

static int path_cell(fdl_thaw_source *source, sqlite3_context *out, const char *path, size_t length) {
    fdl_code code = file_path(source, path, length);
    if (code != FDL_OK)
        return fail(source, out, code);
    if (source->url_prefix == NULL)
        sqlite3_result_text64(out, path, length, SQLITE_STATIC, SQLITE_UTF8);
    else
        sqlite3_result_text64(out, source->url.data, source->url.length, SQLITE_TRANSIENT, SQLITE_UTF8);
    return SQLITE_OK;
}

static int text_cell(fdl_thaw_source *source, sqlite3_context *out, int column) {
    const fdl_duck_string *string = string_at(source, column);
    source->text_bytes += string->length;
    if (source->text_bytes > FDL_THAW_TEXT_LIMIT_BYTES)
        return fail(source, out,
                    fdl_fail(&source->error, FDL_REFUSED, source->file, "'%s' holds more than %d GiB of text",
                             source->file, (int)(FDL_THAW_TEXT_LIMIT_BYTES >> 30)));
    if (column == source->path_column)
        return path_cell(source, out, fdl_duck_string_bytes(string), string->length);
    /* The chunk lives until the next row is asked for, and by then SQLite has made its record of this one. */
    sqlite3_result_text64(out, fdl_duck_string_bytes(string), string->length, SQLITE_STATIC, SQLITE_UTF8);
    return SQLITE_OK;
}

static int vtab_column(sqlite3_vtab_cursor *cursor, sqlite3_context *out, int column) {
    fdl_thaw_source *source = ((lake_vtab *)cursor->pVtab)->source;
    if (fdl_duck_is_null(source->validity[column], source->row)) {
        if (column != source->path_column)
            return SQLITE_OK; /* NULL is what a result is before it is set */
        return path_cell(source, out, "", 0);
    }
    char text[FDL_LAKE_TIME_BYTES];
    switch (source->table->columns[column].type) {
    case FDL_LAKE_BIGINT:
        sqlite3_result_int64(out, ((const int64_t *)source->data[column])[source->row]);
        return SQLITE_OK;
    case FDL_LAKE_BOOLEAN:
        sqlite3_result_int(out, ((const bool *)source->data[column])[source->row] &&
                                    (column != source->relative_column || source->url_prefix == NULL));
        return SQLITE_OK;
    case FDL_LAKE_UUID:
        fdl_lake_uuid_write(&((const fdl_duck_hugeint *)source->data[column])[source->row], text);
        sqlite3_result_text(out, text, -1, SQLITE_TRANSIENT);
        return SQLITE_OK;
    case FDL_LAKE_TIMESTAMPTZ:
        fdl_lake_time_write(((const int64_t *)source->data[column])[source->row], text);
        sqlite3_result_text(out, text, -1, SQLITE_TRANSIENT);
        return SQLITE_OK;
    case FDL_LAKE_VARCHAR:
        break;
    }
    return text_cell(source, out, column);
}

/* ---- walking ------------------------------------------------------------------ */

static int next_chunk(fdl_thaw_source *source) {
    source->row = 0;
    source->code = fdl_duck_stream_next(&source->stream, &source->rows, &source->error);
    if (source->code != FDL_OK)
        return SQLITE_ERROR;
    source->row_count += (int64_t)source->rows;
    if (source->row_count > FDL_THAW_ROW_LIMIT) {
        source->code = fdl_fail(&source->error, FDL_REFUSED, source->file, "'%s' has more than %lld rows", source->file,
                                (long long)FDL_THAW_ROW_LIMIT);
        return SQLITE_ERROR;
    }
    for (size_t i = 0; i < source->table->column_count && source->rows > 0; i++) {
        fdl_duck_vector vector = source->stream.api->data_chunk_get_vector(source->stream.chunk, i);
        source->data[i] = source->stream.api->vector_get_data(vector);
        source->validity[i] = source->stream.api->vector_get_validity(vector);
    }
    return SQLITE_OK;
}

static int vtab_filter(sqlite3_vtab_cursor *cursor, int index, const char *index_text, int count,
                       sqlite3_value **values) {
    (void)index, (void)index_text, (void)count, (void)values;
    return next_chunk(((lake_vtab *)cursor->pVtab)->source);
}

static int vtab_next(sqlite3_vtab_cursor *cursor) {
    fdl_thaw_source *source = ((lake_vtab *)cursor->pVtab)->source;
    return ++source->row < source->rows ? SQLITE_OK : next_chunk(source);
}

static int vtab_eof(sqlite3_vtab_cursor *cursor) {
    return ((lake_vtab *)cursor->pVtab)->source->rows == 0;
}

static int vtab_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *out) {
    *out = (sqlite3_int64)((lake_vtab *)cursor->pVtab)->source->row;
    return SQLITE_OK;
}

/* ---- what SQLite wants to know first ------------------------------------------- */

static int vtab_connect(sqlite3 *db, void *source, int count, const char *const *arguments, sqlite3_vtab **out,
                        char **message) {
    (void)count, (void)arguments, (void)message;
    _Static_assert(FDL_LAKE_COLUMN_LIMIT == 16, "the declaration below");
    int result = sqlite3_declare_vtab(db, "CREATE TABLE x(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)");
    if (result != SQLITE_OK)
        return result;
    lake_vtab *vtab = sqlite3_malloc(sizeof *vtab);
    if (vtab == NULL)
        return SQLITE_NOMEM;
    *vtab = (lake_vtab){.source = source};
    *out = &vtab->base;
    return SQLITE_OK;
}

static int vtab_disconnect(sqlite3_vtab *vtab) {
    sqlite3_free(vtab);
    return SQLITE_OK;
}

static int vtab_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info) {
    (void)vtab;
    info->estimatedCost = 1;
    return SQLITE_OK;
}

static int vtab_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out) {
    (void)vtab;
    *out = sqlite3_malloc(sizeof **out);
    if (*out == NULL)
        return SQLITE_NOMEM;
    memset(*out, 0, sizeof **out);
    return SQLITE_OK;
}

static int vtab_close(sqlite3_vtab_cursor *cursor) {
    sqlite3_free(cursor);
    return SQLITE_OK;
}

/* No xCreate: it exists without being created, and cannot be. */
static const sqlite3_module lake_module = {
    .xConnect = vtab_connect,
    .xBestIndex = vtab_best_index,
    .xDisconnect = vtab_disconnect,
    .xOpen = vtab_open,
    .xClose = vtab_close,
    .xFilter = vtab_filter,
    .xNext = vtab_next,
    .xEof = vtab_eof,
    .xColumn = vtab_column,
    .xRowid = vtab_rowid,
};

fdl_code fdl_thaw_register(sqlite3 *db, fdl_thaw_source *source, fdl_error *error) {
    if (sqlite3_create_module(db, "fdl_thaw", &lake_module, source) != SQLITE_OK)
        return fdl_sqlite_fail(error, db, source->file);
    return FDL_OK;
}

/* ---- one table ------------------------------------------------------------------ */

static fdl_code check_types(fdl_thaw_source *source, fdl_error *error) {
    for (size_t i = 0; i < source->table->column_count; i++)
        if (source->stream.api->column_type(&source->stream.result, i) !=
            fdl_lake_duck_type(source->table->columns[i].type))
            return fdl_fail(error, FDL_REFUSED, source->file, "'%s' is not a DuckLake catalog: '%s.%s' is not %s",
                            source->file, source->table->name, source->table->columns[i].name,
                            fdl_lake_type_name(source->table->columns[i].type, FDL_LAKE_DUCKDB));
    return FDL_OK;
}

/* "SELECT <columns> FROM frozen.main.<table>": a missing column is DuckDB's error. */
static fdl_code open_stream(fdl_thaw_source *source, fdl_error *error) {
    fdl_buf sql;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_buf_add_str(&sql, "SELECT ", error);
    if (code == FDL_OK)
        code = fdl_lake_column_list(&sql, source->table, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(&sql, error, " FROM frozen.main.%s", source->table->name);
    if (code == FDL_OK)
        code = fdl_duck_stream_open(source->duck, sql.data, &source->stream, error);
    if (code == FDL_OK)
        code = check_types(source, error);
    fdl_buf_clear(&sql);
    return code;
}

/* "INSERT INTO <table> SELECT a, b, ... FROM fdl_thaw", with as many columns as the table has. */
static fdl_code insert_all(sqlite3 *db, fdl_thaw_source *source, fdl_error *error) {
    char columns[3 * FDL_LAKE_COLUMN_LIMIT] = "";
    for (size_t i = 0; i < source->table->column_count; i++) {
        columns[2 * i] = (char)('a' + i);
        columns[2 * i + 1] = i + 1 < source->table->column_count ? ',' : '\0';
    }
    source->code = FDL_OK;
    fdl_code code = fdl_sqlite_exec(db, error, "INSERT INTO %s SELECT %s FROM fdl_thaw", source->table->name, columns);
    if (code != FDL_OK && source->code != FDL_OK) {
        *error = source->error;
        return source->code;
    }
    if (code != FDL_OK && (sqlite3_errcode(db) & 0xff) == SQLITE_CONSTRAINT)
        return fdl_fail(error, FDL_REFUSED, source->file, "'%s' is not a DuckLake catalog: %s", source->file,
                        sqlite3_errmsg(db));
    return code;
}

fdl_code fdl_thaw_copy(sqlite3 *db, fdl_thaw_source *source, const fdl_lake_table *table, fdl_error *error) {
    source->table = table;
    source->path_column = -1;
    source->relative_column = -1;
    if (fdl_lake_is_files(table)) {
        source->path_column = fdl_lake_column_find(table, "path");
        source->relative_column = fdl_lake_column_find(table, "path_is_relative");
        source->table_id_column = fdl_lake_column_find(table, "table_id");
    }
    fdl_buf_init(&source->key, PATH_LIMIT_BYTES);
    fdl_buf_init(&source->url, PATH_LIMIT_BYTES);
    memset(&source->stream, 0, sizeof source->stream);
    fdl_code code = open_stream(source, error);
    if (code == FDL_OK) {
        fdl_duck_stream_read_ahead(&source->stream);
        code = insert_all(db, source, error);
    }
    if (source->stream.api != NULL)
        fdl_duck_stream_close(&source->stream);
    fdl_buf_clear(&source->key);
    fdl_buf_clear(&source->url);
    return code;
}
