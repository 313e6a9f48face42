/*
 * test_expire.c - which versions expire, in which order things happen, and what
 * is left when it is stopped, repeated, or not alone.
 */
#include "history.h"

#include "repo/layout.h"

/*
 *   1 - 2 - 3 - 4 - 5   main
 *        \
 *         6 - 7         dev;  tag v1 at 1
 *
 * 1 and 2 have no list of their files; the others do, so that their catalogs need no opening.
 */
static void open_branches(history *h) {
    history_open(h);
    history_version(h, 1, 0, "a");
    history_version(h, 2, 1, "a b");
    history_version(h, 3, 2, "c");
    history_version(h, 4, 3, "c d");
    history_version(h, 5, 4, "e");
    history_version(h, 6, 2, "f");
    history_version(h, 7, 6, "g");
    for (int number = 3; number <= 7; number++) {
        char key[FDL_KEY_BYTES];
        snprintf(key, sizeof key, "versions/%s/files.json", history_id(number));
        history_put(h, key, "{\"tables\":[]}");
    }
    history_ref(h, "heads/main", 5);
    history_ref(h, "heads/dev", 7);
    history_ref(h, "tags/v1", 1);
}

static fdl_code expire(history *h, fdl_expire_options options) {
    fdl_expire_result result = {0};
    fdl_code code = fdl_expire(h->repo, &options, &result, &h->error);
    fdl_expire_result_clear(&result);
    return code;
}

static fdl_code keep_one(history *h) {
    return expire(h, (fdl_expire_options){.keep = 1});
}

/* "1r 2 3c": version, 'r' or 'w' for its marker, 'c' when its catalog is gone. */
static void expect_state(history *h, int count, const char *wanted) {
    char text[400] = "";
    size_t length = 0;
    for (int i = 1; i <= count; i++) {
        const char *reason = history_reason(h, i);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%d%.1s%s", i > 1 ? " " : "", i, reason,
                                   history_has_catalog(h, i) ? "" : "c");
    }
    assert_string_equal(text, wanted);
}

/* ---- which ------------------------------------------------------------------------------ */

static void the_newest_of_every_branch_and_what_refs_point_to_stay(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    expect(&h, FDL_OK, keep_one(&h));
    expect_state(&h, 7, "1 2rc 3rc 4rc 5 6rc 7");
    history_close(&h);
}

static void a_version_among_the_newest_of_one_branch_stays_for_all(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    expect(&h, FDL_OK, expire(&h, (fdl_expire_options){.keep = 3})); /* 2 is the third of dev, the fourth of main */
    expect_state(&h, 7, "1 2 3 4 5 6 7");
    expect(&h, FDL_OK, expire(&h, (fdl_expire_options){.keep = 2}));
    expect_state(&h, 7, "1 2rc 3rc 4 5 6 7");
    history_close(&h);
}

static void with_a_date_only_what_is_older_expires(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    int64_t before_ms = INT64_C(1767484800000); /* 2026-01-04T00:00:00Z: made then was version 3 */
    expect(&h, FDL_OK, expire(&h, (fdl_expire_options){.keep = 1, .before_ms = before_ms}));
    expect_state(&h, 7, "1 2rc 3 4 5 6 7");
    history_close(&h);
}

static void with_a_branch_only_its_history_expires(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    expect(&h, FDL_OK, expire(&h, (fdl_expire_options){.keep = 1, .branch = "dev"}));
    expect_state(&h, 7, "1 2rc 3 4 5 6rc 7");
    expect(&h, FDL_NOT_FOUND, expire(&h, (fdl_expire_options){.keep = 1, .branch = "nope"}));
    history_close(&h);
}

static void what_no_ref_leads_to_is_not_expires_business(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    history_version(&h, 8, 4, "x");
    expect(&h, FDL_OK, keep_one(&h));
    expect_state(&h, 8, "1 2rc 3rc 4rc 5 6rc 7 8");
    history_close(&h);
}

