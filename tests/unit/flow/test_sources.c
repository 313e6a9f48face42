/*
 * test_sources.c - the list of originals in dataset.json, and the files kept.
 */
#include "support/support.h"

#include <jansson.h>

#include "flow/sources.h"
#include "util/file.h"

#define ANY "9f2cab0000000000000000000000000000000000000000000000000000000000"

static fdl_error error;

static json_t *parse(const char *text) {
    json_t *document = json_loads(text, 0, NULL);
    assert_non_null(document);
    return document;
}

static void a_list_of_anything_else_is_refused_with_its_field(void **state) {
    (void)state;
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"{}", NULL},
        {"{\"sources\": null}", NULL},
        {"{\"sources\": []}", NULL},
        {"{\"sources\": [{\"name\": \"a\", \"sha256\": null, \"bytes\": null, \"more\": {}}]}", NULL},
        {"{\"sources\": [{\"name\": \"a\", \"sha256\": \"" ANY "\", \"bytes\": 0}]}", NULL},
        {"{\"sources\": {}}", "'sources' is not a list"},
        {"{\"sources\": [1]}", "'sources[0]' has no name"},
        {"{\"sources\": [{\"name\": \"a\"}, {\"name\": 1}]}", "'sources[1]' has no name"},
        {"{\"sources\": [{\"name\": \"a\", \"sha256\": \"../fdl.json\"}]}", "'sources[0].sha256' is not 64 hex digits"},
        {"{\"sources\": [{\"name\": \"a\", \"sha256\": \"" ANY "0\"}]}", "'sources[0].sha256' is not 64 hex digits"},
        {"{\"sources\": [{\"name\": \"a\", \"sha256\": 1}]}", "'sources[0].sha256' is not 64 hex digits"},
        {"{\"sources\": [{\"name\": \"a\", \"bytes\": -1}]}", "'sources[0].bytes' is not a whole number"},
        {"{\"sources\": [{\"name\": \"a\", \"bytes\": 1.5}]}", "'sources[0].bytes' is not a whole number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *document = parse(cases[i].text);
        expect_code(cases[i].said ? FDL_REFUSED : FDL_OK, fdl_sources_check(document, "d.json", &error), &error);
        if (cases[i].said)
            expect_said(cases[i].said, &error);
        json_decref(document);
    }
}

static fdl_code note(void *data, const fdl_kept_source *source, fdl_error *unused) {
    char key[FDL_SOURCE_KEY_BYTES], *text = data;
    (void)unused;
    fdl_source_key(key, source->sha256);
    snprintf(text + strlen(text), 1024 - strlen(text), "%s=%s,%d ", source->name, key, (int)source->bytes);
    return FDL_OK;
}

/* A stranger's document: what is not as it should be leads nowhere. */
static void only_what_names_a_sha256_and_a_size_is_kept_here(void **state) {
    (void)state;
    char told[1024] = "";
    json_t *document = parse("{\"sources\": [{\"name\": \"a\", \"sha256\": \"" ANY "\", \"bytes\": 3}, {\"name\": \"elsewhere\"},"
                             " {\"name\": \"b\", \"sha256\": \"" ANY "\"}, {\"sha256\": \"" ANY "\", \"bytes\": 1}, 7,"
                             " {\"name\": \"c\", \"sha256\": \"../../fdl.json\", \"bytes\": 3}]}");
    expect_ok(fdl_sources_each(document, note, told, &error), &error);
    assert_string_equal(told, "a=sources/" ANY ",3 ");
    json_decref(document);
    document = parse("{\"sources\": {\"name\": \"a\"}}");
    expect_ok(fdl_sources_each(document, note, told, &error), &error);
    json_decref(document);
}

/* The parent's description shares its entries with the new one. */
static void a_file_kept_is_listed_and_the_parents_list_stays_as_it_is(void **state) {
    (void)state;
    char *folder = test_scratch_make(), *first = test_path(folder, "a.csv"), *second = test_path(folder, "b.csv");
    json_t *parent = parse("{\"title\": \"t\", \"sources\": [{\"url\": \"https://x\", \"name\": \"a.csv\", \"sha256\": \"" ANY
                           "\", \"bytes\": 3}], \"tables\": []}");
    json_t *dataset = json_copy(parent), *before = json_deep_copy(parent);
    const char *const paths[] = {first, second};
    expect_ok(fdl_file_write(first, "same", 4, &error), &error);
    expect_ok(fdl_file_write(second, "same", 4, &error), &error);
    expect_ok(fdl_sources_check_paths(paths, 2, &error), &error);
    expect_ok(fdl_sources_keep(paths, 2, folder, dataset, &error), &error);
    assert_true(json_equal(parent, before));
    json_t *list = json_object_get(dataset, "sources");
    assert_int_equal(json_array_size(list), 2);
    for (size_t i = 0; i < 2; i++) {
        const char *sha256 = json_string_value(json_object_get(json_array_get(list, i), "sha256"));
        char *kept = test_path(folder, "sources"), *path = test_path(kept, sha256);
        assert_string_equal(sha256, "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5");
        assert_true(fdl_file_exists(path));
        free(path);
        free(kept);
    }
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "url")), "https://x");
    json_decref(before);
    json_decref(dataset);
    json_decref(parent);
    free(second);
    free(first);
    test_scratch_drop(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_anything_else_is_refused_with_its_field),
        cmocka_unit_test(only_what_names_a_sha256_and_a_size_is_kept_here),
        cmocka_unit_test(a_file_kept_is_listed_and_the_parents_list_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
