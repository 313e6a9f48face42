/*
 * test_dbt.c - what dbt's manifest says, in the shape of dataset.json.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "repo/dbt.h"
#include "util/json.h"

#define MANIFEST(nodes)                                                                                                \
    "{\"metadata\": {\"dbt_schema_version\": \"schemas/dbt/manifest/v12.json\"}, \"nodes\": {" nodes "}}"
#define NODE(kind, database, schema, name, more)                                                                       \
    "\"" kind "." database "." schema "." name "\": {\"resource_type\": \"" kind "\", \"database\": \"" database         \
    "\", \"schema\": \"" schema "\", \"name\": \"" name "\"" more "}"
#define SAYS(text) ", \"description\": \"" text "\""

static void says(const char *manifest, const char *expected) {
    json_t *words = NULL;
    fdl_error error;
    if (fdl_dbt_words(manifest, strlen(manifest), "m.json", &words, &error) != FDL_OK)
        fail_msg("%s", error.message);
    char *text = json_dumps(json_object_get(words, "tables"), JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(text, expected);
    free(text);
    json_decref(words);
}

static void refuses(const char *manifest, fdl_code expected, const char *message) {
    json_t *words = NULL;
    fdl_error error;
    assert_int_equal(fdl_dbt_words(manifest, strlen(manifest), "m.json", &words, &error), expected);
    assert_null(words);
    assert_string_equal(error.message, message);
    assert_string_equal(error.key, "m.json");
}

static void models_seeds_and_snapshots_describe_tables(void **state) {
    (void)state;
    says(MANIFEST(NODE("model", "d", "main", "a", SAYS("an a")) "," NODE("seed", "d", "raw", "b", SAYS("a b")) "," NODE(
             "snapshot", "d", "main", "c", SAYS("a c")) "," NODE("test", "d", "main", "t", SAYS("a test"))),
         "[{\"columns\":[],\"comment\":\"an a\",\"name\":\"a\",\"schema\":\"main\"},"
         "{\"columns\":[],\"comment\":\"a b\",\"name\":\"b\",\"schema\":\"raw\"},"
         "{\"columns\":[],\"comment\":\"a c\",\"name\":\"c\",\"schema\":\"main\"}]");
}

static void columns_are_described_even_where_their_table_is_not(void **state) {
    (void)state;
    says(MANIFEST(NODE("model", "d", "main", "a",
                       ", \"columns\": {\"x\": {\"name\": \"X\", \"description\": \"an x\"}, \"y\": {\"name\": \"y\","
                       " \"description\": \"\"}, \"z\": {\"description\": \"a z\"}, \"w\": null}")),
         "[{\"columns\":[{\"comment\":\"an x\",\"name\":\"X\"},{\"comment\":\"a z\",\"name\":\"z\"}],"
         "\"name\":\"a\",\"schema\":\"main\"}]");
}

static void an_alias_is_what_the_table_is_called(void **state) {
    (void)state;
    says(MANIFEST(NODE("model", "d", "main", "a", ", \"alias\": \"b\"" SAYS("x"))),
         "[{\"columns\":[],\"comment\":\"x\",\"name\":\"b\",\"schema\":\"main\"}]");
}

static void line_ends_behind_a_description_are_taken_off(void **state) {
    (void)state;
    says(MANIFEST(NODE("model", "d", "main", "a", SAYS("two\\nlines\\n")) "," NODE("model", "d", "main", "b", SAYS(" \\n"))),
         "[{\"columns\":[],\"comment\":\"two\\nlines\",\"name\":\"a\",\"schema\":\"main\"}]");
}

static void what_makes_no_table_says_nothing(void **state) {
    (void)state;
    says(MANIFEST(NODE("model", "d", "main", "a", SAYS("x") ", \"config\": {\"materialized\": \"ephemeral\"}")), "[]");
    says(MANIFEST("\"a\": null, \"b\": 1, \"c\": {}, \"d\": {\"resource_type\": \"model\", \"name\": \"x\"}"), "[]");
    says(MANIFEST(NODE("model", "d", "main", "a", ", \"description\": 7, \"columns\": [1]")), "[]");
}

static void the_lakes_tables_count_where_there_are_several_databases(void **state) {
    (void)state;
    says(MANIFEST(NODE("model", "memory", "main", "a", SAYS("not here")) "," NODE("model", "lake", "main", "a", SAYS("x"))),
         "[{\"columns\":[],\"comment\":\"x\",\"name\":\"a\",\"schema\":\"main\"}]");
    refuses(MANIFEST(NODE("model", "p", "main", "a", SAYS("x")) "," NODE("model", "q", "main", "a", SAYS("y"))),
            FDL_REFUSED,
            "'m.json' describes 'main.a' in two databases; attach the catalog as lake, so that its own is known");
}

static void a_foreign_file_is_told(void **state) {
    static const char *const told =
        "'m.json' is not a manifest of dbt; name the folder that dbt writes to, usually target";
    (void)state;
    refuses("{}", FDL_REFUSED, told);
    refuses("{\"metadata\": {\"dbt_schema_version\": \"schemas/dbt/run-results/v6.json\"}, \"nodes\": {}}", FDL_REFUSED,
            told);
    refuses("{\"metadata\": {\"dbt_schema_version\": \"schemas/dbt/manifest/v12.json\"}, \"nodes\": []}", FDL_REFUSED,
            told);
    refuses("[]", FDL_FAILED, "'m.json' is not a JSON object");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_seeds_and_snapshots_describe_tables),
        cmocka_unit_test(columns_are_described_even_where_their_table_is_not),
        cmocka_unit_test(an_alias_is_what_the_table_is_called),
        cmocka_unit_test(line_ends_behind_a_description_are_taken_off),
        cmocka_unit_test(what_makes_no_table_says_nothing),
        cmocka_unit_test(the_lakes_tables_count_where_there_are_several_databases),
        cmocka_unit_test(a_foreign_file_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
