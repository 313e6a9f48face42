/*
 * test_frozen.c - what a published catalog says: its files and its tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lake.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/text.h"

#define CATALOG "c.duckdb"

static void run(const char *sql) {
    lake_run(lake_folder, CATALOG, sql);
}

static json_t *describe(const char *name) {
    fdl_frozen *frozen = NULL;
    json_t *tables = NULL;
    fdl_error error;
    must(fdl_frozen_open(NULL, lake_path(lake_folder, name), &frozen, &error), &error);
    must(fdl_frozen_describe(frozen, &tables, &error), &error);
    fdl_frozen_free(frozen);
    return tables;
}

static json_t *named(json_t *items, const char *name) {
    for (size_t i = 0; i < json_array_size(items); i++) {
        json_t *item = json_array_get(items, i);
        if (strcmp(json_string_value(json_object_get(item, "name")), name) == 0)
            return item;
    }
    fail_msg("nothing is called '%s'", name);
    return NULL;
}

static int64_t number(json_t *object, const char *field) {
    assert_true(json_is_integer(json_object_get(object, field)));
    return json_integer_value(json_object_get(object, field));
}

static const char *text(json_t *object, const char *field) {
    return json_string_value(json_object_get(object, field));
}

/* ---- files -------------------------------------------------------------------- */

typedef struct seen {
    size_t data_files;
    size_t delete_files;
    int64_t rows;
    int64_t deleted;
    int64_t bytes;
    char last[1024];
} seen;

/* Each path after the one before it, and a file of that size on disk. */
static fdl_code see_file(void *data, const fdl_data_file *file, fdl_error *error) {
    seen *s = data;
    uint64_t size = 0;
    char *path = NULL;
    assert_true(strcmp(s->last, file->path) < 0);
    assert_true(fdl_str_fit(s->last, sizeof s->last, file->path));
    must(fdl_str_format(&path, error, "%s/data/%s", lake_folder, file->path), error);
    must(fdl_file_size(path, &size, error), error);
    free(path);
    assert_int_equal(size, file->size_bytes);
    *(file->is_delete ? &s->delete_files : &s->data_files) += 1;
    *(file->is_delete ? &s->deleted : &s->rows) += file->rows;
    s->bytes += file->size_bytes;
    return FDL_OK;
}

static fdl_code list_files(const char *name, seen *s, fdl_error *error) {
    fdl_frozen *frozen = NULL;
    *s = (seen){0};
    fdl_code code = fdl_frozen_open(NULL, lake_path(lake_folder, name), &frozen, error);
    if (code == FDL_OK)
        code = fdl_frozen_files(frozen, see_file, s, error);
    fdl_frozen_free(frozen);
    return code;
}

static void every_file_is_listed_once_with_its_size_on_disk(void **state) {
    seen s;
    fdl_error error;
    (void)state;
    run("CREATE SCHEMA s; CREATE TABLE s.\"odd / name\" (a INTEGER);"
        "INSERT INTO s.\"odd / name\" SELECT range FROM range(10);"
        "CREATE TABLE t (a INTEGER, b VARCHAR); INSERT INTO t SELECT range, 'x' FROM range(100);"
        "INSERT INTO t SELECT range, 'y' FROM range(100, 200); DELETE FROM t WHERE a % 50 = 0;"
        "CALL lake.set_option('write_deletion_vectors', true); DELETE FROM s.\"odd / name\" WHERE a = 3;"
        "ALTER TABLE t RENAME TO renamed; INSERT INTO renamed VALUES (1000, 'z');"
        "ALTER TABLE renamed SET PARTITIONED BY (b); INSERT INTO renamed VALUES (1001, 'a b%');");
    must(list_files(CATALOG, &s, &error), &error);
    assert_int_equal(s.data_files, 5);
    assert_int_equal(s.delete_files, 3);
    assert_int_equal(s.rows, 212);
    assert_int_equal(s.deleted, 5);
}

static void files_of_older_snapshots_are_listed_and_not_described(void **state) {
    seen s;
    fdl_error error;
    (void)state;
    run("CREATE TABLE t (a INTEGER); INSERT INTO t SELECT range FROM range(10);"
        "INSERT INTO t SELECT range FROM range(20); TRUNCATE t; INSERT INTO t VALUES (1);"
        "CREATE TABLE gone (a INTEGER); INSERT INTO gone VALUES (1); DROP TABLE gone;");
    must(list_files(CATALOG, &s, &error), &error);
    assert_int_equal(s.data_files, 4);
    json_t *tables = describe(CATALOG);
    assert_int_equal(json_array_size(tables), 1);
    assert_int_equal(number(named(tables, "t"), "files"), 1);
    assert_int_equal(number(named(tables, "t"), "rows"), 1);
    json_decref(tables);
}

