/*
 * test_requests.c - pushes that wait: kept once, decided once, and never lost
 * where a call fails.
 */
#include "history.h"

#include "repo/layout.h"

/* main at 1; 2 and 3 both build on it. */
static void open_rivals(history *h) {
    history_open(h);
    history_version(h, 1, 0, "a");
    history_version(h, 2, 1, "a b");
    history_version(h, 3, 1, "a c");
    history_ref(h, "heads/main", 1);
}

static int64_t ask(history *h, int version) {
    int64_t number = 0;
    fdl_request_options options = {.branch = "refs/heads/main",
                                   .expected = history_id(1),
                                   .version = history_id(version),
                                   .author_name = "bob"};
    expect(h, FDL_OK, fdl_request_make(h->repo, &options, &number, &h->error));
    return number;
}

static fdl_code approve(history *h, int64_t number) {
    fdl_request_record request = {0};
    fdl_code code = fdl_request_approve(h->repo, number, &request, &h->error);
    fdl_request_clear(&request);
    return code;
}

static fdl_code reject(history *h, int64_t number, const char *reason) {
    fdl_request_record request = {0};
    fdl_code code = fdl_request_reject(h->repo, number, reason, &request, &h->error);
    fdl_request_clear(&request);
    return code;
}

static void expect_request(history *h, int64_t number, const char *state, const char *reason) {
    fdl_request_record request = {0};
    expect(h, FDL_OK, fdl_request_read(h->repo, number, &request, &h->error));
    assert_string_equal(fdl_request_name(request.state), state);
    assert_string_equal(request.reason ? request.reason : "", reason);
    fdl_request_clear(&request);
}

static void expect_main(history *h, int version) {
    fdl_ref ref;
    expect(h, FDL_OK, fdl_ref_read(h->repo, "refs/heads/main", &ref, &h->error));
    assert_string_equal(ref.id, history_id(version));
}

static void a_push_gets_the_next_number_and_keeps_it(void **state) {
    (void)state;
    history h;
    open_rivals(&h);
    assert_int_equal(ask(&h, 2), 1);
    assert_int_equal(ask(&h, 3), 2);
    assert_int_equal(ask(&h, 2), 1);
    history_request(&h, 12, 1, "rejected");
    history_put(&h, "refs/requests/99x", "not ours");
    expect(&h, FDL_OK, reject(&h, 1, NULL));
    assert_int_equal(ask(&h, 2), 13); /* what was turned down may be asked again */
    expect_request(&h, 13, "waiting", "");
    history_close(&h);
}

static void a_number_that_another_host_takes_at_that_moment_is_passed_over(void **state) {
    (void)state;
    history h;
    open_rivals(&h);
    h.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT, .prefix = FDL_REF_REQUESTS, .at = 1, .kind = FDL_FAULT_FAIL,
                          .code = FDL_CONFLICT};
    assert_int_equal(ask(&h, 2), 2);
    h.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT, .prefix = FDL_REF_REQUESTS, .at = 1, .kind = FDL_FAULT_LOSE_ANSWER};
    assert_int_equal(ask(&h, 3), 3); /* it was ours */
    history_close(&h);
}

static void approving_moves_the_branch_and_decides_once(void **state) {
    (void)state;
    history h;
    open_rivals(&h);
    ask(&h, 2);
    ask(&h, 3);
    expect(&h, FDL_OK, approve(&h, 1));
    expect_main(&h, 2);
    expect_request(&h, 1, "approved", "");
    assert_true(history_has(&h, FDL_KEY_REFS_JSON));
    expect(&h, FDL_OK, approve(&h, 1)); /* it is */
    expect_main(&h, 2);
    expect(&h, FDL_CONFLICT, reject(&h, 1, "late"));
    expect_said("approved already", &h.error);
    expect(&h, FDL_CONFLICT, approve(&h, 2)); /* the branch has moved */
    expect_said(history_id(2), &h.error);
    expect_request(&h, 2, "waiting", "");
    expect(&h, FDL_OK, reject(&h, 2, "built on the old one"));
    expect(&h, FDL_OK, reject(&h, 2, "another reason"));
    expect_request(&h, 2, "rejected", "built on the old one");
    expect(&h, FDL_CONFLICT, approve(&h, 2));
    expect(&h, FDL_NOT_FOUND, approve(&h, 3));
    history_close(&h);
}

static void what_does_not_hold_any_more_waits_on(void **state) {
    (void)state;
    history h;
    open_rivals(&h);
    ask(&h, 2);
    history_remove(&h, "data/main/t/b.parquet");
    expect(&h, FDL_REFUSED, approve(&h, 1));
    expect_request(&h, 1, "waiting", "");
    expect_main(&h, 1);
    history_close(&h);
}

static void move_main(void *data) {
    history_ref(data, "heads/main", 3);
}

static void reject_it(void *data) {
    history *h = data;
    h->fault = (fdl_fault){0};
    expect(h, FDL_OK, reject(h, 1, "no"));
}

static void of_two_decisions_at_once_one_holds(void **state) {
    (void)state;
    history h;
    open_rivals(&h);
    ask(&h, 2);
    h.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT, .prefix = FDL_REF_HEADS, .at = 1, .kind = FDL_FAULT_HOOK_BEFORE,
                          .hook = move_main, .hook_data = &h};
    expect(&h, FDL_CONFLICT, approve(&h, 1));
    expect_main(&h, 3);
    expect_request(&h, 1, "waiting", "");

    history_ref(&h, "heads/main", 1);
    h.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT, .prefix = FDL_REF_REQUESTS, .at = 1, .kind = FDL_FAULT_HOOK_BEFORE,
                          .hook = reject_it, .hook_data = &h};
    expect(&h, FDL_CONFLICT, approve(&h, 1));
    expect_main(&h, 1);
    expect_request(&h, 1, "rejected", "no");
    history_close(&h);
}

/* Three writes: the decision, the branch, refs.json.  The second time goes on. */
static void an_approval_that_was_stopped_goes_on(void **state) {
    (void)state;
    static const fdl_fault_kind kinds[] = {FDL_FAULT_FAIL, FDL_FAULT_LOSE_ANSWER};
    history h;
    open_rivals(&h);
    ask(&h, 2);
    history_save(&h);
    for (size_t at = 1; at <= 6; at++) {
        history_rewind(&h);
        h.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT, .at = at % 3 + 1, .kind = kinds[at / 4], .code = FDL_FAILED};
        fdl_code first = approve(&h, 1);
        h.fault = (fdl_fault){0};
        expect(&h, FDL_OK, approve(&h, 1));
        char *refs = history_get(&h, FDL_KEY_REFS_JSON);
        assert_non_null(strstr(refs, history_id(2)));
        free(refs);
        assert_true(first == FDL_OK || first == FDL_FAILED || first == FDL_UNCERTAIN);
        expect_main(&h, 2);
        expect_request(&h, 1, "approved", "");
    }
    history_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_push_gets_the_next_number_and_keeps_it),
        cmocka_unit_test(a_number_that_another_host_takes_at_that_moment_is_passed_over),
        cmocka_unit_test(approving_moves_the_branch_and_decides_once),
        cmocka_unit_test(what_does_not_hold_any_more_waits_on),
        cmocka_unit_test(of_two_decisions_at_once_one_holds),
        cmocka_unit_test(an_approval_that_was_stopped_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
