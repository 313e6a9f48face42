/*
 * test_config.c - fdl.json: what is taken, what is refused, and what a missing
 * one means; and the addresses made of it.
 */
#include "lake.h"

#include "repo/config.h"
#include "util/ident.h"

static void put_config(lake *l, const char *fields) {
    char text[4096];
    snprintf(text, sizeof text, "{\"fdl\":\"0.1\"%s%s}", *fields ? "," : "", fields);
    lake_put(l, "fdl.json", text);
}

static void a_config_is_read_with_its_fields(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    put_config(&l, "\"id\":\"5f0c8a52-6d3e-4f8e-9b1a-2c7d4e9f0a13\",\"data_dir\":\"lake/files/\","
                   "\"url\":\"https://example.org/lake/\"");
    const fdl_config *config = NULL;
    expect(&l, FDL_OK, fdl_repo_config(l.repo, &config, &l.error));
    assert_string_equal(config->format, "0.1");
    assert_string_equal(config->id, "5f0c8a52-6d3e-4f8e-9b1a-2c7d4e9f0a13");
    assert_string_equal(config->data_dir, "lake/files/");
    assert_string_equal(config->url, "https://example.org/lake/");
    lake_close(&l);
}

static void a_config_with_nothing_but_the_format_has_the_usual_data_folder(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    put_config(&l, "");
    const fdl_config *config = NULL;
    expect(&l, FDL_OK, fdl_repo_config(l.repo, &config, &l.error));
    assert_null(config->id);
    assert_null(config->url);
    assert_string_equal(config->data_dir, "data/");
    lake_close(&l);
}

static void unknown_fields_and_later_minor_formats_are_read(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_put(&l, "fdl.json",
             "{\"fdl\":\"0.9\",\"new\":{\"deep\":[1,null]},\"signers\":[\"a b c\"],"
             "\"catalog_formats\":[{\"ducklake\":\"1.0\"}]}");
    const fdl_config *config = NULL;
    expect(&l, FDL_OK, fdl_repo_config(l.repo, &config, &l.error));
    assert_string_equal(config->format, "0.9");
    lake_close(&l);
}

static void the_lists_are_read_entry_by_entry(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    put_config(&l, "\"catalog_formats\":[{\"ducklake\":\"1.0\"},{\"ducklake\":\"0.3\",\"until\":\"2027-03-31\"}],"
                   "\"signers\":[\"alice@example.org ssh-ed25519 AAAA\"]");
    fdl_catalog_format format;
    const char *line = NULL;
    expect(&l, FDL_OK, fdl_repo_catalog_format(l.repo, 0, &format, &l.error));
    assert_string_equal(format.ducklake, "1.0");
    assert_null(format.until);
    expect(&l, FDL_OK, fdl_repo_catalog_format(l.repo, 1, &format, &l.error));
    assert_string_equal(format.ducklake, "0.3");
    assert_string_equal(format.until, "2027-03-31");
    expect(&l, FDL_NOT_FOUND, fdl_repo_catalog_format(l.repo, 2, &format, &l.error));
    expect(&l, FDL_OK, fdl_repo_signer(l.repo, 0, &line, &l.error));
    assert_string_equal(line, "alice@example.org ssh-ed25519 AAAA");
    expect(&l, FDL_NOT_FOUND, fdl_repo_signer(l.repo, 1, &line, &l.error));
    lake_close(&l);
}

static void a_repository_without_lists_has_no_entries(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    put_config(&l, "\"signers\":null");
    fdl_catalog_format format;
    const char *line = NULL;
    expect(&l, FDL_NOT_FOUND, fdl_repo_catalog_format(l.repo, 0, &format, &l.error));
    expect(&l, FDL_NOT_FOUND, fdl_repo_signer(l.repo, 0, &line, &l.error));
    lake_close(&l);
}

