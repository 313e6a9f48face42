/*
 * test_rows.c - which files are brought for comparing rows, and what keeps them
 * from being compared.  Which rows are the same is for tests/e2e/test_rows.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "lake.h"
#include "util/file.h"

static int brought; /* by several threads */

static int make_folder(void **state) {
    brought = 0;
    return lake_setup(state);
}

static fdl_code bring(void *data, const char *path, const char *target, fdl_error *error) {
    char from[4096];
    (void)data;
    snprintf(from, sizeof from, "%s/data/%s", lake_folder, path);
    __atomic_add_fetch(&brought, 1, __ATOMIC_RELAXED);
    return symlink(from, target) == 0 ? FDL_OK : fdl_fail(error, FDL_FAILED, target, "no link '%s'", target);
}

static fdl_code bring_nothing(void *data, const char *path, const char *target, fdl_error *error) {
    (void)data, (void)target;
    return fdl_fail(error, FDL_NOT_FOUND, path, "'%s' is not there", path);
}

static fdl_code compare(fdl_code (*how)(void *, const char *, const char *, fdl_error *), bool *same, fdl_error *error) {
    char scratch[4096], data[4096], *difference = NULL;
    const char *folders[] = {data};
    snprintf(scratch, sizeof scratch, "%s/scratch", lake_folder);
    snprintf(data, sizeof data, "%s/data/", lake_folder);
    must(fdl_folder_remove(scratch, error), error);
    must(fdl_folder_make(scratch, error), error);
    fdl_rows_place place = {.scratch = scratch, .folders = folders, .folder_count = 1, .bring = how};
    fdl_code code = fdl_frozen_same_rows(NULL, lake_path(lake_folder, "a.duckdb"), lake_path(lake_folder, "b.duckdb"), &place, same,
                                         &difference, error);
    assert_true(code == FDL_OK || difference == NULL);
    free(difference);
    return code;
}

/* b.duckdb is a.duckdb with more done to it. */
static bool same_after(const char *before, const char *after) {
    bool same = false;
    fdl_error error;
    lake_run(lake_folder, "a.duckdb", before);
    lake_copy(lake_folder, "a.duckdb", "b.duckdb");
    lake_run(lake_folder, "b.duckdb", after);
    must(compare(bring, &same, &error), &error);
    return same;
}

#define TEN_FILES                                                                       \
    "CREATE TABLE t (k INTEGER, v INTEGER); ALTER TABLE t SET PARTITIONED BY (k);"      \
    "INSERT INTO t SELECT range % 10, range FROM range(100)"

static void only_files_that_not_both_have_are_brought(void **state) {
    (void)state;
    assert_true(same_after(TEN_FILES, "CREATE TEMP TABLE kept AS FROM t WHERE k < 2; DELETE FROM t WHERE k < 2;"
                                      "INSERT INTO t FROM kept ORDER BY v DESC"));
    assert_int_equal(brought, 4);
}

static void nothing_is_brought_where_the_counts_tell(void **state) {
    (void)state;
    assert_false(same_after(TEN_FILES, "INSERT INTO t VALUES (3, 3)"));
    assert_int_equal(brought, 0);
}

static void a_delete_file_is_brought_with_its_data(void **state) {
    (void)state;
    assert_false(same_after("CREATE TABLE t AS SELECT range AS i FROM range(10)", "UPDATE t SET i = 77 WHERE i = 3"));
    assert_int_equal(brought, 3); /* the old file, which is read otherwise now, its deletes, the new row */
}

static void a_file_that_cannot_be_brought_is_an_error_and_no_answer(void **state) {
    (void)state;
    bool same = true;
    fdl_error error;
    assert_false(same_after(TEN_FILES, "UPDATE t SET v = -1 WHERE v = 5"));
    must_fail(compare(bring_nothing, &same, &error), FDL_NOT_FOUND, &error, "is not there", NULL);
    assert_false(same);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, make_folder, lake_teardown)
    const struct CMUnitTest tests[] = {
        T(only_files_that_not_both_have_are_brought),
        T(nothing_is_brought_where_the_counts_tell),
        T(a_delete_file_is_brought_with_its_data),
        T(a_file_that_cannot_be_brought_is_an_error_and_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
