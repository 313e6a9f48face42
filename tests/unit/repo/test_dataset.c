/*
 * test_dataset.c - the publisher's words and the catalog's figures in one document.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "repo/dataset.h"
#include "util/json.h"

static json_t *parse(const char *text) {
    json_error_t broken;
    json_t *value = text != NULL ? json_loads(text, JSON_DECODE_ANY, &broken) : NULL;
    if (text != NULL && value == NULL)
        fail_msg("%s in %s", broken.text, text);
    return value;
}

/* Joins texts; NULL is nothing. */
static fdl_code join_words(const char *given, const char *parent, const char *words, const char *tables, json_t **out,
                           fdl_error *error) {
    json_t *given_json = parse(given), *parent_json = parse(parent), *words_json = parse(words),
           *tables_json = parse(tables);
    fdl_code code = fdl_dataset_join(given_json, "d.json", parent_json, words_json, tables_json, out, error);
    json_decref(given_json);
    json_decref(parent_json);
    json_decref(words_json);
    json_decref(tables_json);
    return code;
}

static fdl_code join(const char *given, const char *parent, const char *tables, json_t **out, fdl_error *error) {
    return join_words(given, parent, NULL, tables, out, error);
}

/* The order of fields counts too. */
static void joins_words(const char *given, const char *parent, const char *words, const char *tables,
                        const char *expected) {
    json_t *joined = NULL;
    fdl_error error;
    if (join_words(given, parent, words, tables, &joined, &error) != FDL_OK)
        fail_msg("%s", error.message);
    char *text = json_dumps(joined, 0);
    json_t *wanted_json = parse(expected);
    char *wanted = json_dumps(wanted_json, 0);
    assert_string_equal(text, wanted);
    free(text);
    free(wanted);
    json_decref(joined);
    json_decref(wanted_json);
}

static void joins(const char *given, const char *parent, const char *tables, const char *expected) {
    joins_words(given, parent, NULL, tables, expected);
}

static void refuses(const char *given, const char *parent, const char *tables, const char *message) {
    json_t *joined = NULL;
    fdl_error error;
    fdl_code code = join(given, parent, tables, &joined, &error);
    assert_int_equal(code, FDL_REFUSED);
    assert_int_equal(error.code, FDL_REFUSED);
    assert_null(joined);
    assert_string_equal(error.message, message);
}

#define A "{\"name\": \"a\", \"type\": \"INTEGER\", \"nullable\": true}"
#define B "{\"name\": \"b\", \"type\": \"VARCHAR\", \"nullable\": false, \"comment\": \"duck's b\"}"
#define T                                                                                                              \
    "{\"schema\": \"main\", \"name\": \"t\", \"kind\": \"table\", \"comment\": \"duck's t\","                          \
    " \"rows\": 3, \"bytes\": 100, \"files\": 1, \"columns\": [" A ", " B "]}"
#define V "{\"schema\": \"s\", \"name\": \"v\", \"kind\": \"view\", \"columns\": []}"

/* ---- nothing given --------------------------------------------------------------- */

static void without_a_description_the_tables_are_the_document(void **state) {
    (void)state;
    joins(NULL, NULL, "[" T ", " V "]", "{\"tables\": [" T ", " V "]}");
    joins("{}", NULL, "[]", "{\"tables\": []}");
    joins("{\"tables\": null}", NULL, "[" T "]", "{\"tables\": [" T "]}");
    joins(NULL, "[" T "]", "[" T "]", "{\"tables\": [" T "]}");
}

/* ---- the publisher's own file ------------------------------------------------------ */

static void free_fields_come_first_in_their_order(void **state) {
    (void)state;
    joins("{\"title\": \"Towns\", \"tables\": [], \"license\": null, \"x\": {\"tables\": [1]}, \"n\": 1.5}", NULL, "[]",
          "{\"title\": \"Towns\", \"license\": null, \"x\": {\"tables\": [1]}, \"n\": 1.5, \"tables\": []}");
}