static fdl_code refuse_all(void *data, const fdl_data_file *file, fdl_error *error) {
    (void)file;
    *(int *)data += 1;
    return fdl_fail(error, FDL_BUSY, NULL, "enough");
}

static void a_callback_can_end_the_list(void **state) {
    fdl_frozen *frozen = NULL;
    fdl_error error;
    int calls = 0;
    (void)state;
    run("CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)");
    must(fdl_frozen_open(NULL, lake_path(lake_folder, CATALOG), &frozen, &error), &error);
    must_fail(fdl_frozen_files(frozen, refuse_all, &calls, &error), FDL_BUSY, &error, "enough", NULL);
    assert_int_equal(calls, 1);
    fdl_frozen_free(frozen);
}

/* ---- what tables hold -------------------------------------------------------- */

static void rows_are_what_duckdb_counts(void **state) {
    (void)state;
    run("CREATE TABLE deletes (a INTEGER, b VARCHAR); INSERT INTO deletes SELECT range, 'x' FROM range(1000);"
        "INSERT INTO deletes SELECT range, 'x' FROM range(1000, 2000); DELETE FROM deletes WHERE a < 10;"
        "DELETE FROM deletes WHERE a BETWEEN 5 AND 20; UPDATE deletes SET b = 'u' WHERE a % 100 = 3;"
        "UPDATE deletes SET b = 'v' WHERE a % 100 = 3;"
        "CREATE TABLE merged (a INTEGER); INSERT INTO merged VALUES (1); INSERT INTO merged VALUES (2);"
        "INSERT INTO merged VALUES (3); INSERT INTO merged SELECT range FROM range(100);"
        "DELETE FROM merged WHERE a = 2; CALL ducklake_merge_adjacent_files('lake'); DELETE FROM merged WHERE a = 3;"
        "CALL lake.set_option('write_deletion_vectors', true);"
        "CREATE TABLE vectors (a INTEGER, b VARCHAR); INSERT INTO vectors SELECT range, 'x' FROM range(1000);"
        "INSERT INTO vectors SELECT range, 'x' FROM range(1000, 2000); DELETE FROM vectors WHERE a % 100 = 7;"
        "DELETE FROM vectors WHERE a % 100 = 9; UPDATE vectors SET b = 'u' WHERE a % 100 = 3;"
        "CREATE TABLE rewritten (a INTEGER); INSERT INTO rewritten SELECT range FROM range(100);"
        "DELETE FROM rewritten WHERE a < 97; CALL ducklake_rewrite_data_files('lake');"
        "CREATE TABLE emptied (a INTEGER); INSERT INTO emptied VALUES (1); DELETE FROM emptied;"
        "CREATE TABLE never_filled (a INTEGER);"
        "MERGE INTO deletes USING (SELECT 30 AS a) s ON s.a = deletes.a WHEN MATCHED THEN DELETE;");
    const char *const names[] = {"deletes", "merged", "vectors", "rewritten", "emptied", "never_filled"};
    json_t *tables = describe(CATALOG);
    assert_int_equal(json_array_size(tables), sizeof names / sizeof *names);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", names[i]);
        assert_int_equal(number(named(tables, names[i]), "rows"), lake_count(lake_folder, CATALOG, sql));
    }
    assert_int_equal(number(named(tables, "never_filled"), "files"), 0);
    assert_int_equal(number(named(tables, "never_filled"), "bytes"), 0);
    json_decref(tables);
}

static void bytes_are_those_of_data_and_delete_files(void **state) {
    seen s;
    fdl_error error;
    (void)state;
    run("CREATE TABLE t (a INTEGER); INSERT INTO t SELECT range FROM range(10); DELETE FROM t WHERE a = 1;"
        "INSERT INTO t VALUES (5);");
    must(list_files(CATALOG, &s, &error), &error);
    json_t *tables = describe(CATALOG);
    assert_int_equal(number(named(tables, "t"), "bytes"), s.bytes);
    assert_int_equal(number(named(tables, "t"), "files"), 2);
    json_decref(tables);
}

