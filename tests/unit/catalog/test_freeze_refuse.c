/*
 * test_freeze_refuse.c - what must not be published, named.
 */
#include "util/file.h"
#include "work.h"

/* A table with a file and deletes, a view, a mapping is none; then the SQL of a vandal. */
static void spoil(bench *b, const char *sql) {
    bench_run(b, "CREATE TABLE t(a INT, b VARCHAR); INSERT INTO t SELECT n, 'x' FROM range(10) r(n); "
                 "DELETE FROM t WHERE a = 3; CREATE VIEW v AS SELECT 1 AS x");
    sqlite_run(b->work, sql);
}

static void what_is_no_ducklake_catalog(void **state) {
    bench *b = *state;
    must(fdl_file_write(b->work, "hello, this is no database at all", 33, &b->error), &b->error);
    bench_refused(b, "not a SQLite database", NULL);
    must(fdl_file_remove(b->work, &b->error), &b->error);
    must(fdl_file_write(b->work, "", 0, &b->error), &b->error);
    bench_refused(b, "not a DuckLake catalog", NULL);
    sqlite_run(b->work, "CREATE TABLE x(a)");
    bench_refused(b, "not a DuckLake catalog", NULL);
}

static void another_format(void **state) {
    bench *b = *state;
    spoil(b, "UPDATE ducklake_metadata SET value = '0.4' WHERE key = 'version'");
    bench_refused(b, "'0.4'", NULL);
    sqlite_run(b->work, "DELETE FROM ducklake_metadata WHERE key = 'version'");
    bench_refused(b, "metadata", NULL);
}

static void tables_and_columns_nobody_would_read(void **state) {
    bench *b = *state;
    spoil(b, "CREATE TABLE ducklake_new_thing(a)");
    bench_freeze(b); /* an empty one says nothing */
    must(fdl_file_remove(b->frozen, &b->error), &b->error);
    sqlite_run(b->work, "INSERT INTO ducklake_new_thing VALUES (1)");
    bench_refused(b, "'ducklake_new_thing'", NULL);
    sqlite_run(b->work, "DROP TABLE ducklake_new_thing; CREATE TABLE \"my \"\" table\" AS SELECT 1");
    bench_refused(b, "'my \" table'", NULL);
    sqlite_run(b->work, "DROP TABLE \"my \"\" table\"; ALTER TABLE ducklake_table ADD COLUMN color VARCHAR");
    bench_refused(b, "'ducklake_table'", "'color'", NULL);
    sqlite_run(b->work, "ALTER TABLE ducklake_table DROP COLUMN color; DROP TABLE ducklake_sort_info");
    bench_refused(b, "27 of 28 tables", NULL);
}

static void inlined_rows(void **state) {
    bench *b = *state;
    bench_run_inlining(
        b, "CREATE SCHEMA s; CREATE TABLE t(a INT); CREATE TABLE s.\"u'v\"(a INT); CREATE TABLE dead(a INT); "
           "INSERT INTO t VALUES (1), (2); INSERT INTO s.\"u'v\" VALUES (1); INSERT INTO dead VALUES (1); "
           "DROP TABLE dead");
    bench_refused(b, "'main.t', 's.u'v'", "ducklake_flush_inlined_data", "--flush-inlined", NULL);
    assert_null(strstr(b->error.message, "dead"));
    bench_run_inlining(b, "DELETE FROM t; DROP TABLE s.\"u'v\"");
    bench_freeze(b);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT count(*) FROM t"), 0);
}

static void inlined_deletes(void **state) {
    bench *b = *state;
    bench_run_inlining(b, "CREATE TABLE t(a INT); INSERT INTO t FROM range(100); DELETE FROM t WHERE a = 5");
    assert_int_equal(sqlite_count(b->work, "SELECT count(*) FROM ducklake_inlined_delete_1"), 1);
    bench_refused(b, "'main.t'", "--flush-inlined", NULL);
    bench_run_inlining(b, "DROP TABLE t");
    bench_freeze(b);
}

static void encryption_unless_allowed(void **state) {
    bench *b = *state;
    spoil(b, "UPDATE ducklake_metadata SET value = 'true' WHERE key = 'encrypted'");
    bench_refused(b, "encrypted", "--allow-encrypted", NULL);
    sqlite_run(b->work, "UPDATE ducklake_metadata SET value = 'false' WHERE key = 'encrypted'; "
                        "UPDATE ducklake_data_file SET encryption_key = 'a2V5'");
    bench_refused(b, "encrypted", NULL);
    b->options.allow_encrypted = true;
    bench_freeze(b);
}

