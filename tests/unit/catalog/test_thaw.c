/*
 * test_thaw.c - published catalogs become working ones, and strangers' tricks
 * are refused without a trace.
 */
#include <dirent.h>
#include <sqlite3.h>

#include "catalog/ducklake_schema.h"
#include "util/file.h"
#include "work.h"

static const char *const content =
    "CREATE SCHEMA s; CREATE TABLE t(a INT, b VARCHAR DEFAULT 'x', c STRUCT(p INT, q VARCHAR), d TIMESTAMPTZ); "
    "INSERT INTO t SELECT n, 'v' || n, {'p': n, 'q': 'ü'}, TIMESTAMPTZ '2020-01-01 00:00:00+00' FROM range(100) r(n); "
    "DELETE FROM t WHERE a % 10 = 0; CREATE TABLE s.u AS SELECT 1 AS x; CREATE VIEW v AS SELECT count(*) AS n FROM t; "
    "CREATE MACRO m(x, y := 2) AS x + y; COMMENT ON TABLE t IS 'a table'; COMMENT ON COLUMN t.a IS 'a column'; "
    "CALL lake.set_option('parquet_compression', 'zstd', table_name => 't'); ALTER TABLE t SET PARTITIONED BY (b); "
    "ALTER TABLE s.u SET SORTED BY (x ASC)";

/* What of the working catalog must survive a round trip, besides what pruning takes. */
static int64_t rows_of_live_tables(bench *b) {
    return bench_ask(b, b->work,
                     "SELECT (SELECT sum(a) + count(b) + sum(c.p) FROM t)::BIGINT + "
                     "(SELECT sum(x) FROM s.u)::BIGINT + (SELECT n FROM v) + m(1)");
}

static int entries(const char *folder) {
    int count = 0;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    while (readdir(entries) != NULL)
        count++;
    closedir(entries);
    return count;
}

/* Thawing to x.sqlite fails so, and leaves nothing. */
static void not_thawed(bench *b, const char *frozen, fdl_code wanted, const char *text) {
    fdl_thaw_options options = {.data_path = b->data};
    int before = entries(b->folder);
    fdl_code code = fdl_catalog_thaw(&b->context, frozen, lake_path(b->folder, "x.sqlite"), &options, &b->error);
    must_fail(code, wanted, &b->error, text, NULL);
    assert_int_equal(entries(b->folder), before);
}

/* ---- the way and back ------------------------------------------------------------------ */

static void what_was_written_is_read_and_written_on(void **state) {
    bench *b = *state;
    bench_run(b, content);
    int64_t wanted = rows_of_live_tables(b);
    for (int round = 0; round < 3; round++) {
        bench_freeze(b);
        bench_thaw(b);
        assert_int_equal(rows_of_live_tables(b), wanted);
    }
    bench_run(b, "INSERT INTO t(a) VALUES (7); UPDATE t SET a = a + 1 WHERE a < 50; ALTER TABLE t ADD COLUMN e INT; "
                 "ALTER TABLE t RENAME COLUMN a TO aa; CALL ducklake_merge_adjacent_files('lake')");
    assert_int_equal(bench_ask(b, b->work, "SELECT count(*) FROM t WHERE e IS NULL"), 91);
    assert_int_equal(bench_ask(b, b->work, "SELECT count(*) FROM t WHERE b = 'x'"), 1);
}