/* A file registered twice is read twice by DuckDB, and is one file all the same. */
static void a_file_registered_twice_counts_its_rows_twice_and_its_bytes_once(void **state) {
    seen s;
    fdl_error error;
    char sql[2048];
    (void)state;
    snprintf(
        sql, sizeof sql,
        "CREATE TABLE t (a INTEGER); COPY (SELECT range::INTEGER AS a FROM range(7)) TO '%s/data/main/t/x.parquet';"
        "CALL ducklake_add_data_files('lake', 't', '%s/data/main/t/x.parquet');"
        "CALL ducklake_add_data_files('lake', 't', '%s/data/main/t/x.parquet')",
        lake_folder, lake_folder, lake_folder);
    must(fdl_folder_make(lake_path(lake_folder, "data/main/t"), &error), &error);
    run(sql);
    must(list_files(CATALOG, &s, &error), &error);
    assert_int_equal(s.data_files, 1);
    json_t *tables = describe(CATALOG);
    assert_int_equal(number(named(tables, "t"), "rows"), lake_count(lake_folder, CATALOG, "SELECT count(*) FROM t"));
    assert_int_equal(number(named(tables, "t"), "rows"), 14);
    assert_int_equal(number(named(tables, "t"), "bytes"), s.bytes);
    assert_int_equal(number(named(tables, "t"), "files"), 1);
    json_decref(tables);
}

/* ---- types ---------------------------------------------------------------------- */

static const char *const types[] = {
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
    "FLOAT",
    "DOUBLE",
    "VARCHAR",
    "BLOB",
    "DATE",
    "TIME",
    "TIME_NS",
    "TIMETZ",
    "TIMESTAMP",
    "TIMESTAMPTZ",
    "TIMESTAMP_S",
    "TIMESTAMP_MS",
    "TIMESTAMP_NS",
    "INTERVAL",
    "UUID",
    "JSON",
    "GEOMETRY",
    "VARIANT",
    "DECIMAL",
    "DECIMAL(38,10)",
    "DECIMAL(1,0)",
    "INTEGER[]",
    "JSON[][]",
    "DECIMAL(9,2)[]",
    "MAP(VARCHAR, INTEGER)",
    "MAP(VARCHAR, STRUCT(a INTEGER[]))",
    "STRUCT(a MAP(INTEGER, TIMESTAMPTZ))[]",
    "STRUCT(a INTEGER, \"b c\" VARCHAR)",
    "STRUCT(\"A\" INTEGER, \"select\" VARCHAR[], \"q\"\"x\" STRUCT(\"1\" DECIMAL(3,1), _b JSON))",
    "STRUCT(\"year\" INTEGER, \"é\" INTEGER, \"Z_9\" INTEGER, \"a$\" INTEGER, \"list\" INTEGER, \"it's\" INTEGER)",
};

typedef struct type_check {
    json_t *tables;
    size_t compared;
} type_check;

static fdl_code compare_type(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    type_check *check = data;
    (void)count;
    (void)error;
    json_t *column =
        json_array_get(json_object_get(named(check->tables, cells[0].text), "columns"), (size_t)cells[1].integer);
    assert_string_equal(text(column, "name"), cells[2].text);
    assert_string_equal(text(column, "type"), cells[3].text);
    assert_int_equal(json_is_true(json_object_get(column, "nullable")), cells[4].integer);
    check->compared++;
    return FDL_OK;
}

/* Compares every column with what DuckDB's reader of the lake says of it. */
static size_t compare_with_duckdb(json_t *tables) {
    type_check check = {.tables = tables};
    fdl_error error;
    fdl_duck *duck = lake_open(lake_folder, CATALOG);
    must(fdl_duck_query(duck,
                        "SELECT table_name, column_index::BIGINT - 1, column_name, data_type, is_nullable"
                        " FROM duckdb_columns() WHERE database_name = 'lake' AND table_name NOT IN"
                        " (SELECT view_name FROM duckdb_views() WHERE database_name = 'lake')",
                        compare_type, &check, &error),
         &error);
    lake_close();
    return check.compared;
}

