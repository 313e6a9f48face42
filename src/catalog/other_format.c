/*
 * other_format.c - writes a frozen catalog in another DuckLake format.
 *
 *   attach the frozen one -> can the format say all of it?  -> a new DuckDB file
 *   -> table by table -> views, statistics -> checkpoint -> open it again and
 *   compare
 *
 * DuckDB does the copying: what differs between the formats is a few
 * expressions (other_tables.c).
 */
#include "catalog/other_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/text.h"

#define SQL_LIMIT_BYTES (1u << 20)

/* ---- writing ----------------------------------------------------------------------- */

static fdl_code take_number(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    (void)count, (void)error;
    *(int64_t *)data = cells[0].integer;
    return FDL_OK;
}

static fdl_code attach_new(fdl_duck *duck, const fdl_other *other, const char *path, fdl_error *error) {
    fdl_buf sql;
    int64_t block_bytes = 0; /* as freeze chose it */
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_duck_query(duck,
                                   "SELECT block_size::BIGINT FROM pragma_database_size() WHERE database_name = 'frozen'",
                                   take_number, &block_bytes, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, "ATTACH ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&sql, path, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(&sql, error, " AS other (TYPE duckdb, STORAGE_VERSION '%s', BLOCK_SIZE %" PRId64 ");",
                                  other->storage, block_bytes);
    if (code == FDL_OK)
        code = fdl_buf_add_format(&sql, error, "SET VARIABLE format = '%s';", other->format);
    for (size_t i = 0; i < FDL_LAKE_TABLE_COUNT && code == FDL_OK; i++) {
        const fdl_lake_table *table = fdl_other_table(other, i);
        if (table != NULL)
            code = fdl_lake_create_sql(&sql, table, FDL_LAKE_DUCKDB, "other.main.", error);
    }
    if (code == FDL_OK)
        code = fdl_duck_exec(duck, error, "%s", sql.data);
    fdl_buf_clear(&sql);
    return code;
}

static fdl_code copy_table(fdl_duck *duck, const fdl_other *other, const fdl_lake_table *table, fdl_error *error) {
    fdl_buf sql;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_other_copy_sql(&sql, other, table, error);
    if (code == FDL_OK)
        code = fdl_duck_exec(duck, error, "%s", sql.data);
    fdl_buf_clear(&sql);
    return code;
}

static fdl_code fill(fdl_duck *duck, const fdl_other *other, char **obstacle, fdl_error *error) {
    const char *additions = fdl_other_additions(other);
    fdl_code code = fdl_duck_exec(duck, error, "BEGIN");
    for (size_t i = 0; i < FDL_LAKE_TABLE_COUNT && code == FDL_OK; i++) {
        const fdl_lake_table *table = fdl_other_table(other, i);
        if (table != NULL && fdl_lake_tables[i].keep != FDL_LAKE_KEEP_NOTHING)
            code = copy_table(duck, other, table, error);
    }
    if (code == FDL_OK && additions != NULL)
        code = fdl_duck_exec(duck, error, "%s", additions);
    if (code == FDL_OK && !other->names_own_catalog)
        code = fdl_other_views(duck, obstacle, error);
    return code == FDL_OK ? fdl_duck_exec(duck, error, "COMMIT; CHECKPOINT other; DETACH other") : code;
}

static fdl_code write_file(const fdl_context *context, const char *frozen, const fdl_other *other, const char *path,
                           char **obstacle, fdl_error *error) {
    fdl_duck *duck = NULL;
    fdl_code code = fdl_duck_open(context, &duck, error);
    if (code == FDL_OK)
        code = fdl_duck_attach(duck, frozen, "frozen", error);
    if (code == FDL_OK)
        code = fdl_other_obstacle(duck, other, obstacle, error);
    if (code == FDL_OK && *obstacle == NULL)
        code = attach_new(duck, other, path, error);
    if (code == FDL_OK && *obstacle == NULL)
        code = fill(duck, other, obstacle, error);
    fdl_duck_free(duck);
    return code;
}