static void figures_and_types_come_from_the_catalog_alone(void **state) {
    (void)state;
    joins("{\"tables\": [{\"files\": \"many\", \"rows\": 7, \"bytes\": null, \"kind\": \"view\", \"name\": \"t\","
          " \"columns\": [{\"type\": \"DATE\", \"name\": \"a\", \"nullable\": 5}]}]}",
          NULL, "[" T "]", "{\"tables\": [" T "]}");
}

static void further_fields_stay_behind_those_of_fdl(void **state) {
    (void)state;
    joins("{\"tables\": [{\"source\": [1, {\"a\": 2}], \"name\": \"t\", \"unit\": null, \"schema\": \"main\","
          " \"columns\": [{\"unit\": \"m\", \"name\": \"b\", \"rows\": 5}]}]}",
          NULL, "[" T "]",
          "{\"tables\": [{\"schema\": \"main\", \"name\": \"t\", \"kind\": \"table\", \"comment\": \"duck's t\","
          " \"rows\": 3, \"bytes\": 100, \"files\": 1, \"columns\": [" A ","
          " {\"name\": \"b\", \"type\": \"VARCHAR\", \"nullable\": false, \"comment\": \"duck's b\","
          " \"unit\": \"m\", \"rows\": 5}], \"source\": [1, {\"a\": 2}], \"unit\": null}]}");
}

static void a_given_comment_wins_over_the_catalogs(void **state) {
    (void)state;
    joins(
        "{\"tables\": [{\"name\": \"t\", \"comment\": \"mine\", \"columns\": [{\"name\": \"a\", \"comment\": \"my a\"},"
        " {\"name\": \"b\", \"comment\": null}]}]}",
        NULL, "[" T "]",
        "{\"tables\": [{\"schema\": \"main\", \"name\": \"t\", \"kind\": \"table\", \"comment\": \"mine\", \"rows\": 3,"
        " \"bytes\": 100, \"files\": 1, \"columns\": [{\"name\": \"a\", \"type\": \"INTEGER\", \"nullable\": true,"
        " \"comment\": \"my a\"}, " B "]}]}");
}

static void names_are_found_in_any_case_and_exactly_first(void **state) {
    (void)state;
    joins(
        "{\"tables\": [{\"schema\": \"MAIN\", \"name\": \"T\", \"x\": 1, \"columns\": [{\"name\": \"A\", \"y\": 2}]}]}",
        NULL, "[{\"schema\": \"main\", \"name\": \"t\", \"columns\": [" A "]}]",
        "{\"tables\": [{\"schema\": \"main\", \"name\": \"t\", \"columns\": ["
        "{\"name\": \"a\", \"type\": \"INTEGER\", \"nullable\": true, \"y\": 2}], \"x\": 1}]}");
    joins("{\"tables\": [{\"name\": \"t\", \"x\": 1}, {\"name\": \"T\", \"x\": 2}]}", NULL,
          "[{\"schema\": \"main\", \"name\": \"T\", \"columns\": []}, {\"schema\": \"main\", \"name\": \"t\", "
          "\"columns\": []}]",
          "{\"tables\": [{\"schema\": \"main\", \"name\": \"T\", \"columns\": [], \"x\": 2},"
          " {\"schema\": \"main\", \"name\": \"t\", \"columns\": [], \"x\": 1}]}");
    joins("{\"tables\": [{\"name\": \"t\", \"schema\": \"s\", \"x\": 1}]}", NULL,
          "[{\"schema\": \"main\", \"name\": \"t\", \"columns\": []}, {\"schema\": \"s\", \"name\": \"t\", "
          "\"columns\": []}]",
          "{\"tables\": [{\"schema\": \"main\", \"name\": \"t\", \"columns\": []},"
          " {\"schema\": \"s\", \"name\": \"t\", \"columns\": [], \"x\": 1}]}");
}

