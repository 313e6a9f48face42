/*
 * test_ref_write.c - moving, creating and removing refs when answers are lost,
 * when others are faster, and when names clash.
 */
#include "lake.h"

#define MAIN "refs/heads/main"

static void open_at(lake *l, const char *id, fdl_ref *ref) {
    lake_open(l);
    lake_put_version(l, ID_A, NULL, 1);
    lake_put_version(l, ID_B, ID_A, 2);
    lake_put_version(l, ID_C, ID_B, 3);
    lake_put_version(l, ID_D, ID_A, 2);
    memset(ref, 0, sizeof *ref);
    if (!id)
        return;
    char line[64];
    snprintf(line, sizeof line, "%s\n", id);
    lake_put(l, MAIN, line);
    expect(l, FDL_OK, fdl_ref_read(l->repo, MAIN, ref, &l->error));
    fdl_trace_clear(&l->trace);
}

static void expect_held(lake *l, const char *key, const char *id) {
    char *text = lake_get(l, key);
    char line[64];
    snprintf(line, sizeof line, "%s\n", id);
    assert_string_equal(text, line);
    free(text);
}

/* The next puts of refs, from the `at`th on. */
static fdl_fault at_put(size_t at, size_t more, fdl_fault_kind kind) {
    return (fdl_fault){.ops = 1u << FDL_OP_PUT, .prefix = "refs/", .at = at, .more = more, .kind = kind};
}

static void main_goes_to_b(void *data) {
    lake_put(data, MAIN, ID_B "\n");
}

static void main_goes_to_c(void *data) {
    lake_put(data, MAIN, ID_C "\n");
}

static void main_goes_to_d(void *data) {
    lake_put(data, MAIN, ID_D "\n");
}

static void main_is_deleted(void *data) {
    lake_remove(data, MAIN);
}

/* ---- the plain way -------------------------------------------------------- */

static void a_branch_moves_with_one_put(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    expect(&l, FDL_OK, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    expect_held(&l, MAIN, ID_B);
    char *calls = lake_calls(&l);
    assert_string_equal(calls, "put " MAIN "\n");
    free(calls);
    lake_close(&l);
}

static void a_new_ref_is_created_only_where_there_is_none(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, NULL, &ref);
    expect(&l, FDL_OK, fdl_ref_write(l.repo, "refs/tags/v1", ID_A, NULL, &l.error));
    expect_held(&l, "refs/tags/v1", ID_A);
    expect(&l, FDL_CONFLICT, fdl_ref_write(l.repo, "refs/tags/v1", ID_B, NULL, &l.error));
    expect_message(&l, "'refs/tags/v1'");
    expect_message(&l, ID_A);
    expect_held(&l, "refs/tags/v1", ID_A);
    lake_close(&l);
}

static void a_ref_read_as_missing_is_created(void **state) {
    (void)state;
    lake l;
    fdl_ref missing;
    open_at(&l, NULL, &missing);
    expect(&l, FDL_OK, fdl_ref_write(l.repo, MAIN, ID_A, &missing, &l.error));
    expect_held(&l, MAIN, ID_A);
    lake_close(&l);
}

static void a_branch_that_moved_is_a_conflict_that_tells_what_it_holds(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    main_goes_to_d(&l);
    expect(&l, FDL_CONFLICT, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    expect_message(&l, "'" MAIN "'");
    expect_message(&l, "to '" ID_D "'");
    assert_string_equal(l.error.key, MAIN);
    expect_held(&l, MAIN, ID_D);
    lake_close(&l);
}

static void a_branch_that_was_deleted_is_a_conflict(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    main_is_deleted(&l);
    expect(&l, FDL_CONFLICT, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    expect_message(&l, "deleted");
    assert_false(lake_has(&l, MAIN));
    lake_close(&l);
}

static void an_existing_branch_is_not_created_even_when_it_builds_on_that_version(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_C, &ref);
    expect(&l, FDL_CONFLICT, fdl_ref_write(l.repo, MAIN, ID_A, NULL, &l.error));
    expect_message(&l, "exists already");
    expect_held(&l, MAIN, ID_C);
    lake_close(&l);
}

static void a_tag_never_moves(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, NULL, &ref);
    lake_put(&l, "refs/tags/v1", ID_A "\n");
    expect(&l, FDL_OK, fdl_ref_read(l.repo, "refs/tags/v1", &ref, &l.error));
    expect(&l, FDL_REFUSED, fdl_ref_write(l.repo, "refs/tags/v1", ID_B, &ref, &l.error));
    expect_held(&l, "refs/tags/v1", ID_A);
    lake_close(&l);
}

