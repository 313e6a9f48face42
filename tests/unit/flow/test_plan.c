/*
 * test_plan.c - nothing can be deleted that is not of a kind the plan was made
 * for, and nothing that was not added.
 */
#include "history.h"

#include "flow/plan.h"

#define LISTED_BYTES 500
#define IN_1 "versions/019a0000-0000-7000-8000-000000000001/"
#define SOURCE "sources/9f2cab0000000000000000000000000000000000000000000000000000000000"

static fdl_code add(history *h, fdl_plan *plan, unsigned kind, const char *key) {
    fdl_deletion deletion = {.key = key, .bytes = 7, .version = history_id(1)};
    return fdl_plan_add(plan, kind, &deletion, &h->error);
}

/* Whether a plan of that kind alone takes the key. */
static bool takes(history *h, unsigned kind, const char *key) {
    fdl_plan *plan = NULL;
    expect(h, FDL_OK, fdl_plan_open(h->repo, kind, &plan, &h->error));
    fdl_code code = add(h, plan, kind, key);
    fdl_plan_free(plan);
    assert_true(code == FDL_OK || code == FDL_REFUSED || code == FDL_USAGE);
    return code == FDL_OK;
}

static void each_kind_has_its_place(void **state) {
    (void)state;
    static const struct {
        unsigned kinds;
        const char *key;
    } cases[] = {
        {FDL_DELETE_DATA | FDL_DELETE_NAMED, "data/main/t/a.parquet"},
        {FDL_DELETE_DATA | FDL_DELETE_NAMED, "data/a.puffin"},
        {FDL_DELETE_NAMED, "data/a.pq"},
        {0, "data2/a.parquet"},
        {0, "a.parquet"},
        {0, "data/../fdl.json"},
        {0, "data//a.parquet"},
        {FDL_DELETE_CONTENT | FDL_DELETE_CATALOG | FDL_DELETE_LEFTOVER, IN_1 "ducklake.duckdb"},
        {FDL_DELETE_CONTENT | FDL_DELETE_CATALOG | FDL_DELETE_LEFTOVER, IN_1 "catalogs/0.3.duckdb"},
        {FDL_DELETE_CONTENT | FDL_DELETE_CATALOG | FDL_DELETE_LEFTOVER, IN_1 "files.json"},
        {FDL_DELETE_LEFTOVER, IN_1 "dataset.json"},
        {FDL_DELETE_LEFTOVER, IN_1 "expired.json"},
        {FDL_DELETE_LEFTOVER, IN_1 "version.json.sig"},
        {FDL_DELETE_RECORD, IN_1 "version.json"},
        {0, "versions/019a0000-0000-7000-8000-000000000002/ducklake.duckdb"}, /* another one's */
        {0, "versions/ducklake.duckdb"},
        {FDL_DELETE_TAG, "refs/tags/v1"},
        {0, "refs/heads/main"},
        {0, "refs/requests/1"},
        {0, "HEAD"},
        {0, "fdl.json"},
        {0, "refs.json"},
        {FDL_DELETE_SOURCE, SOURCE},
        {0, "sources/x"},
    };
    history h;
    history_open(&h);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (unsigned kind = 1; kind < FDL_DELETE_NOTHING; kind <<= 1) {
            bool wanted = (cases[i].kinds & kind) != 0;
            if (takes(&h, kind, cases[i].key) != wanted)
                fail_msg("'%s' is %staken as kind %u", cases[i].key, wanted ? "not " : "", kind);
        }
    }
    history_close(&h);
}

static void a_kind_the_plan_was_not_made_for_is_refused(void **state) {
    (void)state;
    history h;
    fdl_plan *plan = NULL;
    history_open(&h);
    expect(&h, FDL_OK, fdl_plan_open(h.repo, FDL_DELETE_CONTENT, &plan, &h.error));
    expect(&h, FDL_REFUSED, add(&h, plan, FDL_DELETE_DATA, "data/a.parquet"));
    expect_said("'data/a.parquet'", &h.error);
    assert_int_equal(fdl_plan_count(plan), 0);
    fdl_plan_free(plan);
    history_close(&h);
}

static fdl_code join(void *text, const fdl_deletion *deletion, fdl_error *error) {
    size_t length = strlen(text);
    (void)error;
    snprintf((char *)text + length, LISTED_BYTES - length, "%s ", deletion->key);
    assert_int_equal(deletion->bytes, 7);
    return FDL_OK;
}

static void expect_listed(history *h, fdl_plan *plan, const char *wanted) {
    char text[LISTED_BYTES] = "";
    expect(h, FDL_OK, fdl_plan_walk(plan, join, text, &h->error));
    assert_string_equal(text, wanted);
}

static bool not_b(void *data, const fdl_deletion *deletion) {
    (void)data;
    return strcmp(deletion->key, "data/b.parquet") != 0;
}