static void a_broken_list_stops_only_who_asks_for_it(void **state) {
    (void)state;
    static const char *const broken[] = {
        "\"catalog_formats\":7",
        "\"catalog_formats\":[\"0.3\"]",
        "\"catalog_formats\":[{\"until\":\"2027-03-31\"}]",
        "\"catalog_formats\":[{\"ducklake\":\"0.3\",\"until\":\"tomorrow\"}]",
        "\"catalog_formats\":[{\"ducklake\":\"0.3\",\"until\":\"2027-02-30\"}]",
        "\"catalog_formats\":[{\"ducklake\":\"0.3\",\"until\":\"2027-03-31T00:00:00Z\"}]",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        lake l;
        lake_open(&l);
        put_config(&l, broken[i]);
        const fdl_config *config = NULL;
        fdl_catalog_format format;
        expect(&l, FDL_OK, fdl_repo_config(l.repo, &config, &l.error));
        expect(&l, FDL_FAILED, fdl_repo_catalog_format(l.repo, 0, &format, &l.error));
        expect_message(&l, "catalog_formats");
        lake_close(&l);
    }
    lake l;
    lake_open(&l);
    put_config(&l, "\"signers\":[\"alice key\\nmallory key\"]");
    const char *line = NULL;
    expect(&l, FDL_FAILED, fdl_repo_signer(l.repo, 0, &line, &l.error));
    expect_message(&l, "signers[0]");
    lake_close(&l);
}

static void a_format_is_due_until_the_end_of_its_last_day_in_utc(void **state) {
    (void)state;
    int64_t before = 0, after = 0;
    assert_true(fdl_time_parse("2027-03-31T23:59:59Z", &before));
    assert_true(fdl_time_parse("2027-04-01T00:00:00Z", &after));
    fdl_catalog_format format = {.ducklake = "0.3", .until = "2027-03-31"};
    assert_true(fdl_catalog_format_is_due(&format, before));
    assert_false(fdl_catalog_format_is_due(&format, after));
    format.until = NULL;
    assert_true(fdl_catalog_format_is_due(&format, after));
}

static void final_slashes_are_added(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    put_config(&l, "\"data_dir\":\"a/b\",\"url\":\"s3://bucket/lake\"");
    const fdl_config *config = NULL;
    expect(&l, FDL_OK, fdl_repo_config(l.repo, &config, &l.error));
    assert_string_equal(config->data_dir, "a/b/");
    assert_string_equal(config->url, "s3://bucket/lake/");
    lake_close(&l);
}

static void the_config_is_read_once(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    const fdl_config *config = NULL, *again = NULL;
    expect(&l, FDL_OK, fdl_repo_config(l.repo, &config, &l.error));
    lake_remove(&l, "fdl.json");
    expect(&l, FDL_OK, fdl_repo_config(l.repo, &again, &l.error));
    assert_ptr_equal(config, again);
    lake_close(&l);
}

static void an_unknown_major_format_names_both_versions(void **state) {
    (void)state;
    static const char *const formats[] = {"1.0", "1", "10.1", "00.1"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        lake l;
        char text[64];
        lake_open(&l);
        snprintf(text, sizeof text, "{\"fdl\":\"%s\"}", formats[i]);
        lake_put(&l, "fdl.json", text);
        const fdl_config *config = NULL;
        expect(&l, FDL_FAILED, fdl_repo_config(l.repo, &config, &l.error));
        snprintf(text, sizeof text, "'%s'", formats[i]);
        expect_message(&l, text);
        expect_message(&l, "'" FDL_FORMAT "'");
        expect_message(&l, "'fdl.json'");
        lake_close(&l);
    }
}

static void a_place_without_fdl_json_is_not_a_repository_and_told_how_to_make_one(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    lake_remove(&l, "fdl.json");
    const fdl_config *config = NULL;
    expect(&l, FDL_NOT_FOUND, fdl_repo_config(l.repo, &config, &l.error));
    expect_message(&l, "'memory://' is not a repository; make one with 'fdl init memory://'");
    put_config(&l, "");
    expect(&l, FDL_OK, fdl_repo_config(l.repo, &config, &l.error));
    lake_close(&l);
}