static void a_push_that_waits_for_approval_keeps_its_version(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    history_request(&h, 1, 3, "waiting");
    history_request(&h, 2, 4, "rejected");
    expect(&h, FDL_OK, keep_one(&h));
    expect_state(&h, 7, "1 2rc 3 4rc 5 6rc 7");
    history_close(&h);
}

static void a_request_that_cannot_be_understood_stops_it(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    history_put(&h, "refs/requests/1", "{\"state\":\"waiting\"}");
    expect(&h, FDL_FAILED, keep_one(&h));
    expect_said("refs/requests/1", &h.error);
    expect_state(&h, 7, "1 2 3 4 5 6 7");
    history_close(&h);
}

static void other_catalogs_go_and_everything_else_stays(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    char old[FDL_KEY_BYTES], preview[FDL_KEY_BYTES];
    snprintf(old, sizeof old, "versions/%s/catalogs/0.3.duckdb", history_id(2));
    snprintf(preview, sizeof preview, "versions/%s/preview.html", history_id(2));
    history_put(&h, old, "x");
    history_put(&h, preview, "x");
    expect(&h, FDL_OK, keep_one(&h));
    assert_false(history_has(&h, old));
    assert_true(history_has(&h, preview));
    assert_true(history_has_data(&h, "a"));
    history_close(&h);
}

static void a_dry_run_says_the_same_and_does_nothing(void **state) {
    (void)state;
    history h;
    fdl_expire_result result = {0};
    open_branches(&h);
    fdl_trace_clear(&h.trace);
    expect(&h, FDL_OK, fdl_expire(h.repo, &(fdl_expire_options){.keep = 1, .dry_run = true}, &result, &h.error));
    assert_int_equal(result.count, 4);
    assert_string_equal(result.items[0].id, history_id(2));
    assert_int_equal(fdl_plan_count(result.plan), 4);
    assert_int_equal(h.trace.calls[FDL_OP_PUT] + h.trace.calls[FDL_OP_REMOVE], 0);
    expect_state(&h, 7, "1 2 3 4 5 6 7");
    fdl_expire_result_clear(&result);
    history_close(&h);
}

static void a_version_without_a_list_of_its_files_gets_one(void **state) {
    (void)state;
    history h;
    char key[FDL_KEY_BYTES];
    open_branches(&h);
    expect(&h, FDL_OK, keep_one(&h));
    snprintf(key, sizeof key, "versions/%s/files.json", history_id(2));
    char *list = history_get(&h, key);
    assert_non_null(strstr(list, "\"data/main/t/a.parquet\""));
    assert_non_null(strstr(list, "\"data/main/t/b.parquet\""));
    free(list);
    snprintf(key, sizeof key, "versions/%s/files.json", history_id(1)); /* stays, and so needs none */
    assert_false(history_has(&h, key));
    snprintf(key, sizeof key, "versions/%s/files.json", history_id(3));
    list = history_get(&h, key);
    assert_string_equal(list, "{\"tables\":[]}");
    free(list);
    history_close(&h);
}

/* ---- in which order ------------------------------------------------------------------------- */

static long place_of(const history *h, const char *start, size_t from) {
    for (size_t i = from; i < h->trace.line_count; i++)
        if (strncmp(h->trace.lines[i], start, strlen(start)) == 0)
            return (long)i;
    return -1;
}

static long last_place_of(const history *h, const char *start, const char *end) {
    long last = -1;
    for (long at = place_of(h, start, 0); at >= 0; at = place_of(h, start, (size_t)at + 1)) {
        const char *line = h->trace.lines[at];
        last = strlen(line) >= strlen(end) && strcmp(line + strlen(line) - strlen(end), end) == 0 ? at : last;
    }
    return last;
}