static void types_are_spelled_as_duckdb_spells_them(void **state) {
    fdl_buf sql;
    fdl_error error;
    (void)state;
    fdl_buf_init(&sql, 1u << 20);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        must(fdl_buf_add_format(&sql, &error, "CREATE TABLE t%zu (c %s);", i, types[i]), &error);
    run(sql.data);
    fdl_buf_clear(&sql);
    json_t *tables = describe(CATALOG);
    assert_int_equal(compare_with_duckdb(tables), sizeof types / sizeof *types);
    json_decref(tables);
}

static fdl_code create_table_of_keywords(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    (void)count;
    return fdl_str_format(data, error, "CREATE TABLE t (c STRUCT(%s))", cells[0].text);
}

/* Every word DuckDB has, as the name of a field. */
static void field_names_are_quoted_where_duckdb_quotes_them(void **state) {
    fdl_error error;
    char *sql = NULL;
    (void)state;
    fdl_duck *duck = lake_open(lake_folder, CATALOG);
    must(fdl_duck_query(duck, "SELECT string_agg('\"' || keyword_name || '\" INTEGER', ', ') FROM duckdb_keywords()",
                        create_table_of_keywords, &sql, &error),
         &error);
    must(fdl_duck_exec(duck, &error, "%s", sql), &error);
    lake_close();
    free(sql);
    json_t *tables = describe(CATALOG);
    assert_int_equal(compare_with_duckdb(tables), 1);
    json_decref(tables);
}

static void columns_come_in_order_after_any_change_of_the_table(void **state) {
    (void)state;
    run("CREATE TABLE t (a INTEGER NOT NULL, b VARCHAR, s STRUCT(x INTEGER, y INTEGER[]));"
        "ALTER TABLE t ADD COLUMN n INTEGER DEFAULT 7; ALTER TABLE t DROP COLUMN b; ALTER TABLE t ADD COLUMN b DATE;"
        "ALTER TABLE t RENAME COLUMN a TO first; ALTER TABLE t ADD COLUMN s.z VARCHAR; ALTER TABLE t DROP COLUMN s.x;"
        "ALTER TABLE t ALTER n TYPE BIGINT; ALTER TABLE t RENAME TO t2; ALTER TABLE t2 ALTER first DROP NOT NULL;"
        "CREATE TABLE wide (\"we'ird \"\" n;ame\" INTEGER NOT NULL, \"日本\" STRUCT(\"ü\" INTEGER));");
    json_t *tables = describe(CATALOG);
    assert_int_equal(compare_with_duckdb(tables), 6);
    json_decref(tables);
}

/* ---- words --------------------------------------------------------------------- */

static void comments_are_the_live_ones(void **state) {
    (void)state;
    run("CREATE TABLE t (a INTEGER, b INTEGER, c INTEGER); COMMENT ON TABLE t IS 'old'; COMMENT ON TABLE t IS 'new';"
        "COMMENT ON COLUMN t.a IS 'of a'; COMMENT ON COLUMN t.b IS 'of b'; COMMENT ON COLUMN t.b IS NULL;"
        "CREATE TABLE u (a INTEGER); COMMENT ON TABLE u IS 'x'; COMMENT ON TABLE u IS NULL;"
        "CREATE VIEW v AS SELECT a FROM t; COMMENT ON VIEW v IS 'a view; \"quoted\"';");
    json_t *tables = describe(CATALOG);
    json_t *columns = json_object_get(named(tables, "t"), "columns");
    assert_string_equal(text(named(tables, "t"), "comment"), "new");
    assert_string_equal(text(named(columns, "a"), "comment"), "of a");
    assert_null(json_object_get(named(columns, "b"), "comment"));
    assert_null(json_object_get(named(columns, "c"), "comment"));
    assert_null(json_object_get(named(tables, "u"), "comment"));
    assert_string_equal(text(named(tables, "v"), "comment"), "a view; \"quoted\"");
    json_decref(tables);
}