static void broken_configs_are_failures_that_name_the_file(void **state) {
    (void)state;
    static const struct {
        const char *text, *named;
    } broken[] = {
        {"", "'fdl.json'"},
        {"null", "'fdl.json'"},
        {"[]", "'fdl.json'"},
        {"{\"fdl\":\"0.1\"", "'fdl.json'"},
        {"{\"fdl\":\"0.1\",\"fdl\":\"0.1\"}", "'fdl.json'"},
        {"{}", "'fdl'"},
        {"{\"fdl\":0.1}", "'fdl'"},
        {"{\"fdl\":\"\"}", "'fdl'"},
        {"{\"fdl\":\"x.1\"}", "'x.1'"},
        {"{\"fdl\":\"0x\"}", "'0x'"},
        {"{\"fdl\":\"0.1\",\"id\":\"x\"}", "id 'x'"},
        {"{\"fdl\":\"0.1\",\"id\":\"5F0C8A52-6D3E-4F8E-9B1A-2C7D4E9F0A13\"}", "id"},
        {"{\"fdl\":\"0.1\",\"id\":7}", "'id'"},
        {"{\"fdl\":\"0.1\",\"data_dir\":7}", "'data_dir'"},
        {"{\"fdl\":\"0.1\",\"url\":7}", "'url'"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        lake l;
        const fdl_config *config = NULL;
        lake_open(&l);
        lake_put(&l, "fdl.json", broken[i].text);
        expect(&l, FDL_FAILED, fdl_repo_config(l.repo, &config, &l.error));
        expect_message(&l, broken[i].named);
        assert_string_equal(l.error.key, "fdl.json");
        lake_close(&l);
    }
}

static void data_folders_outside_or_in_reserved_places_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",      "/",          "/data/",     "..",         "../data/",  "a/../b/",
                                      "./",    "a//b/",      "data//",     "versions/",  "versions",  "versions/x/",
                                      "refs/", "refs/heads", "sources/x/", ".fdl/",      "Versions/", "REFS/x",
                                      "HEAD/", "fdl.json/",  "refs.json",  "a\\u0007b/", "a/./b"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lake l;
        char fields[256];
        const fdl_config *config = NULL;
        lake_open(&l);
        snprintf(fields, sizeof fields, "\"data_dir\":\"%s\"", bad[i]);
        put_config(&l, fields);
        expect(&l, FDL_FAILED, fdl_repo_config(l.repo, &config, &l.error));
        expect_message(&l, "data_dir");
        expect_message(&l, "'fdl.json' is broken");
        lake_close(&l);
    }
}

static void data_folders_that_only_look_like_reserved_ones_are_taken(void **state) {
    (void)state;
    static const char *const good[] = {"versions2/", "x/versions/", "data", "..data/", "日本/", "my data/", "a'b/"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        lake l;
        char fields[256];
        const fdl_config *config = NULL;
        lake_open(&l);
        snprintf(fields, sizeof fields, "\"data_dir\":\"%s\"", good[i]);
        put_config(&l, fields);
        expect(&l, FDL_OK, fdl_repo_config(l.repo, &config, &l.error));
        lake_close(&l);
    }
}

static void urls_that_no_reader_could_use_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "ftp://example.org/",
                                      "/srv/lake/",
                                      "example.org/lake",
                                      "https://",
                                      "https:///lake",
                                      "s3://",
                                      "s3:///lake",
                                      "https://example.org/lake?x=1",
                                      "https://example.org/lake#x",
                                      "s3://bucket/a b",
                                      "s3://bucket/a?b",
                                      "https://user:secret@example.org/"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lake l;
        char fields[256];
        const fdl_config *config = NULL;
        lake_open(&l);
        snprintf(fields, sizeof fields, "\"url\":\"%s\"", bad[i]);
        put_config(&l, fields);
        expect(&l, FDL_FAILED, fdl_repo_config(l.repo, &config, &l.error));
        expect_message(&l, "url");
        assert_null(strstr(l.error.message, "secret"));
        lake_close(&l);
    }
}

static void who_writes_a_config_gets_the_broken_rule_as_a_usage_error(void **state) {
    (void)state;
    lake l = {0};
    const char good[] = "{\"fdl\":\"0.1\",\"data_dir\":\"data/\"}";
    const char bad[] = "{\"fdl\":\"0.1\",\"data_dir\":\"../data/\"}";
    expect(&l, FDL_OK, fdl_config_check(good, strlen(good), &l.error));
    expect(&l, FDL_USAGE, fdl_config_check(bad, strlen(bad), &l.error));
    expect_message(&l, "data_dir '../data/'");
    assert_null(strstr(l.error.message, "broken"));
}