static void dangling_rows(void **state) {
    bench *b = *state;
    static const struct {
        const char *spoil;
        const char *mend;
        const char *text;
    } cases[] = {
        {"UPDATE ducklake_data_file SET table_id = 9", "UPDATE ducklake_data_file SET table_id = 1", "table 9"},
        {"UPDATE ducklake_delete_file SET data_file_id = 8", "UPDATE ducklake_delete_file SET data_file_id = 0",
         "data file 8"},
        {"UPDATE ducklake_file_column_stats SET data_file_id = 7",
         "UPDATE ducklake_file_column_stats SET data_file_id = 0", "data file 7"},
        {"UPDATE ducklake_column SET table_id = 6 WHERE column_id = 1", "UPDATE ducklake_column SET table_id = 1",
         "table 6"},
        {"UPDATE ducklake_table SET schema_id = 5", "UPDATE ducklake_table SET schema_id = 0", "schema 5"},
        {"UPDATE ducklake_view SET schema_id = 4", "UPDATE ducklake_view SET schema_id = 0", "schema 4"},
        {"UPDATE ducklake_data_file SET mapping_id = 3", "UPDATE ducklake_data_file SET mapping_id = NULL",
         "mapping 3"},
        {"UPDATE ducklake_table_stats SET table_id = 11", "UPDATE ducklake_table_stats SET table_id = 1", "table 11"},
        {"INSERT INTO ducklake_name_mapping(mapping_id) VALUES (2)", "DELETE FROM ducklake_name_mapping", "mapping 2"},
        {"INSERT INTO ducklake_macro_impl(macro_id) VALUES (12)", "DELETE FROM ducklake_macro_impl", "macro 12"},
        {"INSERT INTO ducklake_tag VALUES (55, 0, NULL, 'k', 'v')", "DELETE FROM ducklake_tag", "object 55"},
        {"INSERT INTO ducklake_metadata VALUES ('k', 'v', 'galaxy', 1)",
         "DELETE FROM ducklake_metadata WHERE key = 'k'", "'galaxy'"},
        {"UPDATE ducklake_schema SET end_snapshot = 1", "UPDATE ducklake_schema SET end_snapshot = NULL", "schema 0"},
    };
    spoil(b, "UPDATE ducklake_data_file SET partition_id = 77"); /* this one alone is allowed */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sqlite_run(b->work, cases[i].spoil);
        bench_refused(b, cases[i].text, NULL);
        sqlite_run(b->work, cases[i].mend);
    }
    bench_freeze(b);
}

static void values_of_a_wrong_type(void **state) {
    bench *b = *state;
    static const struct {
        const char *spoil;
        const char *text;
    } cases[] = {
        {"UPDATE ducklake_data_file SET record_count = 'many'", "'ducklake_data_file.record_count'"},
        {"UPDATE ducklake_data_file SET record_count = 1.5", "'ducklake_data_file.record_count'"},
        {"UPDATE ducklake_data_file SET path_is_relative = 2", "'ducklake_data_file.path_is_relative'"},
        {"UPDATE ducklake_data_file SET path_is_relative = NULL", "'ducklake_data_file.path_is_relative'"},
        {"UPDATE ducklake_data_file SET path = NULL", "'ducklake_data_file.path'"},
        {"UPDATE ducklake_data_file SET end_snapshot = 'never'", "'ducklake_data_file.end_snapshot'"},
        {"UPDATE ducklake_data_file SET data_file_id = NULL", "'data_file_id'"},
        {"UPDATE ducklake_column SET column_name = x'ff00'", "'ducklake_column.column_name'"},
        {"UPDATE ducklake_column SET column_name = CAST(x'c3' AS TEXT)", "UTF-8"},
        {"UPDATE ducklake_column SET default_value = CAST(x'eda080' AS TEXT)", "UTF-8"},
        {"UPDATE ducklake_table SET table_uuid = 'not a uuid'", "a UUID"},
        {"UPDATE ducklake_snapshot SET snapshot_time = 'yesterday'", "a time"},
        {"UPDATE ducklake_file_column_stats SET contains_nan = 'no'", "'ducklake_file_column_stats.contains_nan'"},
    };
    spoil(b, "SELECT 1");
    must(fdl_file_copy(b->work, lake_path(b->folder, "good.sqlite"), &b->error), &b->error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lake_copy(b->folder, "good.sqlite", "w.sqlite");
        sqlite_run(b->work, cases[i].spoil);
        bench_refused(b, cases[i].text, NULL);
    }
}

static void two_things_with_one_id(void **state) {
    bench *b = *state;
    spoil(b, "INSERT INTO ducklake_table SELECT * FROM ducklake_table");
    bench_refused(b, "id 1", "'ducklake_table'", NULL);
    sqlite_run(b->work, "DELETE FROM ducklake_table WHERE rowid = 2; UPDATE ducklake_view SET view_id = 1");
    bench_refused(b, "id 1", "'ducklake_view'", NULL);
    sqlite_run(b->work, "UPDATE ducklake_view SET view_id = 2; UPDATE ducklake_column SET column_id = 1");
    bench_refused(b, "columns", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_no_ducklake_catalog, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(another_format, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(tables_and_columns_nobody_would_read, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(inlined_rows, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(inlined_deletes, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(encryption_unless_allowed, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(dangling_rows, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(values_of_a_wrong_type, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(two_things_with_one_id, bench_make, bench_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
