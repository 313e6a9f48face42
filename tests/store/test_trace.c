/*
 * test_trace.c - the tracing store keeps the contract of the store inside, and
 * writes down what was asked.
 */
#include "store/contract.h"
#include "store/wrap.h"
#include "util/buf.h"
#include "util/file.h"

static fdl_error error;
static fdl_trace trace;

static fdl_store *open_fresh(void *data) {
    (void)data;
    fdl_store *inner = NULL;
    fdl_store *store = NULL;
    expect_ok(fdl_store_open_memory(NULL, &inner, &error), &error);
    expect_ok(fdl_store_open_trace(inner, &trace, &store, &error), &error);
    return store;
}

static void clear(void *data) {
    (void)data;
    fdl_trace_clear(&trace);
}

static int set_up(void **state) {
    *state = open_fresh(NULL);
    return 0;
}

static int tear_down(void **state) {
    fdl_store_free(*state);
    clear(NULL);
    return 0;
}

static const fdl_condition always = {.kind = FDL_ALWAYS};

static fdl_code ignore_entry(void *data, const fdl_entry *entry, fdl_error *problem) {
    (void)data;
    (void)entry;
    (void)problem;
    return FDL_OK;
}

static void test_calls_are_counted_and_named_in_order(void **state) {
    fdl_store *store = *state;
    fdl_source source = {.bytes = "hello", .length_bytes = 5};
    fdl_object object;
    fdl_buf buf;
    fdl_buf_init(&buf, 100);
    expect_ok(fdl_store_put(store, "a/b", &source, always, NULL, &error), &error);
    expect_code(FDL_CONFLICT,
                fdl_store_put(store, "a/b", &source, (fdl_condition){.kind = FDL_IF_ABSENT}, NULL, &error), &error);
    expect_ok(fdl_store_get(store, "a/b", &(fdl_range){1, 2}, fdl_buf_sink, &buf, NULL, &error), &error);
    expect_ok(fdl_store_head(store, "a/b", &object, &error), &error);
    expect_ok(fdl_store_list(store, "a/", FDL_ALL_LEVELS, ignore_entry, NULL, &error), &error);
    expect_ok(fdl_store_sync(store, "a/b", &error), &error);
    expect_ok(fdl_store_remove(store, "a/b", always, &error), &error);
    expect_ok(fdl_store_purge(store, "a/b", &error), &error);
    const char *const many[] = {"x", "y"};
    expect_ok(fdl_store_remove_many(store, many, 2, &error), &error);
    expect_code(FDL_NOT_FOUND, fdl_store_head(store, "a/b", &object, &error), &error);
    fdl_buf_clear(&buf);

    static const char *const lines[] = {"put a/b",    "put a/b",   "get a/b",  "head a/b", "list a/", "sync a/b",
                                        "remove a/b", "purge a/b", "remove x", "remove y", "head a/b"};
    assert_int_equal(trace.line_count, sizeof lines / sizeof *lines);
    for (size_t i = 0; i < trace.line_count; i++)
        assert_string_equal(trace.lines[i], lines[i]);
    static const size_t calls[FDL_OP_COUNT] = {1, 2, 2, 3, 1, 1, 1};
    assert_memory_equal(trace.calls, calls, sizeof calls);
    assert_int_equal(trace.bytes_out, 10);
    assert_int_equal(trace.bytes_in, 2);
    assert_int_equal(trace.lost_count, 0);
}

static void test_the_bytes_of_a_file_count_as_well(void **state) {
    char *folder = test_scratch_make();
    char *path = test_path(folder, "x");
    expect_ok(fdl_file_write(path, "1234567", 7, &error), &error);
    fdl_source source = {.path = path};
    expect_ok(fdl_store_put(*state, "a", &source, always, NULL, &error), &error);
    assert_int_equal(trace.bytes_out, 7);
    free(path);
    test_scratch_drop(folder);
}

static void test_the_list_of_calls_has_a_limit(void **state) {
    fdl_object object;
    for (int i = 0; i < FDL_TRACE_LINE_LIMIT + 3; i++)
        expect_code(FDL_NOT_FOUND, fdl_store_head(*state, "a", &object, &error), &error);
    assert_int_equal(trace.line_count, FDL_TRACE_LINE_LIMIT);
    assert_int_equal(trace.lost_count, 3);
    assert_int_equal(trace.calls[FDL_OP_HEAD], FDL_TRACE_LINE_LIMIT + 3);
}

#define own_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const contract_place place = {
        .name = "trace of memory", .open = open_fresh, .close = clear, .nests = true, .checks_sha256 = true};
    const struct CMUnitTest tests[] = {
        own_test(test_calls_are_counted_and_named_in_order),
        own_test(test_the_bytes_of_a_file_count_as_well),
        own_test(test_the_list_of_calls_has_a_limit),
    };
    return contract_run(&place) + cmocka_run_group_tests(tests, NULL, NULL);
}
