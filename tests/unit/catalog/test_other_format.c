/*
 * test_other_format.c - the same catalog in another format: written or named as
 * impossible, and every other one told apart from it.  What old DuckDBs read in
 * them is for tests/e2e/test_old_readers.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/other_format.h"
#include "lake.h"
#include "util/file.h"

/* Writes a.duckdb as <name>; what stands in the way must be `expected`, NULL for nothing. */
static void write_as(const char *format, const char *name, const char *expected) {
    char *obstacle = NULL;
    fdl_error error;
    must(fdl_other_write(NULL, lake_path(lake_folder, "a.duckdb"), format, lake_path(lake_folder, name), &obstacle, &error), &error);
    if (expected)
        assert_non_null(obstacle);
    if (obstacle)
        assert_string_equal(obstacle, expected ? expected : "");
    assert_int_equal(fdl_file_exists(lake_path(lake_folder, name)), expected == NULL);
    free(obstacle);
}

/* What is wrong with <name>, which calls itself `format`; "" when it is as it should be. */
static const char *wrong(const char *format, const char *name) {
    static char text[512];
    char *difference = NULL;
    fdl_error error;
    must(fdl_other_check(NULL, lake_path(lake_folder, "a.duckdb"), lake_path(lake_folder, name), format, &difference, &error), &error);
    snprintf(text, sizeof text, "%s", difference ? difference : "");
    free(difference);
    return text;
}

static void each_format_has_its_storage_and_says_the_same(void **state) {
    (void)state;
    lake_run(lake_folder, "a.duckdb", "CREATE TABLE t AS SELECT range AS i, {'x': 1} AS s FROM range(9); DELETE FROM t WHERE i = 3;"
                                 "CREATE VIEW v AS SELECT i FROM t");
    static const char *const formats[][2] = {{"0.3", "v1.0.0"}, {"0.4", "v1.5.0"}, {"1.0", "v1.5.0"}};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(fdl_other_storage(formats[i][0]), formats[i][1]);
        write_as(formats[i][0], formats[i][0], NULL);
        assert_string_equal(wrong(formats[i][0], formats[i][0]), "");
        assert_string_not_equal(wrong("0.9", formats[i][0]), "");
    }
    assert_null(fdl_other_storage("0.2"));
    assert_null(fdl_other_storage(""));
}

static void what_cannot_be_said_is_named_and_nothing_is_written(void **state) {
    (void)state;
    lake_run(lake_folder, "a.duckdb", "CREATE TABLE t (i INTEGER); CREATE MACRO plus(x) AS x + 1");
    write_as("0.3", "b.duckdb", "the macro 'main.plus'");
    write_as("0.4", "b.duckdb", NULL);
}

static void what_is_there_is_not_overwritten(void **state) {
    (void)state;
    char *obstacle = NULL;
    fdl_error error;
    lake_run(lake_folder, "a.duckdb", "CREATE TABLE t (i INTEGER)");
    must(fdl_file_write(lake_path(lake_folder, "b.duckdb"), "mine", 4, &error), &error);
    must_fail(fdl_other_write(NULL, lake_path(lake_folder, "a.duckdb"), "0.3", lake_path(lake_folder, "b.duckdb"), &obstacle, &error),
              FDL_CONFLICT, &error, "b.duckdb", NULL);
    must_fail(fdl_other_write(NULL, lake_path(lake_folder, "a.duckdb"), "0.2", lake_path(lake_folder, "c.duckdb"), &obstacle, &error),
              FDL_UNSUPPORTED, &error, "0.2", NULL);
}

/* Each thing that a reader goes by, changed behind the back of the main catalog. */
static void every_other_catalog_is_told(void **state) {
    (void)state;
    static const char *const forgeries[][2] = {
        {"UPDATE file.ducklake_data_file SET path = 'x.parquet'", "ducklake_data_file"},
        {"UPDATE file.ducklake_data_file SET record_count = record_count + 1", "ducklake_data_file"},
        {"DELETE FROM file.ducklake_delete_file", "ducklake_delete_file"},
        {"UPDATE file.ducklake_column SET column_name = 'j' WHERE column_name = 'i'", "ducklake_column"},
        {"UPDATE file.ducklake_column SET column_type = 'varchar'", "ducklake_column"},
        {"UPDATE file.ducklake_table SET table_name = 'u'", "ducklake_table"},
        {"UPDATE file.ducklake_view SET view_name = 'w'", "ducklake_view"},
        {"UPDATE file.ducklake_snapshot SET snapshot_id = snapshot_id + 1", "ducklake_snapshot"},
        {"UPDATE file.ducklake_metadata SET value = '1.0' WHERE key = 'version'", "format '0.3'"},
        {"DROP TABLE file.ducklake_name_mapping", "not a DuckLake catalog"},
        {"ALTER TABLE file.ducklake_column DROP COLUMN nulls_allowed", "nulls_allowed"},
        {"ALTER TABLE file.ducklake_view RENAME TO kept; CREATE VIEW file.ducklake_view AS FROM kept", "not a DuckLake catalog"},
    };
    fdl_error error;
    lake_run(lake_folder, "a.duckdb", "CREATE TABLE t AS SELECT range AS i FROM range(9); DELETE FROM t WHERE i = 3;"
                                 "CREATE VIEW v AS SELECT i FROM t");
    write_as("0.3", "b.duckdb", NULL);
    for (size_t i = 0; i < sizeof forgeries / sizeof *forgeries; i++) {
        must(fdl_file_remove(lake_path(lake_folder, "c.duckdb"), &error), &error);
        lake_copy(lake_folder, "b.duckdb", "c.duckdb");
        lake_spoil(lake_folder, "c.duckdb", forgeries[i][0]);
        if (!strstr(wrong("0.3", "c.duckdb"), forgeries[i][1]))
            fail_msg("%s: '%s'", forgeries[i][0], wrong("0.3", "c.duckdb"));
    }
    must(fdl_file_write(lake_path(lake_folder, "d.duckdb"), "no database", 11, &error), &error);
    assert_string_not_equal(wrong("0.3", "d.duckdb"), "");
    must(fdl_file_write(lake_path(lake_folder, "b.duckdb.wal"), "x", 1, &error), &error);
    assert_string_equal(wrong("0.3", "b.duckdb"), "there is a log beside it");
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, lake_setup, lake_teardown)
    const struct CMUnitTest tests[] = {
        T(each_format_has_its_storage_and_says_the_same),
        T(what_cannot_be_said_is_named_and_nothing_is_written),
        T(what_is_there_is_not_overwritten),
        T(every_other_catalog_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