/* Rows of the thawed catalog that are not in the one it came from, cell by cell, over all tables. */
static void every_cell_comes_back_as_it_was(void **state) {
    bench *b = *state;
    sqlite3 *db = NULL;
    bench_run(b, content);
    must(fdl_file_copy(b->work, lake_path(b->folder, "first.sqlite"), &b->error), &b->error);
    bench_freeze(b);
    bench_thaw(b);
    assert_int_equal(sqlite3_open(b->work, &db), SQLITE_OK);
    char *attach = sqlite3_mprintf("ATTACH %Q AS first", lake_path(b->folder, "first.sqlite"));
    assert_int_equal(sqlite3_exec(db, attach, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_free(attach);
    int64_t rows = 0;
    for (size_t i = 0; i < FDL_LAKE_TABLE_COUNT; i++) {
        const char *name = fdl_lake_tables[i].name;
        sqlite3_stmt *statement = NULL;
        char *sql =
            sqlite3_mprintf("SELECT (SELECT count(*) FROM (SELECT * FROM main.%s EXCEPT SELECT * FROM first.%s)), "
                            "(SELECT count(*) FROM main.%s)",
                            name, name, name);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
        if (sqlite3_column_int64(statement, 0) != 0)
            fail_msg("rows of '%s' differ", name);
        rows += sqlite3_column_int64(statement, 1);
        sqlite3_finalize(statement);
        sqlite3_free(sql);
    }
    assert_true(rows > 40);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void instants_uuids_and_booleans_have_sqlites_form(void **state) {
    bench *b = *state;
    bench_run(b, content);
    const char *time_sql = "SELECT snapshot_time FROM ducklake_snapshot ORDER BY snapshot_id DESC LIMIT 1";
    const char *uuid_sql = "SELECT table_uuid FROM ducklake_table ORDER BY table_id LIMIT 1";
    char time[64];
    char uuid[64];
    snprintf(time, sizeof time, "%s", sqlite_text(b->work, time_sql));
    snprintf(uuid, sizeof uuid, "%s", sqlite_text(b->work, uuid_sql));
    bench_freeze(b);
    bench_thaw(b);
    assert_string_equal(sqlite_text(b->work, time_sql), time);
    assert_string_equal(sqlite_text(b->work, uuid_sql), uuid);
    assert_string_equal(sqlite_text(b->work, "SELECT typeof(path_is_relative) || path_is_relative || typeof(path) || "
                                             "typeof(encryption_key) || typeof(record_count) FROM ducklake_data_file"),
                        "integer1textnullinteger");
}

static void format_data_path_and_protection_are_ours(void **state) {
    bench *b = *state;
    fdl_thaw_options options = {.data_path = "somewhere/else/"};
    bench_run(b, content);
    b->options.data_path = "https://example.org/lake/data/";
    bench_freeze(b);
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM ducklake_metadata WHERE key = 'data_path' AND "
                                           "value = 'https://example.org/lake/data/'"),
                     1);
    lake_spoil(b->folder, "f.duckdb",
               "UPDATE file.ducklake_metadata SET value = '0.4' WHERE key = 'version'; "
               "INSERT INTO file.ducklake_metadata VALUES ('expire_older_than', '1 day', NULL, NULL)");
    must(fdl_file_remove(b->work, &b->error), &b->error);
    must(fdl_catalog_thaw(NULL, b->frozen, b->work, &options, &b->error), &b->error);
    assert_string_equal(
        sqlite_text(b->work, "SELECT group_concat(key || '=' || value) FROM (SELECT * FROM "
                             "ducklake_metadata WHERE scope IS NULL AND key <> 'created_by' ORDER BY key)"),
        "data_inlining_row_limit=0,data_path=somewhere/else/,delete_older_than=36500 days,encrypted=false,"
        "expire_older_than=36500 days,hive_file_pattern=false,version=1.0");
    assert_int_equal(sqlite_count(b->work, "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'"), 3);
}

static void over_http_published_files_are_named_by_url(void **state) {
    bench *b = *state;
    const char *prefix = "https://example.org/a%20lake/data/";
    fdl_thaw_options options = {.data_path = b->data, .published_prefix = prefix};
    bench_run(b, content);
    sqlite_run(b->work, "UPDATE ducklake_data_file SET path = 'a b+c%20#?ü.parquet' WHERE data_file_id = 0");
    bench_freeze(b);
    must(fdl_file_remove(b->work, &b->error), &b->error);
    must(fdl_catalog_thaw(NULL, b->frozen, b->work, &options, &b->error), &b->error);
    assert_string_equal(
        sqlite_text(b->work, "SELECT path || path_is_relative FROM ducklake_data_file WHERE data_file_id = 0"),
        "https://example.org/a%20lake/data/main/t/a%20b%2Bc%2520%23%3F%C3%BC.parquet0");
    assert_int_equal(sqlite_count(b->work, "SELECT count(*) FROM ducklake_delete_file WHERE path LIKE "
                                           "'https://example.org/a\\%20lake/data/main/t/%-delete.parquet' ESCAPE '\\' "
                                           "AND path_is_relative = 0"),
                     1);
    /* and back: the prefix is a root of the data folder */
    const char *const roots[] = {b->data, prefix};
    b->options.roots = roots;
    b->options.root_count = 2;
    bench_freeze(b);
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM ducklake_data_file WHERE path_is_relative AND "
                                           "(path = 'a b+c%20#?ü.parquet' OR data_file_id <> 0)"),
                     2);
}

/* ---- strangers ------------------------------------------------------------------------------ */

