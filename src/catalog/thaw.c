/*
 * thaw.c - checkout's half of the way: a published catalog becomes a working
 * one.
 *
 *   attach read-only, lock the session -> is it a catalog we know?
 *   -> copy table by table -> our data path, our protection -> disk, name
 *
 * The published file comes from a stranger.  Nothing of it is run: the session
 * can reach no other file, only tables are read, never views, and by their full
 * names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog.h"
#include "catalog/thaw_table.h"
#include "catalog/working_new.h"
#include "util/file.h"
#include "util/text.h"

/* ---- is it a catalog we know? ------------------------------------------------ */

typedef struct lake_check {
    const char *file;
    bool found[FDL_LAKE_TABLE_COUNT]; /* with its columns and no others */
    char stranger[128];               /* the first table with rows that nobody here knows */
    char **inlined;                   /* tables with rows that lie in no file, or did */
    size_t inlined_count;
    size_t version_count;
    char version[32];
} lake_check;

static fdl_code remember_inlined(lake_check *check, const char *name, fdl_error *error) {
    fdl_code code = fdl_grow(&check->inlined, check->inlined_count, sizeof *check->inlined, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&check->inlined[check->inlined_count], name, error);
    check->inlined_count += code == FDL_OK;
    return code;
}

/* Columns: table name, rows, how many columns, whether one is generated: its expression would run when it is read. */
static fdl_code see_table(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    lake_check *check = data;
    (void)count;
    const char *name = cells[0].text;
    const fdl_lake_table *table = fdl_lake_table_find(name);
    if (table != NULL)
        check->found[table - fdl_lake_tables] =
            cells[2].integer == (int64_t)table->column_count && cells[3].integer == 0;
    else if (cells[1].integer > 0 && fdl_str_starts(name, "ducklake_inlined_d"))
        return remember_inlined(check, name, error);
    else if (cells[1].integer > 0 && fdl_str_starts(name, "ducklake_") && check->stranger[0] == '\0')
        snprintf(check->stranger, sizeof check->stranger, "%s", name);
    return FDL_OK;
}

static fdl_code see_version(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    lake_check *check = data;
    (void)count, (void)error;
    check->version_count++;
    size_t length = cells[0].length < sizeof check->version ? cells[0].length : sizeof check->version - 1;
    if (!cells[0].is_null)
        memcpy(check->version, cells[0].text, length);
    return FDL_OK;
}

static fdl_code missing_table(const lake_check *check, const char *name, fdl_error *error) {
    return fdl_fail(error, FDL_REFUSED, check->file,
                    "'%s' is not a DuckLake catalog: it has no table '%s' with the columns it must have", check->file,
                    name);
}

static fdl_code see_count(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    (void)count, (void)error;
    *(int64_t *)data = cells[0].integer;
    return FDL_OK;
}

/* Rows that ended, or whose table did, may lie there: they are not copied, and nothing is lost.  What cannot be read lives. */
static fdl_code check_inlined(fdl_duck *duck, const char *file, const char *name, fdl_error *error) {
    fdl_buf sql;
    int64_t live = 0;
    fdl_error unread;
    bool is_delete = fdl_str_starts(name, "ducklake_inlined_delete_");
    long long table_id = strtoll(name + strcspn(name, "0123456789"), NULL, 10);
    fdl_buf_init(&sql, 4096);
    fdl_code code = fdl_buf_add_str(&sql, "SELECT count(*) FROM frozen.main.", error);
    if (code == FDL_OK)
        code = fdl_sql_name(&sql, name, error);
    if (code == FDL_OK && is_delete)
        code = fdl_buf_add_str(&sql, " d WHERE EXISTS (FROM frozen.main.ducklake_data_file f "
                                     "WHERE f.data_file_id = d.file_id AND f.end_snapshot IS NULL)", error);
    else if (code == FDL_OK)
        code = fdl_buf_add_format(&sql, error, " d WHERE d.end_snapshot IS NULL AND EXISTS (FROM "
                                               "frozen.main.ducklake_table t WHERE t.table_id = %lld AND "
                                               "t.end_snapshot IS NULL)", table_id);
    if (code == FDL_OK && (fdl_duck_query(duck, sql.data, see_count, &live, &unread) != FDL_OK || live > 0))
        code = fdl_fail(error, FDL_REFUSED, file,
                        "'%s' has rows in the catalog itself, in '%s', which would be lost; run "
                        "CALL ducklake_flush_inlined_data('lake')", file, name);
    fdl_buf_clear(&sql);
    return code;
}

