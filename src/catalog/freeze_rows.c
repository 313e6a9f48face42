/*
 * freeze_rows.c - the rows of one table, from SQLite's cells to DuckDB's chunks.
 *
 * SQLite puts any value into any column; DuckDB does not, and the catalog must
 * mean the same in both.  So each cell is checked on its way, and what does not
 * fit stops the freeze with its place.
 */
#include <string.h>

#include "catalog/freeze.h"
#include "catalog/lake_value.h"
#include "catalog/lake_writer.h"
#include "catalog/sqlite_db.h"
#include "util/text.h"

#define SQL_LIMIT_BYTES (1u << 16)

/* What is done to a table's rows beside copying them. */
typedef struct row_copy {
    fdl_freeze *freeze;
    fdl_freeze_rule rule;
    sqlite3_value **row; /* being copied */
    fdl_lake_writer writer;
    int path;     /* columns of a table of files; -1 in others */
    int relative; /* whether the path is */
    int table_id;
    int column_id, low, high; /* of the statistics of files; -1 in other tables */
    bool is_metadata;
    bool narrows; /* the rows go into a temporary table first */
} row_copy;

static fdl_code wrong_value(const row_copy *copy, int column, const char *wanted, fdl_error *error) {
    const fdl_lake_table *table = copy->rule.table;
    const char *path = copy->freeze->path;
    return fdl_fail(error, FDL_REFUSED, path, "'%s.%s' holds a value that is not %s; '%s' is damaged", table->name,
                    table->columns[column].name, wanted, path);
}

/* ---- cells --------------------------------------------------------------------- */

static fdl_code copy_text(row_copy *copy, int column, sqlite3_value *value, fdl_error *error) {
    const char *text = (const char *)sqlite3_value_text(value);
    size_t length = (size_t)sqlite3_value_bytes(value);
    fdl_duck_hugeint uuid;
    int64_t time = 0;
    if (text == NULL)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    switch (copy->rule.table->columns[column].type) {
    case FDL_LAKE_VARCHAR:
        if (!fdl_utf8_valid(text, length))
            return wrong_value(copy, column, "valid UTF-8", error);
        fdl_lake_writer_text(&copy->writer, column, text, length);
        return FDL_OK;
    case FDL_LAKE_UUID:
        if (!fdl_lake_uuid_parse(text, length, &uuid))
            return wrong_value(copy, column, "a UUID", error);
        fdl_lake_writer_uuid(&copy->writer, column, &uuid);
        return FDL_OK;
    case FDL_LAKE_TIMESTAMPTZ:
        if (!fdl_lake_time_parse(text, length, &time))
            return wrong_value(copy, column, "a time", error);
        fdl_lake_writer_number(&copy->writer, column, time);
        return FDL_OK;
    default:
        return wrong_value(copy, column, fdl_lake_type_name(copy->rule.table->columns[column].type, FDL_LAKE_DUCKDB),
                           error);
    }
}

static fdl_code copy_cell(row_copy *copy, int column, fdl_error *error) {
    const fdl_lake_column *about = &copy->rule.table->columns[column];
    sqlite3_value *value = copy->row[column];
    int type = sqlite3_value_type(value);
    if (type == SQLITE_INTEGER && about->type == FDL_LAKE_BIGINT) {
        fdl_lake_writer_number(&copy->writer, column, sqlite3_value_int64(value));
        return FDL_OK;
    }
    if (type == SQLITE_TEXT)
        return copy_text(copy, column, value, error);
    if (type == SQLITE_NULL) {
        if (about->primary_key || about->not_null)
            return wrong_value(copy, column, "there (NULL)", error);
        fdl_lake_writer_null(&copy->writer, column);
        return FDL_OK;
    }
    int64_t number = type == SQLITE_INTEGER ? sqlite3_value_int64(value) : -1;
    if (about->type == FDL_LAKE_BOOLEAN && (number == 0 || number == 1)) {
        fdl_lake_writer_boolean(&copy->writer, column, number == 1);
        return FDL_OK;
    }
    return wrong_value(copy, column, fdl_lake_type_name(about->type, FDL_LAKE_DUCKDB), error);
}

/* ---- rows that change on their way ----------------------------------------------- */

