/*
 * test_create.c - working catalogs from nothing: as DuckLake makes them, and
 * safe from its clean-up.
 */
#include "catalog/ducklake_schema.h"
#include "catalog/working_new.h"
#include "util/file.h"
#include "work.h"

/* ---- the tables are DuckLake's ----------------------------------------------------- */

/* All columns of all tables of a SQLite file, in a text. */
static const char *sqlite_shape =
    "SELECT group_concat(t || '.' || n || ' ' || y || ' ' || nn || ' ' || pk, ';') FROM "
    "(SELECT m.name t, c.name n, c.type y, c.\"notnull\" nn, c.pk pk FROM sqlite_schema m, pragma_table_info(m.name) c "
    "WHERE m.type = 'table' AND m.name LIKE 'ducklake_%' ORDER BY m.name, c.cid)";

static void the_tables_are_those_ducklake_makes_in_sqlite(void **state) {
    bench *b = *state;
    char ours[4096];
    snprintf(ours, sizeof ours, "%s", sqlite_text(b->work, sqlite_shape));
    assert_int_equal(sqlite_count(b->work, "SELECT count(*) FROM sqlite_schema WHERE type = 'table'"),
                     FDL_LAKE_TABLE_COUNT);
    must(fdl_file_remove(b->work, &b->error), &b->error);
    bench_run(b, "SELECT 1");
    assert_string_equal(sqlite_text(b->work, sqlite_shape), ours);
}

static fdl_code see_column(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    const fdl_lake_table *table = fdl_lake_table_find(cells[0].text);
    (void)count, (void)error;
    assert_non_null(table);
    int column = fdl_lake_column_find(table, cells[1].text);
    assert_int_equal(column, cells[2].integer - 1);
    assert_string_equal(fdl_lake_type_name(table->columns[column].type, FDL_LAKE_DUCKDB), cells[3].text);
    assert_int_equal(table->columns[column].not_null || table->columns[column].primary_key, !cells[4].integer);
    ++*(size_t *)data;
    return FDL_OK;
}

static void the_tables_are_those_ducklake_makes_in_duckdb(void **state) {
    bench *b = *state;
    size_t seen = 0;
    size_t wanted = 0;
    fdl_duck *duck = NULL;
    lake_run(b->folder, "real.duckdb", "SELECT 1");
    for (size_t i = 0; i < FDL_LAKE_TABLE_COUNT; i++) {
        wanted += fdl_lake_tables[i].column_count;
        assert_true(fdl_lake_tables[i].column_count <= FDL_LAKE_COLUMN_LIMIT);
        if (fdl_lake_tables[i].owner_column != NULL)
            assert_true(fdl_lake_column_find(&fdl_lake_tables[i], fdl_lake_tables[i].owner_column) >= 0);
    }
    must(fdl_duck_open(NULL, &duck, &b->error), &b->error);
    must(fdl_duck_attach(duck, lake_path(b->folder, "real.duckdb"), "real", &b->error), &b->error);
    must(fdl_duck_query(duck,
                        "SELECT table_name, column_name, column_index::BIGINT, data_type, is_nullable "
                        "FROM duckdb_columns() WHERE database_name = 'real' ORDER BY table_name, column_index",
                        see_column, &seen, &b->error),
         &b->error);
    assert_int_equal(seen, wanted);
    fdl_duck_free(duck);
}

/* ---- the content is DuckLake's ------------------------------------------------------- */

static void an_empty_catalog_says_what_ducklakes_own_says(void **state) {
    bench *b = *state;
    static const char *const questions[] = {
        "SELECT group_concat(key || coalesce(scope, '-') || coalesce(scope_id, '-')) FROM ducklake_metadata WHERE key "
        "NOT IN ('delete_older_than', 'expire_older_than', 'data_inlining_row_limit', 'hive_file_pattern')",
        "SELECT group_concat(value) FROM ducklake_metadata WHERE key IN ('version', 'encrypted', 'data_path')",
        "SELECT snapshot_id || '|' || schema_version || '|' || next_catalog_id || '|' || next_file_id || '|' || "
        "length(snapshot_time) > 20 FROM ducklake_snapshot",
        "SELECT snapshot_id || changes_made || coalesce(author, '-') || coalesce(commit_message, '-') || "
        "coalesce(commit_extra_info, '-') FROM ducklake_snapshot_changes",
        "SELECT schema_id || begin_snapshot || coalesce(end_snapshot, '-') || schema_name || path || path_is_relative "
        "|| "
        "length(schema_uuid) FROM ducklake_schema",
        "SELECT count(*) FROM ducklake_schema_versions",
    };
    enum { COUNT = sizeof questions / sizeof *questions };
    char ours[COUNT][512];
    for (size_t i = 0; i < COUNT; i++)
        snprintf(ours[i], sizeof ours[i], "%s", sqlite_text(b->work, questions[i]));
    must(fdl_file_remove(b->work, &b->error), &b->error);
    bench_run(b, "SELECT 1");
    for (size_t i = 0; i < COUNT; i++)
        assert_string_equal(ours[i], sqlite_text(b->work, questions[i]));
}

static void ducklake_writes_to_an_empty_catalog(void **state) {
    bench *b = *state;
    bench_run(b,
              "CREATE TABLE t(a INT); INSERT INTO t FROM range(10); CREATE SCHEMA s; CREATE TABLE s.u AS SELECT 1 x");
    assert_int_equal(bench_ask(b, b->work, "SELECT sum(a)::BIGINT FROM t"), 45);
    assert_int_equal(bench_ask(b, b->work, "SELECT count(*) FROM s.u"), 1);
}

