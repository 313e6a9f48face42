/*
 * test_clone.c - a mirror beside a gc, one that was stopped, and what has ended
 * in it or in its source.
 */
#include "history.h"

#include "repo/layout.h"

/* 1 - 2 - 3 main; 2 is tagged.  All memory has one address, and a clone wants two. */
static void open_pair(history *source, history *mirror) {
    history_open(source);
    history_version(source, 1, 0, "a b");
    history_version(source, 2, 1, "b c/d1:3");
    history_version(source, 3, 2, "c/d2:5 e");
    history_ref(source, "heads/main", 3);
    history_ref(source, "tags/v1", 2);
    history_open(mirror);
    fdl_repo_store(mirror->repo)->address[0] = 'M';
}

static void close_pair(history *source, history *mirror) {
    history_close(mirror);
    history_close(source);
}

static fdl_code clone_with(history *source, history *mirror, bool all) {
    fdl_clone_options options = {.all = all};
    fdl_clone_result result = {0};
    return fdl_clone(source->repo, mirror->repo, &options, &result, &mirror->error);
}

static fdl_code gc(history *h) {
    fdl_gc_options options = {.grace_ms = 0};
    fdl_gc_result result = {0};
    fdl_code code = fdl_gc(h->repo, &options, &result, &h->error);
    fdl_gc_result_clear(&result);
    return code;
}

static fdl_code withdraw(history *h, int number) {
    const char *revisions[] = {history_id(number)};
    fdl_withdraw_options options = {.revisions = revisions, .revision_count = 1, .confirmed = true};
    fdl_withdraw_result result = {0};
    fdl_code code = fdl_withdraw(h->repo, &options, &result, &h->error);
    fdl_withdraw_result_clear(&result);
    return code;
}

static void expire(history *h, int keep) {
    fdl_expire_options options = {.keep = keep};
    fdl_expire_result result = {0};
    expect(h, FDL_OK, fdl_expire(h->repo, &options, &result, &h->error));
    fdl_expire_result_clear(&result);
}

static bool has_file(history *h, int number, const char *name) {
    char key[FDL_KEY_BYTES];
    expect(h, FDL_OK, fdl_key_version(key, history_id(number), name, &h->error));
    return history_has(h, key);
}

static void expect_data(history *h, const char *wanted) {
    static const char *const names[] = {"a", "b", "c", "d1", "d2", "e"};
    char text[100] = "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (history_has_data(h, names[i]))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? " " : "", names[i]);
    assert_string_equal(text, wanted);
}

static void expect_whole(history *mirror) {
    expect_data(mirror, "a b c d1 d2 e");
    for (int i = 1; i <= 3; i++)
        assert_true(history_has_catalog(mirror, i) && has_file(mirror, i, FDL_FILE_VERSION) && has_file(mirror, i, FDL_FILE_DATASET));
    assert_true(history_has(mirror, "refs/heads/main") && history_has(mirror, "refs/tags/v1"));
}

/* ---- beside a gc ------------------------------------------------------------------------- */

static void gc_passes(void *data) {
    history *h = data;
    expect(h, FDL_OK, gc(h));
}

/* Without a grace it takes all that no version names yet; whatever of it the mirror needs is sent again. */
static void a_gc_at_any_step_leaves_the_mirror_whole(void **state) {
    (void)state;
    history source, mirror;
    size_t steps = 0;
    const char *every = getenv("FDL_TEST_SWEEP"); /* make soak: at each step; make check: at every third */
    size_t stride = every && strcmp(every, "every") == 0 ? 1 : 3;
    for (bool passed = true; passed; steps += passed ? stride : 0) {
        open_pair(&source, &mirror);
        fdl_repo_store(mirror.repo)->local = steps % 2; /* else it is listed beforehand, and not asked key by key */
        history_put(&mirror, "data/main/t/b.parquet", "x"); /* of a clone that was stopped long ago */
        mirror.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT,
                                   .at = steps + 1,
                                   .kind = FDL_FAULT_HOOK_BEFORE,
                                   .hook = gc_passes,
                                   .hook_data = &mirror};
        expect(&mirror, FDL_OK, clone_with(&source, &mirror, true));
        passed = mirror.fault.seen >= mirror.fault.at;
        expect_whole(&mirror);
        close_pair(&source, &mirror);
    }
    assert_true(steps >= 15); /* 5 data files, 3 times catalog, description and record, 2 refs, refs.json */
}

/* gc deletes data before the folders of stopped pushes, and may be stopped in between. */
static void a_catalog_that_no_ref_leads_to_proves_no_data(void **state) {
    static const char *const gone[] = {"refs/heads/main", "refs/tags/v1", "data/main/t/a.parquet", "data/main/t/e.parquet"};
    (void)state;
    history source, mirror;
    open_pair(&source, &mirror);
    expect(&mirror, FDL_OK, clone_with(&source, &mirror, true));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        history_remove(&mirror, gone[i]);
    expect(&mirror, FDL_OK, clone_with(&source, &mirror, true));
    expect_whole(&mirror);
    close_pair(&source, &mirror);
}