static void what_the_catalog_does_not_have_is_refused_by_name(void **state) {
    (void)state;
    refuses("{\"tables\": [{\"name\": \"towns\"}]}", NULL, "[" T "]",
            "'d.json' describes the table 'main.towns', which the catalog does not have");
    refuses("{\"tables\": [{\"schema\": \"s\", \"name\": \"t\"}]}", NULL, "[" T "]",
            "'d.json' describes the table 's.t', which the catalog does not have");
    refuses("{\"tables\": [{\"name\": \"t\", \"columns\": [{\"name\": \"a\"}, {\"name\": \"c\"}]}]}", NULL, "[" T "]",
            "'d.json' describes the column 'main.t.c', which the catalog does not have");
    refuses("{\"tables\": [{\"name\": \"t\"}]}", NULL, "[]",
            "'d.json' describes the table 'main.t', which the catalog does not have");
}

static void what_is_described_twice_is_refused_by_name(void **state) {
    (void)state;
    refuses("{\"tables\": [{\"name\": \"t\"}, {\"schema\": \"main\", \"name\": \"T\"}]}", NULL, "[" T "]",
            "'d.json' describes the table 'main.T', and does so twice");
    refuses("{\"tables\": [{\"name\": \"t\", \"columns\": [{\"name\": \"b\"}, {\"name\": \"b\"}]}]}", NULL, "[" T "]",
            "'d.json' describes the column 'main.t.b', and does so twice");
}

static void fields_of_the_wrong_type_are_refused_by_name(void **state) {
    (void)state;
    refuses("{\"tables\": {}}", NULL, "[" T "]", "'d.json': 'tables' is not a list");
    refuses("{\"tables\": [\"t\"]}", NULL, "[" T "]", "'d.json': 'tables[0]' is not an object");
    refuses("{\"tables\": [{\"name\": \"t\"}, {\"schema\": \"main\"}]}", NULL, "[" T "]",
            "'d.json': 'tables[1].name' is not a string");
    refuses("{\"tables\": [{\"name\": 5}]}", NULL, "[" T "]", "'d.json': 'tables[0].name' is not a string");
    refuses("{\"tables\": [{\"name\": \"t\", \"schema\": []}]}", NULL, "[" T "]",
            "'d.json': 'tables[0].schema' is not a string");
    refuses("{\"tables\": [{\"name\": \"t\", \"comment\": []}]}", NULL, "[" T "]",
            "'d.json': 'tables[0].comment' is not a string");
    refuses("{\"tables\": [{\"name\": \"t\", \"columns\": \"a\"}]}", NULL, "[" T "]",
            "'d.json': 'tables[0].columns' is not a list");
    refuses("{\"tables\": [{\"name\": \"v\", \"schema\": \"s\"}, {\"name\": \"t\", \"columns\": [{\"name\": \"b\"},"
            " {\"name\": \"a\", \"comment\": 1}]}]}",
            NULL, "[" T ", " V "]", "'d.json': 'tables[1].columns[1].comment' is not a string");
    refuses("{\"tables\": [{\"name\": \"t\", \"columns\": [{\"unit\": \"m\"}]}]}", NULL, "[" T "]",
            "'d.json': 'tables[0].columns[0].name' is not a string");
}

/* Without running it, nobody knows what a view's columns are called. */
static void the_columns_of_a_view_are_believed(void **state) {
    (void)state;
    joins("{\"tables\": [{\"name\": \"v\", \"schema\": \"s\", \"columns\": [{\"comment\": \"of x\", \"name\": \"x\","
          " \"type\": \"DATE\", \"unit\": \"m\"}]}]}",
          NULL, "[" V "]",
          "{\"tables\": [{\"schema\": \"s\", \"name\": \"v\", \"kind\": \"view\", \"columns\": [{\"name\": \"x\","
          " \"comment\": \"of x\", \"unit\": \"m\"}]}]}");
    refuses("{\"tables\": [{\"name\": \"v\", \"schema\": \"s\", \"columns\": [{\"name\": \"x\"}, {\"name\": \"X\"}]}]}",
            NULL, "[" V "]", "'d.json' describes the column 's.v.X', and does so twice");
    refuses("{\"tables\": [{\"name\": \"v\", \"schema\": \"s\", \"columns\": [5]}]}", NULL, "[" V "]",
            "'d.json': 'tables[0].columns[0]' is not an object");
    refuses("{\"tables\": [{\"name\": \"v\", \"columns\": [{\"name\": \"X\"}]}]}", NULL,
            "[{\"schema\": \"main\", \"name\": \"v\", \"kind\": \"view\", \"columns\": [{\"name\": \"y\"}]}]",
            "'d.json' describes the column 'main.v.X', which the catalog does not have");
}

