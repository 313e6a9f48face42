/*
 * test_gc.c - what is needed stays, what is not goes once the grace is over, and
 * a push that comes in between is never hurt.
 */
#include "history.h"

#include "repo/layout.h"

/* 1 - 2 - 3 main; 4 is a push that was refused, on 2 */
static void open_line(history *h) {
    history_open(h);
    history_version(h, 1, 0, "a b");
    history_version(h, 2, 1, "b c/d1:3");
    history_version(h, 3, 2, "c/d2:5 e");
    history_version(h, 4, 2, "b f");
    history_ref(h, "heads/main", 3);
}

static fdl_code gc_with(history *h, int64_t grace_ms, bool prune, fdl_gc_result *result) {
    fdl_gc_options options = {.grace_ms = grace_ms, .prune_unreachable = prune};
    return fdl_gc(h->repo, &options, result, &h->error);
}

static fdl_code gc(history *h, int64_t grace_ms) {
    fdl_gc_result result = {0};
    fdl_code code = gc_with(h, grace_ms, false, &result);
    fdl_gc_result_clear(&result);
    return code;
}

static void expire_by_hand(history *h, int number, const char *expired_at) {
    char key[FDL_KEY_BYTES], text[200];
    snprintf(key, sizeof key, "versions/%s/expired.json", history_id(number));
    snprintf(text, sizeof text, "{\"expired_at\":\"%s\",\"reason\":\"retention\"}", expired_at);
    history_put(h, key, text);
    snprintf(key, sizeof key, "versions/%s/ducklake.duckdb", history_id(number));
    history_remove(h, key);
}

/* Which of the data files a to f and d1, d2 and x are there. */
static void expect_data(history *h, const char *wanted) {
    static const char *const names[] = {"a", "b", "c", "d1", "d2", "e", "f", "x"};
    char text[100] = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (history_has_data(h, names[i])) {
            size_t length = strlen(text);
            snprintf(text + length, sizeof text - length, "%s%s", *text ? " " : "", names[i]);
        }
    }
    assert_string_equal(text, wanted);
}

/* ---- what is needed ------------------------------------------------------------------------ */

static void what_live_versions_name_stays_reachable_or_not(void **state) {
    (void)state;
    history h;
    open_line(&h);
    history_put(&h, "data/main/t/x.parquet", "x");
    expect(&h, FDL_OK, gc(&h, 0));
    expect_data(&h, "a b c d1 d2 e f");
    history_close(&h);
}

static void what_only_expired_versions_named_goes(void **state) {
    (void)state;
    history h;
    open_line(&h);
    expire_by_hand(&h, 1, "2026-01-01T00:00:00Z");
    expire_by_hand(&h, 2, "2026-01-01T00:00:00Z");
    expect(&h, FDL_OK, gc(&h, 0));
    expect_data(&h, "b c d2 e f");
    history_close(&h);
}

static void unreachable_versions_go_only_when_asked(void **state) {
    (void)state;
    history h;
    fdl_gc_result result = {0};
    char record[FDL_KEY_BYTES], *calls = NULL;
    open_line(&h);
    snprintf(record, sizeof record, "versions/%s/version.json", history_id(4));
    expect(&h, FDL_OK, gc(&h, 0));
    assert_true(history_has_catalog(&h, 4));
    fdl_trace_clear(&h.trace);
    expect(&h, FDL_OK, gc_with(&h, 0, true, &result));
    expect_data(&h, "a b c d1 d2 e");
    assert_false(history_has_catalog(&h, 4) || history_has(&h, record));
    assert_true(history_has_catalog(&h, 3) && history_has_catalog(&h, 1));
    for (size_t i = 0; i < h.trace.line_count && !calls; i++)
        if (strncmp(h.trace.lines[i], "remove ", 7) == 0)
            calls = h.trace.lines[i] + 7;
    assert_string_equal(calls, record);
    fdl_gc_result_clear(&result);
    history_close(&h);
}

static void unreachable_versions_within_the_grace_stay_even_when_asked(void **state) {
    (void)state;
    history h;
    fdl_gc_result result = {0};
    open_line(&h);
    expect(&h, FDL_OK, gc_with(&h, FDL_GRACE_MS, true, &result));
    assert_true(history_has_catalog(&h, 4));
    assert_int_equal(fdl_plan_count(result.plan), 0);
    fdl_gc_result_clear(&result);
    history_close(&h);
}

