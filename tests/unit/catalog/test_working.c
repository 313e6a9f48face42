/*
 * test_working.c - stamps, states, being alone, and rows flushed by DuckLake.
 */
#include <sqlite3.h>

#include "util/file.h"
#include "work.h"

static void a_stamp_stays_through_work(void **state) {
    bench *b = *state;
    fdl_working_state seen;
    must(fdl_catalog_state(b->work, &seen, &b->error), &b->error);
    assert_int_equal(seen.stamp, 0);
    assert_int_equal(seen.snapshot_id, 0);
    must(fdl_catalog_stamp(b->work, 2147483647, &b->error), &b->error);
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t VALUES (1)");
    must(fdl_catalog_state(b->work, &seen, &b->error), &b->error);
    assert_int_equal(seen.stamp, 2147483647);
    assert_int_equal(seen.snapshot_id, 2);
}

static void what_is_no_catalog_is_told(void **state) {
    bench *b = *state;
    fdl_working_state seen;
    const char *missing = lake_path(b->folder, "no.sqlite");
    must_fail(fdl_catalog_state(missing, &seen, &b->error), FDL_NOT_FOUND, &b->error, "no.sqlite", NULL);
    must_fail(fdl_catalog_stamp(missing, 1, &b->error), FDL_NOT_FOUND, &b->error, NULL);
    must_fail(fdl_catalog_settle(missing, &b->error), FDL_NOT_FOUND, &b->error, NULL);
    must_fail(fdl_catalog_flush_inlined(NULL, missing, b->data, &b->error), FDL_NOT_FOUND, &b->error, NULL);
    assert_false(fdl_file_exists(missing));
    must_fail(fdl_catalog_state(b->folder, &seen, &b->error), FDL_REFUSED, &b->error, "not a file", NULL);
    must(fdl_file_write(lake_path(b->folder, "text"), "some text, no database", 22, &b->error), &b->error);
    must_fail(fdl_catalog_state(lake_path(b->folder, "text"), &seen, &b->error), FDL_REFUSED, &b->error, NULL);
    must_fail(fdl_catalog_stamp(lake_path(b->folder, "text"), 1, &b->error), FDL_REFUSED, &b->error, NULL);
    sqlite_run(b->work, "DROP TABLE ducklake_snapshot");
    must_fail(fdl_catalog_state(b->work, &seen, &b->error), FDL_REFUSED, &b->error, "not a DuckLake catalog", NULL);
}

static sqlite3 *open_with_wal(bench *b) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(b->work, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; UPDATE ducklake_metadata SET "
                     "value = 'written to the log' WHERE key = 'created_by'",
                     NULL, NULL, NULL),
        SQLITE_OK);
    return db;
}

static void settling_brings_the_log_home_when_nobody_has_it_open(void **state) {
    bench *b = *state;
    sqlite3 *other = open_with_wal(b);
    assert_true(fdl_file_exists(lake_path(b->folder, "w.sqlite-wal")));
    must_fail(fdl_catalog_settle(b->work, &b->error), FDL_BUSY, &b->error, "w.sqlite'", NULL);
    sqlite3_db_config(other, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    assert_int_equal(sqlite3_close(other), SQLITE_OK);
    assert_true(fdl_file_exists(lake_path(b->folder, "w.sqlite-wal")));
    must(fdl_catalog_settle(b->work, &b->error), &b->error);
    assert_false(fdl_file_exists(lake_path(b->folder, "w.sqlite-wal")));
    assert_false(fdl_file_exists(lake_path(b->folder, "w.sqlite-shm")));
    must(fdl_file_rename(b->work, lake_path(b->folder, "moved.sqlite"), &b->error), &b->error);
    assert_string_equal(sqlite_text(lake_path(b->folder, "moved.sqlite"),
                                    "SELECT value FROM ducklake_metadata WHERE key = 'created_by'"),
                        "written to the log");
}

static void a_settled_catalog_keeps_its_bytes(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE TABLE t(a INT)");
    must(fdl_file_copy(b->work, lake_path(b->folder, "copy"), &b->error), &b->error);
    must(fdl_catalog_settle(b->work, &b->error), &b->error);
    char *bytes[2] = {NULL, NULL};
    size_t lengths[2] = {0, 0};
    must(fdl_file_read(b->work, 1 << 24, &bytes[0], &lengths[0], &b->error), &b->error);
    must(fdl_file_read(lake_path(b->folder, "copy"), 1 << 24, &bytes[1], &lengths[1], &b->error), &b->error);
    assert_int_equal(lengths[0], lengths[1]);
    assert_memory_equal(bytes[0], bytes[1], lengths[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static void inlined_rows_and_deletes_are_flushed_to_files(void **state) {
    bench *b = *state;
    bench_run_inlining(b, "CREATE TABLE t(a INT, b VARCHAR); INSERT INTO t SELECT n, 'x' FROM range(100) r(n); "
                          "INSERT INTO t VALUES (1000, 'it''s ü'); DELETE FROM t WHERE a = 5");
    int64_t rows = bench_ask(b, b->work, "SELECT sum(a)::BIGINT FROM t");
    must_fail(fdl_catalog_freeze(&b->context, b->work, b->frozen, &b->options, &b->result, &b->error), FDL_REFUSED,
              &b->error, "main.t", NULL);
    must(fdl_catalog_flush_inlined(&b->context, b->work, b->data, &b->error), &b->error);
    bench_freeze(b);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT sum(a)::BIGINT FROM t"), rows);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT count(*) FROM t WHERE b = 'it''s ü'"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stamp_stays_through_work, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(what_is_no_catalog_is_told, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(settling_brings_the_log_home_when_nobody_has_it_open, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(a_settled_catalog_keeps_its_bytes, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(inlined_rows_and_deletes_are_flushed_to_files, bench_make, bench_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