static void addresses_are_literal_in_a_store_and_encoded_in_a_url(void **state) {
    (void)state;
    lake l;
    lake_open(&l);
    put_config(&l, "\"data_dir\":\"my data/100%/\"");
    fdl_version version = {.id = ID_A, .catalog = {.file = {.path = (char *)"a b#.duckdb"}}};
    char *url = NULL;
    expect(&l, FDL_OK, fdl_version_url(l.repo, version.id, version.catalog.file.path, &url, &l.error));
    assert_string_equal(url, "memory://versions/" ID_A "/a b#.duckdb");
    free(url);
    expect(&l, FDL_OK, fdl_data_url(l.repo, &url, &l.error));
    assert_string_equal(url, "memory://my data/100%/");
    free(url);

    char web[] = "https://example.org/lake/";
    char *address = l.store->address;
    l.store->address = web;
    expect(&l, FDL_OK, fdl_version_url(l.repo, version.id, version.catalog.file.path, &url, &l.error));
    assert_string_equal(url, "https://example.org/lake/versions/" ID_A "/a%20b%23.duckdb");
    free(url);
    expect(&l, FDL_OK, fdl_data_url(l.repo, &url, &l.error));
    assert_string_equal(url, "https://example.org/lake/my%20data/100%25/");
    free(url);
    l.store->address = address;
    lake_close(&l);
}

static void a_folder_that_is_not_there_is_not_a_repository(void **state) {
    (void)state;
    lake l = {0};
    fdl_repo *repo = NULL;
    const fdl_config *config = NULL;
    char branch[FDL_REF_BYTES];
    fdl_target target;
    expect(&l, FDL_OK, fdl_repo_open(&l.context, "/nowhere/at/all", &repo, &l.error));
    assert_string_equal(fdl_repo_address(repo), "/nowhere/at/all/");
    expect(&l, FDL_NOT_FOUND, fdl_repo_config(repo, &config, &l.error));
    expect_message(&l, "'/nowhere/at/all/' is not a repository; make one with 'fdl init /nowhere/at/all/'");
    expect(&l, FDL_NOT_FOUND, fdl_head_read(repo, branch, &l.error));
    expect_message(&l, "is not a repository");
    expect(&l, FDL_NOT_FOUND, fdl_resolve(repo, "main", &target, &l.error));
    expect_message(&l, "is not a repository");
    fdl_repo_free(repo);
}

static void an_address_of_no_known_kind_is_a_usage_error(void **state) {
    (void)state;
    lake l = {0};
    fdl_repo *repo = NULL;
    expect(&l, FDL_USAGE, fdl_repo_open(&l.context, "gopher://example.org/", &repo, &l.error));
    assert_null(repo);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_config_is_read_with_its_fields),
        cmocka_unit_test(a_config_with_nothing_but_the_format_has_the_usual_data_folder),
        cmocka_unit_test(unknown_fields_and_later_minor_formats_are_read),
        cmocka_unit_test(the_lists_are_read_entry_by_entry),
        cmocka_unit_test(a_repository_without_lists_has_no_entries),
        cmocka_unit_test(a_broken_list_stops_only_who_asks_for_it),
        cmocka_unit_test(a_format_is_due_until_the_end_of_its_last_day_in_utc),
        cmocka_unit_test(final_slashes_are_added),
        cmocka_unit_test(the_config_is_read_once),
        cmocka_unit_test(an_unknown_major_format_names_both_versions),
        cmocka_unit_test(a_place_without_fdl_json_is_not_a_repository_and_told_how_to_make_one),
        cmocka_unit_test(broken_configs_are_failures_that_name_the_file),
        cmocka_unit_test(data_folders_outside_or_in_reserved_places_are_refused),
        cmocka_unit_test(data_folders_that_only_look_like_reserved_ones_are_taken),
        cmocka_unit_test(urls_that_no_reader_could_use_are_refused),
        cmocka_unit_test(who_writes_a_config_gets_the_broken_rule_as_a_usage_error),
        cmocka_unit_test(addresses_are_literal_in_a_store_and_encoded_in_a_url),
        cmocka_unit_test(a_folder_that_is_not_there_is_not_a_repository),
        cmocka_unit_test(an_address_of_no_known_kind_is_a_usage_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
