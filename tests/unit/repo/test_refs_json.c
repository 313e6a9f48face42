/*
 * test_refs_json.c - refs.json kept in step with the refs, by writers who do
 * not wait for each other.
 */
#include "lake.h"

static void refs_json_is_written_with_all_heads_and_tags_sorted(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put(&l, "refs/tags/v1", ID_A "\n");
    lake_put(&l, "refs/heads/main", ID_C "\n");
    lake_put(&l, "refs/heads/dev", ID_B "\n");
    lake_put(&l, "refs/requests/1", "{}");
    expect(&l, FDL_OK, fdl_refs_json_update(l.repo, &l.error));
    char *text = lake_get(&l, "refs.json");
    assert_string_equal(text, "{\n"
                              "  \"head\": \"refs/heads/main\",\n"
                              "  \"refs\": {\n"
                              "    \"refs/heads/dev\": \"" ID_B "\",\n"
                              "    \"refs/heads/main\": \"" ID_C "\",\n"
                              "    \"refs/tags/v1\": \"" ID_A "\"\n"
                              "  }\n"
                              "}\n");
    free(text);
    lake_close(&l);
}

static void its_etag_is_read_before_the_refs(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put(&l, "refs/heads/main", ID_C "\n");
    expect(&l, FDL_OK, fdl_refs_json_update(l.repo, &l.error));
    char *calls = lake_calls(&l);
    assert_string_equal(calls, "get refs.json\nget HEAD\nlist refs/\nget refs/heads/main\nput refs.json\n");
    free(calls);
    lake_close(&l);
}

static void what_this_process_just_wrote_is_not_read_again_but_once(void **state) {
    (void)state;
    lake l;
    fdl_ref_list refs = {0};
    lake_open(&l);
    lake_put(&l, "refs/heads/main", ID_C "\n");
    lake_put(&l, "refs.json", "{\"head\":\"refs/heads/main\",\"refs\":{}}");
    expect(&l, FDL_OK, fdl_ref_write(l.repo, "refs/heads/dev", ID_B, NULL, &l.error));
    fdl_trace_clear(&l.trace);
    expect(&l, FDL_OK, fdl_refs_json_update(l.repo, &l.error));
    char *calls = lake_calls(&l);
    assert_string_equal(calls, "get refs.json\nlist refs/\nget refs/heads/main\nput refs.json\n");
    free(calls);
    /* Whoever asks later wants to know what is there now. */
    lake_put(&l, "refs/heads/dev", ID_A "\n");
    expect(&l, FDL_OK, fdl_ref_list_read(l.repo, &refs, &l.error));
    assert_string_equal(refs.items[0].id, ID_A);
    fdl_ref_list_clear(&refs);
    lake_close(&l);
}

static void it_is_not_written_when_it_says_the_same_already(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put(&l, "refs/heads/main", ID_C "\n");
    lake_put(&l, "refs.json", "{\"more\":1, \"refs\":{\"refs/heads/main\":\"" ID_C "\"},\"head\":\"refs/heads/main\"}");
    expect(&l, FDL_OK, fdl_refs_json_update(l.repo, &l.error));
    assert_int_equal(l.trace.calls[FDL_OP_PUT], 0);
    lake_close(&l);
}

static void a_stale_one_is_repaired_and_a_deleted_ref_leaves_it(void **state) {
    (void)state;
    static const char *const stale[] = {"{\"head\":\"refs/heads/main\",\"refs\":{}}",
                                        "{\"head\":\"refs/heads/main\",\"refs\":{\"refs/heads/main\":\"" ID_A "\"}}",
                                        "{\"head\":\"refs/heads/old\",\"refs\":{\"refs/heads/main\":\"" ID_C "\"}}",
                                        "{\"head\":\"refs/heads/main\",\"refs\":{\"refs/heads/main\":\"" ID_C
                                        "\",\"refs/tags/gone\":\"" ID_A "\"}}"};
    for (size_t i = 0; i < sizeof stale / sizeof stale[0]; i++) {
        lake l;
        lake_open(&l);
        lake_put(&l, "refs/heads/main", ID_C "\n");
        lake_put(&l, "refs.json", stale[i]);
        expect(&l, FDL_OK, fdl_refs_json_update(l.repo, &l.error));
        char *text = lake_get(&l, "refs.json");
        assert_string_equal(text, "{\n  \"head\": \"refs/heads/main\",\n  \"refs\": {\n    \"refs/heads/main\": \"" ID_C
                                  "\"\n  }\n}\n");
        free(text);
        lake_close(&l);
    }
}

static void a_broken_one_is_written_anew(void **state) {
    (void)state;
    static const char *const broken[] = {"", "rubbish", "[]", "{\"refs\":1}", "{\"refs\":{\"refs/heads/main\":5}}"};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        lake l;
        lake_open(&l);
        lake_put(&l, "refs/heads/main", ID_C "\n");
        lake_put(&l, "refs.json", broken[i]);
        expect(&l, FDL_OK, fdl_refs_json_update(l.repo, &l.error));
        char *text = lake_get(&l, "refs.json");
        assert_non_null(strstr(text, ID_C));
        free(text);
        lake_close(&l);
    }
}

