/*
 * test_compare.c - when two published catalogs say the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lake.h"
#include "util/file.h"
#include "util/text.h"

static const char *made; /* what a.duckdb was made by */

static int make_folder(void **state) {
    made = NULL;
    return lake_setup(state);
}

/* Fails unless a.duckdb and b.duckdb differ first as told; NULL: unless they are the same. */
static void compare(const char *expected) {
    bool same = false;
    char *difference = NULL;
    fdl_error error;
    must(
        fdl_frozen_same(NULL, lake_path(lake_folder, "a.duckdb"), lake_path(lake_folder, "b.duckdb"), &same, &difference, &error),
        &error);
    if (difference != NULL && expected == NULL)
        fail_msg("%s", difference);
    if (difference == NULL && expected != NULL)
        fail_msg("the same, and should be: %s", expected);
    if (expected != NULL)
        assert_string_equal(difference, expected);
    assert_int_equal(same, expected == NULL);
    free(difference);
}

/* a.duckdb as `before` makes it, b.duckdb with `change` on top. */
static void change(const char *before, const char *after, const char *expected) {
    fdl_error error;
    if (made != before) {
        must(fdl_file_remove(lake_path(lake_folder, "a.duckdb"), &error), &error);
        lake_run(lake_folder, "a.duckdb", before);
        made = before;
    }
    lake_copy(lake_folder, "a.duckdb", "b.duckdb");
    lake_run(lake_folder, "b.duckdb", after);
    compare(expected);
}

static const char lake[] =
    "CREATE SCHEMA s; CREATE TABLE t (a INTEGER, b VARCHAR, n STRUCT(x INTEGER, y VARCHAR[]));"
    "INSERT INTO t VALUES (1, 'x', NULL), (2, 'y', NULL); INSERT INTO t VALUES (3, 'z', NULL);"
    "DELETE FROM t WHERE a = 1; CREATE TABLE s.u (k INTEGER); INSERT INTO s.u VALUES (1);"
    "CREATE VIEW v AS SELECT a FROM t; CREATE MACRO m(x, y := 3) AS x + y;"
    "COMMENT ON TABLE t IS 'first'; COMMENT ON COLUMN t.a IS 'of a'; COMMENT ON VIEW v IS 'a view';";

/* ---- the same ------------------------------------------------------------------- */

static void a_copy_is_the_same(void **state) {
    (void)state;
    change(lake, "SELECT 1", NULL);
}

static void a_file_is_the_same_as_itself(void **state) {
    bool same = false;
    char *difference = NULL;
    fdl_error error;
    const char *path = lake_path(lake_folder, "a.duckdb");
    (void)state;
    lake_run(lake_folder, "a.duckdb", lake);
    must(fdl_frozen_same(NULL, path, path, &same, &difference, &error), &error);
    assert_true(same);
    assert_null(difference);
}

/* Each undoes itself and leaves snapshots, history, and ids of tables and schemas behind. */
static void what_was_undone_makes_no_difference(void **state) {
    const char *const undone[] = {
        "CREATE TABLE w (a INTEGER); DROP TABLE w",
        "ALTER TABLE t RENAME TO w; ALTER TABLE w RENAME TO t",
        "ALTER TABLE t RENAME COLUMN b TO w; ALTER TABLE t RENAME COLUMN w TO b",
        "COMMENT ON TABLE t IS 'second'; COMMENT ON TABLE t IS 'first'",
        "COMMENT ON COLUMN t.b IS 'w'; COMMENT ON COLUMN t.b IS NULL",
        "ALTER TABLE t ADD COLUMN w INTEGER; ALTER TABLE t DROP COLUMN w",
        "ALTER TABLE t ALTER b SET DEFAULT 'w'; ALTER TABLE t ALTER b SET DEFAULT NULL",
        "INSERT INTO s.u VALUES (2); DELETE FROM s.u WHERE k = 2",
        "DROP VIEW v; CREATE VIEW v AS SELECT a FROM t; COMMENT ON VIEW v IS 'a view'",
        "DROP MACRO m; CREATE MACRO m(x, y := 3) AS x + y",
        "ALTER TABLE t SET PARTITIONED BY (a); ALTER TABLE t RESET PARTITIONED BY",
    };
    (void)state;
    for (size_t i = 0; i < sizeof undone / sizeof *undone; i++)
        change(lake, undone[i], NULL);
}

