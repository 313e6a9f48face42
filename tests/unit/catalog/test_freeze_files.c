/*
 * test_freeze_files.c - one file under many names, and files that are elsewhere.
 */
#include <unistd.h>

#include "catalog/lake_path.h"
#include "util/file.h"
#include "util/text.h"
#include "work.h"

/* A table with one file, which lies at <data>main/t/x.parquet; returns its absolute path. */
static const char *one_file(bench *b) {
    static char path[1024];
    char from[1024];
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t VALUES (1)");
    snprintf(from, sizeof from, "%smain/t/%s", b->data, sqlite_text(b->work, "SELECT path FROM ducklake_data_file"));
    snprintf(path, sizeof path, "%smain/t/x.parquet", b->data);
    must(fdl_file_rename(from, path, &b->error), &b->error);
    sqlite_run(b->work, "UPDATE ducklake_data_file SET path = 'x.parquet'");
    return path;
}

static void name_file(bench *b, const char *path) {
    char sql[4096];
    char quoted[2048] = "";
    for (size_t i = 0; path[i] != '\0'; i++)
        snprintf(quoted + strlen(quoted), sizeof quoted - strlen(quoted), path[i] == '\'' ? "''" : "%c", path[i]);
    snprintf(sql, sizeof sql, "UPDATE ducklake_data_file SET path = '%s', path_is_relative = 0", quoted);
    sqlite_run(b->work, sql);
}

/* The file named so is published as t's x.parquet. */
static void becomes_relative(bench *b, const char *path) {
    name_file(b, path);
    bench_freeze(b);
    assert_int_equal(
        duck_count(b->frozen, "SELECT count(*) FROM ducklake_data_file WHERE path = 'x.parquet' AND path_is_relative"),
        1);
    must(fdl_file_remove(b->frozen, &b->error), &b->error);
}

static void every_spelling_of_a_local_path_is_the_same_file(void **state) {
    bench *b = *state;
    const char *path = one_file(b);
    char spelling[4096];
    becomes_relative(b, path);
    snprintf(spelling, sizeof spelling, "%s/data//main/./t/x.parquet", b->folder);
    becomes_relative(b, spelling);
    snprintf(spelling, sizeof spelling, "%s/data/main/u/../t/x.parquet", b->folder);
    becomes_relative(b, spelling);
    snprintf(spelling, sizeof spelling, "file://%s", path);
    becomes_relative(b, spelling);
    /* through a link to the folder, and a link to the file */
    assert_int_equal(symlink(b->data, lake_path(b->folder, "link")), 0);
    becomes_relative(b, lake_path(b->folder, "link/main/t/x.parquet"));
    assert_int_equal(symlink(path, lake_path(b->folder, "alias.parquet")), 0);
    becomes_relative(b, lake_path(b->folder, "alias.parquet"));
    /* the folder given through a link, the file not */
    const char *const roots[] = {lake_path(b->folder, "link")};
    b->options.roots = roots;
    becomes_relative(b, path);
    assert_int_equal(bench_ask(b, b->work, "SELECT count(*) FROM t"), 1);
}

static void urls_are_decoded_and_buckets_are_not(void **state) {
    bench *b = *state;
    one_file(b);
    const char *const roots[] = {"", "https://example.org/my lake/data", "s3://bucket/a%20b/"};
    b->options.roots = roots;
    b->options.root_count = 3;
    becomes_relative(b, "https://example.org/my%20lake/data/main/t/x.parquet");
    becomes_relative(b, "https://example.org/my lake/data/main/%74/x%2Eparquet");
    becomes_relative(b, "s3://bucket/a%20b/main/t/x.parquet");
    name_file(b, "s3://bucket/a b/main/t/x.parquet");
    bench_refused(b, "outside the data folder", "'s3://bucket/a b/main/t/x.parquet'", NULL);
    name_file(b, "https://example.org/my%20lake/data/main/t/x.parquet?version=1");
    bench_refused(b, "outside the data folder", NULL);
    name_file(b, "https://example.org/my%20lake/data/main/t/%2e%2e/x.parquet");
    bench_refused(b, "outside the data folder", NULL);
    name_file(b, "https://example.org/my%20lake/database/main/t/x.parquet");
    bench_refused(b, "outside the data folder", NULL);
}

static void files_elsewhere_are_listed_the_first_few_with_their_count(void **state) {
    bench *b = *state;
    char sql[1024];
    one_file(b);
    snprintf(
        sql, sizeof sql,
        "UPDATE ducklake_data_file SET path = '%s/elsewhere-0.parquet', path_is_relative = 0; WITH RECURSIVE n(i) AS "
        "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 11) INSERT INTO ducklake_data_file SELECT i, 1, 1, NULL, "
        "NULL, "
        "'/elsewhere-' || i || '.parquet', 0, 'parquet', 1, 1, 1, 0, NULL, NULL, NULL, NULL FROM n",
        b->folder);
    sqlite_run(b->work, sql);
    bench_refused(b, "12 files lie outside the data folder", "elsewhere-0.parquet'", "'/elsewhere-4.parquet'", "...",
                  "move", NULL);
    assert_null(strstr(b->error.message, "elsewhere-5"));
}