/* Nothing is looked at twice, and nothing that a ref leads to. */
static void a_mirror_that_is_up_to_date_is_left_alone(void **state) {
    (void)state;
    history source, mirror;
    open_pair(&source, &mirror);
    expect(&mirror, FDL_OK, clone_with(&source, &mirror, true));
    fdl_trace_clear(&mirror.trace);
    fdl_trace_clear(&source.trace);
    expect(&mirror, FDL_OK, clone_with(&source, &mirror, true));
    assert_int_equal(mirror.trace.calls[FDL_OP_PUT], 0);
    for (size_t i = 0; i < source.trace.line_count; i++)
        assert_null(strstr(source.trace.lines[i], ".duckdb"));
    for (size_t i = 0; i < mirror.trace.line_count; i++)
        assert_null(strstr(mirror.trace.lines[i], "head data/"));
    close_pair(&source, &mirror);
}

/* ---- what has ended ------------------------------------------------------------------------ */

/* None of the versions has a files.json of its own. */
static void markers_come_over_and_end_versions_here(void **state) {
    (void)state;
    history source, mirror;
    open_pair(&source, &mirror);
    expect(&mirror, FDL_OK, clone_with(&source, &mirror, true));
    expire(&source, 1);
    expect(&mirror, FDL_OK, clone_with(&source, &mirror, true));
    assert_string_equal(history_reason(&mirror, 1), "retention");
    assert_false(history_has_catalog(&mirror, 1));
    expect_data(&mirror, "a b c d1 d2 e");
    expect(&source, FDL_OK, withdraw(&source, 1));
    expect(&mirror, FDL_OK, clone_with(&source, &mirror, true));
    assert_string_equal(history_reason(&mirror, 1), "withdrawn"); /* and the list that was left told what to delete */
    assert_string_equal(history_reason(&mirror, 2), "withdrawn");
    expect_data(&mirror, "c d2 e");
    history_version(&source, 4, 3, "e");
    history_ref(&source, "heads/main", 4);
    expect(&mirror, FDL_OK, clone_with(&source, &mirror, true));
    expect(&source, FDL_OK, withdraw(&source, 3));
    expect(&mirror, FDL_OK, clone_with(&source, &mirror, true));
    assert_string_equal(history_reason(&mirror, 3), "withdrawn");
    assert_false(history_has_catalog(&mirror, 3));
    close_pair(&source, &mirror);
}

/* Whether by its own retention or because somebody asked for it: a clone does not undo that. */
static void what_has_ended_in_the_mirror_does_not_come_back(void **state) {
    (void)state;
    history source, mirror;
    open_pair(&source, &mirror);
    expect(&mirror, FDL_OK, clone_with(&source, &mirror, true));
    expect(&mirror, FDL_OK, withdraw(&mirror, 1));
    expect_data(&mirror, "c d2 e"); /* 2 went with it */
    history_ref(&source, "tags/old", 1);
    expect(&mirror, FDL_OK, clone_with(&source, &mirror, true));
    for (int i = 1; i <= 2; i++) {
        assert_string_equal(history_reason(&mirror, i), "withdrawn");
        assert_false(history_has_catalog(&mirror, i));
    }
    assert_false(history_has(&mirror, "refs/tags/old") || history_has(&mirror, "refs/tags/v1"));
    expect_data(&mirror, "c d2 e");
    assert_true(history_has(&mirror, "refs/heads/main"));
    close_pair(&source, &mirror);
}

static void an_expire_comes(void *data) {
    history *h = data;
    h->fault = (fdl_fault){0};
    expire(h, 1);
}

/* Its marker was not there when the clone looked, and the tag was not when expire looked. */
static void a_tag_is_not_made_on_what_expires_at_this_moment(void **state) {
    (void)state;
    history source, mirror;
    open_pair(&source, &mirror);
    expect(&mirror, FDL_OK, clone_with(&source, &mirror, true));
    history_ref(&source, "tags/old", 1);
    mirror.fault = (fdl_fault){.ops = 1u << FDL_OP_PUT,
                               .prefix = "refs/tags/old",
                               .at = 1,
                               .kind = FDL_FAULT_HOOK_BEFORE,
                               .hook = an_expire_comes,
                               .hook_data = &mirror};
    expect(&mirror, FDL_EXPIRED, clone_with(&source, &mirror, true));
    assert_false(history_has(&mirror, "refs/tags/old"));
    close_pair(&source, &mirror);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gc_at_any_step_leaves_the_mirror_whole),
        cmocka_unit_test(a_catalog_that_no_ref_leads_to_proves_no_data),
        cmocka_unit_test(a_mirror_that_is_up_to_date_is_left_alone),
        cmocka_unit_test(markers_come_over_and_end_versions_here),
        cmocka_unit_test(what_has_ended_in_the_mirror_does_not_come_back),
        cmocka_unit_test(a_tag_is_not_made_on_what_expires_at_this_moment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