static void main_moves_and_its_writer_updates_first(void *data) {
    lake *l = data;
    l->fault.at = 0;
    lake_put(l, "refs/heads/main", ID_D "\n");
    expect(l, FDL_OK, fdl_refs_json_update(l->repo, &l->error));
}

static void a_writer_that_saw_less_does_not_have_the_last_word(void **state) {
    (void)state;
    static const char *const before[] = {NULL, "{\"head\":\"refs/heads/main\",\"refs\":{}}"};
    for (size_t i = 0; i < 2; i++) {
        lake l;
        lake_open(&l);
        lake_put(&l, "refs/heads/main", ID_C "\n");
        if (before[i])
            lake_put(&l, "refs.json", before[i]);
        l.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT,
                              .prefix = "refs.json",
                              .at = 1,
                              .kind = FDL_FAULT_HOOK_BEFORE,
                              .hook = main_moves_and_its_writer_updates_first,
                              .hook_data = &l};
        expect(&l, FDL_OK, fdl_refs_json_update(l.repo, &l.error));
        char *text = lake_get(&l, "refs.json");
        assert_non_null(strstr(text, ID_D));
        assert_null(strstr(text, ID_C));
        free(text);
        lake_close(&l);
    }
}

static void lost_answers_are_looked_up(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put(&l, "refs/heads/main", ID_C "\n");
    l.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT, .at = 1, .kind = FDL_FAULT_LOSE_ANSWER};
    expect(&l, FDL_OK, fdl_refs_json_update(l.repo, &l.error));
    assert_int_equal(l.trace.calls[FDL_OP_PUT], 1);
    lake_close(&l);
}

static void a_crowd_is_given_up_after_ten_rounds(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put(&l, "refs/heads/main", ID_C "\n");
    l.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT, .at = 1, .more = 1000, .kind = FDL_FAULT_FAIL, .code = FDL_CONFLICT};
    expect(&l, FDL_CONFLICT, fdl_refs_json_update(l.repo, &l.error));
    expect_message(&l, "'refs.json'");
    assert_int_equal(l.trace.calls[FDL_OP_PUT], 10);
    lake_close(&l);
}

static void other_failures_are_not_retried(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put(&l, "refs/heads/main", ID_C "\n");
    l.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT, .at = 1, .kind = FDL_FAULT_FAIL, .code = FDL_DENIED};
    expect(&l, FDL_DENIED, fdl_refs_json_update(l.repo, &l.error));
    assert_int_equal(l.trace.calls[FDL_OP_PUT], 1);
    lake_close(&l);
}

static void a_store_that_cannot_list_gets_what_is_known_and_what_was_written(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    l.store->can_list = false;
    lake_put(&l, "refs/heads/main", ID_C "\n");
    lake_put(&l, "refs/tags/v1", ID_A "\n");
    lake_put(&l, "refs.json",
             "{\"head\":\"refs/heads/main\",\"refs\":{\"refs/tags/v1\":\"" ID_B "\",\"refs/tags/gone\":\"" ID_A "\"}}");
    expect(&l, FDL_OK, fdl_ref_write(l.repo, "refs/heads/dev", ID_B, NULL, &l.error));
    expect(&l, FDL_OK, fdl_refs_json_update(l.repo, &l.error));
    char *text = lake_get(&l, "refs.json");
    assert_string_equal(text, "{\n"
                              "  \"head\": \"refs/heads/main\",\n"
                              "  \"refs\": {\n"
                              "    \"refs/heads/dev\": \"" ID_B "\",\n"
                              "    \"refs/heads/main\": \"" ID_C "\",\n"
                              "    \"refs/tags/v1\": \"" ID_A "\"\n"
                              "  }\n"
                              "}\n");
    free(text);
    lake_close(&l);
}

static void before_the_first_version_it_holds_no_refs(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    expect(&l, FDL_OK, fdl_refs_json_update(l.repo, &l.error));
    char *text = lake_get(&l, "refs.json");
    assert_string_equal(text, "{\n  \"head\": \"refs/heads/main\",\n  \"refs\": {}\n}\n");
    free(text);
    lake_close(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refs_json_is_written_with_all_heads_and_tags_sorted),
        cmocka_unit_test(its_etag_is_read_before_the_refs),
        cmocka_unit_test(what_this_process_just_wrote_is_not_read_again_but_once),
        cmocka_unit_test(it_is_not_written_when_it_says_the_same_already),
        cmocka_unit_test(a_stale_one_is_repaired_and_a_deleted_ref_leaves_it),
        cmocka_unit_test(a_broken_one_is_written_anew),
        cmocka_unit_test(a_writer_that_saw_less_does_not_have_the_last_word),
        cmocka_unit_test(lost_answers_are_looked_up),
        cmocka_unit_test(a_crowd_is_given_up_after_ten_rounds),
        cmocka_unit_test(other_failures_are_not_retried),
        cmocka_unit_test(a_store_that_cannot_list_gets_what_is_known_and_what_was_written),
        cmocka_unit_test(before_the_first_version_it_holds_no_refs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
