/*
 * test_revision.c - what people type, and the version they mean by it.
 */
#include "lake.h"

#include "util/file.h"

static void expect_id(lake *l, const char *revision, const char *id) {
    fdl_target target;
    expect(l, FDL_OK, fdl_resolve(l->repo, revision, &target, &l->error));
    assert_string_equal(target.id, id);
}

static void expect_none(lake *l, fdl_code code, const char *revision, const char *part) {
    fdl_target target;
    expect(l, code, fdl_resolve(l->repo, revision, &target, &l->error));
    expect_message(l, part);
    assert_string_equal(target.id, "");
}

/* ---- names --------------------------------------------------------------- */

static void each_kind_of_name_is_found(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    lake_put(&l, "refs/heads/dev/x", ID_B "\n");
    lake_put(&l, "refs/tags/v1", ID_A "\n");
    expect_id(&l, NULL, ID_C);
    expect_id(&l, "HEAD", ID_C);
    expect_id(&l, "main", ID_C);
    expect_id(&l, "dev/x", ID_B);
    expect_id(&l, "v1", ID_A);
    expect_id(&l, "refs/heads/main", ID_C);
    expect_id(&l, "refs/tags/v1", ID_A);
    expect_id(&l, ID_B, ID_B);
    expect_id(&l, "019a3c4e", ID_C);
    lake_close(&l);
}

static void a_branch_comes_with_its_name_and_etag_and_nothing_else_does(void **state) {
    (void)state;
    static const struct {
        const char *revision, *branch;
    } cases[] = {{NULL, "refs/heads/main"},
                 {"HEAD", "refs/heads/main"},
                 {"main", "refs/heads/main"},
                 {"refs/heads/main", "refs/heads/main"},
                 {"v1", ""},
                 {"refs/tags/v1", ""},
                 {ID_C, ""},
                 {"HEAD~1", ""},
                 {"main~0", ""}};
    lake l;
    fdl_ref ref;
    lake_open(&l);
    lake_put_history(&l);
    lake_put(&l, "refs/tags/v1", ID_A "\n");
    expect(&l, FDL_OK, fdl_ref_read(l.repo, "refs/heads/main", &ref, &l.error));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fdl_target target;
        expect(&l, FDL_OK, fdl_resolve(l.repo, cases[i].revision, &target, &l.error));
        assert_string_equal(target.branch, cases[i].branch);
        assert_string_equal(target.etag, cases[i].branch[0] ? ref.etag : "");
    }
    lake_close(&l);
}

static void a_branch_wins_over_a_tag_and_both_over_an_id(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    lake_put(&l, "refs/tags/x", ID_A "\n");
    expect_id(&l, "x", ID_A);
    lake_put(&l, "refs/heads/x", ID_B "\n");
    expect_id(&l, "x", ID_B);
    lake_put(&l, "refs/tags/" ID_C, ID_A "\n");
    expect_id(&l, ID_C, ID_A);
    lake_put(&l, "refs/tags/019a3c4e", ID_B "\n");
    expect_id(&l, "019a3c4e", ID_B);
    lake_close(&l);
}

static void the_way_from_head_to_an_id_is_two_reads(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    lake_put(&l, "refs/tags/v1", ID_A "\n");
    expect_id(&l, "HEAD", ID_C);
    char *calls = lake_calls(&l);
    assert_string_equal(calls, "get HEAD\nget refs/heads/main\n");
    free(calls);
    expect_id(&l, "main", ID_C);
    calls = lake_calls(&l);
    assert_string_equal(calls, "get refs/heads/main\n");
    free(calls);
    expect_id(&l, "refs/tags/v1", ID_A);
    calls = lake_calls(&l);
    assert_string_equal(calls, "get refs/tags/v1\n");
    free(calls);
    expect_id(&l, "v1", ID_A);
    calls = lake_calls(&l);
    assert_string_equal(calls, "get refs/heads/v1\nget refs/tags/v1\n");
    free(calls);
    lake_close(&l);
}