static void every_marker_is_there_before_refs_are_read_again_and_any_catalog_goes(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    fdl_trace_clear(&h.trace);
    expect(&h, FDL_OK, keep_one(&h));
    long marked = last_place_of(&h, "put versions/", "/expired.json");
    long looked = place_of(&h, "get refs/heads/main", (size_t)marked);
    long removed = place_of(&h, "remove ", 0);
    assert_true(marked >= 0 && marked < looked && looked < removed);
    assert_true(last_place_of(&h, "get refs/tags/v1", "") < removed);
    history_close(&h);
}

/* ---- not alone -------------------------------------------------------------------------------- */

static void a_tag_comes(void *data) {
    history_ref(data, "tags/late", 3);
}

static void a_tag_made_meanwhile_takes_the_marker_back(void **state) {
    (void)state;
    history h;
    fdl_expire_result result = {0};
    open_branches(&h);
    h.fault = (fdl_fault){
        .ops = 1u << FDL_OP_PUT, .at = 1, .kind = FDL_FAULT_HOOK_BEFORE, .hook = a_tag_comes, .hook_data = &h};
    expect(&h, FDL_OK, fdl_expire(h.repo, &(fdl_expire_options){.keep = 1}, &result, &h.error));
    expect_state(&h, 7, "1 2rc 3 4rc 5 6rc 7");
    assert_string_equal(result.items[1].id, history_id(3));
    assert_int_equal(result.items[1].outcome, FDL_OUTCOME_KEPT);
    fdl_expire_result_clear(&result);
    history_close(&h);
}

static void a_branch_comes(void *data) {
    history_ref(data, "heads/late", 4);
}

static void a_branch_made_meanwhile_protects_its_newest(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    h.fault = (fdl_fault){
        .ops = 1u << FDL_OP_PUT, .at = 1, .kind = FDL_FAULT_HOOK_BEFORE, .hook = a_branch_comes, .hook_data = &h};
    expect(&h, FDL_OK, expire(&h, (fdl_expire_options){.keep = 2}));
    expect_state(&h, 7, "1 2rc 3 4 5 6 7");
    history_close(&h);
}

/* Marked by a run that was killed, and then tagged: it counts again as long as its catalog is there. */
static void a_tag_on_what_a_stopped_run_marked_takes_the_marker_back(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    expect(&h, FDL_OK, fdl_expiry_write(h.repo, history_id(3), FDL_REASON_RETENTION, 1, NULL, NULL, &h.error));
    expect(&h, FDL_OK, fdl_expiry_write(h.repo, history_id(4), FDL_REASON_RETENTION, 1, NULL, NULL, &h.error));
    history_ref(&h, "tags/late", 3);
    expect(&h, FDL_OK, expire(&h, (fdl_expire_options){.keep = 100}));
    expect_state(&h, 7, "1 2 3 4rc 5 6 7");
    history_close(&h);
}

static void another_run_takes_the_marker_back(void *data) {
    history *h = data;
    char key[FDL_KEY_BYTES];
    snprintf(key, sizeof key, "versions/%s/expired.json", history_id(3));
    history_remove(h, key);
}

static void a_catalog_never_goes_without_a_marker(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    h.fault = (fdl_fault){.ops = 1u << FDL_OP_REMOVE,
                          .at = 1,
                          .kind = FDL_FAULT_HOOK_BEFORE,
                          .hook = another_run_takes_the_marker_back,
                          .hook_data = &h};
    expect(&h, FDL_OK, keep_one(&h));
    expect_state(&h, 7, "1 2rc 3rc 4rc 5 6rc 7");
    history_close(&h);
}

static void a_withdrawal_that_was_stopped_is_left_to_withdraw(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    expect(&h, FDL_OK, fdl_expiry_write(h.repo, history_id(3), FDL_REASON_WITHDRAWN, 1, NULL, NULL, &h.error));
    expect(&h, FDL_OK, keep_one(&h));
    expect_state(&h, 7, "1 2rc 3w 4rc 5 6rc 7");
    history_close(&h);
}

