/*
 * test_fault.c - the failing store: transparent until its call comes, and then
 * exactly as told.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/contract.h"
#include "store/wrap.h"
#include "util/file.h"

static fdl_error error;
static fdl_fault fault;

static fdl_store *open_fresh(void *data) {
    (void)data;
    fdl_store *inner = NULL;
    fdl_store *store = NULL;
    fault = (fdl_fault){0};
    expect_ok(fdl_store_open_memory(NULL, &inner, &error), &error);
    expect_ok(fdl_store_open_fault(inner, &fault, &store, &error), &error);
    return store;
}

static int set_up(void **state) {
    *state = open_fresh(NULL);
    return 0;
}

static int tear_down(void **state) {
    fdl_store_free(*state);
    return 0;
}

static const fdl_condition always = {.kind = FDL_ALWAYS};

static fdl_code put(fdl_store *store, const char *key) {
    fdl_source source = {.bytes = key, .length_bytes = strlen(key)};
    return fdl_store_put(store, key, &source, always, NULL, &error);
}

static bool has(fdl_store *store, const char *key) {
    fdl_object object;
    return fdl_store_head(store, key, &object, &error) == FDL_OK;
}

static void test_the_nth_call_fails_and_does_not_happen(void **state) {
    fault = (fdl_fault){.ops = 1u << FDL_OP_PUT, .at = 2, .kind = FDL_FAULT_FAIL, .code = FDL_DENIED};
    assert_int_equal(put(*state, "1"), FDL_OK);
    expect_code(FDL_DENIED, put(*state, "2"), &error);
    expect_said("'2'", &error);
    assert_int_equal(put(*state, "3"), FDL_OK);
    assert_true(has(*state, "1"));
    assert_false(has(*state, "2"));
    assert_true(has(*state, "3"));
    assert_int_equal(fault.seen, 3);
}

static void test_several_calls_in_a_row_fail(void **state) {
    fault = (fdl_fault){.ops = 1u << FDL_OP_PUT, .at = 1, .more = 2, .kind = FDL_FAULT_FAIL, .code = FDL_FAILED};
    for (int i = 0; i < 3; i++)
        expect_code(FDL_FAILED, put(*state, "x"), &error);
    assert_int_equal(put(*state, "x"), FDL_OK);
}

static void test_a_lost_answer_is_a_call_that_happened(void **state) {
    fault =
        (fdl_fault){.ops = 1u << FDL_OP_PUT | 1u << FDL_OP_REMOVE, .at = 1, .more = 1, .kind = FDL_FAULT_LOSE_ANSWER};
    expect_code(FDL_UNCERTAIN, put(*state, "x"), &error);
    assert_true(has(*state, "x"));
    expect_code(FDL_UNCERTAIN, fdl_store_remove(*state, "x", always, &error), &error);
    assert_false(has(*state, "x"));
}

static void test_only_keys_and_operations_that_are_meant_count(void **state) {
    fault =
        (fdl_fault){.ops = 1u << FDL_OP_PUT, .prefix = "refs/", .at = 1, .kind = FDL_FAULT_FAIL, .code = FDL_FAILED};
    assert_int_equal(put(*state, "data/x"), FDL_OK);
    assert_true(has(*state, "data/x"));
    assert_int_equal(fault.seen, 0);
    expect_code(FDL_FAILED, put(*state, "refs/heads/main"), &error);
}

static void put_behind(void *data) {
    fdl_wrapper *wrapper = data;
    fdl_source source = {.bytes = "other", .length_bytes = 5};
    fdl_error problem;
    fdl_store_put(wrapper->inner, "x", &source, always, NULL, &problem);
}

static void test_a_hook_runs_just_before_or_after_the_call(void **state) {
    fdl_store *store = *state;
    fdl_source source = {.bytes = "mine", .length_bytes = 4};
    fault = (fdl_fault){
        .ops = 1u << FDL_OP_PUT, .at = 1, .kind = FDL_FAULT_HOOK_BEFORE, .hook = put_behind, .hook_data = store};
    expect_code(FDL_CONFLICT, fdl_store_put(store, "x", &source, (fdl_condition){.kind = FDL_IF_ABSENT}, NULL, &error),
                &error);

    fault = (fdl_fault){
        .ops = 1u << FDL_OP_PUT, .at = 1, .kind = FDL_FAULT_HOOK_AFTER, .hook = put_behind, .hook_data = store};
    char *bytes = NULL;
    size_t length;
    expect_ok(fdl_store_put(store, "x", &source, always, NULL, &error), &error);
    expect_ok(fdl_store_read(store, "x", 10, &bytes, &length, NULL, &error), &error);
    assert_string_equal(bytes, "other");
    free(bytes);
}

static void test_the_process_can_be_made_to_end_at_a_call(void **state) {
    (void)state;
    char *folder = test_scratch_make();
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fdl_store *inner = NULL;
        fdl_store *store = NULL;
        fault = (fdl_fault){.ops = 1u << FDL_OP_PUT, .at = 2, .kind = FDL_FAULT_HOOK_BEFORE, .hook = fdl_fault_kill};
        if (fdl_store_open_folder(NULL, folder, &inner, &error) != FDL_OK ||
            fdl_store_open_fault(inner, &fault, &store, &error) != FDL_OK)
            _exit(2);
        put(store, "1");
        put(store, "2");
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    fdl_store *store = NULL;
    expect_ok(fdl_store_open_folder(NULL, folder, &store, &error), &error);
    assert_true(has(store, "1"));
    assert_false(has(store, "2"));
    fdl_store_free(store);
    test_scratch_drop(folder);
}

/* A download whose last answer is lost must not leave a file that looks whole. */
static void test_a_get_that_fails_at_its_end_leaves_no_downloaded_file(void **state) {
    char *folder = test_scratch_make();
    char *path = test_path(folder, "copy");
    assert_int_equal(put(*state, "x"), FDL_OK);
    fault = (fdl_fault){.ops = 1u << FDL_OP_GET, .at = 1, .kind = FDL_FAULT_LOSE_ANSWER};
    expect_code(FDL_UNCERTAIN, fdl_store_download(*state, "x", UINT64_MAX, path, NULL, NULL, NULL, NULL, &error), &error);
    assert_false(fdl_file_exists(path));
    free(path);
    test_scratch_drop(folder);
}

#define own_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const contract_place place = {
        .name = "fault around memory", .open = open_fresh, .nests = true, .checks_sha256 = true};
    const struct CMUnitTest tests[] = {
        own_test(test_the_nth_call_fails_and_does_not_happen),
        own_test(test_several_calls_in_a_row_fail),
        own_test(test_a_lost_answer_is_a_call_that_happened),
        own_test(test_only_keys_and_operations_that_are_meant_count),
        own_test(test_a_hook_runs_just_before_or_after_the_call),
        own_test(test_the_process_can_be_made_to_end_at_a_call),
        own_test(test_a_get_that_fails_at_its_end_leaves_no_downloaded_file),
    };
    return contract_run(&place) + cmocka_run_group_tests(tests, NULL, NULL);
}