static void reading_a_version_through_head_costs_four_reads(void **state) {
    (void)state;
    lake l;
    fdl_target target;
    fdl_version version = {0};
    fdl_expiry expiry = {0};
    char *url = NULL;
    lake_open(&l);
    lake_put_history(&l);
    expect(&l, FDL_OK, fdl_resolve(l.repo, NULL, &target, &l.error));
    expect(&l, FDL_OK, fdl_version_read(l.repo, target.id, &version, &l.error));
    expect(&l, FDL_OK, fdl_expiry_read(l.repo, target.id, &expiry, &l.error));
    expect(&l, FDL_OK, fdl_version_url(l.repo, version.id, version.catalog.file.path, &url, &l.error));
    char *calls = lake_calls(&l);
    assert_string_equal(calls, "get HEAD\nget refs/heads/main\nget versions/" ID_C "/version.json\nget versions/" ID_C
                               "/expired.json\n");
    free(calls);
    free(url);
    fdl_version_clear(&version);
    lake_close(&l);
}

static void a_name_that_nothing_has_is_not_found_and_named(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    expect_none(&l, FDL_NOT_FOUND, "nothing", "'nothing'");
    expect_none(&l, FDL_NOT_FOUND, "refs/heads/nothing", "'refs/heads/nothing'");
    expect_none(&l, FDL_NOT_FOUND, ID_D, ID_D);
    expect_none(&l, FDL_NOT_FOUND, "019aaaaa", "'019aaaaa'");
    lake_close(&l);
}

static void what_can_be_no_name_and_no_id_is_a_usage_error(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "~",
                                      "~1",
                                      "Main",
                                      "../x",
                                      "a//b",
                                      "a b",
                                      "x.lock",
                                      "main^",
                                      "@",
                                      "main~x",
                                      "main~-1",
                                      "main~1x",
                                      "main~1000001",
                                      "main~~~q",
                                      "%2e%2e",
                                      "head~99999999999999999999",
                                      "refs/heads/A",
                                      "019A3C4E",
                                      "-x"};
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    fdl_trace_clear(&l.trace);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_none(&l, FDL_USAGE, bad[i], "is not a revision");
    char name[2000];
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    expect_none(&l, FDL_USAGE, name, "is not a revision");
    assert_int_equal(l.trace.line_count, 0);
    lake_close(&l);
}

static void a_broken_ref_is_told_and_not_looked_past(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    lake_put(&l, "refs/heads/x", "rubbish");
    lake_put(&l, "refs/tags/x", ID_A "\n");
    expect_none(&l, FDL_FAILED, "x", "'refs/heads/x'");
    lake_close(&l);
}

/* ---- before the first version ---------------------------------------------- */

static void a_branch_of_head_that_does_not_exist_yet_means_no_version_yet(void **state) {
    (void)state;
    static const char *const revisions[] = {NULL, "HEAD", "main", "refs/heads/main"};
    lake l;
    lake_open(&l);
    for (size_t i = 0; i < sizeof revisions / sizeof revisions[0]; i++) {
        fdl_target target;
        expect(&l, FDL_NOT_FOUND, fdl_resolve(l.repo, revisions[i], &target, &l.error));
        expect_message(&l, "no version yet in 'memory://' (branch 'main' does not exist yet)");
        assert_string_equal(target.branch, "refs/heads/main");
        assert_string_equal(target.id, "");
    }
    fdl_target target;
    expect(&l, FDL_NOT_FOUND, fdl_resolve(l.repo, "HEAD~1", &target, &l.error));
    expect_message(&l, "no version yet");
    assert_string_equal(target.branch, "");
    expect_none(&l, FDL_NOT_FOUND, "dev", "'dev'");
    lake_close(&l);
}

static void without_head_there_is_no_repository_whatever_was_asked(void **state) {
    (void)state;
    static const char *const revisions[] = {NULL, "HEAD", "main", "refs/tags/v1", "019a3c4e", ID_A};
    lake l;
    lake_open(&l);
    lake_remove(&l, "HEAD");
    for (size_t i = 0; i < sizeof revisions / sizeof revisions[0]; i++)
        expect_none(&l, FDL_NOT_FOUND, revisions[i], "is not a repository; make one with 'fdl init ");
    lake_close(&l);
}

/* ---- ancestors -------------------------------------------------------------- */