static void an_empty_table_made_again_is_the_same(void **state) {
    (void)state;
    change("CREATE SCHEMA s; CREATE TABLE s.t (a INTEGER DEFAULT 3 NOT NULL, b STRUCT(x INTEGER)); CREATE TABLE w (a "
           "DATE)",
           "DROP TABLE w; DROP TABLE s.t; DROP SCHEMA s; CREATE TABLE w (a DATE); CREATE SCHEMA s;"
           "CREATE TABLE s.t (a INTEGER DEFAULT 3 NOT NULL, b STRUCT(x INTEGER))",
           NULL);
}

/* Who wrote it, where its data is, and which of the two formats it is in. */
static void where_and_by_whom_it_was_written_makes_no_difference(void **state) {
    (void)state;
    lake_run(lake_folder, "a.duckdb", lake);
    lake_copy(lake_folder, "a.duckdb", "b.duckdb");
    lake_spoil(lake_folder, "b.duckdb",
               "UPDATE file.ducklake_metadata SET value = '0.4' WHERE key = 'version';"
               "UPDATE file.ducklake_metadata SET value = 'somebody' WHERE key = 'created_by';"
               "UPDATE file.ducklake_metadata SET value = 's3://elsewhere/' WHERE key = 'data_path'");
    compare(NULL);
}

/* ---- different -------------------------------------------------------------------- */

