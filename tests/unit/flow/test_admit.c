/*
 * test_admit.c - what a version that a stranger uploaded must be like before a
 * branch moves to it.
 */
#include "history.h"

#include <jansson.h>

#include "repo/layout.h"
#include "util/ident.h"

/* Version 2 on top of 1, which main holds; complete and true. */
static void open_pair(history *h) {
    history_open(h);
    history_version(h, 1, 0, "a");
    history_version(h, 2, 1, "a b/d:3");
    history_ref(h, "heads/main", 1);
}

static fdl_code admit(history *h, int expected, int number) {
    return fdl_admit(h->repo, "refs/heads/main", expected ? history_id(expected) : "", history_id(number), &h->error);
}

static const char *key_of(int number, const char *name) {
    static char key[FDL_KEY_BYTES];
    snprintf(key, sizeof key, "versions/%s/%s", history_id(number), name);
    return key;
}

/* A version's record with a field of an object in it changed. */
static void change_record(history *h, int number, const char *object, const char *field, json_t *value) {
    char *bytes = history_get(h, key_of(number, FDL_FILE_VERSION));
    json_t *record = json_loads(bytes, 0, NULL);
    json_t *inner = object ? json_object_get(record, object) : record;
    assert_int_equal(json_object_set_new(inner, field, value), 0);
    char *changed = json_dumps(record, 0);
    history_put(h, key_of(number, FDL_FILE_VERSION), changed);
    free(changed);
    json_decref(record);
    free(bytes);
}

/* A file of a version with other content, which the record tells truly. */
static void change_file(history *h, int number, const char *object, const char *name, const char *text) {
    char sha256[FDL_SHA256_BYTES];
    history_put(h, key_of(number, name), text);
    expect(h, FDL_OK, fdl_sha256_bytes(text, strlen(text), sha256, &h->error));
    change_record(h, number, object, "bytes", json_integer((json_int_t)strlen(text)));
    change_record(h, number, object, "sha256", json_string(sha256));
}

static void a_true_version_on_top_of_the_branch_is_admitted_and_nothing_is_written(void **state) {
    (void)state;
    history h;
    open_pair(&h);
    expect(&h, FDL_OK, admit(&h, 1, 2));
    expect(&h, FDL_OK, admit(&h, 0, 2));
    expect(&h, FDL_OK, admit(&h, 0, 1));
    assert_int_equal(h.trace.calls[FDL_OP_PUT] + h.trace.calls[FDL_OP_REMOVE], 0);
    history_close(&h);
}

static void a_version_builds_on_what_the_branch_holds(void **state) {
    (void)state;
    history h;
    open_pair(&h);
    history_version(&h, 3, 2, "a");
    expect(&h, FDL_CONFLICT, admit(&h, 1, 3));
    assert_string_equal(h.error.key, "refs/heads/main");
    expect_said(history_id(1), &h.error);
    expect(&h, FDL_CONFLICT, admit(&h, 1, 1));
    history_close(&h);
}

static void the_history_of_a_new_branch_is_whole(void **state) {
    (void)state;
    history h;
    open_pair(&h);
    history_version(&h, 3, 2, "a");
    history_version(&h, 4, 3, "a");
    expect(&h, FDL_OK, admit(&h, 0, 4)); /* through versions that no ref reaches */
    history_remove(&h, key_of(2, FDL_FILE_VERSION));
    expect(&h, FDL_REFUSED, admit(&h, 0, 4));
    expect_said(history_id(2), &h.error);
    history_close(&h);
}

static void lose_record(history *h) {
    history_remove(h, key_of(2, FDL_FILE_VERSION));
}

static void break_record(history *h) {
    history_put(h, key_of(2, FDL_FILE_VERSION), "{");
}

static void lie_about_the_id(history *h) {
    change_record(h, 2, NULL, "id", json_string(history_id(7)));
}

static void skip_a_number(history *h) {
    change_record(h, 2, NULL, "seq", json_integer(3));
}

static void lose_catalog(history *h) {
    history_remove(h, key_of(2, FDL_FILE_CATALOG));
}

static void lose_all_but_the_record(history *h) {
    history_remove(h, key_of(2, FDL_FILE_CATALOG));
    history_remove(h, key_of(2, FDL_FILE_DATASET));
}

static void lie_about_the_catalog(history *h) {
    change_record(h, 2, "catalog", "sha256", json_string("00000000000000000000000000000000000000000000000000000000000000aa"));
}

static void no_catalog_at_all(history *h) {
    change_file(h, 2, "catalog", FDL_FILE_CATALOG, "SQLite format 3, or so it says");
}