static void nothing_but_refs_and_ids_is_written(void **state) {
    (void)state;
    static const char *const names[] = {"main", "HEAD", "fdl.json", "refs/requests/1", "refs/heads/../../HEAD", ""};
    lake l;
    fdl_ref ref;
    open_at(&l, NULL, &ref);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        expect(&l, FDL_USAGE, fdl_ref_write(l.repo, names[i], ID_A, NULL, &l.error));
    expect(&l, FDL_USAGE, fdl_ref_write(l.repo, MAIN, "019a2f10", NULL, &l.error));
    expect(&l, FDL_USAGE, fdl_ref_write(l.repo, MAIN, "", NULL, &l.error));
    assert_int_equal(l.trace.line_count, 0);
    lake_close(&l);
}

static void a_failure_of_the_store_is_passed_up(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    l.fault = at_put(1, 0, FDL_FAULT_FAIL);
    l.fault.code = FDL_DENIED;
    expect(&l, FDL_DENIED, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    assert_int_equal(l.trace.calls[FDL_OP_PUT], 1);
    expect_held(&l, MAIN, ID_A);
    lake_close(&l);
}

/* ---- lost answers ---------------------------------------------------------- */

static void a_lost_answer_to_a_put_that_landed_is_success(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    l.fault = at_put(1, 0, FDL_FAULT_LOSE_ANSWER);
    expect(&l, FDL_OK, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    char *calls = lake_calls(&l);
    assert_string_equal(calls, "put " MAIN "\nget " MAIN "\n");
    free(calls);
    expect_held(&l, MAIN, ID_B);
    lake_close(&l);
}

static void a_lost_put_that_did_not_land_is_sent_again(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    l.fault = at_put(1, 1, FDL_FAULT_FAIL);
    l.fault.code = FDL_UNCERTAIN;
    expect(&l, FDL_OK, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    assert_int_equal(l.trace.calls[FDL_OP_PUT], 3);
    expect_held(&l, MAIN, ID_B);
    lake_close(&l);
}

static void a_new_ref_whose_answer_was_lost_is_settled_too(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, NULL, &ref);
    l.fault = at_put(1, 0, FDL_FAULT_LOSE_ANSWER);
    expect(&l, FDL_OK, fdl_ref_write(l.repo, MAIN, ID_A, NULL, &l.error));
    l.fault = at_put(1, 0, FDL_FAULT_FAIL);
    l.fault.code = FDL_UNCERTAIN;
    expect(&l, FDL_OK, fdl_ref_write(l.repo, "refs/tags/v1", ID_A, NULL, &l.error));
    expect_held(&l, MAIN, ID_A);
    expect_held(&l, "refs/tags/v1", ID_A);
    lake_close(&l);
}

/* A client below sent the put twice: the first landed unheard, the second is refused. */
static void a_conflict_with_our_own_first_put_is_success(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    l.fault = at_put(1, 0, FDL_FAULT_HOOK_BEFORE);
    l.fault.hook = main_goes_to_b;
    l.fault.hook_data = &l;
    expect(&l, FDL_OK, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    expect_held(&l, MAIN, ID_B);
    lake_close(&l);
}

static void a_lost_race_after_a_lost_answer_is_a_conflict(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    main_goes_to_d(&l);
    l.fault = at_put(1, 0, FDL_FAULT_LOSE_ANSWER);
    expect(&l, FDL_CONFLICT, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    expect_message(&l, ID_D);
    expect_held(&l, MAIN, ID_D);
    lake_close(&l);
}

static void ours_is_done_also_when_somebody_built_on_it_since(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    l.fault = at_put(1, 0, FDL_FAULT_HOOK_BEFORE);
    l.fault.hook = main_goes_to_c;
    l.fault.hook_data = &l;
    expect(&l, FDL_OK, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    expect_held(&l, MAIN, ID_C);
    lake_close(&l);
}

static void a_ref_that_cannot_be_read_after_a_lost_answer_is_uncertain(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    l.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT | 1u << FDL_OP_GET,
                          .at = 1,
                          .more = 100,
                          .kind = FDL_FAULT_FAIL,
                          .code = FDL_UNCERTAIN};
    expect(&l, FDL_UNCERTAIN, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    expect_message(&l, "'" MAIN "'");
    expect_message(&l, "try again");
    lake_close(&l);
}

static void lost_answers_without_end_are_given_up(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    l.fault = at_put(1, 1000, FDL_FAULT_FAIL);
    l.fault.code = FDL_UNCERTAIN;
    expect(&l, FDL_UNCERTAIN, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    assert_true(l.trace.calls[FDL_OP_PUT] <= 10);
    l.fault = at_put(1, 1000, FDL_FAULT_FAIL);
    l.fault.code = FDL_CONFLICT;
    expect(&l, FDL_CONFLICT, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    expect_held(&l, MAIN, ID_A);
    lake_close(&l);
}

static void the_same_version_under_a_new_etag_is_still_the_one_expected(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    lake_put(&l, MAIN, ID_A "\r\n"); /* somebody's editor */
    expect(&l, FDL_OK, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    expect_held(&l, MAIN, ID_B);
    lake_close(&l);
}

static void broken_content_found_while_settling_is_told(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    lake_put(&l, MAIN, "rubbish");
    expect(&l, FDL_FAILED, fdl_ref_write(l.repo, MAIN, ID_B, &ref, &l.error));
    expect_message(&l, "'" MAIN "'");
    lake_close(&l);
}

/* ---- names that clash ------------------------------------------------------ */

static void a_name_and_a_folder_of_that_name_cannot_both_exist(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, NULL, &ref);
    lake_put(&l, "refs/heads/a/b", ID_A "\n");
    expect(&l, FDL_CONFLICT, fdl_ref_write(l.repo, "refs/heads/a", ID_A, NULL, &l.error));
    expect_message(&l, "'refs/heads/a/b'");
    expect(&l, FDL_CONFLICT, fdl_ref_write(l.repo, "refs/heads/a/b/c", ID_A, NULL, &l.error));
    expect_message(&l, "'refs/heads/a/b'");
    assert_false(lake_has(&l, "refs/heads/a"));
    expect(&l, FDL_OK, fdl_ref_write(l.repo, "refs/heads/a/c", ID_A, NULL, &l.error));
    expect(&l, FDL_OK, fdl_ref_write(l.repo, "refs/heads/ab", ID_A, NULL, &l.error));
    expect(&l, FDL_OK, fdl_ref_write(l.repo, "refs/tags/a", ID_A, NULL, &l.error));
    lake_close(&l);
}

/* ---- removing --------------------------------------------------------------- */

static void a_ref_is_removed_as_it_was_read(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    expect(&l, FDL_OK, fdl_ref_remove(l.repo, &ref, &l.error));
    assert_false(lake_has(&l, MAIN));
    lake_close(&l);
}

static void a_ref_that_moved_is_not_removed(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    main_goes_to_b(&l);
    expect(&l, FDL_CONFLICT, fdl_ref_remove(l.repo, &ref, &l.error));
    expect_message(&l, ID_B);
    expect_held(&l, MAIN, ID_B);
    lake_close(&l);
}

static void a_lost_answer_to_a_removal_is_settled(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    l.fault = (fdl_fault){.ops = 1u << FDL_OP_REMOVE, .at = 1, .kind = FDL_FAULT_LOSE_ANSWER};
    expect(&l, FDL_OK, fdl_ref_remove(l.repo, &ref, &l.error));
    assert_false(lake_has(&l, MAIN));
    lake_close(&l);

    open_at(&l, ID_A, &ref);
    l.fault = (fdl_fault){.ops = 1u << FDL_OP_REMOVE, .at = 1, .kind = FDL_FAULT_FAIL, .code = FDL_UNCERTAIN};
    expect(&l, FDL_OK, fdl_ref_remove(l.repo, &ref, &l.error));
    assert_false(lake_has(&l, MAIN));
    lake_close(&l);
}

static void a_ref_that_somebody_else_removed_is_gone_as_asked(void **state) {
    (void)state;
    lake l;
    fdl_ref ref;
    open_at(&l, ID_A, &ref);
    main_is_deleted(&l);
    expect(&l, FDL_OK, fdl_ref_remove(l.repo, &ref, &l.error));
    lake_close(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_branch_moves_with_one_put),
        cmocka_unit_test(a_new_ref_is_created_only_where_there_is_none),
        cmocka_unit_test(a_ref_read_as_missing_is_created),
        cmocka_unit_test(a_branch_that_moved_is_a_conflict_that_tells_what_it_holds),
        cmocka_unit_test(a_branch_that_was_deleted_is_a_conflict),
        cmocka_unit_test(an_existing_branch_is_not_created_even_when_it_builds_on_that_version),
        cmocka_unit_test(a_tag_never_moves),
        cmocka_unit_test(nothing_but_refs_and_ids_is_written),
        cmocka_unit_test(a_failure_of_the_store_is_passed_up),
        cmocka_unit_test(a_lost_answer_to_a_put_that_landed_is_success),
        cmocka_unit_test(a_lost_put_that_did_not_land_is_sent_again),
        cmocka_unit_test(a_new_ref_whose_answer_was_lost_is_settled_too),
        cmocka_unit_test(a_conflict_with_our_own_first_put_is_success),
        cmocka_unit_test(a_lost_race_after_a_lost_answer_is_a_conflict),
        cmocka_unit_test(ours_is_done_also_when_somebody_built_on_it_since),
        cmocka_unit_test(a_ref_that_cannot_be_read_after_a_lost_answer_is_uncertain),
        cmocka_unit_test(lost_answers_without_end_are_given_up),
        cmocka_unit_test(the_same_version_under_a_new_etag_is_still_the_one_expected),
        cmocka_unit_test(broken_content_found_while_settling_is_told),
        cmocka_unit_test(a_name_and_a_folder_of_that_name_cannot_both_exist),
        cmocka_unit_test(a_ref_is_removed_as_it_was_read),
        cmocka_unit_test(a_ref_that_moved_is_not_removed),
        cmocka_unit_test(a_lost_answer_to_a_removal_is_settled),
        cmocka_unit_test(a_ref_that_somebody_else_removed_is_gone_as_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
