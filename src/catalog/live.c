/*
 * live.c - attaches frozen catalogs and lays views over them.
 *
 *   attach "file_a"  ->  lock  ->  are its tables there, in a format we know?
 *                    ->  views "a.*"  ->  is every id there once?
 *
 * After these checks the views can be joined without surprises: a duplicate id
 * would multiply rows, a view in the place of a table would run a stranger's SQL.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/live.h"
#include "util/file.h"
#include "util/text.h"

#define SQL_LIMIT_BYTES (1u << 20)

/* A DuckDB file of a few KB can hold billions of equal rows; no honest catalog comes near this. */
#define ROW_LIMIT "20000000"

/* ---- the tables we read, and the views over them ------------------------- */

#define TABLES_READ                                                                                                    \
    "'metadata', 'snapshot', 'schema', 'table', 'column', 'view', 'tag', 'column_tag', 'data_file', 'delete_file', "   \
    "'macro', 'macro_impl', 'macro_parameters', 'partition_info', 'partition_column', 'sort_info', "                   \
    "'sort_expression', 'column_mapping', 'name_mapping', 'inlined_data_tables'"

#define LIVE FDL_LIVE_ROWS

/* The row of an id that says where it is now, or was last. */
#define NEWEST(id)                                                                                                     \
    " QUALIFY row_number() OVER (PARTITION BY " id " ORDER BY end_snapshot DESC NULLS FIRST, begin_snapshot DESC) = 1"

/* The path of a file under the data folder, from those of its schema, its table and its own. */
#define RESOLVED                                                                                                       \
    "CASE WHEN path_is_relative THEN folder || path ELSE path END::VARCHAR AS path,"                                   \
    " path_is_relative AND folder_is_relative AS is_relative"

