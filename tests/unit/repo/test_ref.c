/*
 * test_ref.c - reading HEAD, a ref and all refs: what is read over, what is
 * broken, and what it costs.
 */
#include "lake.h"

#define BOM "\xef\xbb\xbf"

static void a_ref_is_an_id_and_a_newline_with_its_etag(void **state) {
    (void)state;
    lake l;
    fdl_ref ref = {0};
    lake_open(&l);
    lake_put(&l, "refs/heads/main", ID_A "\n");
    expect(&l, FDL_OK, fdl_ref_read(l.repo, "refs/heads/main", &ref, &l.error));
    assert_string_equal(ref.name, "refs/heads/main");
    assert_string_equal(ref.id, ID_A);
    assert_true(ref.etag[0] != '\0');
    lake_close(&l);
}

static void a_missing_line_end_crlf_and_a_byte_order_mark_are_read_over(void **state) {
    (void)state;
    static const char *const texts[] = {ID_A, ID_A "\r\n", BOM ID_A "\n", BOM ID_A "\r\n", (BOM ID_A)};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lake l;
        fdl_ref ref = {0};
        lake_open(&l);
        lake_put(&l, "refs/tags/v1", texts[i]);
        expect(&l, FDL_OK, fdl_ref_read(l.repo, "refs/tags/v1", &ref, &l.error));
        assert_string_equal(ref.id, ID_A);
        lake_close(&l);
    }
}

static void content_that_is_no_version_id_is_a_failure_that_names_the_ref(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "\n",
                                        "x",
                                        ID_A "\n\n",
                                        ID_A " ",
                                        " " ID_A,
                                        ID_A ID_B,
                                        ID_A "\n" ID_B,
                                        "019a2f10",
                                        "ref: refs/heads/other\n",
                                        "\xff\xfe",
                                        "019A2F10-0C4D-7E88-A1B2-55C0D9E3F7AA",
                                        "../../../../../../../../../../etc/x"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lake l;
        fdl_ref ref = {0};
        lake_open(&l);
        lake_put(&l, "refs/heads/main", texts[i]);
        expect(&l, FDL_FAILED, fdl_ref_read(l.repo, "refs/heads/main", &ref, &l.error));
        expect_message(&l, "'refs/heads/main'");
        assert_string_equal(l.error.key, "refs/heads/main");
        assert_string_equal(ref.id, "");
        lake_close(&l);
    }
}

static void a_nul_or_a_flood_in_a_ref_is_a_failure_too(void **state) {
    (void)state;
    lake l;
    fdl_ref ref = {0};
    char flood[FDL_LIMIT_REF_BYTES + 100];
    lake_open(&l);
    lake_put_bytes(&l, "refs/heads/main", ID_A "\0\n", sizeof(ID_A) + 1);
    expect(&l, FDL_FAILED, fdl_ref_read(l.repo, "refs/heads/main", &ref, &l.error));
    memset(flood, '0', sizeof flood);
    lake_put_bytes(&l, "refs/heads/main", flood, sizeof flood);
    expect(&l, FDL_FAILED, fdl_ref_read(l.repo, "refs/heads/main", &ref, &l.error));
    expect_message(&l, "'refs/heads/main'");
    lake_close(&l);
}

static void a_ref_that_is_not_there_is_named(void **state) {
    (void)state;
    lake l;
    fdl_ref ref = {0};
    lake_open(&l);
    expect(&l, FDL_NOT_FOUND, fdl_ref_read(l.repo, "refs/heads/main", &ref, &l.error));
    expect_message(&l, "no ref 'refs/heads/main'");
    lake_close(&l);
}

static void only_full_names_of_branches_and_tags_are_read(void **state) {
    (void)state;
    static const char *const names[] = {
        "main", "HEAD", "fdl.json", "refs/requests/1", "refs/heads/../../fdl.json", "versions/" ID_A "/version.json",
        ""};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        lake l;
        fdl_ref ref = {0};
        lake_open(&l);
        expect(&l, FDL_USAGE, fdl_ref_read(l.repo, names[i], &ref, &l.error));
        assert_int_equal(l.trace.line_count, 0);
        lake_close(&l);
    }
}