static void what_was_added_goes_unless_not_confirmed_and_nothing_else(void **state) {
    (void)state;
    history h;
    fdl_plan *plan = NULL;
    static const char *const keys[] = {"data/a.parquet", "data/b.parquet", "data/c.parquet", "data/d.parquet"};
    history_open(&h);
    for (size_t i = 0; i < 4; i++)
        history_put(&h, keys[i], "x");
    history_put(&h, IN_1 "ducklake.duckdb", "x");
    expect(&h, FDL_OK, fdl_plan_open(h.repo, FDL_DELETE_DATA | FDL_DELETE_CONTENT, &plan, &h.error));
    for (size_t i = 0; i < 3; i++)
        expect(&h, FDL_OK, add(&h, plan, FDL_DELETE_DATA, keys[i]));
    expect(&h, FDL_OK, add(&h, plan, FDL_DELETE_CONTENT, IN_1 "ducklake.duckdb"));
    expect_listed(&h, plan, "data/a.parquet data/b.parquet data/c.parquet " IN_1 "ducklake.duckdb ");
    assert_int_equal(fdl_plan_bytes(plan), 28);
    assert_true(history_has(&h, keys[0]));

    expect(&h, FDL_OK, fdl_plan_run(plan, &(fdl_plan_options){.kinds = FDL_DELETE_DATA, .confirm = not_b}, &h.error));
    assert_false(history_has(&h, keys[0]) || history_has(&h, keys[2]));
    assert_true(history_has(&h, keys[1]) && history_has(&h, keys[3]));
    assert_true(history_has(&h, IN_1 "ducklake.duckdb"));
    expect_listed(&h, plan, "data/a.parquet data/c.parquet " IN_1 "ducklake.duckdb ");
    assert_int_equal(fdl_plan_count(plan), 3);
    assert_int_equal(fdl_plan_bytes(plan), 21);

    expect(&h, FDL_OK, fdl_plan_run(plan, &(fdl_plan_options){.kinds = FDL_DELETE_CONTENT, .purge = true}, &h.error));
    assert_false(history_has(&h, IN_1 "ducklake.duckdb"));
    assert_true(history_has(&h, keys[1]));
    fdl_plan_free(plan);
    history_close(&h);
}

static void a_tag_goes_only_while_it_points_where_the_plan_says(void **state) {
    (void)state;
    history h;
    fdl_plan *plan = NULL;
    fdl_plan_options run = {.kinds = FDL_DELETE_TAG};
    history_open(&h);
    history_ref(&h, "tags/v1", 1);
    history_ref(&h, "tags/v2", 2);
    expect(&h, FDL_OK, fdl_plan_open(h.repo, FDL_DELETE_TAG, &plan, &h.error));
    expect(&h, FDL_OK, add(&h, plan, FDL_DELETE_TAG, "refs/tags/v1"));
    expect(&h, FDL_OK, add(&h, plan, FDL_DELETE_TAG, "refs/tags/never"));
    expect(&h, FDL_OK, fdl_plan_run(plan, &run, &h.error));
    assert_false(history_has(&h, "refs/tags/v1"));
    expect(&h, FDL_OK, add(&h, plan, FDL_DELETE_TAG, "refs/tags/v2"));
    expect(&h, FDL_CONFLICT, fdl_plan_run(plan, &run, &h.error));
    assert_true(history_has(&h, "refs/tags/v2"));
    fdl_plan_free(plan);
    history_close(&h);
}

/* More than is collected at once, and more than a list in memory would like. */
static void a_long_list_is_carried_out(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    history h;
    fdl_plan *plan = NULL;
    char key[64];
    history_open(&h);
    expect(&h, FDL_OK, fdl_plan_open(h.repo, FDL_DELETE_DATA, &plan, &h.error));
    for (int i = 0; i < COUNT; i++) {
        snprintf(key, sizeof key, "data/main/t/%06d.parquet", i);
        expect(&h, FDL_OK, add(&h, plan, FDL_DELETE_DATA, key));
    }
    history_put(&h, "data/main/t/000000.parquet", "x");
    history_put(&h, key, "x");
    assert_int_equal(fdl_plan_count(plan), COUNT);
    expect(&h, FDL_OK, fdl_plan_run(plan, &(fdl_plan_options){.kinds = FDL_DELETE_DATA}, &h.error));
    assert_false(history_has(&h, key) || history_has(&h, "data/main/t/000000.parquet"));
    fdl_plan_free(plan);
    history_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_has_its_place),
        cmocka_unit_test(a_kind_the_plan_was_not_made_for_is_refused),
        cmocka_unit_test(what_was_added_goes_unless_not_confirmed_and_nothing_else),
        cmocka_unit_test(a_tag_goes_only_while_it_points_where_the_plan_says),
        cmocka_unit_test(a_long_list_is_carried_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