/* A file is named relative to its table's folder, however the working catalog names it. */
static fdl_code copy_path(row_copy *copy, fdl_error *error) {
    const char *path = (const char *)sqlite3_value_text(copy->row[copy->path]);
    if (path == NULL)
        return wrong_value(copy, copy->path, "a path", error);
    if (sqlite3_value_type(copy->row[copy->relative]) == SQLITE_NULL)
        return wrong_value(copy, copy->relative, "there (NULL)", error);
    size_t length = (size_t)sqlite3_value_bytes(copy->row[copy->path]);
    fdl_code code =
        fdl_freeze_file(copy->freeze, sqlite3_value_int64(copy->row[copy->table_id]),
                        sqlite3_value_int(copy->row[copy->relative]) == 1, path, length, &path, &length, error);
    if (code != FDL_OK)
        return code;
    fdl_lake_writer_text(&copy->writer, copy->path, path, length);
    fdl_lake_writer_boolean(&copy->writer, copy->relative, true);
    return FDL_OK;
}

/* The published catalog knows the data folder by the name others reach it by. */
static bool is_data_path(const row_copy *copy) {
    const char *key = (const char *)sqlite3_value_text(copy->row[0]);
    return copy->is_metadata && key != NULL && strcmp(key, "data_path") == 0 &&
           sqlite3_value_type(copy->row[2]) == SQLITE_NULL;
}

static fdl_code copy_row(void *data, sqlite3_value **row, fdl_error *error) {
    row_copy *copy = data;
    bool keeps = false;
    fdl_code code = fdl_freeze_keeps(copy->freeze, &copy->rule, row, &keeps, error);
    if (code != FDL_OK || !keeps)
        return code;
    copy->row = row;
    if (copy->column_id >= 0)
        fdl_freeze_attain(copy->freeze, sqlite3_value_int64(row[copy->table_id]),
                          sqlite3_value_int64(row[copy->column_id]), row[copy->low], row[copy->high]);
    for (int i = 0; i < (int)copy->rule.table->column_count && code == FDL_OK; i++)
        code = copy_cell(copy, i, error);
    if (code == FDL_OK && copy->path >= 0)
        code = copy_path(copy, error);
    if (code == FDL_OK && copy->is_metadata && is_data_path(copy)) {
        const char *data_path = copy->freeze->options->data_path;
        fdl_lake_writer_text(&copy->writer, 1, data_path, strlen(data_path));
    }
    return code == FDL_OK ? fdl_lake_writer_next(&copy->writer, error) : code;
}

/* ---- a table ----------------------------------------------------------------------- */

static fdl_code copy_rows(row_copy *copy, fdl_error *error) {
    const fdl_lake_table *table = copy->rule.table;
    fdl_buf columns;
    fdl_buf_init(&columns, SQL_LIMIT_BYTES);
    fdl_code code = fdl_lake_column_list(&columns, table, error);
    if (code == FDL_OK)
        code = fdl_sqlite_walk(copy->freeze->db, columns.data, table->name, copy_row, copy, error);
    fdl_buf_clear(&columns);
    return code;
}

fdl_code fdl_freeze_rows(fdl_freeze *freeze, const fdl_lake_table *table, fdl_error *error) {
    row_copy copy = {
        .freeze = freeze,
        .rule = fdl_freeze_rule_of(table),
        .path = -1,
        .column_id = -1,
        .is_metadata = strcmp(table->name, "ducklake_metadata") == 0,
        .table_id = fdl_lake_column_find(table, "table_id"),
        .narrows = strcmp(table->name, FDL_LAKE_TABLE_STATS) == 0 && fdl_freeze_narrows(freeze),
    };
    if (fdl_lake_is_files(table)) {
        copy.path = fdl_lake_column_find(table, "path");
        copy.relative = fdl_lake_column_find(table, "path_is_relative");
    }
    if (strcmp(table->name, FDL_LAKE_FILE_STATS) == 0) {
        copy.column_id = fdl_lake_column_find(table, "column_id");
        copy.low = fdl_lake_column_find(table, "min_value");
        copy.high = fdl_lake_column_find(table, "max_value");
    }
    fdl_code code =
        fdl_lake_writer_open(freeze->duck, copy.narrows ? "temp" : "frozen", table, &copy.writer, error);
    if (code == FDL_OK)
        code = copy_rows(&copy, error);
    if (code == FDL_OK)
        code = fdl_freeze_files_judge(freeze, error);
    if (copy.writer.api != NULL)
        code = fdl_lake_writer_close(&copy.writer, code, &freeze->row_counts[table - fdl_lake_tables], error);
    return code == FDL_OK && copy.narrows ? fdl_freeze_narrow(freeze, error) : code;
}