static void what_a_branch_tag_or_waiting_push_points_to_is_reachable(void **state) {
    static const char *const refs[] = {"heads/side", "tags/v1", NULL};
    (void)state;
    history h;
    for (size_t i = 0; i < 3; i++) {
        fdl_gc_result result = {0};
        open_line(&h);
        if (refs[i])
            history_ref(&h, refs[i], 4);
        else
            history_request(&h, 1, 4, "waiting");
        expect(&h, FDL_OK, gc_with(&h, 0, true, &result));
        assert_true(history_has_catalog(&h, 4));
        expect_data(&h, "a b c d1 d2 e f");
        fdl_gc_result_clear(&result);
        history_close(&h);
    }
}

/* Whoever still has it could push it again, and nothing would tell. */
static void a_withdrawal_is_never_forgotten(void **state) {
    (void)state;
    history h;
    fdl_gc_result result = {0};
    open_line(&h);
    expect(&h, FDL_OK, fdl_expiry_write(h.repo, history_id(4), FDL_REASON_WITHDRAWN, 1, NULL, NULL, &h.error));
    expect(&h, FDL_OK, gc_with(&h, 0, true, &result));
    assert_string_equal(history_reason(&h, 4), "withdrawn");
    fdl_gc_result_clear(&result);
    history_close(&h);
}

static void a_marked_version_that_still_has_its_catalog_counts(void **state) {
    (void)state;
    history h;
    open_line(&h);
    expect(&h, FDL_OK, fdl_expiry_write(h.repo, history_id(1), FDL_REASON_RETENTION, 1, NULL, NULL, &h.error));
    expect(&h, FDL_OK, gc(&h, 0));
    expect_data(&h, "a b c d1 d2 e f");
    history_close(&h);
}

/* ---- what is not ----------------------------------------------------------------------------- */

static void only_parquet_and_puffin_files_of_the_data_folder_go(void **state) {
    (void)state;
    history h;
    fdl_gc_result result = {0};
    static const char *const left[] = {"data/README.txt", "data/main/t/x.PARQUET", "sources/x.parquet", "x.parquet",
                                       "data2/x.parquet", "versions/x.parquet"};
    open_line(&h);
    history_put(&h, "data/x/y/x.parquet", "x");
    history_put(&h, "data/main/t/x.puffin", "x");
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        history_put(&h, left[i], "x");
    expect(&h, FDL_OK, gc_with(&h, 0, false, &result));
    assert_false(history_has(&h, "data/x/y/x.parquet") || history_has(&h, "data/main/t/x.puffin"));
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        assert_true(history_has(&h, left[i]));
    assert_int_equal(fdl_plan_count(result.left), 2);
    assert_int_equal(fdl_plan_count(result.plan), 2);
    assert_int_equal(result.needed_files, 7);
    fdl_gc_result_clear(&result);
    history_close(&h);
}

static void what_a_stopped_push_left_goes_and_whole_versions_stay(void **state) {
    (void)state;
    history h;
    static const char half[] = "versions/019a0000-0000-7000-8000-000000000077/ducklake.duckdb";
    open_line(&h);
    history_put(&h, half, "x");
    expect(&h, FDL_OK, gc(&h, FDL_GRACE_MS));
    assert_true(history_has(&h, half));
    expect(&h, FDL_OK, gc(&h, 0));
    assert_false(history_has(&h, half));
    assert_true(history_has_catalog(&h, 1) && history_has_catalog(&h, 4));
    history_close(&h);
}

static void a_dry_run_says_the_same_and_does_nothing(void **state) {
    (void)state;
    history h;
    fdl_gc_result result = {0};
    open_line(&h);
    history_put(&h, "data/main/t/x.parquet", "xyz");
    fdl_trace_clear(&h.trace);
    expect(&h, FDL_OK, fdl_gc(h.repo, &(fdl_gc_options){.dry_run = true}, &result, &h.error));
    assert_int_equal(fdl_plan_count(result.plan), 1);
    assert_int_equal(fdl_plan_bytes(result.plan), 3);
    assert_int_equal(h.trace.calls[FDL_OP_PUT] + h.trace.calls[FDL_OP_REMOVE], 0);
    expect_data(&h, "a b c d1 d2 e f x");
    fdl_gc_result_clear(&result);
    history_close(&h);
}

/* ---- grace ------------------------------------------------------------------------------------- */

