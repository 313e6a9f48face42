/*
 * test_keys.c - what is a key of the layout, and how a path becomes one.
 */
#include "host/conditions.h"
#include "host/keys.h"
#include "support/support.h"

#define ID "01a22a39-cfa2-713f-be36-57309f4a8811"
#define SHA "abababababababababababababababababababababababababababababababab"

static fdl_error error;

static void test_every_key_of_the_layout_has_its_kind_and_others_have_none(void **state) {
    (void)state;
    static const struct {
        const char *key;
        fdl_key_kind kind;
    } keys[] = {
        {"", FDL_KIND_ROOT},
        {"fdl.json", FDL_KIND_CONFIG},
        {"HEAD", FDL_KIND_HEAD},
        {"refs.json", FDL_KIND_REFS_JSON},
        {"ducklake.duckdb", FDL_KIND_CURRENT},
        {"healthz", FDL_KIND_HEALTH},
        {"metrics", FDL_KIND_METRICS},
        {"refs/heads/main", FDL_KIND_BRANCH},
        {"refs/heads/a/b", FDL_KIND_BRANCH},
        {"refs/tags/v1", FDL_KIND_TAG},
        {"refs/requests/1", FDL_KIND_REQUEST},
        {"refs/requests/123456789", FDL_KIND_REQUEST},
        {"versions/" ID "/version.json", FDL_KIND_VERSION},
        {"versions/" ID "/catalogs/0.3.duckdb", FDL_KIND_VERSION},
        {"sources/" SHA, FDL_KIND_SOURCE},
        {"lake/data/x", FDL_KIND_DATA},
        {"lake/data/main/t/x.parquet", FDL_KIND_DATA},
        {"lake/data/", FDL_KIND_OTHER},
        {"lake/database", FDL_KIND_OTHER},
        {"lake/other", FDL_KIND_OTHER},
        {"lake/data/x.wal", FDL_KIND_OTHER},
        {"ducklake.duckdb.wal", FDL_KIND_OTHER},
        {"versions/" ID "/ducklake.duckdb.wal", FDL_KIND_OTHER},
        {"versions/" ID, FDL_KIND_OTHER},
        {"versions/" ID "/", FDL_KIND_OTHER},
        {"versions/" ID "x/version.json", FDL_KIND_OTHER},
        {"versions/01A22A39-CFA2-713F-BE36-57309F4A8811/version.json", FDL_KIND_OTHER},
        {"versions/x/version.json", FDL_KIND_OTHER},
        {"sources/abc", FDL_KIND_OTHER},
        {"sources/" SHA "0", FDL_KIND_OTHER},
        {"refs/heads/Main", FDL_KIND_OTHER},
        {"refs/heads/.x", FDL_KIND_OTHER},
        {"refs/heads/x.lock", FDL_KIND_OTHER},
        {"refs/requests/0", FDL_KIND_OTHER},
        {"refs/requests/1a", FDL_KIND_OTHER},
        {"refs/requests/1234567890", FDL_KIND_OTHER},
        {"refs/main", FDL_KIND_OTHER},
        {".fdl/lock", FDL_KIND_OTHER},
        {"head", FDL_KIND_OTHER},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        fdl_key_kind got = fdl_host_key_kind(keys[i].key, "lake/data/");
        if (got != keys[i].kind)
            fail_msg("'%s' is of kind %d, not %d", keys[i].key, got, keys[i].kind);
    }
}

static void test_a_path_is_decoded_once(void **state) {
    (void)state;
    static const struct {
        const char *path;
        const char *key; /* NULL: refused */
    } paths[] = {
        {"", ""},         {"HEAD", "HEAD"},       {"%48EAD", "HEAD"},  {"a%20b+c", "a b+c"}, {"%2525", "%25"},
        {"x%3Fy", "x?y"}, {"%c3%BC", "\xc3\xbc"}, {"a%2Fb", NULL},     {"a%2fb", NULL},      {"a%00", NULL},
        {"%", NULL},      {"%4", NULL},           {"%4g", NULL},       {"%g4", NULL},        {"a//b", NULL},
        {"a/", NULL},     {"/a", NULL},           {"..", NULL},        {"a/../b", NULL},     {"%2e%2e/b", NULL},
        {"a/%2E", NULL},  {"a%0ab", NULL},        {"a%7f", NULL},      {"%c0%ae", NULL},     {"%ff", NULL},
        {"a%", NULL},     {"%2", NULL},           {"a/b%5cc", "a/b\\c"}, {"%+1", NULL},      {"% 1", NULL},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char key[FDL_KEY_LIMIT_BYTES] = "";
        fdl_code code = fdl_host_key_decode(paths[i].path, strlen(paths[i].path), key, &error);
        if (code != (paths[i].key ? FDL_OK : FDL_USAGE) || (paths[i].key && strcmp(key, paths[i].key) != 0))
            fail_msg("'%s' gives %d and '%s'", paths[i].path, code, key);
    }
    char key[FDL_KEY_LIMIT_BYTES], path[3 * FDL_KEY_LIMIT_BYTES];
    memset(path, 'a', sizeof path);
    expect_ok(fdl_host_key_decode(path, 1024, key, &error), &error);
    expect_code(FDL_USAGE, fdl_host_key_decode(path, 1025, key, &error), &error);
    expect_code(FDL_USAGE, fdl_host_key_decode(path, sizeof path, key, &error), &error);
}

static void test_etags_are_written_and_found_in_lists(void **state) {
    (void)state;
    char etag[FDL_HTTP_ETAG_BYTES];
    fdl_http_etag("abc", etag);
    assert_string_equal(etag, "\"abc\"");
    fdl_http_etag("\"a,b\"", etag);
    assert_string_equal(etag, "\"a,b\"");
    assert_true(fdl_http_etag_listed("\"x\", \"a,b\"", etag, false));
    assert_true(fdl_http_etag_listed("*", etag, false));
    assert_true(fdl_http_etag_listed("W/\"a,b\"", etag, true));
    assert_false(fdl_http_etag_listed("W/\"a,b\"", etag, false));
    assert_false(fdl_http_etag_listed("\"a\", \"b\"", etag, true));
    assert_false(fdl_http_etag_listed("\"a,b", etag, true));
    assert_false(fdl_http_etag_listed("", etag, true));
    fdl_http_etag("", etag);
    assert_string_equal(etag, "");
    assert_false(fdl_http_etag_listed("*", etag, true));
}

static void test_a_date_is_written_as_http_has_it(void **state) {
    (void)state;
    char date[FDL_HTTP_DATE_BYTES];
    fdl_http_date_write(784111777999, date);
    assert_string_equal(date, "Sun, 06 Nov 1994 08:49:37 GMT");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key_of_the_layout_has_its_kind_and_others_have_none),
        cmocka_unit_test(test_a_path_is_decoded_once),
        cmocka_unit_test(test_etags_are_written_and_found_in_lists),
        cmocka_unit_test(test_a_date_is_written_as_http_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