/* Casts are for the compiler of our queries: in a catalog of DuckLake's own they are the columns' types. */
static const char *const live_views[] = {
    "CREATE SCHEMA @",

    "CREATE VIEW @.schemas AS SELECT schema_id::BIGINT AS schema_id, schema_name::VARCHAR AS schema_name"
    " FROM file_@.main.ducklake_schema" LIVE,

    "CREATE VIEW @.tables AS SELECT table_id, schema_name, table_name FROM"
    " (SELECT table_id::BIGINT AS table_id, schema_id::BIGINT AS schema_id, table_name::VARCHAR AS table_name"
    "  FROM file_@.main.ducklake_table" LIVE ") LEFT JOIN @.schemas USING (schema_id)",

    "CREATE VIEW @.columns AS SELECT table_id::BIGINT AS table_id, column_id::BIGINT AS column_id,"
    " parent_column::BIGINT AS parent_id, column_order::BIGINT AS column_order, column_name::VARCHAR AS column_name,"
    " column_type::VARCHAR AS column_type, nulls_allowed::BOOLEAN AS nullable,"
    " initial_default::VARCHAR AS initial_default, default_value::VARCHAR AS default_value,"
    " default_value_type::VARCHAR AS default_type, default_value_dialect::VARCHAR AS default_dialect"
    " FROM file_@.main.ducklake_column" LIVE,

    "CREATE VIEW @.views AS SELECT view_id, schema_name, view_name, dialect, sql, column_aliases FROM"
    " (SELECT view_id::BIGINT AS view_id, schema_id::BIGINT AS schema_id, view_name::VARCHAR AS view_name,"
    "  dialect::VARCHAR AS dialect, sql::VARCHAR AS sql, column_aliases::VARCHAR AS column_aliases"
    "  FROM file_@.main.ducklake_view" LIVE ") LEFT JOIN @.schemas USING (schema_id)",

    "CREATE VIEW @.macros AS SELECT macro_id, schema_name, macro_name FROM"
    " (SELECT macro_id::BIGINT AS macro_id, schema_id::BIGINT AS schema_id, macro_name::VARCHAR AS macro_name"
    "  FROM file_@.main.ducklake_macro" LIVE ") LEFT JOIN @.schemas USING (schema_id)",

    /* A comment that was taken away is a live tag without a value. */
    "CREATE VIEW @.tags AS SELECT object_id::BIGINT AS object_id, key::VARCHAR AS key, value::VARCHAR AS value"
    " FROM file_@.main.ducklake_tag" LIVE " AND value IS NOT NULL",
    "CREATE VIEW @.column_tags AS SELECT table_id::BIGINT AS table_id, column_id::BIGINT AS column_id,"
    " key::VARCHAR AS key, value::VARCHAR AS value FROM file_@.main.ducklake_column_tag" LIVE " AND value IS NOT NULL",

    /* Where each table's files are and what it is or was last called, ended tables included. */
    "CREATE VIEW @.places AS SELECT table_id, schema_name, table_name,"
    " coalesce(s.path, '') || coalesce(t.path, '') AS folder,"
    " (s.path IS NULL OR s.path_is_relative) AND (t.path IS NULL OR t.path_is_relative) AS folder_is_relative FROM"
    " (SELECT table_id::BIGINT AS table_id, schema_id::BIGINT AS schema_id, table_name::VARCHAR AS table_name,"
    "  path::VARCHAR AS path, path_is_relative::BOOLEAN AS path_is_relative"
    "  FROM file_@.main.ducklake_table" NEWEST(
        "table_id") ") t LEFT JOIN"
                    " (SELECT schema_id::BIGINT AS schema_id, schema_name::VARCHAR AS schema_name,"
                    "  path::VARCHAR AS path, path_is_relative::BOOLEAN AS path_is_relative"
                    "  FROM file_@.main.ducklake_schema" NEWEST("schema_id") ") s USING (schema_id)",

    /* Files of every snapshot that the catalog holds. */
    "CREATE VIEW @.all_data_files AS SELECT data_file_id::BIGINT AS data_file_id, table_id, schema_name, "
    "table_name," RESOLVED ", file_format::VARCHAR AS format, record_count::BIGINT AS record_count,"
    " file_size_bytes::BIGINT AS size_bytes, row_id_start::BIGINT AS row_id_start,"
    " encryption_key::VARCHAR AS encryption_key, mapping_id::BIGINT AS mapping_id, begin_snapshot, end_snapshot"
    " FROM file_@.main.ducklake_data_file LEFT JOIN @.places USING (table_id)",
    "CREATE VIEW @.all_delete_files AS SELECT delete_file_id::BIGINT AS delete_file_id,"
    " data_file_id::BIGINT AS data_file_id, table_id, schema_name, table_name," RESOLVED
    ", format::VARCHAR AS format, delete_count::BIGINT AS delete_count,"
    " file_size_bytes::BIGINT AS size_bytes, encryption_key::VARCHAR AS encryption_key, begin_snapshot, end_snapshot"
    " FROM file_@.main.ducklake_delete_file LEFT JOIN @.places USING (table_id)",

    "CREATE VIEW @.data_files AS SELECT * FROM @.all_data_files" LIVE,
    "CREATE VIEW @.delete_files AS SELECT * FROM @.all_delete_files" LIVE,
};

#define TWICE(what, key)                                                                                               \
    "SELECT 'the same id twice in " what "s' FROM file_@.main.ducklake_" what LIVE " GROUP BY " key " HAVING count(*) > 1"

#define SCHEMA_OF(what) "SELECT schema_id::BIGINT AS schema_id FROM file_@.main.ducklake_" what LIVE

/*
 * What must be there once, and what must be somewhere.  One query, past the views:
 * nearly all it costs is planning, and whoever opens a catalog pays for it.
 */