static void a_file_in_another_folder_of_the_lake_must_be_moved(void **state) {
    bench *b = *state;
    char path[1024];
    one_file(b);
    snprintf(path, sizeof path, "%smain/other/x.parquet", b->data);
    name_file(b, path);
    bench_refused(b, "1 file lies in the data folder, but not in its table's folder", "other/x.parquet'", NULL);
}

static void relative_paths_cannot_lead_out(void **state) {
    bench *b = *state;
    static const char *const paths[] = {"../x.parquet", "/x.parquet", "a/../../x", "a//b", ".", "", "x\n"};
    one_file(b);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        name_file(b, paths[i]);
        sqlite_run(b->work, "UPDATE ducklake_data_file SET path_is_relative = 1");
        bench_refused(b, "outside the data folder", NULL);
    }
    sqlite_run(b->work, "UPDATE ducklake_data_file SET path = 'x.parquet'; UPDATE ducklake_table SET path = '/t/', "
                        "path_is_relative = 0");
    bench_refused(b, "table 't'", "outside the data folder", NULL);
    sqlite_run(
        b->work,
        "UPDATE ducklake_table SET path = 't/', path_is_relative = 1; UPDATE ducklake_schema SET path = '../main/'");
    bench_refused(b, "table 't'", NULL);
}

static void delete_files_are_named_like_data_files(void **state) {
    bench *b = *state;
    char sql[2048];
    bench_run(b, "CREATE TABLE t(a INT); INSERT INTO t FROM range(10); DELETE FROM t WHERE a < 4");
    snprintf(sql, sizeof sql, "UPDATE ducklake_delete_file SET path = '%smain/t/' || path, path_is_relative = 0",
             b->data);
    sqlite_run(b->work, sql);
    bench_freeze(b);
    assert_int_equal(
        duck_count(b->frozen,
                   "SELECT count(*) FROM ducklake_delete_file WHERE path_is_relative AND path NOT LIKE '%/%'"),
        1);
    assert_int_equal(bench_ask(b, b->frozen, "SELECT count(*) FROM t"), 6);
    must(fdl_file_remove(b->frozen, &b->error), &b->error);
    sqlite_run(b->work, "UPDATE ducklake_delete_file SET path = '/tmp/d.parquet'");
    bench_refused(b, "'/tmp/d.parquet'", NULL);
}

static void a_path_that_urls_read_differently_is_told(void **state) {
    bench *b = *state;
    one_file(b);
    bench_freeze(b);
    assert_string_equal(b->notes, "");
    sqlite_run(b->work, "UPDATE ducklake_data_file SET path = 'a%20b.parquet'");
    bench_freeze(b);
    assert_non_null(strstr(b->notes, "1 file has '%', '?', '#' or '*' in the path"));
    assert_non_null(strstr(b->notes, "'main/t/a%20b.parquet'"));
}

static void paths_of_dead_files_do_not_matter(void **state) {
    bench *b = *state;
    one_file(b);
    name_file(b, "/elsewhere/x.parquet");
    sqlite_run(b->work, "UPDATE ducklake_data_file SET end_snapshot = 2");
    bench_freeze(b);
}

static void parts_of_a_path_are_looked_at(void **state) {
    (void)state;
    static const char *const good[] = {"a", "a/b", "a b/ü.parquet", "..a/b..", "a.b/...", "a\\b", "-", "%2e%2e/x"};
    static const char *const bad[] = {"",    "/",   "/a",     "a/",   "a//b", ".",     "..",
                                      "./a", "a/.", "a/../b", "../a", "a\tb", "a\x7f", "a\xff"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(fdl_lake_path_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(fdl_lake_path_valid(bad[i], strlen(bad[i])));
    assert_false(fdl_lake_path_valid("a\0b", 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_spelling_of_a_local_path_is_the_same_file, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(urls_are_decoded_and_buckets_are_not, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(files_elsewhere_are_listed_the_first_few_with_their_count, bench_make,
                                        bench_drop),
        cmocka_unit_test_setup_teardown(a_file_in_another_folder_of_the_lake_must_be_moved, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(relative_paths_cannot_lead_out, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(delete_files_are_named_like_data_files, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(a_path_that_urls_read_differently_is_told, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(paths_of_dead_files_do_not_matter, bench_make, bench_drop),
        cmocka_unit_test(parts_of_a_path_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
