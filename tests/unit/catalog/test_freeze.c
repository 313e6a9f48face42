/*
 * test_freeze.c - what freezing leaves of a working catalog, and does to it.
 */
#include <sqlite3.h>
#include <sys/stat.h>

#include "catalog/ducklake_schema.h"
#include "util/file.h"
#include "util/ident.h"
#include "work.h"

/* ---- the working catalog is not touched -------------------------------------------- */

static void hash(const char *path, char out[65]) {
    fdl_error error;
    uint64_t size = 0;
    must(fdl_sha256_file(path, out, &size, &error), &error);
}

static void a_closed_catalog_keeps_its_bytes_and_gets_no_companions(void **state) {
    bench *b = *state;
    char before[65];
    char after[65];
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t FROM range(10)");
    hash(b->work, before);
    bench_freeze(b);
    hash(b->work, after);
    assert_string_equal(before, after);
    assert_false(fdl_file_exists(lake_path(b->folder, "w.sqlite-wal")));
    assert_false(fdl_file_exists(lake_path(b->folder, "w.sqlite-shm")));
}

/* Another program with the catalog open: its log is read, and neither file changes. */
static void the_log_is_read_and_left(void **state) {
    bench *b = *state;
    sqlite3 *other = NULL;
    char before[2][65];
    char after[2][65];
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t FROM range(10)");
    assert_int_equal(sqlite3_open(b->work, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other,
                                  "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; BEGIN; INSERT INTO "
                                  "ducklake_snapshot SELECT snapshot_id + 5, '2026-01-01 09:00:00+09', schema_version, "
                                  "next_catalog_id, next_file_id FROM ducklake_snapshot WHERE snapshot_id = 2; COMMIT",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    hash(b->work, before[0]);
    hash(lake_path(b->folder, "w.sqlite-wal"), before[1]);
    bench_freeze(b);
    hash(b->work, after[0]);
    hash(lake_path(b->folder, "w.sqlite-wal"), after[1]);
    assert_string_equal(before[0], after[0]);
    assert_string_equal(before[1], after[1]);
    assert_int_equal(b->result.snapshot_id, 7);
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM ducklake_snapshot WHERE snapshot_id = 7 AND "
                                           "epoch_us(snapshot_time) = epoch_us(TIMESTAMPTZ '2026-01-01 00:00:00+00')"),
                     1);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

static void a_write_that_is_not_committed_is_not_seen(void **state) {
    bench *b = *state;
    sqlite3 *other = NULL;
    bench_run(b, "CREATE TABLE t(a INT)");
    assert_int_equal(sqlite3_open(b->work, &other), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(other, "PRAGMA journal_mode = WAL; BEGIN; INSERT INTO ducklake_snapshot VALUES (99, 'x', 0, 0, 0)",
                     NULL, NULL, NULL),
        SQLITE_OK);
    bench_freeze(b);
    assert_int_equal(b->result.snapshot_id, 1);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

static void a_lock_is_waited_for_a_bounded_time(void **state) {
    bench *b = *state;
    sqlite3 *other = NULL;
    assert_int_equal(sqlite3_open(b->work, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    must_fail(fdl_catalog_freeze(&b->context, b->work, b->frozen, &b->options, &b->result, &b->error), FDL_BUSY,
              &b->error, "w.sqlite' is locked", NULL);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
}

/* ---- the published catalog -------------------------------------------------------------- */

static void the_tables_have_ducklakes_types(void **state) {
    bench *b = *state;
    bench_freeze(b);
    size_t columns = 0;
    for (size_t i = 0; i < FDL_LAKE_TABLE_COUNT; i++)
        columns += fdl_lake_tables[i].column_count;
    lake_run(b->folder, "real.duckdb", "SELECT 1");
    const char *shape =
        "SELECT (hash(string_agg(table_name || '.' || column_name || ' ' || data_type || is_nullable, ';' "
        "ORDER BY table_name, column_index)) // 2)::BIGINT FROM duckdb_columns() "
        "WHERE database_name = 'file'";
    assert_int_equal(duck_count(b->frozen, shape), duck_count(lake_path(b->folder, "real.duckdb"), shape));
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM duckdb_columns() WHERE database_name = 'file'"),
                     columns);
    const char *keys = "SELECT count(*) FROM duckdb_constraints() WHERE database_name = 'file' AND constraint_type = "
                       "'PRIMARY KEY'";
    assert_int_equal(duck_count(b->frozen, keys), duck_count(lake_path(b->folder, "real.duckdb"), keys));
}

static void it_is_one_file_with_the_data_path_asked_for(void **state) {
    bench *b = *state;
    struct stat status;
    b->options.data_path = "s3://bucket/lake/it's/data/";
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t FROM range(10)");
    bench_freeze(b);
    assert_int_equal(stat(b->frozen, &status), 0);
    assert_int_equal(b->result.size_bytes, status.st_size);
    assert_int_equal(b->result.snapshot_id, 2);
    assert_true(status.st_size < 1000000);
    assert_false(fdl_file_exists(lake_path(b->folder, "f.duckdb.wal")));
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM ducklake_metadata WHERE key = 'data_path' AND value = "
                                           "'s3://bucket/lake/it''s/data/'"),
                     1);
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM ducklake_metadata"), 4);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT count(*) FROM t"), 10);
    assert_int_equal(bench_ask(b, b->frozen,
                               "SELECT count(*) FROM ducklake_snapshots('lake') WHERE snapshot_time > "
                               "TIMESTAMPTZ '2020-01-01'"),
                     1);
}

