/*
 * rows_lakes.c - makes two DuckLakes of what two published catalogs do not share.
 *
 *   which files are read the same on both sides?  they cancel out
 *   the others   ->  "<scratch>/data/<path>", brought by the caller
 *   each catalog ->  "<scratch>/a.duckdb", a new one that names only these
 *   ATTACH 'ducklake:<scratch>/a.duckdb' AS lake_a
 *
 * The catalogs may be a stranger's, so they are not copied as files: their plain
 * tables are read into new ones, and views, macros and settings stay behind.
 * Statistics do too, since DuckDB takes them at their word.  The session is
 * locked before the first query and can reach the scratch folder, and what the
 * links in it lead to, alone.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/ducklake_schema.h"
#include "catalog/rows.h"
#include "fdl/store.h"
#include "util/file.h"
#include "util/parallel.h"
#include "util/text.h"

#define SQL_LIMIT_BYTES (1u << 20)
#define MEMORY_LIMIT "512MB"

/* ---- which files are not shared --------------------------------------------------- */

/* A file under two names in one catalog, or read through other deletes, is not the same: rows are counted. */
#define SAME_READ "schema_name, table_name, path, delete_path, mapping_id, format"

static const char reads_of_one[] =
    "CREATE TABLE @.reads AS SELECT d.data_file_id, t.schema_name, t.table_name, d.path, x.path AS delete_path,"
    " d.mapping_id, d.format, d.is_relative AND coalesce(x.is_relative, true) AS is_relative,"
    " d.encryption_key IS NOT NULL OR x.encryption_key IS NOT NULL AS is_encrypted,"
    " d.record_count - coalesce(x.delete_count, 0) AS row_count"
    " FROM @.data_files d JOIN @.tables t USING (table_id)"
    " LEFT JOIN @.delete_files x ON x.data_file_id = d.data_file_id";

static const char shared[] =
    "CREATE TABLE memory.main.shared AS SELECT " SAME_READ " FROM"
    " (SELECT " SAME_READ ", -1 AS side FROM a.reads UNION ALL SELECT " SAME_READ ", 1 FROM b.reads)"
    " GROUP BY ALL HAVING sum(side) = 0";

static const char unshared_of_one[] =
    "CREATE TABLE @.unshared AS SELECT r.* FROM @.reads r WHERE NOT EXISTS (FROM memory.main.shared s"
    " WHERE s.path = r.path AND s.schema_name = r.schema_name AND s.table_name = r.table_name"
    " AND s.delete_path IS NOT DISTINCT FROM r.delete_path AND s.mapping_id IS NOT DISTINCT FROM r.mapping_id"
    " AND s.format IS NOT DISTINCT FROM r.format)";

static const char tables_query[] =
    "SELECT schema_name, table_name, sum(row_count)::BIGINT, bool_or(is_encrypted),"
    " (schema_name, table_name) IN (SELECT (schema_name, table_name) FROM a.tables),"
    " (schema_name, table_name) IN (SELECT (schema_name, table_name) FROM b.tables) FROM"
    " (SELECT schema_name, table_name, -row_count AS row_count, is_encrypted FROM a.unshared UNION ALL"
    "  SELECT schema_name, table_name, row_count, is_encrypted FROM b.unshared)"
    " GROUP BY schema_name, table_name ORDER BY schema_name, table_name";

static fdl_code take_table(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    fdl_rows *rows = data;
    const char *schema = NULL, *name = NULL;
    (void)count;
    fdl_code code =
        fdl_live_text(&rows->catalogs[0], &cells[0], "a schema's name", FDL_LIVE_NAME_LIMIT_BYTES, &schema, error);
    if (code == FDL_OK)
        code = fdl_live_text(&rows->catalogs[0], &cells[1], "a table's name", FDL_LIVE_NAME_LIMIT_BYTES, &name, error);
    if (code == FDL_OK && cells[3].integer)
        code = fdl_fail(error, FDL_REFUSED, name, "files of the table '%s.%s' are encrypted", schema, name);
    if (code == FDL_OK)
        code = fdl_grow(&rows->tables, rows->table_count, sizeof *rows->tables, error);
    if (code != FDL_OK)
        return code;
    fdl_rows_table *table = &rows->tables[rows->table_count++];
    *table = (fdl_rows_table){.more = cells[2].integer,
                              .is_in = {cells[4].integer != 0, cells[5].integer != 0}};
    code = fdl_str_copy(&table->schema_name, schema, error);
    return code == FDL_OK ? fdl_str_copy(&table->name, name, error) : code;
}

