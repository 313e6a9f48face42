/*
 * test_freeze_prune.c - what pruning takes, and what it must leave for DuckLake
 * to go on from.
 */
#include <sys/stat.h>

#include "util/file.h"
#include "work.h"

/* ---- nothing dead, nothing orphaned ----------------------------------------------------- */

/* One row for each child that has no parent in the published catalog; 0 is what it must be. */
static const char *const orphans =
    "WITH t AS (SELECT table_id FROM ducklake_table WHERE end_snapshot IS NULL), f AS (SELECT data_file_id FROM "
    "ducklake_data_file WHERE end_snapshot IS NULL) SELECT "
    "(SELECT count(*) FROM ducklake_data_file WHERE table_id NOT IN (FROM t) OR end_snapshot IS NOT NULL) + "
    "(SELECT count(*) FROM ducklake_delete_file WHERE data_file_id NOT IN (FROM f) OR end_snapshot IS NOT NULL) + "
    "(SELECT count(*) FROM ducklake_file_column_stats WHERE data_file_id NOT IN (FROM f)) + "
    "(SELECT count(*) FROM ducklake_file_variant_stats WHERE data_file_id NOT IN (FROM f)) + "
    "(SELECT count(*) FROM ducklake_file_partition_value WHERE data_file_id NOT IN (FROM f)) + "
    "(SELECT count(*) FROM ducklake_column WHERE table_id NOT IN (FROM t)) + "
    "(SELECT count(*) FROM ducklake_column_tag WHERE table_id NOT IN (FROM t) OR end_snapshot IS NOT NULL) + "
    "(SELECT count(*) FROM ducklake_table_stats WHERE table_id NOT IN (FROM t)) + "
    "(SELECT count(*) FROM ducklake_table_column_stats WHERE table_id NOT IN (FROM t)) + "
    "(SELECT count(*) FROM ducklake_partition_info WHERE table_id NOT IN (FROM t)) + "
    "(SELECT count(*) FROM ducklake_partition_column WHERE partition_id NOT IN (SELECT partition_id FROM "
    "ducklake_partition_info)) + "
    "(SELECT count(*) FROM ducklake_sort_info WHERE table_id NOT IN (FROM t)) + "
    "(SELECT count(*) FROM ducklake_sort_expression WHERE sort_id NOT IN (SELECT sort_id FROM ducklake_sort_info)) + "
    "(SELECT count(*) FROM ducklake_schema_versions WHERE table_id NOT IN (FROM t)) + "
    "(SELECT count(*) FROM ducklake_column_mapping WHERE table_id NOT IN (FROM t)) + "
    "(SELECT count(*) FROM ducklake_name_mapping WHERE mapping_id NOT IN (SELECT mapping_id FROM "
    "ducklake_column_mapping)) + "
    "(SELECT count(*) FROM ducklake_macro_impl WHERE macro_id NOT IN (SELECT macro_id FROM ducklake_macro)) + "
    "(SELECT count(*) FROM ducklake_macro_parameters WHERE macro_id NOT IN (SELECT macro_id FROM ducklake_macro)) + "
    "(SELECT count(*) FROM ducklake_view WHERE end_snapshot IS NOT NULL) + "
    "(SELECT count(*) FROM ducklake_macro WHERE end_snapshot IS NOT NULL) + "
    "(SELECT count(*) FROM ducklake_schema WHERE end_snapshot IS NOT NULL) + "
    "(SELECT count(*) FROM ducklake_tag WHERE end_snapshot IS NOT NULL) + "
    "(SELECT count(*) FROM ducklake_metadata WHERE scope = 'table' AND scope_id NOT IN (FROM t)) + "
    "(SELECT count(*) FROM ducklake_snapshot) - 1 + (SELECT count(*) FROM ducklake_snapshot_changes) - 1";