static void remove_file(const char *path) {
    char *wal = NULL;
    fdl_error ignored;
    fdl_file_remove(path, &ignored);
    if (fdl_str_format(&wal, &ignored, "%s.wal", path) == FDL_OK)
        fdl_file_remove(wal, &ignored);
    free(wal);
}

fdl_code fdl_other_write(const fdl_context *context, const char *frozen, const char *format, const char *path,
                         char **obstacle, fdl_error *error) {
    const fdl_other *other = fdl_other_find(format);
    char *absolute = NULL, *difference = NULL;
    *obstacle = NULL;
    if (other == NULL)
        return fdl_fail(error, FDL_UNSUPPORTED, format, "this fdl writes no catalogs in DuckLake format '%s'", format);
    if (fdl_file_exists(path))
        return fdl_fail(error, FDL_CONFLICT, path, "'%s' exists already", path);
    /* Absolute, so that no name can be taken for a prefix like "sqlite:". */
    fdl_code code = fdl_path_absolute(path, &absolute, error);
    if (code == FDL_OK)
        code = write_file(context, frozen, other, absolute, obstacle, error);
    if (code == FDL_OK && *obstacle == NULL)
        code = fdl_other_check(context, frozen, absolute, format, &difference, error);
    if (difference != NULL)
        code = fdl_fail(error, FDL_FAILED, path, "the catalog in DuckLake format '%s' went wrong: %s", format, difference);
    if (code == FDL_OK && *obstacle == NULL)
        code = fdl_file_sync(absolute, error);
    if (code != FDL_OK || *obstacle != NULL)
        remove_file(absolute ? absolute : path);
    free(difference);
    free(absolute);
    return code;
}

/* ---- comparing ------------------------------------------------------------------------ */

/* What readers find their rows by; columns that mean the same in every format. */
static const struct {
    const char *table;
    const char *columns;
} compared[] = {
    {"snapshot", "snapshot_id, schema_version, next_catalog_id, next_file_id"},
    {"schema", "schema_id, begin_snapshot, end_snapshot, schema_name, path, path_is_relative"},
    {"table", "table_id, begin_snapshot, end_snapshot, schema_id, table_name, path, path_is_relative"},
    {"column", "column_id, begin_snapshot, end_snapshot, table_id, column_order, column_name, column_type,"
               " initial_default, nulls_allowed, parent_column"},
    {"view", "view_id, begin_snapshot, end_snapshot, schema_id, view_name, column_aliases"},
    {"data_file", "data_file_id, table_id, begin_snapshot, end_snapshot, path, path_is_relative, record_count,"
                  " file_size_bytes, footer_size, row_id_start, mapping_id, encryption_key"},
    {"delete_file", "delete_file_id, table_id, begin_snapshot, end_snapshot, data_file_id, path, path_is_relative,"
                    " delete_count, file_size_bytes, footer_size, encryption_key"},
    {"column_mapping", "mapping_id, table_id, type"},
    {"name_mapping", "mapping_id, column_id, source_name, target_field_id, parent_column, is_partition"},
};

/* Rows that only one of the two has. */
static fdl_code compare_table(fdl_duck *duck, size_t index, char **difference, fdl_error *error) {
    const char *table = compared[index].table, *columns = compared[index].columns;
    fdl_buf sql;
    int64_t rows = 0;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_buf_add_format(
        &sql, error,
        "SELECT count(*) FROM ((SELECT %s FROM frozen.main.ducklake_%s EXCEPT ALL SELECT %s FROM other.main.ducklake_%s)"
        " UNION ALL (SELECT %s FROM other.main.ducklake_%s EXCEPT ALL SELECT %s FROM frozen.main.ducklake_%s))",
        columns, table, columns, table, columns, table, columns, table);
    if (code == FDL_OK)
        code = fdl_duck_query(duck, sql.data, take_number, &rows, error);
    if (code == FDL_OK && rows > 0)
        code = fdl_str_format(difference, error, "%" PRId64 " rows of its 'ducklake_%s' are not those of the main catalog",
                              rows, table);
    fdl_buf_clear(&sql);
    return code;
}

