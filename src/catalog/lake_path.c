/*
 * lake_path.c - the folders of tables, and which paths are let through.
 *
 * Whatever a catalog names is read, uploaded or deleted by somebody later, so
 * nothing passes here that could lead out of the data folder.
 */
#include <stdlib.h>
#include <string.h>

#include "catalog/lake_path.h"
#include "catalog/sqlite_db.h"
#include "util/text.h"

bool fdl_lake_path_valid(const char *path, size_t length) {
    if (length == 0 || !fdl_utf8_valid(path, length))
        return false;
    size_t start = 0;
    for (size_t i = 0; i <= length; i++) {
        if (i < length && path[i] != '/') {
            if ((unsigned char)path[i] < 0x20 || path[i] == 0x7f)
                return false;
            continue;
        }
        size_t part = i - start;
        if (part == 0 || (part == 1 && path[start] == '.') ||
            (part == 2 && path[start] == '.' && path[start + 1] == '.'))
            return false;
        start = i + 1;
    }
    return true;
}

static bool is_folder(sqlite3_stmt *row, int path_column, int relative_column) {
    const char *path = (const char *)sqlite3_column_text(row, path_column);
    size_t length = (size_t)sqlite3_column_bytes(row, path_column);
    return path != NULL && sqlite3_column_int(row, relative_column) == 1 && length > 1 && path[length - 1] == '/' &&
           fdl_lake_path_valid(path, length - 1);
}

/* Columns: table_id, table_name, table path and relative, schema_id, schema path and relative. */
static fdl_code add_folder(fdl_lake_folders *folders, sqlite3_stmt *row, fdl_error *error) {
    int64_t table_id = sqlite3_column_int64(row, 0);
    const char *name = (const char *)sqlite3_column_text(row, 1);
    if (sqlite3_column_type(row, 5) == SQLITE_NULL)
        return fdl_fail(error, FDL_REFUSED, name, "table '%s' belongs to schema %lld, which does not exist", name,
                        (long long)sqlite3_column_int64(row, 4));
    if (!is_folder(row, 2, 3) || !is_folder(row, 5, 6))
        return fdl_fail(error, FDL_REFUSED, name, "table '%s' has a folder outside the data folder ('%s' in '%s')",
                        name, sqlite3_column_text(row, 2), sqlite3_column_text(row, 5));
    fdl_code code = fdl_grow(&folders->items, folders->count, sizeof *folders->items, error);
    if (code != FDL_OK)
        return code;
    fdl_lake_folder *folder = &folders->items[folders->count];
    folder->table_id = table_id;
    code = fdl_str_format(&folder->path, error, "%s%s", sqlite3_column_text(row, 5), sqlite3_column_text(row, 2));
    if (code == FDL_OK)
        folders->count++;
    return code;
}

fdl_code fdl_lake_folders_read(sqlite3 *db, int64_t first_snapshot, fdl_lake_folders *out, fdl_error *error) {
    sqlite3_stmt *statement = NULL;
    bool row = true;
    *out = (fdl_lake_folders){0};
    /* A table that was renamed has several rows with one folder; a bare column of max() is of the row it found. */
    fdl_code code = fdl_sqlite_prepare(
        db, &statement, error,
        "SELECT t.table_id, coalesce(t.table_name, ''), coalesce(t.path, ''), t.path_is_relative, t.schema_id, s.path, "
        "s.path_is_relative, "
        "max(t.begin_snapshot) FROM ducklake_table t LEFT JOIN ducklake_schema s "
        "ON s.schema_id = t.schema_id AND (s.end_snapshot IS NULL OR s.end_snapshot > %lld) "
        "WHERE t.end_snapshot IS NULL OR t.end_snapshot > %lld GROUP BY t.table_id ORDER BY t.table_id",
        (long long)first_snapshot, (long long)first_snapshot);
    while (code == FDL_OK && row) {
        code = fdl_sqlite_step(statement, &row, error);
        if (code == FDL_OK && row)
            code = add_folder(out, statement, error);
    }
    sqlite3_finalize(statement);
    return code;
}

void fdl_lake_folders_clear(fdl_lake_folders *folders) {
    for (size_t i = 0; i < folders->count; i++)
        free(folders->items[i].path);
    free(folders->items);
    *folders = (fdl_lake_folders){0};
}

const char *fdl_lake_folder_of(fdl_lake_folders *folders, int64_t table_id) {
    if (folders->last < folders->count && folders->items[folders->last].table_id == table_id)
        return folders->items[folders->last].path;
    size_t low = 0;
    size_t high = folders->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (folders->items[middle].table_id < table_id)
            low = middle + 1;
        else
            high = middle;
    }
    folders->last = low;
    return low < folders->count && folders->items[low].table_id == table_id ? folders->items[low].path : NULL;
}