static fdl_code find_tables(fdl_rows *rows, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < 2 && code == FDL_OK; i++) {
        code = fdl_live_check_inlined(rows->duck, &rows->catalogs[i], error);
        if (code == FDL_OK)
            code = fdl_live_run(rows->duck, &rows->catalogs[i], reads_of_one, error);
    }
    if (code == FDL_OK)
        code = fdl_duck_exec(rows->duck, error, "%s", shared);
    for (size_t i = 0; i < 2 && code == FDL_OK; i++)
        code = fdl_live_run(rows->duck, &rows->catalogs[i], unshared_of_one, error);
    return code == FDL_OK ? fdl_duck_query(rows->duck, tables_query, take_table, rows, error) : code;
}

/* ---- the session --------------------------------------------------------------------- */

static fdl_code add_folder(fdl_buf *sql, const char *folder, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_str_format(&path, error, "%s%s", folder, fdl_str_ends(folder, "/") ? "" : "/");
    if (code == FDL_OK)
        code = fdl_sql_literal(sql, path, error);
    free(path);
    return code;
}

static fdl_code configure(fdl_rows *rows, fdl_error *error) {
    const fdl_rows_place *place = rows->place;
    fdl_buf sql;
    char *spill = NULL;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_str_format(&spill, error, "%s/spill", place->scratch);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, "SET memory_limit = '" MEMORY_LIMIT "'; SET preserve_insertion_order = false;"
                                     " SET temp_directory = ",
                               error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&sql, spill, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, "; SET allowed_directories = [", error);
    if (code == FDL_OK)
        code = add_folder(&sql, place->scratch, error);
    for (size_t i = 0; i < place->folder_count && code == FDL_OK; i++) {
        code = fdl_buf_add_str(&sql, ", ", error);
        if (code == FDL_OK)
            code = add_folder(&sql, place->folders[i], error);
    }
    if (code == FDL_OK)
        code = fdl_duck_exec(rows->duck, error, "%s]", sql.data);
    fdl_buf_clear(&sql);
    free(spill);
    return code;
}

fdl_code fdl_rows_open(const fdl_context *context, const char *frozen_a, const char *frozen_b,
                       const fdl_rows_place *place, fdl_rows *out, fdl_error *error) {
    *out = (fdl_rows){.place = place,
                      .catalogs = {{.path = frozen_a, .name = "a"}, {.path = frozen_b, .name = "b"}}};
    fdl_code code = fdl_duck_open(context, &out->duck, error);
    if (code == FDL_OK)
        code = fdl_duck_load_extension(out->duck, "ducklake", error);
    if (code == FDL_OK)
        code = configure(out, error);
    if (code == FDL_OK)
        code = fdl_live_add(out->duck, out->catalogs, 2, error);
    return code == FDL_OK ? find_tables(out, error) : code;
}

void fdl_rows_clear(fdl_rows *rows) {
    for (size_t i = 0; i < rows->table_count; i++) {
        free(rows->tables[i].schema_name);
        free(rows->tables[i].name);
    }
    free(rows->tables);
    fdl_duck_free(rows->duck);
    *rows = (fdl_rows){0};
}

/* ---- their files ------------------------------------------------------------------------ */