static fdl_code check_tables(fdl_duck *duck, lake_check *check, fdl_error *error) {
    const char *file = check->file;
    fdl_code code =
        fdl_duck_query(duck,
                       "SELECT table_name, estimated_size, column_count, contains(sql, 'GENERATED ALWAYS AS') "
                       "FROM system.main.duckdb_tables() "
                       "WHERE database_name = 'frozen' AND schema_name = 'main'",
                       see_table, check, error);
    if (code == FDL_OK && !check->found[fdl_lake_table_find("ducklake_metadata") - fdl_lake_tables])
        code = missing_table(check, "ducklake_metadata", error);
    if (code == FDL_OK)
        code = fdl_duck_query(duck,
                              "SELECT value::VARCHAR FROM frozen.main.ducklake_metadata "
                              "WHERE key = 'version' AND scope IS NULL",
                              see_version, check, error);
    if (code != FDL_OK)
        return code;
    if (check->version_count != 1 || (strcmp(check->version, "1.0") != 0 && strcmp(check->version, "0.4") != 0))
        return fdl_fail(error, FDL_REFUSED, file, "'%s' has the DuckLake format '%s'; this fdl knows 1.0 and 0.4", file,
                        check->version_count == 1 ? check->version : "?");
    for (size_t i = 0; i < FDL_LAKE_TABLE_COUNT; i++)
        if (!check->found[i])
            return missing_table(check, fdl_lake_tables[i].name, error);
    if (check->stranger[0] != '\0')
        return fdl_fail(error, FDL_REFUSED, file, "'%s' has a table '%s' with rows, which cannot be worked on", file,
                        check->stranger);
    return FDL_OK;
}

static fdl_code check_catalog(fdl_duck *duck, const char *file, fdl_error *error) {
    lake_check check = {.file = file};
    fdl_code code = check_tables(duck, &check, error);
    for (size_t i = 0; i < check.inlined_count; i++) {
        if (code == FDL_OK)
            code = check_inlined(duck, file, check.inlined[i], error);
        free(check.inlined[i]);
    }
    free(check.inlined);
    return code;
}

/* ---- copying -------------------------------------------------------------------- */

/* Tables and schemas come before files in the order of creation, so the folders are known when files are met. */
static fdl_code copy_tables(sqlite3 *db, fdl_thaw_source *source, fdl_error *error) {
    const fdl_lake_table *files = fdl_lake_table_find("ducklake_data_file");
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < FDL_LAKE_TABLE_COUNT && code == FDL_OK; i++) {
        const fdl_lake_table *table = &fdl_lake_tables[i];
        if (table->keep == FDL_LAKE_KEEP_NOTHING)
            continue;
        if (table == files)
            code = fdl_lake_folders_read(db, -1, &source->folders, error);
        if (code == FDL_OK)
            code = fdl_thaw_copy(db, source, table, error);
    }
    return code;
}

static fdl_code settle_metadata(sqlite3 *db, const char *file, const char *data_path, fdl_error *error) {
    int64_t snapshots = 0;
    fdl_code code = fdl_sqlite_integer(db, "SELECT count(*) FROM ducklake_snapshot", 0, &snapshots, error);
    if (code == FDL_OK && snapshots == 0)
        code = fdl_fail(error, FDL_REFUSED, file, "'%s' is not a DuckLake catalog: it has no snapshot", file);
    if (code == FDL_OK)
        code = fdl_sqlite_exec(db, error,
                               "UPDATE ducklake_metadata SET value = '" FDL_DUCKLAKE_FORMAT "' "
                               "WHERE key = 'version' AND scope IS NULL;"
                               "DELETE FROM ducklake_metadata WHERE key = 'data_path' AND scope IS NULL;"
                               "INSERT INTO ducklake_metadata (key, value) VALUES ('data_path', %Q)",
                               data_path);
    return code;
}

fdl_code fdl_catalog_thaw(const fdl_context *context, const char *frozen, const char *path,
                          const fdl_thaw_options *options, fdl_error *error) {
    fdl_thaw_source source = {.file = frozen, .url_prefix = options->published_prefix};
    fdl_working_new working;
    uint64_t bytes = 0;
    fdl_error unsaid; /* DuckDB will say what is wrong with the file */
    if (fdl_file_size(frozen, &bytes, &unsaid) != FDL_OK)
        bytes = 0;
    fdl_code code = fdl_working_new_begin(path, bytes, &working, error);
    if (code == FDL_OK)
        code = fdl_duck_open(context, &source.duck, error);
    if (code == FDL_OK)
        code = fdl_duck_name_file(frozen, fdl_duck_attach(source.duck, frozen, "frozen", error), FDL_REFUSED, error);
    if (code == FDL_OK)
        code = fdl_duck_lock(source.duck, error);
    if (code == FDL_OK)
        code = check_catalog(source.duck, frozen, error);
    if (code == FDL_OK)
        code = fdl_thaw_register(working.db, &source, error);
    if (code == FDL_OK)
        code = copy_tables(working.db, &source, error);
    if (code == FDL_OK)
        code = settle_metadata(working.db, frozen, options->data_path, error);
    code = fdl_working_new_end(&working, options->stamp, code, error);
    fdl_lake_folders_clear(&source.folders);
    fdl_duck_free(source.duck);
    return code;
}