/* A published catalog with a table and a file, spoilt by the SQL. */
static const char *spoilt(bench *b, const char *sql) {
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t FROM range(10)");
    bench_freeze(b);
    lake_spoil(b->folder, "f.duckdb", sql);
    return b->frozen;
}

static void other_formats_are_named(void **state) {
    bench *b = *state;
    not_thawed(b, spoilt(b, "UPDATE file.ducklake_metadata SET value = '0.3' WHERE key = 'version'"), FDL_REFUSED,
               "'0.3'");
    lake_spoil(b->folder, "f.duckdb", "DELETE FROM file.ducklake_metadata WHERE key = 'version'");
    not_thawed(b, b->frozen, FDL_REFUSED, "format");
}

static void a_missing_table_is_named(void **state) {
    bench *b = *state;
    not_thawed(b, spoilt(b, "DROP TABLE file.ducklake_sort_info"), FDL_REFUSED, "'ducklake_sort_info'");
    lake_spoil(b->folder, "f.duckdb", "DROP TABLE file.ducklake_metadata");
    not_thawed(b, b->frozen, FDL_REFUSED, "'ducklake_metadata'");
}

static void a_view_in_the_place_of_a_table_is_not_read(void **state) {
    bench *b = *state;
    not_thawed(b,
               spoilt(b, "DROP TABLE file.ducklake_view; CREATE VIEW file.ducklake_view AS SELECT 1 AS view_id, "
                         "content AS sql FROM read_text('/etc/hostname')"),
               FDL_REFUSED, "'ducklake_view'");
}

static void a_column_of_another_type_is_named(void **state) {
    bench *b = *state;
    not_thawed(b, spoilt(b, "ALTER TABLE file.ducklake_column ALTER COLUMN column_id TYPE VARCHAR"), FDL_REFUSED,
               "'ducklake_column.column_id' is not BIGINT");
}

static void columns_and_tables_that_would_be_lost_or_run_are_refused(void **state) {
    bench *b = *state;
    not_thawed(b, spoilt(b, "ALTER TABLE file.ducklake_view ADD COLUMN color VARCHAR"), FDL_REFUSED, "'ducklake_view'");
    lake_spoil(
        b->folder, "f.duckdb",
        "DROP TABLE file.ducklake_view; CREATE TABLE file.ducklake_view(view_id BIGINT, view_uuid UUID, begin_snapshot "
        "BIGINT, end_snapshot BIGINT, schema_id BIGINT, view_name VARCHAR, dialect VARCHAR, column_aliases VARCHAR, "
        "sql VARCHAR GENERATED ALWAYS AS (upper(view_name)))");
    not_thawed(b, b->frozen, FDL_REFUSED, "'ducklake_view'");
    lake_spoil(
        b->folder, "f.duckdb",
        "DROP TABLE file.ducklake_view; CREATE TABLE file.ducklake_view(view_id BIGINT, view_uuid UUID, begin_snapshot "
        "BIGINT, end_snapshot BIGINT, schema_id BIGINT, view_name VARCHAR, dialect VARCHAR, sql VARCHAR, "
        "column_aliases "
        "VARCHAR); CREATE TABLE file.ducklake_news AS SELECT 1 AS a");
    not_thawed(b, b->frozen, FDL_REFUSED, "'ducklake_news'");
    lake_spoil(b->folder, "f.duckdb",
               "DELETE FROM file.ducklake_news; CHECKPOINT file; CREATE TABLE file.mine AS SELECT 1 AS a");
    bench_thaw(b);
}

static void a_macro_of_the_catalog_does_not_change_our_sql(void **state) {
    bench *b = *state;
    const char *frozen = spoilt(b, "CREATE MACRO file.main.duckdb_tables() AS TABLE SELECT 'x' AS table_name, 0 AS "
                                   "estimated_size, 'frozen' AS database_name, 'main' AS schema_name");
    fdl_thaw_options options = {.data_path = b->data};
    must(fdl_catalog_thaw(NULL, frozen, lake_path(b->folder, "x.sqlite"), &options, &b->error), &b->error);
}