static const char files_query[] =
    "SELECT path, bool_and(is_relative) FROM (SELECT path, is_relative FROM a.unshared UNION ALL"
    " SELECT delete_path, is_relative FROM a.unshared UNION ALL SELECT path, is_relative FROM b.unshared UNION ALL"
    " SELECT delete_path, is_relative FROM b.unshared) WHERE path IS NOT NULL GROUP BY path ORDER BY path";

typedef struct crew {
    const fdl_rows *rows;
    char **paths;
    size_t count;
} crew;

static fdl_code take_path(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    crew *c = data;
    const char *path = NULL;
    (void)count;
    fdl_code code = fdl_live_text(&c->rows->catalogs[0], &cells[0], "the path of a data file",
                                  FDL_LIVE_NAME_LIMIT_BYTES, &path, error);
    if (code == FDL_OK && !cells[1].integer)
        code = fdl_fail(error, FDL_REFUSED, path, "the file '%s' is not named relative to the data folder", path);
    if (code == FDL_OK)
        code = fdl_key_check(path, error);
    if (code == FDL_OK)
        code = fdl_grow(&c->paths, c->count, sizeof *c->paths, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&c->paths[c->count], path, error);
    c->count += code == FDL_OK;
    return code;
}

static fdl_code bring_file(void *data, size_t index, fdl_error *error) {
    const crew *c = data;
    const fdl_rows_place *place = c->rows->place;
    const char *path = c->paths[index];
    char *target = NULL, *folder = NULL;
    fdl_code code = fdl_str_format(&target, error, "%s/data/%s", place->scratch, path);
    if (code == FDL_OK)
        code = fdl_path_folder(target, &folder, error);
    if (code == FDL_OK && !fdl_file_exists(folder))
        code = fdl_folder_make(folder, error);
    if (code == FDL_OK)
        code = place->bring(place->data, path, target, error);
    free(folder);
    free(target);
    return code;
}

static fdl_code bring_files(const fdl_rows *rows, fdl_error *error) {
    crew c = {.rows = rows};
    fdl_code code = fdl_duck_query(rows->duck, files_query, take_path, &c, error);
    if (code == FDL_OK)
        code = fdl_parallel(c.count, rows->place->jobs, bring_file, &c, error);
    for (size_t i = 0; i < c.count; i++)
        free(c.paths[i]);
    free(c.paths);
    return code;
}

/* ---- their catalogs ---------------------------------------------------------------------- */

/* What a reader of the last snapshot needs, and which rows of it. */
#define OF_FILES " WHERE data_file_id IN (SELECT data_file_id FROM @.unshared)"

static const char *const needed[][2] = {
    {"ducklake_snapshot", " WHERE snapshot_id = #"},
    {"ducklake_schema", FDL_LIVE_ROWS},
    {"ducklake_table", FDL_LIVE_ROWS},
    {"ducklake_column", ""},
    {"ducklake_data_file", FDL_LIVE_ROWS " AND data_file_id IN (SELECT data_file_id FROM @.unshared)"},
    {"ducklake_delete_file", FDL_LIVE_ROWS " AND data_file_id IN (SELECT data_file_id FROM @.unshared)"},
    {"ducklake_file_partition_value", OF_FILES},
    {"ducklake_partition_info", ""},
    {"ducklake_partition_column", ""},
    {"ducklake_column_mapping", ""},
    {"ducklake_name_mapping", ""},
    {"ducklake_schema_versions", ""},
};

/* The others were looked at when the catalog was opened. */
static const char plain_tables_query[] =
    "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'file_@' AND schema_name = 'main'"
    " AND table_name IN ('ducklake_file_partition_value', 'ducklake_schema_versions')";

static fdl_code check_tables(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    const fdl_live *catalog = data;
    (void)count;
    return cells[0].integer == 2 ? FDL_OK
                                 : fdl_fail(error, FDL_REFUSED, catalog->path, "'%s' lacks tables", catalog->path);
}