static const char contradictions_query[] =
    TWICE("schema", "schema_id") " UNION ALL " TWICE("table", "table_id") " UNION ALL " TWICE(
        "column", "table_id, column_id") " UNION ALL " TWICE("view", "view_id") " UNION ALL " TWICE("macro", "macro_id")
    " UNION ALL " TWICE("data_file", "data_file_id") " UNION ALL " TWICE("delete_file", "delete_file_id")
    " UNION ALL SELECT 'a table, view or macro is in no schema' FROM (" SCHEMA_OF("table") " UNION ALL " SCHEMA_OF("view")
    " UNION ALL " SCHEMA_OF("macro") ") LEFT JOIN @.schemas USING (schema_id) WHERE schema_name IS NULL LIMIT 1";

/* ---- SQL text -------------------------------------------------------------- */

fdl_code fdl_live_expand(const fdl_live *catalog, const char *text, fdl_buf *sql, fdl_error *error) {
    fdl_code code = FDL_OK;
    while (code == FDL_OK && *text != '\0') {
        size_t plain = strcspn(text, "@#");
        code = fdl_buf_add(sql, text, plain, error);
        text += plain;
        if (code == FDL_OK && *text == '@')
            code = fdl_buf_add_str(sql, catalog->name, error);
        if (code == FDL_OK && *text == '#')
            code = fdl_buf_add_format(sql, error, "%" PRId64, catalog->snapshot_id);
        text += *text != '\0';
    }
    return code;
}

static fdl_code run(fdl_duck *duck, const fdl_live *catalog, const char *text, fdl_error *error) {
    fdl_buf sql;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_live_expand(catalog, text, &sql, error);
    if (code == FDL_OK)
        code = fdl_duck_exec(duck, error, "%s", sql.data);
    fdl_buf_clear(&sql);
    return code;
}

fdl_code fdl_live_run(fdl_duck *duck, const fdl_live *catalog, const char *text, fdl_error *error) {
    return fdl_duck_name_file(catalog->path, run(duck, catalog, text, error), FDL_FAILED, error);
}

fdl_code fdl_live_query(fdl_duck *duck, const fdl_live *catalog, const char *text, fdl_row_callback callback,
                        void *data, fdl_error *error) {
    fdl_buf sql;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_live_expand(catalog, text, &sql, error);
    if (code == FDL_OK)
        code = fdl_duck_query(duck, sql.data, callback, data, error);
    fdl_buf_clear(&sql);
    return fdl_duck_name_file(catalog->path, code, FDL_FAILED, error);
}

fdl_code fdl_live_text(const fdl_live *catalog, const fdl_cell *cell, const char *what, size_t limit_bytes,
                       const char **out, fdl_error *error) {
    const char *wrong = NULL;
    if (cell->is_null)
        wrong = "is missing";
    else if (cell->length > limit_bytes)
        wrong = "is too long";
    else if (memchr(cell->text, '\0', cell->length) != NULL)
        wrong = "holds a NUL character";
    else if (!fdl_utf8_valid(cell->text, cell->length))
        wrong = "is not valid UTF-8";
    if (wrong != NULL)
        return fdl_fail(error, FDL_REFUSED, catalog->path, "%s in the catalog '%s' %s", what, catalog->path, wrong);
    *out = cell->text;
    return FDL_OK;
}

/* ---- is it a DuckLake catalog? --------------------------------------------- */

static fdl_code refuse_table(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    const fdl_live *catalog = data;
    (void)count;
    return fdl_fail(error, FDL_REFUSED, catalog->path, "'%s' is not a DuckLake catalog that fdl reads: %s '%s'",
                    catalog->path, cells[1].integer ? "too many rows in table" : "it has no table", cells[0].text);
}

/* duckdb_tables() lists tables alone: a view or a macro of the same name is none, and a computed column is as bad. */
#define TABLES_CHECK(names)                                                                                            \
    "SELECT 'ducklake_' || wanted.name, found.table_name IS NOT NULL"                                                  \
    " FROM (SELECT unnest([" names "]) AS name) wanted LEFT JOIN"                                                      \
    " (SELECT table_name, estimated_size FROM duckdb_tables()"                                                         \
    "  WHERE database_name = 'file_@' AND schema_name = 'main' AND NOT contains(sql, 'GENERATED ALWAYS AS')) found"     \
    " ON found.table_name = 'ducklake_' || wanted.name"                                                                \
    " WHERE found.table_name IS NULL OR found.estimated_size > " ROW_LIMIT " LIMIT 1"