static void expire_comes(void *data) {
    history *h = data;
    h->fault = (fdl_fault){0};
    expect(h, FDL_OK, keep_one(h));
}

/* The tag was looked at by no expire: it must not be left on a version that is gone. */
static void a_tag_on_a_version_that_expires_at_this_moment_is_not_made(void **state) {
    (void)state;
    history h;
    fdl_ref made = {0};
    open_branches(&h);
    h.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT,
                          .prefix = "refs/tags/",
                          .at = 1,
                          .kind = FDL_FAULT_HOOK_BEFORE,
                          .hook = expire_comes,
                          .hook_data = &h};
    expect(&h, FDL_EXPIRED, fdl_ref_create(h.repo, FDL_REF_TAGS, "late", history_id(3), &made, &h.error));
    assert_false(history_has(&h, "refs/tags/late"));
    expect_state(&h, 7, "1 2rc 3rc 4rc 5 6rc 7");
    history_close(&h);
}

/* ---- stopped ------------------------------------------------------------------------------------ */

static void check_kept_one(history *h) {
    expect_state(h, 7, "1 2rc 3rc 4rc 5 6rc 7");
}

static void stopped_anywhere_it_can_be_repeated(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    history_save(&h);
    size_t calls = history_sweep(&h, FDL_FAULT_FAIL, FDL_FAILED, keep_one, check_kept_one);
    print_message("%zu calls failed in turn\n", calls);
    assert_true(calls > 20);
    assert_int_equal(history_sweep(&h, FDL_FAULT_LOSE_ANSWER, FDL_OK, keep_one, check_kept_one), 9);
    history_close(&h);
}

static void what_is_done_is_not_done_again(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    expect(&h, FDL_OK, keep_one(&h));
    fdl_trace_clear(&h.trace);
    expect(&h, FDL_OK, keep_one(&h));
    assert_int_equal(h.trace.calls[FDL_OP_PUT] + h.trace.calls[FDL_OP_REMOVE], 0);
    history_close(&h);
}

static void a_place_that_is_no_repository_is_left_alone(void **state) {
    (void)state;
    history h;
    open_branches(&h);
    history_remove(&h, "fdl.json");
    expect(&h, FDL_NOT_FOUND, keep_one(&h));
    expect_state(&h, 7, "1 2 3 4 5 6 7");
    history_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_of_every_branch_and_what_refs_point_to_stay),
        cmocka_unit_test(a_version_among_the_newest_of_one_branch_stays_for_all),
        cmocka_unit_test(with_a_date_only_what_is_older_expires),
        cmocka_unit_test(with_a_branch_only_its_history_expires),
        cmocka_unit_test(what_no_ref_leads_to_is_not_expires_business),
        cmocka_unit_test(a_push_that_waits_for_approval_keeps_its_version),
        cmocka_unit_test(a_request_that_cannot_be_understood_stops_it),
        cmocka_unit_test(other_catalogs_go_and_everything_else_stays),
        cmocka_unit_test(a_dry_run_says_the_same_and_does_nothing),
        cmocka_unit_test(a_version_without_a_list_of_its_files_gets_one),
        cmocka_unit_test(every_marker_is_there_before_refs_are_read_again_and_any_catalog_goes),
        cmocka_unit_test(a_tag_made_meanwhile_takes_the_marker_back),
        cmocka_unit_test(a_branch_made_meanwhile_protects_its_newest),
        cmocka_unit_test(a_tag_on_what_a_stopped_run_marked_takes_the_marker_back),
        cmocka_unit_test(a_catalog_never_goes_without_a_marker),
        cmocka_unit_test(a_withdrawal_that_was_stopped_is_left_to_withdraw),
        cmocka_unit_test(a_tag_on_a_version_that_expires_at_this_moment_is_not_made),
        cmocka_unit_test(stopped_anywhere_it_can_be_repeated),
        cmocka_unit_test(what_is_done_is_not_done_again),
        cmocka_unit_test(a_place_that_is_no_repository_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