static void every_change_is_told(void **state) {
    const char *const changes[][2] = {
        {"CREATE SCHEMA w", "schema 'w' was added"},
        {"DROP SCHEMA s CASCADE", "schema 's' was removed"},
        {"CREATE TABLE w (a INTEGER)", "table 'main.w' was added"},
        {"DROP TABLE t", "table 'main.t' was removed"},
        {"ALTER TABLE s.u RENAME TO v", "table 's.u' was removed"},
        {"ALTER TABLE t ADD COLUMN c DATE", "table 'main.t': column 'c' was added"},
        {"ALTER TABLE t DROP COLUMN b", "table 'main.t': column 'b' was removed"},
        {"ALTER TABLE t RENAME COLUMN b TO c", "table 'main.t': column 'b' was removed"},
        {"ALTER TABLE t ALTER a TYPE BIGINT", "table 'main.t': column 'a' differs"},
        {"ALTER TABLE t ALTER a SET NOT NULL", "table 'main.t': column 'a' differs"},
        {"ALTER TABLE t ALTER a SET DEFAULT 4", "table 'main.t': column 'a' differs"},
        {"ALTER TABLE t ADD COLUMN n.z INTEGER", "table 'main.t': column 'n.z' was added"},
        {"ALTER TABLE t DROP COLUMN n.x", "table 'main.t': column 'n.x' was removed"},
        /* The name and the type are as before, the values are gone. */
        {"ALTER TABLE s.u ADD COLUMN l INTEGER; ALTER TABLE s.u DROP COLUMN k; ALTER TABLE s.u RENAME COLUMN l TO k",
         "table 's.u': column 'k' differs"},
        {"COMMENT ON TABLE t IS 'second'", "table 'main.t': the comment differs"},
        {"COMMENT ON TABLE t IS NULL", "table 'main.t': the comment was removed"},
        {"COMMENT ON TABLE s.u IS 'new'", "table 's.u': the comment was added"},
        {"COMMENT ON COLUMN t.a IS 'w'", "table 'main.t': the comment of column 'a' differs"},
        {"COMMENT ON COLUMN t.b IS 'w'", "table 'main.t': the comment of column 'b' was added"},
        {"CREATE VIEW w AS SELECT 1 AS x", "view 'main.w' was added"},
        {"CREATE OR REPLACE VIEW v AS SELECT b FROM t", "view 'main.v' differs"},
        {"CREATE OR REPLACE VIEW v(c) AS SELECT a FROM t", "view 'main.v' differs"},
        {"COMMENT ON VIEW v IS 'w'", "view 'main.v': the comment differs"},
        {"DROP VIEW v", "view 'main.v' was removed"},
        {"CREATE MACRO w(x) AS x", "macro 'main.w' was added"},
        {"DROP MACRO m; CREATE MACRO m(x, y := 3) AS x - y", "macro 'main.m' differs"},
        {"DROP MACRO m; CREATE MACRO m(x, y := 4) AS x + y", "macro 'main.m': parameter 'y' differs"},
        {"DROP MACRO m; CREATE MACRO m(x, y := 3) AS x + y, (x) AS x", "macro 'main.m' was added"},
        {"ALTER TABLE t SET PARTITIONED BY (a)", "table 'main.t': partition keys differ (1 added, 0 removed)"},
        {"ALTER TABLE t SET SORTED BY (a, b DESC)", "table 'main.t': sort keys differ (2 added, 0 removed)"},
        {"CALL lake.set_option('parquet_compression', 'zstd')", "option 'parquet_compression' was added"},
        {"CALL lake.set_option('parquet_compression', 'zstd', schema => 's')",
         "schema 's': option 'parquet_compression' was added"},
        {"CALL lake.set_option('parquet_compression', 'zstd', table_name => 't')",
         "table 'main.t': option 'parquet_compression' was added"},
        {"INSERT INTO t VALUES (4, 'w', NULL)", "table 'main.t': data files differ (1 added, 0 removed)"},
        {"DELETE FROM t WHERE a = 3", "table 'main.t': data files differ (0 added, 1 removed)"},
        {"DELETE FROM t WHERE a = 2", "table 'main.t': data files differ (0 added, 1 removed)"},
        {"INSERT INTO s.u VALUES (2); CALL ducklake_merge_adjacent_files('lake')",
         "table 's.u': data files differ (1 added, 1 removed)"},
        {"TRUNCATE s.u", "table 's.u': data files differ (0 added, 1 removed)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        change(lake, changes[i][0], changes[i][1]);
}

static void a_delete_alone_is_told(void **state) {
    (void)state;
    change("CREATE TABLE t (a INTEGER); INSERT INTO t SELECT range FROM range(10)", "DELETE FROM t WHERE a = 1",
           "table 'main.t': delete files differ (1 added, 0 removed)");
    change("CREATE TABLE t (a INTEGER); INSERT INTO t SELECT range FROM range(10); DELETE FROM t WHERE a = 1",
           "DELETE FROM t WHERE a = 2", "table 'main.t': delete files differ (1 added, 1 removed)");
}

/* The same ids and paths, and other meanings: what a rewritten history can do. */
static void other_meanings_under_the_same_names_are_told(void **state) {
    const char *const spoils[][2] = {
        {"UPDATE file.ducklake_data_file SET row_id_start = row_id_start + 1",
         "data files differ (2 added, 2 removed)"},
        {"UPDATE file.ducklake_data_file SET record_count = record_count + 1",
         "data files differ (2 added, 2 removed)"},
        {"UPDATE file.ducklake_data_file SET mapping_id = 5", "data files differ (2 added, 2 removed)"},
        {"UPDATE file.ducklake_delete_file SET delete_count = 2", "delete files differ (1 added, 1 removed)"},
        {"UPDATE file.ducklake_delete_file SET data_file_id = (SELECT max(data_file_id) FROM file.ducklake_data_file"
         " WHERE table_id = 2)",
         "delete files differ (1 added, 1 removed)"},
        {"UPDATE file.ducklake_column SET initial_default = '5' WHERE column_name = 'a'", "column 'a' differs"},
        {"UPDATE file.ducklake_column SET column_order = 10 - column_order WHERE parent_column IS NULL",
         "column 'a' differs"},
    };
    (void)state;
    lake_run(lake_folder, "a.duckdb",
             "CREATE SCHEMA s; CREATE TABLE t (a INTEGER, b INTEGER); INSERT INTO t VALUES (1, 1), (2, 2);"
             "INSERT INTO t VALUES (3, 3); DELETE FROM t WHERE a = 1");
    for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
        char expected[256];
        snprintf(expected, sizeof expected, "table 'main.t': %s", spoils[i][1]);
        lake_copy(lake_folder, "a.duckdb", "b.duckdb");
        lake_spoil(lake_folder, "b.duckdb", spoils[i][0]);
        compare(expected);
    }
}

static void the_names_inside_registered_files_are_told(void **state) {
    char sql[2048];
    fdl_error error;
    (void)state;
    snprintf(
        sql, sizeof sql,
        "CREATE TABLE t (a INTEGER); COPY (SELECT range::INTEGER AS a FROM range(7)) TO '%s/data/main/t/x.parquet';"
        "CALL ducklake_add_data_files('lake', 't', '%s/data/main/t/x.parquet')",
        lake_folder, lake_folder);
    must(fdl_folder_make(lake_path(lake_folder, "data/main/t"), &error), &error);
    lake_run(lake_folder, "a.duckdb", sql);
    lake_copy(lake_folder, "a.duckdb", "b.duckdb");
    compare(NULL);
    lake_spoil(lake_folder, "b.duckdb", "UPDATE file.ducklake_name_mapping SET source_name = 'other'");
    compare("table 'main.t': names in data files differ (1 added, 1 removed)");
}

static void a_name_is_told_on_one_line(void **state) {
    (void)state;
    change("CREATE TABLE t (a INTEGER)", "CREATE TABLE \"a\nb'\x1b[31m\" (a INTEGER)",
           "table 'main.a?b'?[31m' was added");
}

/* ---- all of them ------------------------------------------------------------------- */

typedef struct told {
    char lines[4096];
    int64_t added;
    int64_t removed;
} told;

static fdl_code write_down(void *data, const fdl_difference *difference, fdl_error *error) {
    told *t = data;
    size_t used = strlen(t->lines);
    (void)error;
    snprintf(t->lines + used, sizeof t->lines - used, "%s %s|", difference->kind, difference->text);
    t->added += difference->added;
    t->removed += difference->removed;
    return FDL_OK;
}

static void every_difference_is_listed_in_order(void **state) {
    told t = {0};
    fdl_error error;
    (void)state;
    lake_run(lake_folder, "a.duckdb", lake);
    lake_copy(lake_folder, "a.duckdb", "b.duckdb");
    lake_run(lake_folder, "b.duckdb",
             "DROP VIEW v; ALTER TABLE t ALTER a TYPE BIGINT; ALTER TABLE t DROP COLUMN b; INSERT INTO s.u VALUES (5);"
             "INSERT INTO s.u VALUES (6)");
    must(fdl_frozen_compare(NULL, lake_path(lake_folder, "a.duckdb"), lake_path(lake_folder, "b.duckdb"), write_down, &t, &error),
         &error);
    assert_string_equal(t.lines,
                        "column table 'main.t': column 'a' differs|column table 'main.t': column 'b' was removed|"
                        "view view 'main.v' was removed|view_tag view 'main.v': the comment was removed|"
                        "data_file table 's.u': data files differ (2 added, 0 removed)|");
    assert_int_equal(t.added, 3);
    assert_int_equal(t.removed, 4);
}

static void what_cannot_be_read_is_refused_by_name(void **state) {
    bool same = false;
    char *difference = NULL;
    fdl_error error;
    (void)state;
    lake_run(lake_folder, "a.duckdb", lake);
    must_fail(
        fdl_frozen_same(NULL, lake_path(lake_folder, "a.duckdb"), lake_path(lake_folder, "b.duckdb"), &same, &difference, &error),
        FDL_NOT_FOUND, &error, "b.duckdb", NULL);
    lake_spoil(lake_folder, "b.duckdb", "CREATE TABLE file.t (a INTEGER)");
    must_fail(
        fdl_frozen_same(NULL, lake_path(lake_folder, "a.duckdb"), lake_path(lake_folder, "b.duckdb"), &same, &difference, &error),
        FDL_REFUSED, &error, "b.duckdb", NULL);
    lake_copy(lake_folder, "a.duckdb", "b.duckdb");
    lake_spoil(lake_folder, "b.duckdb", "CREATE TABLE file.ducklake_inlined_data_1_1 AS SELECT 1 AS a");
    must_fail(
        fdl_frozen_same(NULL, lake_path(lake_folder, "a.duckdb"), lake_path(lake_folder, "b.duckdb"), &same, &difference, &error),
        FDL_REFUSED, &error, "b.duckdb", "inlined", NULL);
    assert_null(difference);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, make_folder, lake_teardown)
    const struct CMUnitTest tests[] = {
        T(a_copy_is_the_same),
        T(a_file_is_the_same_as_itself),
        T(what_was_undone_makes_no_difference),
        T(an_empty_table_made_again_is_the_same),
        T(where_and_by_whom_it_was_written_makes_no_difference),
        T(every_change_is_told),
        T(a_delete_alone_is_told),
        T(other_meanings_under_the_same_names_are_told),
        T(the_names_inside_registered_files_are_told),
        T(a_name_is_told_on_one_line),
        T(every_difference_is_listed_in_order),
        T(what_cannot_be_read_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