typedef struct format_check {
    fdl_live *catalog;
    size_t seen;
} format_check;

static fdl_code check_format_row(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    format_check *check = data;
    const char *path = check->catalog->path;
    const char *format = NULL;
    (void)count;
    if (check->seen++ > 0)
        return fdl_fail(error, FDL_REFUSED, path, "'%s' names more than one DuckLake format", path);
    fdl_code code = fdl_live_text(check->catalog, &cells[0], "the format", 64, &format, error);
    if (code == FDL_OK && strcmp(format, "1.0") != 0 && strcmp(format, "0.4") != 0)
        return fdl_fail(error, FDL_REFUSED, path, "'%s' is in DuckLake format '%s'; this fdl reads 1.0 and 0.4", path,
                        format);
    if (code == FDL_OK)
        fdl_str_fit(check->catalog->format, sizeof check->catalog->format, format);
    return code;
}

static fdl_code check_format(fdl_duck *duck, fdl_live *catalog, fdl_error *error) {
    format_check check = {.catalog = catalog};
    fdl_code code = fdl_live_query(
        duck, catalog, "SELECT value::VARCHAR FROM file_@.main.ducklake_metadata WHERE key = 'version' LIMIT 2",
        check_format_row, &check, error);
    if (code == FDL_OK && check.seen == 0)
        return fdl_fail(error, FDL_REFUSED, catalog->path, "'%s' does not say its DuckLake format", catalog->path);
    return code;
}

static fdl_code take_snapshot(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    fdl_live *catalog = data;
    (void)count;
    if (cells[0].is_null || cells[0].integer < 0)
        return fdl_fail(error, FDL_REFUSED, catalog->path, "the catalog '%s' holds no snapshot", catalog->path);
    catalog->snapshot_id = cells[0].integer;
    return FDL_OK;
}

static fdl_code refuse_contradiction(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    const fdl_live *catalog = data;
    (void)count;
    return fdl_fail(error, FDL_REFUSED, catalog->path, "the catalog '%s' contradicts itself: %s", catalog->path,
                    cells[0].text);
}

/* ---- opening ----------------------------------------------------------------- */

/* DuckDB would play a log lying beside the file into it: then what is read is not what was hashed. */
static fdl_code refuse_log(const fdl_live *catalog, fdl_error *error) {
    char *log = NULL;
    fdl_code code = fdl_str_format(&log, error, "%s.wal", catalog->path);
    if (code == FDL_OK && fdl_file_exists(log))
        code = fdl_fail(error, FDL_REFUSED, log, "'%s' must not lie beside a published catalog; remove it", log);
    free(log);
    return code;
}

static fdl_code attach(fdl_duck *duck, const fdl_live *catalog, fdl_error *error) {
    char *alias = NULL;
    uint64_t size_bytes = 0;
    fdl_code code = fdl_file_size(catalog->path, &size_bytes, error); /* tells a missing file from a broken one */
    if (code == FDL_OK)
        code = refuse_log(catalog, error);
    if (code == FDL_OK)
        code = fdl_str_format(&alias, error, "file_%s", catalog->name);
    if (code == FDL_OK)
        code = fdl_duck_name_file(catalog->path, fdl_duck_attach(duck, catalog->path, alias, error), FDL_REFUSED, error);
    free(alias);
    return code;
}

static fdl_code lay_views(fdl_duck *duck, const fdl_live *catalog, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < sizeof live_views / sizeof *live_views && code == FDL_OK; i++)
        code = run(duck, catalog, live_views[i], error);
    return code;
}

