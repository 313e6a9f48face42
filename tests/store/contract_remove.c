/*
 * contract_remove.c - the promises about deleting many objects at once, and for
 * good.
 */
#include "store/contract.h"
#include "store/contract_tests.h"
#include "util/text.h"

static fdl_code put(fdl_store *store, const char *key, fdl_error *error) {
    fdl_source source = {.bytes = key, .length_bytes = strlen(key)};
    return fdl_store_put(store, key, &source, (fdl_condition){.kind = FDL_ALWAYS}, NULL, error);
}

static void put_all(fdl_store *store, const char *const *keys, size_t count) {
    fdl_error error;
    for (size_t i = 0; i < count; i++)
        expect_ok(put(store, keys[i], &error), &error);
}

static fdl_code count_entry(void *count, const fdl_entry *entry, fdl_error *error) {
    (void)entry;
    (void)error;
    ++*(size_t *)count;
    return FDL_OK;
}

static size_t objects_in(fdl_store *store) {
    fdl_error error;
    size_t count = 0;
    expect_ok(fdl_store_list(store, "", FDL_ALL_LEVELS, count_entry, &count, &error), &error);
    return count;
}

static void test_many_are_removed_and_no_others(void **state) {
    fdl_error error;
    static const char *const gone[] = {"data/a & b.parquet", "data/<c>'\"d.parquet", "data/\xc3\xbc/100%.parquet",
                                       "data/a+b c.parquet"};
    static const char *const kept[] = {"data/a & b.parquet2", "data/a", "lake2/data/x"};
    put_all(*state, gone, 4);
    put_all(*state, kept, 3);
    expect_ok(fdl_store_remove_many(*state, gone, 4, &error), &error);
    assert_int_equal(objects_in(*state), 3);
    for (size_t i = 0; i < 3; i++) {
        fdl_object object;
        expect_ok(fdl_store_head(*state, kept[i], &object, &error), &error);
    }
}

static void test_missing_ones_count_as_removed(void **state) {
    fdl_error error;
    static const char *const keys[] = {"never/there", "a/b", "a/never"};
    expect_ok(put(*state, "a/b", &error), &error);
    expect_ok(fdl_store_remove_many(*state, keys, 3, &error), &error);
    expect_ok(fdl_store_remove_many(*state, keys, 3, &error), &error);
    expect_ok(fdl_store_remove_many(*state, NULL, 0, &error), &error);
    assert_int_equal(objects_in(*state), 0);
}

/* More than fit into one request of S3. */
static void test_more_than_one_request_takes(void **state) {
    enum { COUNT = FDL_REMOVE_MANY_LIMIT + 7, THERE = 12 };
    fdl_error error;
    char **keys = calloc(COUNT, sizeof *keys);
    assert_non_null(keys);
    for (size_t i = 0; i < COUNT; i++)
        expect_ok(fdl_str_format(&keys[i], &error, "data/%04zu.parquet", i), &error);
    put_all(*state, (const char *const *)keys, THERE / 2);
    put_all(*state, (const char *const *)keys + COUNT - THERE / 2, THERE / 2);
    expect_ok(put(*state, "data/kept.parquet", &error), &error);
    expect_ok(fdl_store_remove_many(*state, (const char *const *)keys, COUNT, &error), &error);
    assert_int_equal(objects_in(*state), 1);
    for (size_t i = 0; i < COUNT; i++)
        free(keys[i]);
    free(keys);
}

static void test_a_name_that_is_no_key_removes_nothing(void **state) {
    fdl_error error;
    static const char *const keys[] = {"a", "../b"};
    expect_ok(put(*state, "a", &error), &error);
    expect_code(FDL_USAGE, fdl_store_remove_many(*state, keys, 2, &error), &error);
    assert_int_equal(objects_in(*state), 1);
}

static void test_a_purged_object_is_gone_and_a_missing_one_is_no_error(void **state) {
    fdl_error error;
    fdl_object object;
    expect_ok(put(*state, "a/b", &error), &error);
    expect_ok(put(*state, "a/b", &error), &error);
    expect_ok(put(*state, "a/bc", &error), &error);
    expect_ok(fdl_store_purge(*state, "a/b", &error), &error);
    expect_code(FDL_NOT_FOUND, fdl_store_head(*state, "a/b", &object, &error), &error);
    expect_ok(fdl_store_purge(*state, "a/b", &error), &error);
    assert_int_equal(objects_in(*state), 1);
}

/* Stores tell whole seconds at times, and their own clock may be another than ours. */
static void test_the_clock_is_the_one_that_objects_are_dated_by(void **state) {
    fdl_error error;
    fdl_object object;
    int64_t before = 0, after = 0;
    expect_ok(fdl_store_clock(*state, &before, &error), &error);
    expect_ok(put(*state, "a", &error), &error);
    expect_ok(fdl_store_head(*state, "a", &object, &error), &error);
    expect_ok(fdl_store_clock(*state, &after, &error), &error);
    assert_true(before <= object.modified_ms + 1000);
    assert_true(object.modified_ms <= after + 1000);
}

int contract_run_removes(void) {
    const struct CMUnitTest tests[] = {
        contract_test(test_many_are_removed_and_no_others),
        contract_test(test_missing_ones_count_as_removed),
        contract_test(test_more_than_one_request_takes),
        contract_test(test_a_name_that_is_no_key_removes_nothing),
        contract_test(test_a_purged_object_is_gone_and_a_missing_one_is_no_error),
        contract_test(test_the_clock_is_the_one_that_objects_are_dated_by),
    };
    return _cmocka_run_group_tests("removes", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