static void a_path_that_leads_out_of_the_data_folder_is_refused(void **state) {
    bench *b = *state;
    static const char *const paths[] = {"../x.parquet", "/etc/passwd", "a/../../x", "a//b", "./x", "", "a/", "x\ny"};
    spoilt(b, "SELECT 1");
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char sql[256];
        snprintf(sql, sizeof sql, "UPDATE file.ducklake_data_file SET path = '%s'", paths[i]);
        lake_spoil(b->folder, "f.duckdb", sql);
        not_thawed(b, b->frozen, FDL_REFUSED, "outside the data folder");
    }
    lake_spoil(b->folder, "f.duckdb", "UPDATE file.ducklake_data_file SET path = NULL");
    not_thawed(b, b->frozen, FDL_REFUSED, "outside the data folder");
    lake_spoil(b->folder, "f.duckdb", "UPDATE file.ducklake_data_file SET path = 'x', path_is_relative = false");
    not_thawed(b, b->frozen, FDL_REFUSED, "outside the data folder");
    lake_spoil(b->folder, "f.duckdb",
               "UPDATE file.ducklake_data_file SET path_is_relative = true; "
               "UPDATE file.ducklake_table SET path = '../t/'");
    not_thawed(b, b->frozen, FDL_REFUSED, "'t'");
    lake_spoil(b->folder, "f.duckdb", "UPDATE file.ducklake_table SET path = '/t/', path_is_relative = false");
    not_thawed(b, b->frozen, FDL_REFUSED, "'t'");
}

static void a_file_of_no_table_and_a_table_of_no_schema_are_refused(void **state) {
    bench *b = *state;
    not_thawed(b, spoilt(b, "UPDATE file.ducklake_data_file SET table_id = 99"), FDL_REFUSED, "table 99");
    lake_spoil(b->folder, "f.duckdb", "UPDATE file.ducklake_table SET schema_id = 77");
    not_thawed(b, b->frozen, FDL_REFUSED, "schema 77");
}

static void doubled_keys_are_refused(void **state) {
    bench *b = *state;
    not_thawed(b,
               spoilt(b, "CREATE TABLE file.x AS FROM file.ducklake_snapshot; DROP TABLE file.ducklake_snapshot; "
                         "CREATE TABLE file.ducklake_snapshot AS FROM file.x UNION ALL FROM file.x"),
               FDL_REFUSED, "ducklake_snapshot");
}

static void inlined_rows_and_missing_snapshots_are_refused(void **state) {
    bench *b = *state;
    not_thawed(b, spoilt(b, "CREATE TABLE file.ducklake_inlined_data_1_1 AS SELECT 1 AS row_id"), FDL_REFUSED,
               "'ducklake_inlined_data_1_1'");
    lake_spoil(b->folder, "f.duckdb", "DROP TABLE file.ducklake_inlined_data_1_1; DELETE FROM file.ducklake_snapshot");
    not_thawed(b, b->frozen, FDL_REFUSED, "no snapshot");
}

static void what_is_no_catalog_leaves_nothing(void **state) {
    bench *b = *state;
    must(fdl_file_write(b->frozen, "garbage", 7, &b->error), &b->error);
    not_thawed(b, b->frozen, FDL_REFUSED, "duckdb");
    not_thawed(b, lake_path(b->folder, "missing.duckdb"), FDL_REFUSED, "duckdb");
    not_thawed(b, b->work, FDL_REFUSED, "duckdb");
}

static void an_existing_working_catalog_is_left_alone(void **state) {
    bench *b = *state;
    fdl_thaw_options options = {.data_path = b->data};
    bench_run(b, content);
    bench_freeze(b);
    must_fail(fdl_catalog_thaw(NULL, b->frozen, b->work, &options, &b->error), FDL_CONFLICT, &b->error, NULL);
    assert_int_equal(bench_ask(b, b->work, "SELECT count(*) FROM t"), 90);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_is_read_and_written_on, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(every_cell_comes_back_as_it_was, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(instants_uuids_and_booleans_have_sqlites_form, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(format_data_path_and_protection_are_ours, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(over_http_published_files_are_named_by_url, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(other_formats_are_named, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(a_missing_table_is_named, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(a_view_in_the_place_of_a_table_is_not_read, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(a_column_of_another_type_is_named, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(columns_and_tables_that_would_be_lost_or_run_are_refused, bench_make,
                                        bench_drop),
        cmocka_unit_test_setup_teardown(a_macro_of_the_catalog_does_not_change_our_sql, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(a_path_that_leads_out_of_the_data_folder_is_refused, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(a_file_of_no_table_and_a_table_of_no_schema_are_refused, bench_make,
                                        bench_drop),
        cmocka_unit_test_setup_teardown(doubled_keys_are_refused, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(inlined_rows_and_missing_snapshots_are_refused, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(what_is_no_catalog_leaves_nothing, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(an_existing_working_catalog_is_left_alone, bench_make, bench_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