static void the_grace_runs_from_the_upload_by_the_stores_clock(void **state) {
    (void)state;
    history h;
    open_line(&h);
    history_put(&h, "data/main/t/x.parquet", "x");
    late_ms = FDL_GRACE_MS - 60000;
    expect(&h, FDL_OK, gc(&h, FDL_GRACE_MS));
    expect_data(&h, "a b c d1 d2 e f x");
    late_ms = FDL_GRACE_MS + 60000;
    expect(&h, FDL_OK, gc(&h, FDL_GRACE_MS));
    expect_data(&h, "a b c d1 d2 e f");
    history_close(&h);
}

static void list_files(history *h, int number, const char *path) {
    char key[FDL_KEY_BYTES], text[300];
    snprintf(key, sizeof key, "versions/%s/files.json", history_id(number));
    snprintf(text, sizeof text,
             "{\"tables\":[{\"schema\":\"main\",\"name\":\"t\",\"files\":[{\"path\":\"%s\",\"bytes\":1,\"rows\":10}]}]}",
             path);
    history_put(h, key, text);
}

/* The instant, in the store's time, `ms` from now. */
static const char *at(int64_t ms) {
    static char text[FDL_TIME_BYTES];
    time_t seconds = time(NULL) + (time_t)(ms / 1000);
    struct tm parts;
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &parts));
    return text;
}

static void the_grace_runs_from_the_end_of_the_last_version_that_named_the_file(void **state) {
    (void)state;
    history h;
    open_line(&h);
    late_ms = 100 * DAY_MS;
    list_files(&h, 1, "data/main/t/a.parquet");
    expire_by_hand(&h, 1, at(99 * DAY_MS));
    history_put(&h, "data/main/t/x.parquet", "x");
    expect(&h, FDL_OK, gc(&h, FDL_GRACE_MS));
    expect_data(&h, "a b c d1 d2 e f");
    expire_by_hand(&h, 1, at(85 * DAY_MS));
    expect(&h, FDL_OK, gc(&h, FDL_GRACE_MS));
    expect_data(&h, "b c d1 d2 e f");
    history_close(&h);
}

/* Nobody knows which files it named, so none that was there by then goes. */
static void a_version_that_expired_without_a_list_spares_what_was_there_before_it(void **state) {
    (void)state;
    history h;
    open_line(&h);
    late_ms = 100 * DAY_MS;
    expire_by_hand(&h, 1, at(99 * DAY_MS));
    expect(&h, FDL_OK, gc(&h, FDL_GRACE_MS));
    expect_data(&h, "a b c d1 d2 e f");
    expect(&h, FDL_OK, gc(&h, 0));
    expect_data(&h, "b c d1 d2 e f");
    history_close(&h);
}

/* ---- what cannot be told ------------------------------------------------------------------------- */

static void a_live_version_without_catalog_stops_it(void **state) {
    (void)state;
    history h;
    char key[FDL_KEY_BYTES];
    open_line(&h);
    history_put(&h, "data/main/t/x.parquet", "x");
    snprintf(key, sizeof key, "versions/%s/ducklake.duckdb", history_id(1));
    history_remove(&h, key);
    expect(&h, FDL_FAILED, gc(&h, 0));
    expect_said(history_id(1), &h.error);
    expect_data(&h, "a b c d1 d2 e f x");
    history_close(&h);
}

/* What a mirror holds of a version that was not copied to it. */
static void leave_the_record(history *h, int number) {
    char key[FDL_KEY_BYTES];
    static const char *const others[] = {"ducklake.duckdb", "dataset.json"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(key, sizeof key, "versions/%s/%s", history_id(number), others[i]);
        history_remove(h, key);
    }
}

static void the_bare_records_of_a_mirror_need_nothing(void **state) {
    (void)state;
    history h;
    open_line(&h);
    leave_the_record(&h, 1);
    leave_the_record(&h, 2);
    expect(&h, FDL_OK, gc(&h, FDL_GRACE_MS));
    expect_data(&h, "a b c d1 d2 e f");
    expect(&h, FDL_OK, gc(&h, 0));
    expect_data(&h, "b c d2 e f");
    history_close(&h);
}

/* Nobody made it so: what it needs may be known again tomorrow. */
static void a_record_with_anything_beside_it_is_damage_and_stops_it(void **state) {
    static const char *const left[] = {"dataset.json", "files.json", "preview.png"};
    char key[FDL_KEY_BYTES];
    (void)state;
    history h;
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        open_line(&h);
        leave_the_record(&h, 1);
        snprintf(key, sizeof key, "versions/%s/%s", history_id(1), left[i]);
        history_put(&h, key, "x");
        expect(&h, FDL_FAILED, gc(&h, 0));
        expect_said(history_id(1), &h.error);
        expect_data(&h, "a b c d1 d2 e f");
        history_close(&h);
    }
}