static fdl_code fill_table(const fdl_rows *rows, const fdl_live *catalog, size_t i, fdl_error *error) {
    const fdl_lake_table *table = fdl_lake_table_find(needed[i][0]);
    fdl_buf sql;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_buf_add_format(&sql, error, "INSERT INTO cut_@.main.%s SELECT ", table->name);
    if (code == FDL_OK)
        code = fdl_lake_column_list(&sql, table, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(&sql, error, " FROM file_@.main.%s%s", table->name, needed[i][1]);
    if (code == FDL_OK)
        code = fdl_live_run(rows->duck, catalog, sql.data, error);
    fdl_buf_clear(&sql);
    return code;
}

/* "ATTACH '<kind><scratch>/a.duckdb' AS <prefix>_a": of the new catalog, as what it is or as a DuckLake. */
static fdl_code add_attach(const fdl_rows *rows, const fdl_live *catalog, const char *kind, const char *prefix,
                           fdl_buf *sql, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_str_format(&path, error, "%s%s/%s.duckdb", kind, rows->place->scratch, catalog->name);
    if (code == FDL_OK)
        code = fdl_buf_add_str(sql, "ATTACH ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(sql, path, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(sql, error, " AS %s_%s", prefix, catalog->name);
    free(path);
    return code;
}

static fdl_code make_tables(const fdl_rows *rows, const fdl_live *catalog, fdl_error *error) {
    fdl_buf sql;
    char *qualifier = NULL;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_str_format(&qualifier, error, "cut_%s.main.", catalog->name);
    if (code == FDL_OK)
        code = add_attach(rows, catalog, "", "cut", &sql, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, " (TYPE duckdb, STORAGE_VERSION '" FDL_DUCKDB_STORAGE "', BLOCK_SIZE 16384);",
                               error);
    for (size_t i = 0; i < FDL_LAKE_TABLE_COUNT && code == FDL_OK; i++)
        code = fdl_lake_create_sql(&sql, &fdl_lake_tables[i], FDL_LAKE_DUCKDB, qualifier, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(&sql, error,
                                  "INSERT INTO %sducklake_metadata (key, value) VALUES"
                                  " ('version', '" FDL_DUCKLAKE_FORMAT
                                  "'), ('created_by', 'fdl'), ('encrypted', 'false'), ('data_path', '/');",
                                  qualifier);
    if (code == FDL_OK)
        code = fdl_duck_exec(rows->duck, error, "%s", sql.data);
    fdl_buf_clear(&sql);
    free(qualifier);
    return code;
}

static fdl_code attach_lake(const fdl_rows *rows, const fdl_live *catalog, fdl_error *error) {
    fdl_buf sql;
    char *data = NULL;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_str_format(&data, error, "%s/data/", rows->place->scratch);
    if (code == FDL_OK)
        code = add_attach(rows, catalog, "ducklake:", "lake", &sql, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, " (READ_ONLY, OVERRIDE_DATA_PATH true, DATA_PATH ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&sql, data, error);
    if (code == FDL_OK)
        code = fdl_duck_exec(rows->duck, error, "%s)", sql.data);
    fdl_buf_clear(&sql);
    free(data);
    return code;
}

static fdl_code make_lake(fdl_rows *rows, fdl_live *catalog, fdl_error *error) {
    fdl_code code = fdl_live_query(rows->duck, catalog, plain_tables_query, check_tables, catalog, error);
    if (code == FDL_OK)
        code = make_tables(rows, catalog, error);
    for (size_t i = 0; i < sizeof needed / sizeof *needed && code == FDL_OK; i++)
        code = fill_table(rows, catalog, i, error);
    if (code == FDL_OK)
        code = fdl_live_run(rows->duck, catalog, "DETACH cut_@", error);
    return code == FDL_OK ? attach_lake(rows, catalog, error) : code;
}

fdl_code fdl_rows_attach(fdl_rows *rows, fdl_error *error) {
    fdl_code code = bring_files(rows, error);
    for (size_t i = 0; i < 2 && code == FDL_OK; i++)
        code = make_lake(rows, &rows->catalogs[i], error);
    return code;
}