static void views_have_their_kind_and_the_columns_they_name(void **state) {
    (void)state;
    run("CREATE TABLE t (a INTEGER); CREATE VIEW plain AS SELECT a FROM t;"
        "CREATE VIEW named(\"p\", \"q\"\",r\", \"\"\"\") AS SELECT 1, 2, 3; DROP TABLE t;");
    json_t *tables = describe(CATALOG);
    assert_int_equal(json_array_size(tables), 2);
    assert_string_equal(text(named(tables, "plain"), "kind"), "view");
    assert_null(json_object_get(named(tables, "plain"), "rows"));
    assert_int_equal(json_array_size(json_object_get(named(tables, "plain"), "columns")), 0);
    json_t *columns = json_object_get(named(tables, "named"), "columns");
    assert_int_equal(json_array_size(columns), 3);
    assert_string_equal(text(json_array_get(columns, 0), "name"), "p");
    assert_string_equal(text(json_array_get(columns, 1), "name"), "q\",r");
    assert_string_equal(text(json_array_get(columns, 2), "name"), "\"");
    assert_null(json_object_get(json_array_get(columns, 0), "type"));
    json_decref(tables);
}

static void tables_are_sorted_by_schema_and_name(void **state) {
    (void)state;
    run("CREATE SCHEMA \"Z\"; CREATE SCHEMA a; CREATE TABLE b (x INTEGER); CREATE VIEW c AS SELECT 1 AS x;"
        "CREATE TABLE \"Z\".t (x INTEGER); CREATE TABLE a.t (x INTEGER); CREATE TABLE a (x INTEGER);"
        "CREATE TABLE \"日本\" (x INTEGER); INSERT INTO a.t VALUES (1), (2);");
    const char *const expected[][2] = {{"Z", "t"},    {"a", "t"},    {"main", "a"},
                                       {"main", "b"}, {"main", "c"}, {"main", "日本"}};
    json_t *tables = describe(CATALOG);
    assert_int_equal(json_array_size(tables), 6);
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(text(json_array_get(tables, i), "schema"), expected[i][0]);
        assert_string_equal(text(json_array_get(tables, i), "name"), expected[i][1]);
    }
    assert_int_equal(number(json_array_get(tables, 1), "rows"), 2);
    assert_int_equal(json_array_size(json_object_get(json_array_get(tables, 0), "columns")), 1);
    json_decref(tables);
}

static void a_lake_without_tables_has_an_empty_list(void **state) {
    seen s;
    fdl_error error;
    (void)state;
    run("SELECT 1");
    json_t *tables = describe(CATALOG);
    assert_int_equal(json_array_size(tables), 0);
    json_decref(tables);
    must(list_files(CATALOG, &s, &error), &error);
    assert_int_equal(s.data_files + s.delete_files, 0);
}

/* ---- strangers' catalogs -------------------------------------------------------- */

#define LAKE                                                                                                           \
    "CREATE TABLE t (a INTEGER, s STRUCT(x INTEGER)); INSERT INTO t VALUES (1, NULL), (2, NULL);"                      \
    "DELETE FROM t WHERE a = 1; INSERT INTO t VALUES (3, NULL), (4, NULL)"

static fdl_code ignore_file(void *data, const fdl_data_file *file, fdl_error *error) {
    (void)data;
    (void)file;
    (void)error;
    return FDL_OK;
}

/* Opens, lists and describes a lake spoilt by `sql`: the first failure counts. */
static fdl_code read_spoilt(const char *sql, fdl_error *error) {
    fdl_frozen *frozen = NULL;
    json_t *tables = NULL;
    lake_copy(lake_folder, CATALOG, "spoilt.duckdb");
    lake_spoil(lake_folder, "spoilt.duckdb", sql);
    fdl_code code = fdl_frozen_open(NULL, lake_path(lake_folder, "spoilt.duckdb"), &frozen, error);
    if (code == FDL_OK)
        code = fdl_frozen_files(frozen, ignore_file, NULL, error);
    if (code == FDL_OK)
        code = fdl_frozen_describe(frozen, &tables, error);
    json_decref(tables);
    fdl_frozen_free(frozen);
    return code;
}

static void what_is_no_catalog_is_refused(void **state) {
    fdl_frozen *frozen = NULL;
    fdl_error error;
    (void)state;
    must_fail(fdl_frozen_open(NULL, lake_path(lake_folder, "missing.duckdb"), &frozen, &error), FDL_NOT_FOUND, &error,
              "missing.duckdb", NULL);
    must(fdl_file_write(lake_path(lake_folder, "text"), "hello, hello, hello", 19, &error), &error);
    must_fail(fdl_frozen_open(NULL, lake_path(lake_folder, "text"), &frozen, &error), FDL_REFUSED, &error, "/text'", NULL);
    must(fdl_file_write(lake_path(lake_folder, "empty"), "", 0, &error), &error);
    must_fail(fdl_frozen_open(NULL, lake_path(lake_folder, "empty"), &frozen, &error), FDL_REFUSED, &error, "/empty'", NULL);
    lake_spoil(lake_folder, "other.duckdb", "CREATE TABLE file.t (a INTEGER)");
    must_fail(fdl_frozen_open(NULL, lake_path(lake_folder, "other.duckdb"), &frozen, &error), FDL_REFUSED, &error,
              "other.duckdb", "ducklake_metadata", NULL);
    assert_null(frozen);
}