static void tildes_count_ancestors_and_add_up(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    lake_put(&l, "refs/tags/v1", ID_B "\n");
    expect_id(&l, "main~0", ID_C);
    expect_id(&l, "main~", ID_B);
    expect_id(&l, "main~1", ID_B);
    expect_id(&l, "main~2", ID_A);
    expect_id(&l, "main~~", ID_A);
    expect_id(&l, "main~1~1", ID_A);
    expect_id(&l, "HEAD~001", ID_B);
    expect_id(&l, "v1~1", ID_A);
    expect_id(&l, ID_C "~2", ID_A);
    expect_id(&l, "019a3c4e~1", ID_B);
    lake_close(&l);
}

static void going_past_the_first_version_says_how_many_ancestors_there_are(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    expect_none(&l, FDL_NOT_FOUND, "main~3", "'main' has no ancestor ~3: it has 2");
    expect_none(&l, FDL_NOT_FOUND, "main~1000000", "it has 2");
    lake_close(&l);
}

static void a_history_in_circles_ends(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_version(&l, ID_A, ID_C, 7);
    lake_put_version(&l, ID_C, ID_A, 8);
    lake_put(&l, "refs/heads/main", ID_C "\n");
    expect_none(&l, FDL_FAILED, "main~1000000", "broken");
    lake_close(&l);
}

static void an_expired_ancestor_is_still_an_ancestor(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    lake_put(&l, "versions/" ID_B "/expired.json",
             "{\"expired_at\":\"2026-12-01T00:00:00Z\",\"reason\":\"retention\"}");
    expect_id(&l, "main~2", ID_A);
    expect_id(&l, "main~1", ID_B);
    lake_close(&l);
}

/* ---- ids by their start -------------------------------------------------------- */

static void a_prefix_needs_eight_characters_of_an_id(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    expect_id(&l, "019a3c4e", ID_C);
    expect_id(&l, "019a3c4e-", ID_C);
    expect_id(&l, "019a3c4e-0000-7000-8000-00000000000", ID_C);
    expect_none(&l, FDL_NOT_FOUND, "019a3c4", "'019a3c4'");
    expect_none(&l, FDL_NOT_FOUND, "019a3c4e0", "'019a3c4e0'");
    expect_none(&l, FDL_NOT_FOUND, "019a-3c4e", "'019a-3c4e'");
    lake_close(&l);
}

static void an_ambiguous_prefix_names_candidates(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    expect_none(&l, FDL_USAGE, "019a2f10", "ambiguous");
    expect_message(&l, ID_A);
    expect_message(&l, ID_B);
    expect_id(&l, "019a2f10-0", ID_A);
    lake_close(&l);
}

static void a_folder_without_version_json_is_no_version(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    lake_put(&l, "versions/" ID_D "/ducklake.duckdb", "half a push");
    lake_put(&l, "versions/019a3c4e-not-an-id/version.json", "{}");
    lake_put(&l, "versions/019a3c4e", "a file");
    expect_id(&l, "019a3c4e", ID_C);
    expect_none(&l, FDL_NOT_FOUND, ID_D, ID_D);
    expect_none(&l, FDL_NOT_FOUND, "019a3c4e-0000-7000-8000-00000000000d", ID_D);
    lake_close(&l);
}

static void without_listing_a_prefix_is_found_in_the_histories_of_the_refs(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    l.store->can_list = false;
    lake_put_version(&l, ID_D, ID_B, 3);
    lake_put(&l, "refs.json",
             "{\"head\":\"refs/heads/main\",\"refs\":{\"refs/heads/main\":\"" ID_C "\",\"refs/tags/v1\":\"" ID_B
             "\"}}");
    expect_id(&l, "019a2f10-0", ID_A);
    assert_int_equal(l.trace.calls[FDL_OP_LIST], 0);
    expect_id(&l, "019a3c4e", ID_C); /* D is on no ref */
    expect_none(&l, FDL_USAGE, "019a2f10", "ambiguous");
    expect_none(&l, FDL_NOT_FOUND, "019a9999", "'019a9999'");
    expect_id(&l, ID_D, ID_D);
    lake_close(&l);
}

