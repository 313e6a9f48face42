/*
 * test_expiry.c - the marker that says a version is gone, when answers are lost
 * and when several commands meet at it.
 */
#include "lake.h"

#define MARKER_A "versions/" ID_A "/expired.json"
#define AT_MS INT64_C(1796083200123) /* 2026-12-01T00:00:00.123Z */

static void open_lake(lake *l) {
    lake_open(l);
    lake_put_history(l);
    fdl_trace_clear(&l->trace);
}

static fdl_code mark(lake *l, const char *reason, const char *text, bool *written) {
    return fdl_expiry_write(l->repo, ID_A, reason, AT_MS, text, written, &l->error);
}

static void expect_reason(lake *l, const char *reason, const char *text) {
    fdl_expiry now = {0};
    expect(l, FDL_OK, fdl_expiry_read(l->repo, ID_A, &now, &l->error));
    assert_true(now.expired);
    assert_string_equal(now.reason, reason);
    assert_string_equal(now.expired_at, "2026-12-01T00:00:00Z");
    if (text)
        assert_string_equal(now.text, text);
    else
        assert_null(now.text);
    fdl_expiry_clear(&now);
}

static void a_marker_is_one_put(void **state) {
    (void)state;
    lake l;
    bool written = false;
    open_lake(&l);
    expect(&l, FDL_OK, mark(&l, FDL_REASON_RETENTION, NULL, &written));
    char *calls = lake_calls(&l);
    assert_string_equal(calls, "put " MARKER_A "\n");
    free(calls);
    assert_true(written);
    expect_reason(&l, "retention", NULL);
    lake_close(&l);
}

static void a_second_marker_leaves_the_first(void **state) {
    (void)state;
    lake l;
    bool written = true;
    open_lake(&l);
    expect(&l, FDL_OK, mark(&l, FDL_REASON_RETENTION, "the first", NULL));
    expect(&l, FDL_OK, mark(&l, FDL_REASON_RETENTION, "the second", &written));
    assert_false(written);
    expect_reason(&l, "retention", "the first");
    lake_close(&l);
}

static void a_withdrawal_replaces_a_retention_and_never_the_other_way(void **state) {
    (void)state;
    lake l;
    bool written = false;
    open_lake(&l);
    expect(&l, FDL_OK, mark(&l, FDL_REASON_RETENTION, NULL, NULL));
    expect(&l, FDL_OK, mark(&l, FDL_REASON_WITHDRAWN, "names of \"people\"", &written));
    assert_true(written);
    expect_reason(&l, "withdrawn", "names of \"people\"");
    expect(&l, FDL_OK, mark(&l, FDL_REASON_RETENTION, NULL, &written));
    assert_false(written);
    expect_reason(&l, "withdrawn", "names of \"people\"");
    lake_close(&l);
}

static void a_text_that_is_no_utf8_marks_nothing(void **state) {
    (void)state;
    lake l;
    open_lake(&l);
    expect(&l, FDL_USAGE, mark(&l, FDL_REASON_WITHDRAWN, "\xff", NULL));
    assert_false(lake_has(&l, MARKER_A));
    lake_close(&l);
}

static void a_lost_answer_is_settled_by_reading(void **state) {
    (void)state;
    lake l;
    bool written = false;
    open_lake(&l);
    l.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT, .at = 1, .kind = FDL_FAULT_LOSE_ANSWER};
    expect(&l, FDL_OK, mark(&l, FDL_REASON_RETENTION, NULL, &written));
    assert_true(written);
    expect_reason(&l, "retention", NULL);
    lake_close(&l);
}

static void a_store_that_loses_every_answer_and_does_nothing_is_uncertain(void **state) {
    (void)state;
    lake l;
    open_lake(&l);
    l.fault = (fdl_fault){
        .ops = 1u << FDL_OP_PUT, .at = 1, .more = 100, .kind = FDL_FAULT_FAIL, .code = FDL_UNCERTAIN};
    expect(&l, FDL_UNCERTAIN, mark(&l, FDL_REASON_RETENTION, NULL, NULL));
    assert_true(l.fault.seen <= 5);
    lake_close(&l);
}

static void a_retention_is_taken_back(void **state) {
    (void)state;
    lake l;
    open_lake(&l);
    expect(&l, FDL_OK, mark(&l, FDL_REASON_RETENTION, NULL, NULL));
    l.fault = (fdl_fault){.ops = 1u << FDL_OP_REMOVE, .at = 1, .kind = FDL_FAULT_LOSE_ANSWER};
    expect(&l, FDL_OK, fdl_expiry_take_back(l.repo, ID_A, &l.error));
    assert_false(lake_has(&l, MARKER_A));
    expect(&l, FDL_OK, fdl_expiry_take_back(l.repo, ID_A, &l.error));
    lake_close(&l);
}

static void withdraw_now(void *data) {
    lake_put(data, MARKER_A, "{\"expired_at\":\"2026-12-01T00:00:00Z\",\"reason\":\"withdrawn\"}");
}

static void a_withdrawal_is_never_taken_back(void **state) {
    (void)state;
    lake l;
    open_lake(&l);
    expect(&l, FDL_OK, mark(&l, FDL_REASON_WITHDRAWN, NULL, NULL));
    expect(&l, FDL_REFUSED, fdl_expiry_take_back(l.repo, ID_A, &l.error));
    expect_message(&l, ID_A);
    expect_reason(&l, "withdrawn", NULL);
    lake_close(&l);
}

static void a_withdrawal_that_comes_between_look_and_removal_stays(void **state) {
    (void)state;
    lake l;
    open_lake(&l);
    expect(&l, FDL_OK, mark(&l, FDL_REASON_RETENTION, NULL, NULL));
    l.fault = (fdl_fault){.ops = 1u << FDL_OP_REMOVE,
                          .at = 1,
                          .kind = FDL_FAULT_HOOK_BEFORE,
                          .hook = withdraw_now,
                          .hook_data = &l};
    expect(&l, FDL_REFUSED, fdl_expiry_take_back(l.repo, ID_A, &l.error));
    expect_reason(&l, "withdrawn", NULL);
    lake_close(&l);
}

static void what_is_no_id_marks_nothing(void **state) {
    (void)state;
    lake l;
    open_lake(&l);
    expect(&l, FDL_USAGE, fdl_expiry_write(l.repo, "../HEAD", FDL_REASON_RETENTION, AT_MS, NULL, NULL, &l.error));
    expect(&l, FDL_USAGE, fdl_expiry_take_back(l.repo, "../HEAD", &l.error));
    lake_close(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marker_is_one_put),
        cmocka_unit_test(a_second_marker_leaves_the_first),
        cmocka_unit_test(a_withdrawal_replaces_a_retention_and_never_the_other_way),
        cmocka_unit_test(a_text_that_is_no_utf8_marks_nothing),
        cmocka_unit_test(a_lost_answer_is_settled_by_reading),
        cmocka_unit_test(a_store_that_loses_every_answer_and_does_nothing_is_uncertain),
        cmocka_unit_test(a_retention_is_taken_back),
        cmocka_unit_test(a_withdrawal_is_never_taken_back),
        cmocka_unit_test(a_withdrawal_that_comes_between_look_and_removal_stays),
        cmocka_unit_test(what_is_no_id_marks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