static void a_log_beside_the_catalog_is_refused(void **state) {
    fdl_frozen *frozen = NULL;
    fdl_error error;
    (void)state;
    run(LAKE);
    must(fdl_file_write(lake_path(lake_folder, CATALOG ".wal"), "x", 1, &error), &error);
    must_fail(fdl_frozen_open(NULL, lake_path(lake_folder, CATALOG), &frozen, &error), FDL_REFUSED, &error, CATALOG ".wal'",
              NULL);
}

static void other_formats_are_refused_by_name(void **state) {
    fdl_error error;
    (void)state;
    run(LAKE);
    must(read_spoilt("UPDATE file.ducklake_metadata SET value = '0.4' WHERE key = 'version'", &error), &error);
    must_fail(read_spoilt("UPDATE file.ducklake_metadata SET value = '0.3' WHERE key = 'version';"
                          "DROP TABLE file.ducklake_macro",
                          &error),
              FDL_REFUSED, &error, "'0.3'", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_metadata SET value = '1.1-dev1' WHERE key = 'version'", &error),
              FDL_REFUSED, &error, "'1.1-dev1'", NULL);
    must_fail(read_spoilt("DELETE FROM file.ducklake_metadata WHERE key = 'version'", &error), FDL_REFUSED, &error,
              "format", NULL);
    must_fail(read_spoilt("INSERT INTO file.ducklake_metadata VALUES ('version', '1.0', NULL, NULL)", &error),
              FDL_REFUSED, &error, "more than one", NULL);
    must_fail(read_spoilt("DELETE FROM file.ducklake_snapshot", &error), FDL_REFUSED, &error, "no snapshot", NULL);
}

static void a_view_in_the_place_of_a_table_is_not_read(void **state) {
    fdl_error error;
    (void)state;
    run(LAKE);
    must_fail(read_spoilt("ALTER TABLE file.ducklake_view RENAME TO hidden;"
                          "CREATE VIEW file.ducklake_view AS SELECT * FROM file.hidden",
                          &error),
              FDL_REFUSED, &error, "ducklake_view", NULL);
    must_fail(read_spoilt("DROP TABLE file.ducklake_view;"
                          "CREATE MACRO file.ducklake_view() AS TABLE SELECT * FROM read_text('/etc/passwd')",
                          &error),
              FDL_REFUSED, &error, "ducklake_view", NULL);
    must_fail(read_spoilt("ALTER TABLE file.ducklake_metadata RENAME TO hidden;"
                          "CREATE VIEW file.ducklake_metadata AS SELECT * FROM file.hidden",
                          &error),
              FDL_REFUSED, &error, "ducklake_metadata", NULL);
    must_fail(read_spoilt("ALTER TABLE file.ducklake_data_file DROP COLUMN path", &error), FDL_REFUSED, &error,
              "spoilt.duckdb", NULL);
}

static void macros_of_the_catalog_change_nothing(void **state) {
    fdl_error error;
    (void)state;
    run(LAKE);
    must(read_spoilt(
             "CREATE MACRO file.count(x) AS 1000; CREATE MACRO file.sum(x) AS 1000;"
             "CREATE MACRO file.lower(x) AS 'select'; CREATE MACRO file.coalesce(x, y) AS error('called');"
             "CREATE MACRO file.duckdb_tables() AS TABLE SELECT 1; CREATE TABLE file.duckdb_keywords (a INTEGER);"
             "CREATE SCHEMA file.a; CREATE TABLE file.a.tables (a INTEGER)",
             &error),
         &error);
    json_t *tables = describe("spoilt.duckdb");
    assert_int_equal(number(named(tables, "t"), "rows"), 3);
    json_decref(tables);
}