static void shared_histories_are_walked_once(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put_history(&l);
    l.store->can_list = false;
    lake_put(&l, "refs.json",
             "{\"head\":\"refs/heads/main\",\"refs\":{\"refs/heads/a\":\"" ID_C "\",\"refs/heads/main\":\"" ID_C
             "\",\"refs/tags/v1\":\"" ID_B "\"}}");
    expect_none(&l, FDL_NOT_FOUND, "019a9999", "'019a9999'");
    char *calls = lake_calls(&l);
    assert_string_equal(calls, "get refs/heads/019a9999\nget refs/tags/019a9999\nget refs.json\n"
                               "get versions/" ID_C "/version.json\nget versions/" ID_B "/version.json\n"
                               "get versions/" ID_A "/version.json\nget HEAD\n");
    free(calls);
    lake_close(&l);
}

static void a_circle_of_parents_does_not_hold_the_search(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    l.store->can_list = false;
    lake_put_version(&l, ID_A, ID_C, 7);
    lake_put_version(&l, ID_C, ID_A, 8);
    lake_put(&l, "refs.json", "{\"head\":\"refs/heads/main\",\"refs\":{\"refs/heads/main\":\"" ID_C "\"}}");
    expect_id(&l, "019a2f10", ID_A);
    expect_none(&l, FDL_NOT_FOUND, "019a9999", "'019a9999'");
    lake_close(&l);
}

/* ---- in a folder ----------------------------------------------------------------- */

static void a_name_below_or_above_an_existing_ref_is_simply_not_found(void **state) {
    (void)state;
    char path[] = "/tmp/fdl-revision-XXXXXX";
    assert_non_null(mkdtemp(path));
    lake l = {0};
    fdl_store *store = NULL;
    expect(&l, FDL_OK, fdl_store_open_folder(NULL, path, &store, &l.error));
    lake_open_store(&l, store);
    lake_put(&l, "HEAD", "ref: refs/heads/main\n");
    lake_put_history(&l);
    lake_put(&l, "refs/heads/a/b", ID_B "\n");
    expect_id(&l, "a/b", ID_B);
    expect_none(&l, FDL_NOT_FOUND, "a", "'a'");
    expect_none(&l, FDL_NOT_FOUND, "a/b/c", "'a/b/c'");
    expect_none(&l, FDL_NOT_FOUND, "main/x", "'main/x'");
    lake_close(&l);
    expect(&l, FDL_OK, fdl_folder_remove(path, &l.error));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_name_is_found),
        cmocka_unit_test(a_branch_comes_with_its_name_and_etag_and_nothing_else_does),
        cmocka_unit_test(a_branch_wins_over_a_tag_and_both_over_an_id),
        cmocka_unit_test(the_way_from_head_to_an_id_is_two_reads),
        cmocka_unit_test(reading_a_version_through_head_costs_four_reads),
        cmocka_unit_test(a_name_that_nothing_has_is_not_found_and_named),
        cmocka_unit_test(what_can_be_no_name_and_no_id_is_a_usage_error),
        cmocka_unit_test(a_broken_ref_is_told_and_not_looked_past),
        cmocka_unit_test(a_branch_of_head_that_does_not_exist_yet_means_no_version_yet),
        cmocka_unit_test(without_head_there_is_no_repository_whatever_was_asked),
        cmocka_unit_test(tildes_count_ancestors_and_add_up),
        cmocka_unit_test(going_past_the_first_version_says_how_many_ancestors_there_are),
        cmocka_unit_test(a_history_in_circles_ends),
        cmocka_unit_test(an_expired_ancestor_is_still_an_ancestor),
        cmocka_unit_test(a_prefix_needs_eight_characters_of_an_id),
        cmocka_unit_test(an_ambiguous_prefix_names_candidates),
        cmocka_unit_test(a_folder_without_version_json_is_no_version),
        cmocka_unit_test(without_listing_a_prefix_is_found_in_the_histories_of_the_refs),
        cmocka_unit_test(shared_histories_are_walked_once),
        cmocka_unit_test(a_circle_of_parents_does_not_hold_the_search),
        cmocka_unit_test(a_name_below_or_above_an_existing_ref_is_simply_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