/* ---- the parent's description, carried over ------------------------------------------- */

#define TABLE(comment, column_comment)                                                                                 \
    "[{\"schema\": \"main\", \"name\": \"t\", \"kind\": \"table\"" comment                                             \
    ", \"rows\": 1, \"bytes\": 2, \"files\": 3,"                                                                       \
    " \"columns\": [{\"name\": \"a\", \"type\": \"DATE\", \"nullable\": true" column_comment "}]}]"
#define SAYS(text) ", \"comment\": \"" text "\""

static void what_is_gone_is_dropped_with_its_words(void **state) {
    (void)state;
    joins("{\"title\": \"x\", \"tables\": [{\"schema\": \"main\", \"name\": \"gone\", \"comment\": \"g\", \"columns\": "
          "[]},"
          " {\"schema\": \"main\", \"name\": \"t\", \"unit\": 1, \"columns\": [{\"name\": \"gone\", \"unit\": 2},"
          " {\"name\": \"a\", \"unit\": 3}]}]}",
          "[]", TABLE("", ""),
          "{\"title\": \"x\", \"tables\": [{\"schema\": \"main\", \"name\": \"t\", \"kind\": \"table\", \"rows\": 1,"
          " \"bytes\": 2, \"files\": 3, \"columns\": [{\"name\": \"a\", \"type\": \"DATE\", \"nullable\": true, "
          "\"unit\": 3}],"
          " \"unit\": 1}]}");
}

static void a_comment_that_was_the_catalogs_follows_the_catalog(void **state) {
    (void)state;
    const char *given = "{\"tables\": " TABLE(SAYS("old"), SAYS("old a")) "}";
    const char *parent = TABLE(SAYS("old"), SAYS("old a"));
    joins(given, parent, TABLE(SAYS("new"), SAYS("new a")), "{\"tables\": " TABLE(SAYS("new"), SAYS("new a")) "}");
    joins(given, parent, TABLE("", ""), "{\"tables\": " TABLE("", "") "}");
    joins(given, parent, parent, given);
}

static void a_comment_of_the_publisher_stays(void **state) {
    (void)state;
    const char *given = "{\"tables\": " TABLE(SAYS("mine"), SAYS("my a")) "}";
    joins(given, TABLE("", ""), TABLE("", ""), given);
    joins(given, TABLE(SAYS("old"), SAYS("old a")), TABLE(SAYS("new"), SAYS("new a")), given);
    joins(given, TABLE(SAYS("old"), SAYS("old a")), TABLE("", ""), given);
}

static void a_table_made_since_has_the_catalogs_words(void **state) {
    (void)state;
    joins("{\"tables\": []}", "[]", TABLE(SAYS("new"), SAYS("a")), "{\"tables\": " TABLE(SAYS("new"), SAYS("a")) "}");
}

static void carried_over_twice_is_as_once(void **state) {
    json_t *once = NULL, *twice = NULL;
    json_t *given = parse("{\"title\": \"x\", \"tables\": [{\"name\": \"T\", \"unit\": 1, \"comment\": \"mine\"}]}");
    json_t *tables = parse("[" T ", " V "]");
    fdl_error error;
    (void)state;
    assert_int_equal(fdl_dataset_join(given, "d.json", NULL, NULL, tables, &once, &error), FDL_OK);
    assert_int_equal(fdl_dataset_join(once, "dataset.json", tables, NULL, tables, &twice, &error), FDL_OK);
    char *first = json_dumps(once, 0), *second = json_dumps(twice, 0);
    assert_string_equal(first, second);
    free(first);
    free(second);
    json_decref(once);
    json_decref(twice);
    json_decref(given);
    json_decref(tables);
}