static void paths_that_lead_elsewhere_are_refused_by_name(void **state) {
    const char *const paths[] = {"../../x.parquet", "a//b.parquet", "./x.parquet", "x/", "a\\x01b.parquet", "..", ""};
    char sql[512];
    fdl_error error;
    (void)state;
    run(LAKE);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        snprintf(sql, sizeof sql,
                 "UPDATE file.ducklake_data_file SET path = e'%s' WHERE data_file_id ="
                 " (SELECT max(data_file_id) FROM file.ducklake_data_file)",
                 paths[i]);
        must_fail(read_spoilt(sql, &error), FDL_REFUSED, &error, "'main/t/", "'main.t'", NULL);
    }
    must_fail(read_spoilt("UPDATE file.ducklake_schema SET path = '/main/'", &error), FDL_REFUSED, &error, "'/main/t/",
              NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_table SET path = '../t/'", &error), FDL_REFUSED, &error, "'main/../t/",
              NULL);
    must_fail(
        read_spoilt("UPDATE file.ducklake_delete_file SET path = '/etc/passwd', path_is_relative = false", &error),
        FDL_REFUSED, &error, "'/etc/passwd'", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_data_file SET path_is_relative = NULL", &error), FDL_REFUSED, &error,
              "relative", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_table SET path_is_relative = false", &error), FDL_REFUSED, &error,
              "relative", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_data_file SET path = NULL", &error), FDL_REFUSED, &error, "path", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_data_file SET table_id = 77", &error), FDL_REFUSED, &error, "data file",
              NULL);
}

static void one_path_has_one_size_and_one_kind(void **state) {
    fdl_error error;
    (void)state;
    run(LAKE);
    must_fail(
        read_spoilt("UPDATE file.ducklake_data_file SET path = 'x.parquet', file_size_bytes = data_file_id", &error),
        FDL_REFUSED, &error, "'main/t/x.parquet'", "two sizes", NULL);
    must_fail(
        read_spoilt("UPDATE file.ducklake_data_file SET path = 'x'; UPDATE file.ducklake_delete_file SET path = 'x'",
                    &error),
        FDL_REFUSED, &error, "'main/t/x'", "delete file", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_data_file SET file_size_bytes = -1", &error), FDL_REFUSED, &error,
              "size", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_data_file SET record_count = NULL", &error), FDL_REFUSED, &error,
              "rows", NULL);
}

static void columns_that_are_no_tree_are_refused(void **state) {
    fdl_error error;
    (void)state;
    run(LAKE);
    /* 2 is s, 3 is s.x: a ring, one that hangs in itself, a parent that is not there, a list with two elements. */
    must_fail(read_spoilt("UPDATE file.ducklake_column SET parent_column = 3 WHERE column_id = 2", &error), FDL_REFUSED,
              &error, "'main.t'", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_column SET parent_column = column_id WHERE column_id = 3", &error),
              FDL_REFUSED, &error, "'main.t'", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_column SET parent_column = 9 WHERE column_id = 3", &error), FDL_REFUSED,
              &error, "'main.t'", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_column SET parent_column = 1 WHERE column_id = 3", &error), FDL_REFUSED,
              &error, "'main.t'", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_column SET column_type = 'map' WHERE column_id = 2", &error),
              FDL_REFUSED, &error, "'main.t'", NULL);
    must_fail(read_spoilt("INSERT INTO file.ducklake_column BY NAME SELECT range + 4 AS column_id, 0 AS begin_snapshot,"
                          " table_id, range AS column_order, 'element' AS column_name, 'list' AS column_type,"
                          " true AS nulls_allowed, range + 3 AS parent_column FROM range(100000), file.ducklake_table;"
                          "UPDATE file.ducklake_column SET column_type = 'list' WHERE column_id = 3",
                          &error),
              FDL_REFUSED, &error, "'main.t'", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_column SET column_id = 1", &error), FDL_REFUSED, &error, "same id",
              NULL);
}

static void a_type_fdl_does_not_know_is_told_as_it_is(void **state) {
    fdl_error error;
    (void)state;
    run(LAKE);
    must(read_spoilt("UPDATE file.ducklake_column SET column_type = 'timestamptz_ns' WHERE column_id = 1", &error),
         &error);
    json_t *tables = describe("spoilt.duckdb");
    assert_string_equal(text(named(json_object_get(named(tables, "t"), "columns"), "a"), "type"), "TIMESTAMPTZ_NS");
    json_decref(tables);
}