/* A log beside it would be read as if it were part of it. */
static fdl_code check_log(const char *other, char **difference, fdl_error *error) {
    char *log = NULL;
    fdl_code code = fdl_str_format(&log, error, "%s.wal", other);
    if (code == FDL_OK && fdl_file_exists(log))
        code = fdl_str_format(difference, error, "there is a log beside it");
    free(log);
    return code;
}

/* Only its real tables are read: a view in their place is a stranger's SQL. */
static fdl_code check_tables(fdl_duck *duck, char **difference, fdl_error *error) {
    int64_t found = 0;
    char *sql = NULL;
    fdl_code code = fdl_duck_query(duck,
                                   "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'other' AND"
                                   " schema_name = 'main' AND table_name IN ('ducklake_metadata', 'ducklake_snapshot',"
                                   " 'ducklake_schema', 'ducklake_table', 'ducklake_column', 'ducklake_view',"
                                   " 'ducklake_data_file', 'ducklake_delete_file', 'ducklake_column_mapping',"
                                   " 'ducklake_name_mapping')",
                                   take_number, &found, error);
    if (code == FDL_OK && found != 10)
        code = fdl_str_format(difference, error, "it is not a DuckLake catalog");
    if (code == FDL_OK && *difference == NULL)
        code = fdl_duck_find_sql(duck, "other", &sql, error);
    if (code == FDL_OK && sql != NULL)
        code = fdl_str_format(difference, error, "%s in it would run SQL at its readers", sql);
    free(sql);
    return code;
}

static fdl_code check_format(fdl_duck *duck, const char *format, char **difference, fdl_error *error) {
    fdl_buf sql;
    int64_t right = 0;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_buf_add_str(&sql,
                                    "SELECT count(*) = 1 AND bool_and(value = format) FROM other.main.ducklake_metadata,"
                                    " (SELECT ",
                                    error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&sql, format, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, " AS format) WHERE key = 'version' AND scope IS NULL", error);
    if (code == FDL_OK)
        code = fdl_duck_query(duck, sql.data, take_number, &right, error);
    if (code == FDL_OK && right != 1)
        code = fdl_str_format(difference, error, "it is not in DuckLake format '%s'", format);
    fdl_buf_clear(&sql);
    return code;
}

/* A stranger's file: what DuckDB cannot read of it is what is wrong with it. */
static fdl_code told(fdl_code code, char **difference, fdl_error *error) {
    if (code != FDL_FAILED || error == NULL || strncmp(error->message, "duckdb: ", 8) != 0)
        return code;
    fdl_error said = *error;
    return fdl_str_copy(difference, said.message, error);
}

fdl_code fdl_other_check(const fdl_context *context, const char *frozen, const char *other, const char *format,
                         char **difference, fdl_error *error) {
    fdl_duck *duck = NULL;
    *difference = NULL;
    fdl_code code = fdl_duck_open(context, &duck, error);
    if (code == FDL_OK)
        code = fdl_duck_attach(duck, frozen, "frozen", error);
    if (code == FDL_OK)
        code = check_log(other, difference, error);
    if (code == FDL_OK && *difference == NULL)
        code = told(fdl_duck_attach(duck, other, "other", error), difference, error);
    if (code == FDL_OK && *difference == NULL)
        code = fdl_duck_lock(duck, error);
    if (code == FDL_OK && *difference == NULL)
        code = told(check_tables(duck, difference, error), difference, error);
    if (code == FDL_OK && *difference == NULL)
        code = told(check_format(duck, format, difference, error), difference, error);
    for (size_t i = 0; i < sizeof compared / sizeof *compared && code == FDL_OK && *difference == NULL; i++)
        code = told(compare_table(duck, i, difference, error), difference, error);
    fdl_duck_free(duck);
    return code;
}