/* ---- HEAD ---------------------------------------------------------------- */

static void head_names_a_branch_that_need_not_exist(void **state) {
    (void)state;
    static const char *const texts[] = {"ref: refs/heads/dev/x\n", "ref: refs/heads/dev/x", "ref: refs/heads/dev/x\r\n",
                                        "ref:refs/heads/dev/x\n", "\xef\xbb\xbfref: \t refs/heads/dev/x\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lake l;
        char branch[FDL_REF_BYTES];
        lake_open(&l);
        lake_put(&l, "HEAD", texts[i]);
        expect(&l, FDL_OK, fdl_head_read(l.repo, branch, &l.error));
        assert_string_equal(branch, "refs/heads/dev/x");
        lake_close(&l);
    }
}

static void a_head_that_names_no_branch_is_a_failure(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        ID_A "\n",
                                        "refs/heads/main\n",
                                        "ref: main\n",
                                        "ref: refs/tags/v1\n",
                                        "ref: refs/heads/../x\n",
                                        "ref: refs/heads/\n",
                                        "ref: refs/heads/main \n",
                                        "ref: refs/heads/main\nx"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lake l;
        char branch[FDL_REF_BYTES];
        lake_open(&l);
        lake_put(&l, "HEAD", texts[i]);
        expect(&l, FDL_FAILED, fdl_head_read(l.repo, branch, &l.error));
        expect_message(&l, "'HEAD'");
        lake_close(&l);
    }
}

static void without_head_there_is_no_repository(void **state) {
    (void)state;
    lake l;
    char branch[FDL_REF_BYTES];
    lake_open(&l);
    lake_remove(&l, "HEAD");
    expect(&l, FDL_NOT_FOUND, fdl_head_read(l.repo, branch, &l.error));
    expect_message(&l, "is not a repository; make one with 'fdl init ");
    lake_close(&l);
}

/* ---- all ----------------------------------------------------------------- */

static void expect_list(lake *l, const char *wanted) {
    fdl_ref_list list = {0};
    char got[4096] = "";
    expect(l, FDL_OK, fdl_ref_list_read(l->repo, &list, &l->error));
    for (size_t i = 0; i < list.count; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s %.13s\n", list.items[i].name, list.items[i].id);
    assert_string_equal(got, wanted);
    fdl_ref_list_clear(&list);
}

static void all_branches_come_before_all_tags_each_sorted(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    expect_list(&l, "");
    lake_put(&l, "refs/tags/v1", ID_A "\n");
    lake_put(&l, "refs/heads/main", ID_C "\n");
    lake_put(&l, "refs/heads/a/b", ID_B "\n");
    lake_put(&l, "refs/tags/b", ID_B "\n");
    expect_list(&l, "refs/heads/a/b 019a2f10-7b21\nrefs/heads/main 019a3c4e-0000\n"
                    "refs/tags/b 019a2f10-7b21\nrefs/tags/v1 019a2f10-0c4d\n");
    lake_close(&l);
}

static void names_that_no_ref_has_and_requests_are_passed_over(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put(&l, "refs/heads/main", ID_C "\n");
    lake_put(&l, "refs/heads/Main", "rubbish");
    lake_put(&l, "refs/heads/x.lock", "rubbish");
    lake_put(&l, "refs/heads/.DS_Store", "rubbish");
    lake_put(&l, "refs/requests/1", "{}");
    lake_put(&l, "refs/notes", "rubbish");
    expect_list(&l, "refs/heads/main 019a3c4e-0000\n");
    lake_close(&l);
}

static void one_broken_ref_fails_the_list_and_is_named(void **state) {
    (void)state;
    lake l;
    fdl_ref_list list = {0};
    lake_open(&l);
    lake_put(&l, "refs/heads/main", ID_C "\n");
    lake_put(&l, "refs/tags/bad", "rubbish");
    expect(&l, FDL_FAILED, fdl_ref_list_read(l.repo, &list, &l.error));
    expect_message(&l, "'refs/tags/bad'");
    assert_null(list.items);
    lake_close(&l);
}

static void remove_dev(void *data) {
    lake_remove(data, "refs/heads/dev");
}

static void a_ref_deleted_between_listing_and_reading_is_left_out(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put(&l, "refs/heads/dev", ID_A "\n");
    lake_put(&l, "refs/heads/main", ID_C "\n");
    l.fault = (fdl_fault){.ops = 1u << FDL_OP_GET,
                          .prefix = "refs/heads/dev",
                          .at = 1,
                          .kind = FDL_FAULT_HOOK_BEFORE,
                          .hook = remove_dev,
                          .hook_data = &l};
    expect_list(&l, "refs/heads/main 019a3c4e-0000\n");
    lake_close(&l);
}

static void a_store_that_cannot_list_is_asked_for_refs_json_alone(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    l.store->can_list = false;
    lake_put(&l, "refs.json",
             "{\"head\":\"refs/heads/main\",\"later\":1,\"refs\":{\"refs/tags/v1\":\"" ID_A
             "\",\"refs/heads/main\":\"" ID_C
             "\",\"refs/requests/1\":{\"x\":1},\"refs/heads/../x\":\"y\",\"refs/heads/a\":\"" ID_B "\"}}");
    expect_list(&l, "refs/heads/a 019a2f10-7b21\nrefs/heads/main 019a3c4e-0000\nrefs/tags/v1 019a2f10-0c4d\n");
    char *calls = lake_calls(&l);
    assert_string_equal(calls, "get refs.json\n");
    free(calls);
    lake_close(&l);
}

static void a_refs_json_with_something_else_than_an_id_is_broken(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "{}",
                                        "{\"refs\":[]}",
                                        "{\"refs\":{\"refs/heads/main\":\"x\"}}",
                                        "{\"refs\":{\"refs/heads/main\":1}}",
                                        "{\"refs\":{\"refs/heads/main\":null}}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lake l;
        fdl_ref_list list = {0};
        lake_open(&l);
        l.store->can_list = false;
        lake_put(&l, "refs.json", texts[i]);
        expect(&l, FDL_FAILED, fdl_ref_list_read(l.repo, &list, &l.error));
        expect_message(&l, "'refs.json'");
        lake_close(&l);
    }
}