static void contradictions_are_refused(void **state) {
    fdl_error error;
    (void)state;
    run(LAKE);
    must_fail(read_spoilt("UPDATE file.ducklake_data_file SET data_file_id = 100 + data_file_id;"
                          "UPDATE file.ducklake_delete_file SET delete_count = 5, data_file_id ="
                          " (SELECT max(data_file_id) FROM file.ducklake_data_file), end_snapshot = NULL",
                          &error),
              FDL_REFUSED, &error, "more rows", NULL);
    must_fail(read_spoilt("INSERT INTO file.ducklake_table SELECT * FROM file.ducklake_table", &error), FDL_REFUSED,
              &error, "same id", "tables", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_table SET schema_id = 99", &error), FDL_REFUSED, &error, "no schema",
              NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_table SET table_name = 'a' || chr(0) || 'b'", &error), FDL_REFUSED,
              &error, "NUL", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_table SET table_name = repeat('x', 70000)", &error), FDL_REFUSED,
              &error, "too long", NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_table SET table_name = NULL", &error), FDL_REFUSED, &error, "missing",
              NULL);
    must_fail(read_spoilt("UPDATE file.ducklake_data_file SET record_count = 9223372036854775807;"
                          "INSERT INTO file.ducklake_data_file SELECT * REPLACE (50 AS data_file_id) FROM"
                          " file.ducklake_data_file LIMIT 1",
                          &error),
              FDL_FAILED, &error, "spoilt.duckdb", NULL);
}

static void rows_inlined_in_the_catalog_are_refused(void **state) {
    fdl_error error;
    (void)state;
    run(LAKE);
    must(read_spoilt("CREATE TABLE file.ducklake_inlined_data_1_1 (a INTEGER);"
                     "INSERT INTO file.ducklake_inlined_data_tables VALUES (1, 'ducklake_inlined_data_1_1', 1)",
                     &error),
         &error);
    must_fail(read_spoilt("CREATE TABLE file.ducklake_inlined_data_1_1 AS SELECT 1 AS a", &error), FDL_REFUSED, &error,
              "ducklake_inlined_data_1_1", "flush", NULL);
    must_fail(read_spoilt("CREATE TABLE file.\"x'\"\"; @#\" AS SELECT 1 AS a;"
                          "INSERT INTO file.ducklake_inlined_data_tables VALUES (1, 'x''\"; @#', 1)",
                          &error),
              FDL_REFUSED, &error, "x'\"; @#", NULL);
}

static void a_table_of_more_rows_than_any_honest_one_is_refused(void **state) {
    fdl_error error;
    (void)state;
    run(LAKE);
    must_fail(
        read_spoilt("INSERT INTO file.ducklake_tag SELECT 1, 1, NULL, 'comment', 'x' FROM range(20000001)", &error),
        FDL_REFUSED, &error, "too many rows", "ducklake_tag", NULL);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, lake_setup, lake_teardown)
    const struct CMUnitTest tests[] = {
        T(every_file_is_listed_once_with_its_size_on_disk),
        T(files_of_older_snapshots_are_listed_and_not_described),
        T(a_callback_can_end_the_list),
        T(rows_are_what_duckdb_counts),
        T(bytes_are_those_of_data_and_delete_files),
        T(a_file_registered_twice_counts_its_rows_twice_and_its_bytes_once),
        T(types_are_spelled_as_duckdb_spells_them),
        T(field_names_are_quoted_where_duckdb_quotes_them),
        T(columns_come_in_order_after_any_change_of_the_table),
        T(comments_are_the_live_ones),
        T(views_have_their_kind_and_the_columns_they_name),
        T(tables_are_sorted_by_schema_and_name),
        T(a_lake_without_tables_has_an_empty_list),
        T(what_is_no_catalog_is_refused),
        T(a_log_beside_the_catalog_is_refused),
        T(other_formats_are_refused_by_name),
        T(a_view_in_the_place_of_a_table_is_not_read),
        T(macros_of_the_catalog_change_nothing),
        T(paths_that_lead_elsewhere_are_refused_by_name),
        T(one_path_has_one_size_and_one_kind),
        T(columns_that_are_no_tree_are_refused),
        T(a_type_fdl_does_not_know_is_told_as_it_is),
        T(contradictions_are_refused),
        T(rows_inlined_in_the_catalog_are_refused),
        T(a_table_of_more_rows_than_any_honest_one_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