static void an_existing_file_is_left_alone(void **state) {
    bench *b = *state;
    fdl_thaw_options options = {.data_path = b->data};
    bench_run(b, "CREATE TABLE t(a INT)");
    must_fail(fdl_catalog_create(NULL, b->work, &options, &b->error), FDL_CONFLICT, &b->error, "exists already", NULL);
    assert_int_equal(bench_ask(b, b->work, "SELECT count(*) FROM t"), 0);
}

static void pages_are_large_where_much_is_expected(void **state) {
    bench *b = *state;
    fdl_working_new made;
    const char *path = lake_path(b->folder, "large.sqlite");
    must(fdl_working_new_begin(path, 5u << 20, &made, &b->error), &b->error);
    must(fdl_working_new_end(&made, 7, FDL_OK, &b->error), &b->error);
    assert_int_equal(sqlite_count(path, "PRAGMA page_size"), 16384);
    assert_int_equal(sqlite_count(path, "PRAGMA user_version"), 7);
    assert_int_equal(sqlite_count(b->work, "PRAGMA page_size"), 4096);
}

static void a_folder_that_is_not_there_leaves_nothing(void **state) {
    bench *b = *state;
    fdl_thaw_options options = {.data_path = b->data};
    must_fail(fdl_catalog_create(NULL, lake_path(b->folder, "no/w.sqlite"), &options, &b->error), FDL_NOT_FOUND,
              &b->error, NULL);
    assert_false(fdl_file_exists(lake_path(b->folder, "no")));
}

/* ---- protection ------------------------------------------------------------------------- */

static int64_t files(bench *b) {
    char sql[1200];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM glob('%s**/*.parquet')", b->data);
    return bench_ask(b, b->work, sql);
}

static void clean_up_deletes_no_file_that_an_older_version_names(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t FROM range(10); INSERT INTO t FROM range(10, 20); "
                 "INSERT INTO t FROM range(20, 30); DELETE FROM t WHERE a < 25");
    int64_t before = files(b);
    assert_int_equal(before, 4); /* three of rows, one of deletes */
    bench_run(b,
              "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.1); "
              "CALL ducklake_merge_adjacent_files('lake'); CALL ducklake_expire_snapshots('lake'); "
              "CALL ducklake_cleanup_old_files('lake'); CALL ducklake_delete_orphaned_files('lake'); CHECKPOINT lake; "
              "CALL ducklake_cleanup_old_files('lake', cleanup_all => true)");
    assert_true(files(b) >= before);
    assert_int_equal(bench_ask(b, b->work, "SELECT count(*) FROM t"), 5);
    assert_int_equal(sqlite_count(b->work, "SELECT count(*) FROM ducklake_files_scheduled_for_deletion"), 0);
}

static void snapshots_that_are_expired_by_hand_keep_their_files(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t FROM range(10); DROP TABLE t");
    int64_t before = files(b);
    bench_run(b, "CALL ducklake_expire_snapshots('lake', older_than => now() + INTERVAL 1 HOUR); "
                 "CALL ducklake_cleanup_old_files('lake', cleanup_all => true)");
    assert_int_equal(files(b), before);
}

static void rows_are_not_inlined_when_the_option_is_forgotten(void **state) {
    bench *b = *state;
    fdl_error error;
    fdl_duck *duck = NULL;
    must(fdl_duck_open(NULL, &duck, &error), &error);
    must(fdl_duck_load_extension(duck, "sqlite_scanner", &error), &error);
    must(fdl_duck_load_extension(duck, "ducklake", &error), &error);
    must(fdl_duck_exec(duck, &error,
                       "ATTACH 'ducklake:%s' AS lake (META_TYPE 'sqlite'); CREATE TABLE lake.t(a INT); "
                       "INSERT INTO lake.t VALUES (1); DELETE FROM lake.t WHERE a = 1; DETACH lake",
                       b->work),
         &error);
    fdl_duck_free(duck);
    assert_int_equal(sqlite_count(b->work, "SELECT count(*) FROM ducklake_data_file"), 1);
    assert_int_equal(sqlite_count(b->work, "SELECT count(*) FROM ducklake_inlined_data_tables"), 0);
}

static void partition_values_make_no_folder_names(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE t(a VARCHAR, b INT); ALTER TABLE t SET PARTITIONED BY (a); "
                 "INSERT INTO t VALUES ('ü/%20', 1), ('x y', 2)");
    assert_int_equal(sqlite_count(b->work, "SELECT count(*) FROM ducklake_data_file"), 2);
    assert_int_equal(
        sqlite_count(b->work,
                     "SELECT count(*) FROM ducklake_data_file WHERE path LIKE '%\\%%' ESCAPE '\\' OR path LIKE '%=%'"),
        0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_tables_are_those_ducklake_makes_in_sqlite, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(the_tables_are_those_ducklake_makes_in_duckdb, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(an_empty_catalog_says_what_ducklakes_own_says, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(ducklake_writes_to_an_empty_catalog, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(an_existing_file_is_left_alone, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(pages_are_large_where_much_is_expected, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(a_folder_that_is_not_there_leaves_nothing, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(clean_up_deletes_no_file_that_an_older_version_names, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(snapshots_that_are_expired_by_hand_keep_their_files, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(rows_are_not_inlined_when_the_option_is_forgotten, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(partition_values_make_no_folder_names, bench_make, bench_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