static void what_is_dropped_goes_with_all_that_belongs_to_it(void **state) {
    bench *b = *state;
    bench_run(
        b,
        "CREATE SCHEMA gone; CREATE TABLE gone.g(a INT, b VARCHAR); ALTER TABLE gone.g SET PARTITIONED BY (b); "
        "INSERT INTO gone.g VALUES (1, 'x'), (2, 'y'); DELETE FROM gone.g WHERE a = 1; "
        "ALTER TABLE gone.g SET SORTED BY (a ASC); COMMENT ON TABLE gone.g IS 'x'; COMMENT ON COLUMN gone.g.a IS 'y'; "
        "CALL lake.set_option('parquet_compression', 'zstd', schema => 'gone', table_name => 'g'); "
        "CALL lake.set_option('parquet_compression', 'zstd', schema => 'gone'); "
        "CREATE VIEW gone.v AS SELECT 1; CREATE MACRO gone.m(x) AS x; CREATE TABLE t(a INT, b VARCHAR); "
        "ALTER TABLE t SET PARTITIONED BY (b); INSERT INTO t VALUES (1, 'x'), (2, 'y'), (3, 'y'); "
        "DELETE FROM t WHERE a = 2; COMMENT ON TABLE t IS 'old'; COMMENT ON TABLE t IS 'new'; "
        "CREATE VIEW v AS SELECT 1; CREATE OR REPLACE MACRO m(x) AS x; CREATE OR REPLACE MACRO m(x) AS x + 1; "
        "DROP VIEW v; DROP SCHEMA gone CASCADE");
    bench_freeze(b);
    assert_int_equal(duck_count(b->frozen, orphans), 0);
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM ducklake_metadata"), 4);
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM ducklake_macro_impl"), 1);
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM ducklake_tag WHERE value = 'new'"), 1);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT count(*) FROM t"), 2);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT m(1)::BIGINT"), 2);
}

static void deletes_of_a_file_that_was_rewritten_go_with_it(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t FROM range(100); INSERT INTO t FROM range(100); DELETE FROM t "
                 "WHERE a % 2 = 0; "
                 "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.1); DELETE FROM t WHERE a = 1; "
                 "CALL ducklake_merge_adjacent_files('lake')");
    int64_t rows = bench_ask(b, b->work, "SELECT count(*) FROM t");
    bench_freeze(b);
    assert_int_equal(duck_count(b->frozen, orphans), 0);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT count(*) FROM t"), rows);
}

static void a_hundred_replacements_are_as_small_as_one(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE t AS SELECT n AS a, 'x' || n AS b FROM range(1000) r(n)");
    bench_freeze(b);
    uint64_t once = b->result.size_bytes;
    static const char *const again = "CREATE OR REPLACE TABLE t AS SELECT n AS a, 'x' || n AS b FROM range(1000) r(n); "
                                     "TRUNCATE t; INSERT INTO t SELECT n, 'y' FROM range(1000) r(n); TRUNCATE t; "
                                     "INSERT INTO t SELECT n, 'z' FROM range(1000) r(n); ";
    char sql[33 * 300] = "";
    for (int i = 0; i < 33; i++)
        snprintf(sql + strlen(sql), sizeof sql - strlen(sql), "%s", again);
    bench_run(b, sql);
    bench_freeze(b);
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM ducklake_data_file"), 1);
    assert_int_equal(duck_count(b->frozen, orphans), 0);
    assert_true(b->result.size_bytes <= once + 65536);
}

static void nothing_is_renumbered(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE x(a INT); DROP TABLE x; CREATE TABLE t(a INT); INSERT INTO t VALUES (1); INSERT INTO t "
                 "VALUES (2); "
                 "DELETE FROM t WHERE a = 1");
    bench_freeze(b);
    static const char *const questions[] = {
        "SELECT table_id FROM ducklake_table WHERE end_snapshot IS NULL",
        "SELECT data_file_id * 10 + row_id_start FROM ducklake_data_file WHERE end_snapshot IS NULL",
        "SELECT next_row_id FROM ducklake_table_stats WHERE table_id = 2",
    };
    assert_int_equal(
        duck_count(b->frozen, "SELECT max(snapshot_id) * 1000 + max(schema_version) * 100 + max(next_catalog_id) "
                              "* 10 + max(next_file_id) FROM ducklake_snapshot"),
        sqlite_count(b->work, "SELECT max(snapshot_id) * 1000 + max(schema_version) * 100 + max(next_catalog_id) "
                              "* 10 + max(next_file_id) FROM ducklake_snapshot"));
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        assert_int_equal(duck_count(b->frozen, questions[i]), sqlite_count(b->work, questions[i]));
}

/* ---- going on --------------------------------------------------------------------------------- */

static void a_column_dropped_and_added_again_does_not_show_old_values(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE t(a INT, b INT); INSERT INTO t VALUES (1, 111); ALTER TABLE t DROP COLUMN b");
    bench_freeze(b);
    bench_thaw(b);
    bench_run(b, "ALTER TABLE t ADD COLUMN b INT");
    assert_int_equal(bench_ask(b, b->work, "SELECT count(*) FROM t WHERE b IS NULL"), 1);
}