static fdl_code prepare(fdl_duck *duck, fdl_live *catalog, fdl_error *error) {
    /* The format before the rest: an older one lacks tables, and that is not what is to be said of it. */
    fdl_code code = fdl_live_query(duck, catalog, TABLES_CHECK("'metadata'"), refuse_table, catalog, error);
    if (code == FDL_OK)
        code = check_format(duck, catalog, error);
    if (code == FDL_OK)
        code = fdl_live_query(duck, catalog, TABLES_CHECK(TABLES_READ), refuse_table, catalog, error);
    if (code == FDL_OK)
        code = fdl_live_query(duck, catalog, "SELECT max(snapshot_id)::BIGINT FROM file_@.main.ducklake_snapshot",
                              take_snapshot, catalog, error);
    if (code == FDL_OK)
        code = fdl_duck_name_file(catalog->path, lay_views(duck, catalog, error), FDL_REFUSED, error);
    if (code == FDL_OK)
        code = fdl_live_query(duck, catalog, contradictions_query, refuse_contradiction, catalog, error);
    return code;
}

fdl_code fdl_live_add(fdl_duck *duck, fdl_live *catalogs, size_t count, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < count && code == FDL_OK; i++)
        code = attach(duck, &catalogs[i], error);
    if (code == FDL_OK)
        code = fdl_duck_lock(duck, error);
    for (size_t i = 0; i < count && code == FDL_OK; i++)
        code = prepare(duck, &catalogs[i], error);
    return code;
}

fdl_code fdl_live_open(const fdl_context *context, fdl_live *catalogs, size_t count, fdl_duck **out, fdl_error *error) {
    fdl_duck *duck = NULL;
    fdl_code code = fdl_duck_open(context, &duck, error);
    if (code == FDL_OK)
        code = fdl_live_add(duck, catalogs, count, error);
    if (code != FDL_OK) {
        fdl_duck_free(duck);
        return code;
    }
    *out = duck;
    return FDL_OK;
}

/* ---- inlined rows -------------------------------------------------------------- */

typedef struct inlined {
    const fdl_live *catalog;
    fdl_buf sql; /* one SELECT for each table that may hold rows */
} inlined;

/* The names are the file's own words, so they come quoted and the SQL is not expanded again. */
static fdl_code add_inlined(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    inlined *found = data;
    const char *name = NULL;
    (void)count;
    fdl_code code = fdl_live_text(found->catalog, &cells[0], "a table's name", FDL_LIVE_NAME_LIMIT_BYTES, &name, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&found->sql, found->sql.length > 0 ? " UNION ALL SELECT " : "SELECT ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&found->sql, name, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(&found->sql, error, " WHERE EXISTS (FROM file_%s.main.", found->catalog->name);
    if (code == FDL_OK)
        code = fdl_sql_name(&found->sql, name, error);
    return code == FDL_OK ? fdl_buf_add_str(&found->sql, ")", error) : code;
}

static fdl_code refuse_inlined(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    const inlined *found = data;
    (void)count;
    return fdl_fail(error, FDL_REFUSED, found->catalog->path,
                    "the catalog '%s' holds inlined rows in its table '%s'; run ducklake_flush_inlined_data on it",
                    found->catalog->path, cells[0].text);
}

fdl_code fdl_live_check_inlined(fdl_duck *duck, const fdl_live *catalog, fdl_error *error) {
    inlined found = {.catalog = catalog};
    fdl_buf_init(&found.sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_live_query(
        duck, catalog,
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'file_@' AND schema_name = 'main' AND"
        " (starts_with(table_name, 'ducklake_inlined_') OR table_name IN"
        "  (SELECT table_name::VARCHAR FROM file_@.main.ducklake_inlined_data_tables))"
        " AND table_name <> 'ducklake_inlined_data_tables'",
        add_inlined, &found, error);
    if (code == FDL_OK && found.sql.length > 0)
        code = fdl_duck_name_file(catalog->path, fdl_duck_query(duck, found.sql.data, refuse_inlined, &found, error),
                                  FDL_FAILED, error);
    fdl_buf_clear(&found.sql);
    return code;
}