static void an_older_frozen_catalog_is_replaced(void **state) {
    bench *b = *state;
    bench_freeze(b);
    bench_run(b, "CREATE TABLE t(a INT)");
    bench_freeze(b);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT count(*) FROM t"), 0);
}

static void what_cannot_be_written_leaves_nothing(void **state) {
    bench *b = *state;
    const char *frozen = lake_path(b->folder, "no/f.duckdb");
    must_fail(fdl_catalog_freeze(&b->context, b->work, frozen, &b->options, &b->result, &b->error), FDL_NOT_FOUND,
              &b->error, NULL);
    must_fail(fdl_catalog_freeze(&b->context, lake_path(b->folder, "no.sqlite"), b->frozen, &b->options, &b->result,
                                 &b->error),
              FDL_NOT_FOUND, &b->error, "no.sqlite", NULL);
    assert_false(fdl_file_exists(b->frozen));
}

static void statistics_are_copied_as_they_are(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE t(a DOUBLE, b VARCHAR, c VARCHAR); INSERT INTO t VALUES ('nan', NULL, 'ü日本'), "
                 "('inf', NULL, ''), ('-inf', NULL, chr(1) || 'x'), (1.5, NULL, repeat('long', 500))");
    sqlite_run(b->work,
               "UPDATE ducklake_file_column_stats SET extra_stats = 'a' || char(0) || 'b' WHERE column_id = 1");
    char sql[512];
    static const char *const values[] = {"min_value", "max_value", "extra_stats", "contains_nan", "null_count"};
    bench_freeze(b);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        for (int column = 1; column <= 3; column++) {
            snprintf(sql, sizeof sql,
                     "SELECT coalesce(sum(length(CAST(%s AS BLOB))), -1) FROM ducklake_file_column_stats WHERE "
                     "column_id = %d",
                     values[i], column);
            int64_t in_sqlite = sqlite_count(b->work, sql);
            snprintf(sql, sizeof sql,
                     "SELECT coalesce(sum(strlen(CASE WHEN '%s' = 'contains_nan' THEN (%s::BOOLEAN::INT)::VARCHAR ELSE "
                     "%s::VARCHAR "
                     "END)), -1)::BIGINT FROM ducklake_file_column_stats WHERE column_id = %d",
                     values[i], i == 3 ? values[i] : "true", values[i], column);
            assert_int_equal(duck_count(b->frozen, sql), in_sqlite);
        }
    }
    assert_int_equal(bench_ask(b, b->frozen, "SELECT count(*) FROM t WHERE a > 1e300"), 2);
}

static void names_with_quotes_and_line_breaks_stay_names(void **state) {
    bench *b = *state;
    bench_run(b,
              "CREATE SCHEMA \"s'\"\";--\"; CREATE TABLE \"s'\"\";--\".\"t\n\\'\"\" ; DROP TABLE x\"(\"c'\"\"\" INT); "
              "INSERT INTO \"s'\"\";--\".\"t\n\\'\"\" ; DROP TABLE x\" VALUES (5)");
    bench_freeze(b);
    bench_thaw(b);
    assert_int_equal(
        bench_ask(b, b->work, "SELECT \"c'\"\"\"::BIGINT FROM \"s'\"\";--\".\"t\n\\'\"\" ; DROP TABLE x\""), 5);
}

/* Many files in many chunks, written from the other thread; nothing is lost or doubled. */
static void many_rows_arrive_in_order(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t VALUES (1)");
    sqlite_run(
        b->work,
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000) INSERT INTO "
        "ducklake_data_file "
        "SELECT i, table_id, begin_snapshot, CASE WHEN i % 3 = 0 THEN 2 END, NULL, 'f' || i, 1, 'parquet', i, 1, 1, i, "
        "NULL, NULL, NULL, NULL FROM n, ducklake_data_file WHERE data_file_id = 0; "
        "INSERT INTO ducklake_file_column_stats SELECT data_file_id, 1, 1, 1, record_count, 0, "
        "'a value that is longer than twelve ' || data_file_id, NULL, NULL, NULL FROM ducklake_data_file WHERE "
        "data_file_id > 0");
    bench_freeze(b);
    assert_int_equal(duck_count(b->frozen, "SELECT count(*) FROM ducklake_data_file"), 20001);
    assert_int_equal(duck_count(b->frozen,
                                "SELECT count(*) FROM ducklake_file_column_stats s JOIN ducklake_data_file f USING "
                                "(data_file_id) WHERE f.data_file_id = 0 OR (value_count = record_count AND "
                                "min_value = 'a value that is longer than twelve ' || f.data_file_id)"),
                     20001);
    assert_int_equal(duck_count(b->frozen,
                                "SELECT count(*) FROM (SELECT data_file_id, lag(data_file_id) OVER (ORDER BY rowid) "
                                "AS before FROM ducklake_data_file) WHERE before >= data_file_id"),
                     0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_closed_catalog_keeps_its_bytes_and_gets_no_companions, bench_make,
                                        bench_drop),
        cmocka_unit_test_setup_teardown(the_log_is_read_and_left, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(a_write_that_is_not_committed_is_not_seen, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(a_lock_is_waited_for_a_bounded_time, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(the_tables_have_ducklakes_types, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(it_is_one_file_with_the_data_path_asked_for, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(an_older_frozen_catalog_is_replaced, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_leaves_nothing, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(statistics_are_copied_as_they_are, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(names_with_quotes_and_line_breaks_stay_names, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(many_rows_arrive_in_order, bench_make, bench_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