static void files_from_before_a_rename_merge_with_later_ones(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE t(a INT, b INT); INSERT INTO t VALUES (1, 2); ALTER TABLE t RENAME COLUMN b TO c; "
                 "ALTER TABLE t RENAME TO u; ALTER TABLE u ADD COLUMN d INT");
    bench_freeze(b);
    bench_thaw(b);
    bench_run(b, "INSERT INTO u VALUES (3, 4, 5); INSERT INTO u VALUES (6, 7, 8)");
    bench_freeze(b);
    bench_thaw(b);
    bench_run(b, "CALL ducklake_merge_adjacent_files('lake'); UPDATE u SET a = a + 100");
    assert_int_equal(bench_ask(b, b->work, "SELECT (sum(a) * 10000 + sum(c) * 100 + sum(d))::BIGINT FROM u"),
                     310 * 10000 + 13 * 100 + 13);
}

static void row_ids_go_on_where_they_were(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t FROM range(50); DELETE FROM t WHERE a >= 40");
    bench_freeze(b);
    bench_thaw(b);
    bench_run(b, "INSERT INTO t FROM range(100, 110)");
    assert_int_equal(bench_ask(b, b->work, "SELECT count(DISTINCT rowid) FROM t"), 50);
    assert_int_equal(bench_ask(b, b->work, "SELECT min(rowid) FROM t WHERE a >= 100"), 50);
}

static void registered_files_keep_their_mapping(void **state) {
    bench *b = *state;
    char sql[4096];
    snprintf(sql, sizeof sql,
             "CREATE TABLE t(a INT, b VARCHAR); INSERT INTO t VALUES (0, 'z'); COPY (SELECT 7 AS a, 'x' AS b) TO "
             "'%smain/t/added.parquet' (FORMAT parquet); CALL ducklake_add_data_files('lake', 't', "
             "'%smain/t/added.parquet')",
             b->data, b->data);
    bench_run(b, sql);
    bench_freeze(b);
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM ducklake_name_mapping"), 2);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT a::BIGINT FROM t WHERE b = 'x'"), 7);
    bench_thaw(b);
    bench_run(b, "ALTER TABLE t RENAME COLUMN a TO aa; CALL ducklake_merge_adjacent_files('lake')");
    assert_int_equal(bench_ask(b, b->work, "SELECT aa::BIGINT FROM t WHERE b = 'x'"), 7);
}

static void the_same_name_again_is_another_table(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t VALUES (1); DROP TABLE t; CREATE TABLE t(b VARCHAR, c INT); "
                 "INSERT INTO t VALUES ('x', 2); CREATE SCHEMA s; CREATE TABLE s.t(a INT); DROP SCHEMA s CASCADE; "
                 "CREATE SCHEMA s; "
                 "CREATE TABLE s.t(z INT); INSERT INTO s.t VALUES (9)");
    bench_freeze(b);
    bench_thaw(b);
    assert_int_equal(bench_ask(b, b->work, "SELECT c::BIGINT + (SELECT z FROM s.t) FROM t"), 11);
}

/* ---- keeping snapshots ---------------------------------------------------------------------------- */

static void snapshots_are_kept_from_the_one_asked_for(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); CREATE TABLE gone(a INT); "
                 "INSERT INTO gone VALUES (1); DROP TABLE gone; DELETE FROM t WHERE a = 1; INSERT INTO t VALUES (3)");
    /* snapshots: 1 t, 2 row, 3 row, 4 gone, 5 row, 6 drop, 7 delete, 8 row */
    b->options.keep_from = 5;
    bench_freeze(b);
    assert_int_equal(b->result.snapshot_id, 8);
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM ducklake_snapshot"), 4);
    assert_int_equal(duck_count(b->frozen, "SELECT min(snapshot_id) FROM ducklake_snapshot_changes"), 5);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT count(*) FROM t"), 2);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT sum(a)::BIGINT FROM t AT (VERSION => 6)"), 3);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT sum(a)::BIGINT FROM t AT (VERSION => 7)"), 2);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT sum(a)::BIGINT FROM gone AT (VERSION => 5)"), 1);
    b->options.keep_from = 6;
    bench_freeze(b);
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM ducklake_table"), 1);
    b->options.keep_from = 99; /* after the last: the last alone */
    bench_freeze(b);
    assert_int_equal(duck_count(b->frozen, orphans), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_dropped_goes_with_all_that_belongs_to_it, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(deletes_of_a_file_that_was_rewritten_go_with_it, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(a_hundred_replacements_are_as_small_as_one, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(nothing_is_renumbered, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(a_column_dropped_and_added_again_does_not_show_old_values, bench_make,
                                        bench_drop),
        cmocka_unit_test_setup_teardown(files_from_before_a_rename_merge_with_later_ones, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(row_ids_go_on_where_they_were, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(registered_files_keep_their_mapping, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(the_same_name_again_is_another_table, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(snapshots_are_kept_from_the_one_asked_for, bench_make, bench_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