static void many_tables_are_joined_in_one_walk(void **state) {
    enum { COUNT = 20000 };
    json_t *tables = json_array(), *joined = NULL, *again = NULL;
    fdl_error error;
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%05d", i);
        json_array_append_new(tables, json_pack("{s:s, s:s, s:s, s:i, s:[]}", "schema", "main", "name", name, "kind",
                                                "table", "rows", i, "columns"));
    }
    assert_int_equal(fdl_dataset_join(NULL, "d.json", NULL, NULL, tables, &joined, &error), FDL_OK);
    assert_int_equal(fdl_dataset_join(joined, "d.json", tables, NULL, tables, &again, &error), FDL_OK);
    assert_true(json_equal(joined, again));
    json_decref(tables);
    json_decref(joined);
    json_decref(again);
}

/* ---- the words of a tool ------------------------------------------------------------------ */

static void a_tools_words_win_over_the_catalogs_and_the_parents_alone(void **state) {
    (void)state;
    const char *words = "{\"tables\": " TABLE(SAYS("tool"), SAYS("tool a")) "}";
    joins_words(NULL, NULL, words, TABLE(SAYS("new"), ""), "{\"tables\": " TABLE(SAYS("tool"), SAYS("tool a")) "}");
    joins_words("{\"tables\": " TABLE(SAYS("mine"), "") "}", NULL, words, TABLE(SAYS("new"), ""),
                "{\"tables\": " TABLE(SAYS("mine"), SAYS("tool a")) "}");
    joins_words("{\"title\": \"x\", \"tables\": " TABLE(SAYS("mine"), SAYS("my a")) "}", TABLE(SAYS("old"), ""), words,
                TABLE(SAYS("new"), ""), "{\"title\": \"x\", \"tables\": " TABLE(SAYS("tool"), SAYS("tool a")) "}");
    joins_words("{\"tables\": " TABLE(SAYS("mine"), SAYS("my a")) "}", TABLE("", ""),
                "{\"tables\": [{\"schema\": \"other\", \"name\": \"t\", \"comment\": \"tool\"}]}", TABLE("", ""),
                "{\"tables\": " TABLE(SAYS("mine"), SAYS("my a")) "}");
}

static void a_tools_words_are_believed_about_a_views_columns(void **state) {
    (void)state;
    joins_words("{\"tables\": [{\"schema\": \"s\", \"name\": \"v\", \"columns\": [{\"name\": \"a\", \"unit\": \"m\"}]}]}",
                NULL,
                "{\"tables\": [{\"schema\": \"s\", \"name\": \"v\", \"columns\": [{\"name\": \"A\"" SAYS("tool a")
                "}, {\"name\": \"b\"" SAYS("tool b") "}]}]}",
                "[" V "]",
                "{\"tables\": [{\"schema\": \"s\", \"name\": \"v\", \"kind\": \"view\", \"columns\": [{\"name\": \"a\""
                SAYS("tool a") ", \"unit\": \"m\"}, {\"name\": \"b\"" SAYS("tool b") "}]}]}");
}

static fdl_code note_name(void *data, const char *schema, const char *table, const char *column, fdl_error *error) {
    char *names = data;
    (void)error;
    snprintf(names + strlen(names), 200 - strlen(names), "%s.%s.%s ", schema, table, column);
    return FDL_OK;
}

static void columns_that_are_not_there_are_told(void **state) {
    char names[200] = "";
    fdl_error error;
    json_t *dataset = parse("{\"tables\": [" T "]}");
    json_t *words = parse("{\"tables\": [{\"schema\": \"main\", \"name\": \"gone\", \"columns\": [{\"name\": \"a\"}]},"
                          " {\"schema\": \"MAIN\", \"name\": \"T\", \"columns\": [{\"name\": \"A\"}, {\"name\": \"x\"},"
                          " {\"name\": \"b\"}, {\"name\": \"y\"}]}]}");
    (void)state;
    assert_int_equal(fdl_dataset_unheard(words, dataset, note_name, names, &error), FDL_OK);
    assert_string_equal(names, "main.t.x main.t.y ");
    json_decref(words);
    json_decref(dataset);
}