static void a_record_alone_that_a_ref_points_to_stops_it(void **state) {
    static const char *const refs[] = {"heads/old", "tags/old", NULL};
    (void)state;
    history h;
    for (size_t i = 0; i < 3; i++) {
        open_line(&h);
        leave_the_record(&h, 1);
        if (refs[i])
            history_ref(&h, refs[i], 1);
        else
            history_request(&h, 1, 1, "waiting");
        expect(&h, FDL_FAILED, gc(&h, 0));
        expect_said(history_id(1), &h.error);
        expect_data(&h, "a b c d1 d2 e f");
        history_close(&h);
    }
}

static void a_damaged_catalog_stops_it(void **state) {
    (void)state;
    history h;
    char key[FDL_KEY_BYTES];
    open_line(&h);
    history_put(&h, "data/main/t/x.parquet", "x");
    snprintf(key, sizeof key, "versions/%s/ducklake.duckdb", history_id(2));
    history_put(&h, key, "not what version.json says");
    expect(&h, FDL_FAILED, gc(&h, 0));
    expect_said("sha256", &h.error);
    expect_data(&h, "a b c d1 d2 e f x");
    history_close(&h);
}

static void a_broken_record_stops_it(void **state) {
    (void)state;
    history h;
    char key[FDL_KEY_BYTES];
    open_line(&h);
    history_put(&h, "data/main/t/x.parquet", "x");
    snprintf(key, sizeof key, "versions/%s/version.json", history_id(2));
    history_put(&h, key, "{}");
    expect(&h, FDL_FAILED, gc(&h, 0));
    expect_data(&h, "a b c d1 d2 e f x");
    history_close(&h);
}

/* ---- not alone -------------------------------------------------------------------------------------- */

static void a_version_comes(void *data) {
    history *h = data;
    h->fault = (fdl_fault){0};
    history_version(h, 9, 3, "a e");
}

/* Its version.json came after gc had read what is needed, and before it deletes. */
static void what_a_version_that_comes_meanwhile_names_stays(void **state) {
    (void)state;
    history h;
    fdl_gc_result result = {0};
    open_line(&h);
    expire_by_hand(&h, 1, "2026-01-01T00:00:00Z");
    history_put(&h, "data/main/t/x.parquet", "x");
    h.fault = (fdl_fault){.ops = 1u << FDL_OP_LIST,
                          .prefix = "data/",
                          .at = 1,
                          .kind = FDL_FAULT_HOOK_AFTER,
                          .hook = a_version_comes,
                          .hook_data = &h};
    expect(&h, FDL_OK, gc_with(&h, 0, false, &result));
    expect_data(&h, "a b c d1 d2 e f");
    assert_int_equal(fdl_plan_count(result.plan), 1); /* the plan tells what was deleted, not what was meant to be */
    assert_int_equal(fdl_plan_bytes(result.plan), 1);
    fdl_gc_result_clear(&result);
    history_close(&h);
}

static void a_branch_comes(void *data) {
    history_ref(data, "heads/rescue", 4);
}

static void an_unreachable_version_that_gets_a_name_meanwhile_stays(void **state) {
    (void)state;
    history h;
    fdl_gc_result result = {0};
    open_line(&h);
    h.fault = (fdl_fault){.ops = 1u << FDL_OP_LIST,
                          .prefix = "data/",
                          .at = 1,
                          .kind = FDL_FAULT_HOOK_AFTER,
                          .hook = a_branch_comes,
                          .hook_data = &h};
    expect(&h, FDL_OK, gc_with(&h, 0, true, &result));
    assert_true(history_has_catalog(&h, 4));
    expect_data(&h, "a b c d1 d2 e f");
    fdl_gc_result_clear(&result);
    history_close(&h);
}

static void a_push_ends(void *data) {
    history *h = data;
    h->fault = (fdl_fault){0};
    history_version(h, 77, 3, "a e");
}

static void a_push_that_goes_on_after_long_keeps_what_it_had_sent(void **state) {
    (void)state;
    history h;
    open_line(&h);
    history_put(&h, "versions/019a0000-0000-7000-8000-000000000077/ducklake.duckdb", "x");
    h.fault = (fdl_fault){.ops = 1u << FDL_OP_LIST,
                          .prefix = "data/",
                          .at = 1,
                          .kind = FDL_FAULT_HOOK_AFTER,
                          .hook = a_push_ends,
                          .hook_data = &h};
    expect(&h, FDL_OK, gc(&h, 0));
    assert_true(history_has_catalog(&h, 77));
    history_close(&h);
}