static void without_listing_and_refs_json_heads_branch_is_all_there_is_to_know(void **state) {
    (void)state;
    lake l;
    fdl_ref_list list = {0};
    lake_open(&l);
    l.store->can_list = false;
    expect_list(&l, "");
    lake_put(&l, "refs/heads/main", ID_A "\n");
    expect_list(&l, "refs/heads/main 019a2f10-0c4d\n");
    lake_remove(&l, "HEAD");
    expect(&l, FDL_NOT_FOUND, fdl_ref_list_read(l.repo, &list, &l.error));
    expect_message(&l, "is not a repository");
    lake_close(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ref_is_an_id_and_a_newline_with_its_etag),
        cmocka_unit_test(a_missing_line_end_crlf_and_a_byte_order_mark_are_read_over),
        cmocka_unit_test(content_that_is_no_version_id_is_a_failure_that_names_the_ref),
        cmocka_unit_test(a_nul_or_a_flood_in_a_ref_is_a_failure_too),
        cmocka_unit_test(a_ref_that_is_not_there_is_named),
        cmocka_unit_test(only_full_names_of_branches_and_tags_are_read),
        cmocka_unit_test(head_names_a_branch_that_need_not_exist),
        cmocka_unit_test(a_head_that_names_no_branch_is_a_failure),
        cmocka_unit_test(without_head_there_is_no_repository),
        cmocka_unit_test(all_branches_come_before_all_tags_each_sorted),
        cmocka_unit_test(names_that_no_ref_has_and_requests_are_passed_over),
        cmocka_unit_test(one_broken_ref_fails_the_list_and_is_named),
        cmocka_unit_test(a_ref_deleted_between_listing_and_reading_is_left_out),
        cmocka_unit_test(a_store_that_cannot_list_is_asked_for_refs_json_alone),
        cmocka_unit_test(a_refs_json_with_something_else_than_an_id_is_broken),
        cmocka_unit_test(without_listing_and_refs_json_heads_branch_is_all_there_is_to_know),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