static void lie_about_the_snapshot(history *h) {
    change_record(h, 2, "ducklake", "snapshot_id", json_integer(5));
}

static void lie_about_the_format(history *h) {
    change_record(h, 2, "ducklake", "format", json_string("0.4"));
}

static void lie_about_the_tables(history *h) {
    change_file(h, 2, "dataset", FDL_FILE_DATASET, "{\"tables\": []}\n");
}

static void lose_data(history *h) {
    history_remove(h, "data/main/t/b.parquet");
}

static void lose_deletes(history *h) {
    history_remove(h, "data/main/t/d.parquet");
}

static void cut_data(history *h) {
    history_put(h, "data/main/t/a.parquet", "");
}

static void what_is_wrong_is_said_with_its_key(void **state) {
    (void)state;
    static const struct {
        void (*spoil)(history *h);
        const char *key; /* in the version's folder, or in the repository */
        const char *said;
    } cases[] = {
        {lose_record, FDL_FILE_VERSION, "not complete"},
        {break_record, FDL_FILE_VERSION, "version.json"},
        {lie_about_the_id, FDL_FILE_VERSION, "019a0000-0000-7000-8000-000000000007"},
        {skip_a_number, FDL_FILE_VERSION, "has seq 3"},
        {lose_catalog, FDL_FILE_CATALOG, ""},
        {lose_all_but_the_record, FDL_FILE_DATASET, ""},
        {lie_about_the_catalog, FDL_FILE_CATALOG, "has sha256"},
        {no_catalog_at_all, FDL_FILE_CATALOG, "cannot read the catalog"},
        {lie_about_the_snapshot, FDL_FILE_CATALOG, "ends with snapshot 0, version.json says 5"},
        {lie_about_the_format, FDL_FILE_CATALOG, "is in DuckLake format 1.0, version.json says 0.4"},
        {lie_about_the_tables, FDL_FILE_DATASET, "does not describe"},
        {lose_data, "data/main/t/b.parquet", "missing"},
        {lose_deletes, "data/main/t/d.parquet", "missing"},
        {cut_data, "data/main/t/a.parquet", "0 bytes, the catalog says 1"},
    };
    history h;
    open_pair(&h);
    history_save(&h);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *key = cases[i].key;
        history_rewind(&h);
        cases[i].spoil(&h);
        expect(&h, FDL_REFUSED, admit(&h, 1, 2));
        assert_string_equal(h.error.key, strchr(key, '/') ? key : key_of(2, key));
        expect_said(cases[i].said, &h.error);
        assert_null(strstr(h.error.message, h.folder));
    }
    history_close(&h);
}

static void a_version_that_is_gone_is_not_admitted(void **state) {
    (void)state;
    history h;
    open_pair(&h);
    expect(&h, FDL_OK, fdl_expiry_write(h.repo, history_id(2), FDL_REASON_RETENTION, 0, NULL, NULL, &h.error));
    expect(&h, FDL_EXPIRED, admit(&h, 1, 2));
    expect(&h, FDL_EXPIRED, admit(&h, 0, 2));
    history_close(&h);
}

/* Over a network: names that begin alike are one request, others one each. */
static void new_data_files_are_looked_for_by_listing(void **state) {
    (void)state;
    history h;
    open_pair(&h);
    history_version(&h, 3, 1, "new1 new2 new3 other.x1 other.x2 third.y");
    h.inner->local = false;
    fdl_repo_store(h.repo)->local = false;
    h.trace.calls[FDL_OP_HEAD] = h.trace.calls[FDL_OP_LIST] = 0;
    expect(&h, FDL_OK, admit(&h, 1, 3));
    assert_int_equal(h.trace.calls[FDL_OP_HEAD], 1); /* y, alone in its folder */
    assert_int_equal(h.trace.calls[FDL_OP_LIST], 3); /* the version's folder, t, other */
    history_remove(&h, "data/main/other/x2.parquet");
    expect(&h, FDL_REFUSED, admit(&h, 1, 3));
    assert_string_equal(h.error.key, "data/main/other/x2.parquet");
    history_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_true_version_on_top_of_the_branch_is_admitted_and_nothing_is_written),
        cmocka_unit_test(a_version_builds_on_what_the_branch_holds),
        cmocka_unit_test(the_history_of_a_new_branch_is_whole),
        cmocka_unit_test(what_is_wrong_is_said_with_its_key),
        cmocka_unit_test(a_version_that_is_gone_is_not_admitted),
        cmocka_unit_test(new_data_files_are_looked_for_by_listing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