static void an_expire_comes(void *data) {
    history *h = data;
    h->fault = (fdl_fault){0};
    expire_by_hand(h, 1, at(0));
}

/* Between the listing and the look at its catalog. */
static void a_version_that_expires_meanwhile_is_no_failure(void **state) {
    (void)state;
    history h;
    open_line(&h);
    h.fault = (fdl_fault){.ops = 1u << FDL_OP_GET,
                          .prefix = "versions/019a0000-0000-7000-8000-000000000001/ducklake.duckdb",
                          .at = 1,
                          .kind = FDL_FAULT_HOOK_BEFORE,
                          .hook = an_expire_comes,
                          .hook_data = &h};
    expect(&h, FDL_OK, gc(&h, FDL_GRACE_MS));
    expect_data(&h, "a b c d1 d2 e f");
    history_close(&h);
}

/* ---- stopped ------------------------------------------------------------------------------------------ */

static fdl_code gc_all(history *h) {
    fdl_gc_result result = {0};
    fdl_code code = gc_with(h, 0, true, &result);
    fdl_gc_result_clear(&result);
    return code;
}

static void check_all(history *h) {
    expect_data(h, "b c d1 d2 e");
    assert_false(history_has(h, "versions/019a0000-0000-7000-8000-000000000077/dataset.json"));
    assert_false(history_has(h, "versions/019a0000-0000-7000-8000-000000000004/dataset.json"));
    assert_true(history_has_catalog(h, 2) && history_has_catalog(h, 3));
}

static void stopped_anywhere_it_can_be_repeated(void **state) {
    (void)state;
    history h;
    open_line(&h);
    expire_by_hand(&h, 1, "2026-01-01T00:00:00Z");
    history_put(&h, "data/main/t/x.parquet", "x");
    history_put(&h, "versions/019a0000-0000-7000-8000-000000000077/dataset.json", "x");
    history_save(&h);
    size_t calls = history_sweep(&h, FDL_FAULT_FAIL, FDL_FAILED, gc_all, check_all);
    print_message("%zu calls failed in turn\n", calls);
    assert_true(calls > 20);
    assert_true(history_sweep(&h, FDL_FAULT_LOSE_ANSWER, FDL_OK, gc_all, check_all) > 5);
    history_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_live_versions_name_stays_reachable_or_not),
        cmocka_unit_test(what_only_expired_versions_named_goes),
        cmocka_unit_test(unreachable_versions_go_only_when_asked),
        cmocka_unit_test(unreachable_versions_within_the_grace_stay_even_when_asked),
        cmocka_unit_test(what_a_branch_tag_or_waiting_push_points_to_is_reachable),
        cmocka_unit_test(a_withdrawal_is_never_forgotten),
        cmocka_unit_test(a_marked_version_that_still_has_its_catalog_counts),
        cmocka_unit_test(only_parquet_and_puffin_files_of_the_data_folder_go),
        cmocka_unit_test(what_a_stopped_push_left_goes_and_whole_versions_stay),
        cmocka_unit_test(a_dry_run_says_the_same_and_does_nothing),
        cmocka_unit_test(the_grace_runs_from_the_upload_by_the_stores_clock),
        cmocka_unit_test(the_grace_runs_from_the_end_of_the_last_version_that_named_the_file),
        cmocka_unit_test(a_version_that_expired_without_a_list_spares_what_was_there_before_it),
        cmocka_unit_test(a_live_version_without_catalog_stops_it),
        cmocka_unit_test(the_bare_records_of_a_mirror_need_nothing),
        cmocka_unit_test(a_record_with_anything_beside_it_is_damage_and_stops_it),
        cmocka_unit_test(a_record_alone_that_a_ref_points_to_stops_it),
        cmocka_unit_test(a_damaged_catalog_stops_it),
        cmocka_unit_test(a_broken_record_stops_it),
        cmocka_unit_test(what_a_version_that_comes_meanwhile_names_stays),
        cmocka_unit_test(an_unreachable_version_that_gets_a_name_meanwhile_stays),
        cmocka_unit_test(a_push_that_goes_on_after_long_keeps_what_it_had_sent),
        cmocka_unit_test(a_version_that_expires_meanwhile_is_no_failure),
        cmocka_unit_test(stopped_anywhere_it_can_be_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