/* ---- the same? -------------------------------------------------------------------------- */

static void same(const char *a, const char *b, bool expected) {
    json_t *a_json = parse(a), *b_json = parse(b);
    assert_int_equal(fdl_dataset_same(a_json, b_json), expected);
    assert_int_equal(fdl_dataset_same(b_json, a_json), expected);
    json_decref(a_json);
    json_decref(b_json);
}

static void figures_alone_make_no_difference(void **state) {
    (void)state;
    same("{\"tables\": [" T "]}", "{\"tables\": [" T "]}", true);
    same("{\"tables\": [{\"name\": \"t\", \"rows\": 1, \"bytes\": 2, \"files\": 3}]}",
         "{\"tables\": [{\"name\": \"t\"}]}", true);
    same("{\"a\": 1, \"b\": 2}", "{\"b\": 2, \"a\": 1}", true);
}

static void every_word_makes_a_difference(void **state) {
    (void)state;
    same("{\"title\": \"x\", \"tables\": []}", "{\"title\": \"y\", \"tables\": []}", false);
    same("{\"rows\": 1, \"tables\": []}", "{\"rows\": 2, \"tables\": []}", false);
    same("{\"tables\": []}", "{\"license\": null, \"tables\": []}", false);
    same("{\"tables\": [" T "]}", "{\"tables\": [" T ", " V "]}", false);
    same("{\"tables\": [{\"name\": \"t\", \"comment\": \"x\"}]}", "{\"tables\": [{\"name\": \"t\"}]}", false);
    same("{\"tables\": [{\"name\": \"t\", \"columns\": [" A ", " B "]}]}",
         "{\"tables\": [{\"name\": \"t\", \"columns\": [" B ", " A "]}]}", false);
    same("{\"tables\": [{\"name\": \"t\", \"columns\": [{\"name\": \"a\", \"rows\": 1}]}]}",
         "{\"tables\": [{\"name\": \"t\", \"columns\": [{\"name\": \"a\", \"rows\": 2}]}]}", false);
}

static void comparing_changes_neither(void **state) {
    json_t *a = parse("{\"tables\": [" T "]}"), *b = parse("{\"tables\": [" T "]}");
    (void)state;
    assert_true(fdl_dataset_same(a, b));
    assert_non_null(json_object_get(json_array_get(json_object_get(a, "tables"), 0), "rows"));
    json_decref(a);
    json_decref(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_description_the_tables_are_the_document),
        cmocka_unit_test(free_fields_come_first_in_their_order),
        cmocka_unit_test(figures_and_types_come_from_the_catalog_alone),
        cmocka_unit_test(further_fields_stay_behind_those_of_fdl),
        cmocka_unit_test(a_given_comment_wins_over_the_catalogs),
        cmocka_unit_test(names_are_found_in_any_case_and_exactly_first),
        cmocka_unit_test(what_the_catalog_does_not_have_is_refused_by_name),
        cmocka_unit_test(what_is_described_twice_is_refused_by_name),
        cmocka_unit_test(fields_of_the_wrong_type_are_refused_by_name),
        cmocka_unit_test(the_columns_of_a_view_are_believed),
        cmocka_unit_test(what_is_gone_is_dropped_with_its_words),
        cmocka_unit_test(a_comment_that_was_the_catalogs_follows_the_catalog),
        cmocka_unit_test(a_comment_of_the_publisher_stays),
        cmocka_unit_test(a_table_made_since_has_the_catalogs_words),
        cmocka_unit_test(carried_over_twice_is_as_once),
        cmocka_unit_test(many_tables_are_joined_in_one_walk),
        cmocka_unit_test(a_tools_words_win_over_the_catalogs_and_the_parents_alone),
        cmocka_unit_test(a_tools_words_are_believed_about_a_views_columns),
        cmocka_unit_test(columns_that_are_not_there_are_told),
        cmocka_unit_test(figures_alone_make_no_difference),
        cmocka_unit_test(every_word_makes_a_difference),
        cmocka_unit_test(comparing_changes_neither),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
