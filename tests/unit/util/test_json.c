/*
 * test_json.c - what is JSON and what is not, in words; and written JSON.
 */
#include <math.h>

#include "support/support.h"
#include "util/json.h"

static fdl_error error;

static json_t *parse(const char *text) {
    json_t *value = NULL;
    expect_ok(fdl_json_parse(text, strlen(text), "fdl.json", &value, &error), &error);
    return value;
}

static void expect_broken(const char *text, size_t length, const char *said) {
    json_t *value = NULL;
    expect_code(FDL_FAILED, fdl_json_parse(text, length, "fdl.json", &value, &error), &error);
    expect_said("'fdl.json'", &error);
    expect_said(said, &error);
    assert_string_equal(error.key, "fdl.json");
    assert_null(value);
}

#define broken(text, said) expect_broken(text, strlen(text), said)

static void test_broken_documents_are_told_with_line_and_reason(void **state) {
    (void)state;
    broken("", "line 1: it ends too early");
    broken("{\"a\":1,\n\n", "line 3: it ends too early");
    broken("{\"a\":1} x", "line 1: something follows its end near 'x'");
    broken("{\"a\":1,\n\"b\":2,\n\"a\":3}", "line 3: a key occurs twice near '\"a\"'");
    broken("{\"a\":\n 'x'}", "line 2: a syntax error");
    broken("{\"a\":01}", "a syntax error");
    broken("{\"a\":NaN}", "a syntax error");
    broken("{\"a\":1e999}", "a number is too large");
    broken("{\"a\":123456789012345678901234567890}", "a number is too large");
    broken("{\"a\":\"\xff\"}", "not valid UTF-8");
    broken("{\"a\":\"\\ud800\"}", "'fdl.json' is not valid JSON");
    broken("{\"a\":\"\\u0000\"}", "a NUL character");
    broken("[1]", "is not a JSON object");
    broken("\"text\"", "is not valid JSON");
    broken("\xef\xbb\xbf\n <!DOCTYPE html>", "'fdl.json' is a web page, or XML, where JSON should be");
    expect_broken("{\"a\":1}\0", 8, "something follows its end");
    expect_broken(NULL, 0, "it ends too early");
}

static void test_depth_is_limited(void **state) {
    (void)state;
    enum { DEPTH = 100000 };
    char *text = malloc(DEPTH);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    memcpy(text, "{\"a\":", 5);
    expect_broken(text, DEPTH, "nested too deeply");
    free(text);
}

static void test_writing_keeps_order_indents_and_ends_with_a_newline(void **state) {
    (void)state;
    json_t *value = parse("{\"z\":1,\"a\":{\"y\":\"日本\",\"b\":[]},\"m\":[true,null]}");
    char *text = NULL;
    size_t length;
    expect_ok(fdl_json_write(value, &text, &length, &error), &error);
    assert_string_equal(text, "{\n"
                              "  \"z\": 1,\n"
                              "  \"a\": {\n"
                              "    \"y\": \"日本\",\n"
                              "    \"b\": []\n"
                              "  },\n"
                              "  \"m\": [\n"
                              "    true,\n"
                              "    null\n"
                              "  ]\n"
                              "}\n");
    assert_int_equal(length, strlen(text));
    free(text);
    json_decref(value);
}

static void test_reals_come_back_as_they_are_and_as_short_as_they_can(void **state) {
    (void)state;
    json_t *value = parse("{\"a\":0.1,\"b\":[1.5,-2e-7]}");
    char *text = NULL;
    size_t length;
    expect_ok(fdl_json_write(value, &text, &length, &error), &error);
    assert_non_null(strstr(text, "\"a\": 0.1,"));
    free(text);
    json_decref(value);

    static const double hard[] = {0.1 + 0.2, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.123456789};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        value = json_pack("{s:f}", "x", hard[i]);
        expect_ok(fdl_json_write(value, &text, &length, &error), &error);
        json_decref(value);
        value = parse(text);
        assert_true(memcmp(&hard[i], &(double){json_real_value(json_object_get(value, "x"))}, sizeof hard[i]) == 0);
        json_decref(value);
        free(text);
    }
}

static void test_reals_that_are_not_finite_never_appear(void **state) {
    (void)state;
    json_t *object = json_object();
    assert_int_equal(fdl_json_set(object, "x", json_real((double)NAN), &error), FDL_FAILED);
    assert_int_equal(fdl_json_set(object, "x", json_real((double)INFINITY), &error), FDL_FAILED);
    assert_int_equal(json_object_size(object), 0);
    json_decref(object);
}

static void test_fields_are_read_with_their_type(void **state) {
    (void)state;
    json_t *object = parse("{\"id\":\"x\",\"seq\":7,\"big\":9007199254740993,\"o\":{},\"list\":[1],\"no\":null}");
    const char *text = NULL;
    int64_t count = 0;
    json_t *child = NULL;
    expect_ok(fdl_json_string(object, "v", "id", &text, &error), &error);
    assert_string_equal(text, "x");
    expect_ok(fdl_json_count(object, "v", "seq", &count, &error), &error);
    assert_int_equal(count, 7);
    expect_ok(fdl_json_count(object, "v", "big", &count, &error), &error);
    assert_int_equal(count, 9007199254740993);
    expect_ok(fdl_json_object(object, "v", "o", &child, &error), &error);
    assert_true(json_is_object(child));
    expect_ok(fdl_json_array_optional(object, "v", "list", &child, &error), &error);
    assert_int_equal(json_array_size(child), 1);
    expect_ok(fdl_json_string_optional(object, "v", "no", &text, &error), &error);
    assert_null(text);
    expect_ok(fdl_json_array_optional(object, "v", "gone", &child, &error), &error);
    assert_null(child);
    json_decref(object);
}

static void test_fields_missing_or_of_another_type_are_named(void **state) {
    (void)state;
    json_t *object = parse("{\"n\":-1,\"real\":1.0,\"s\":\"x\",\"no\":null}");
    const char *text = NULL;
    int64_t count = 0;
    json_t *child = NULL;
    expect_code(FDL_FAILED, fdl_json_string(object, "v.json", "id", &text, &error), &error);
    assert_string_equal(error.message, "'v.json' has no field 'id'");
    expect_code(FDL_FAILED, fdl_json_string(object, "v.json", "no", &text, &error), &error);
    expect_code(FDL_FAILED, fdl_json_string(object, "v.json", "n", &text, &error), &error);
    assert_string_equal(error.message, "'v.json': field 'n' is not a string");
    expect_code(FDL_FAILED, fdl_json_string_optional(object, "v.json", "n", &text, &error), &error);
    expect_code(FDL_FAILED, fdl_json_count(object, "v.json", "n", &count, &error), &error);
    expect_code(FDL_FAILED, fdl_json_count(object, "v.json", "real", &count, &error), &error);
    expect_code(FDL_FAILED, fdl_json_count(object, "v.json", "s", &count, &error), &error);
    expect_code(FDL_FAILED, fdl_json_object(object, "v.json", "s", &child, &error), &error);
    expect_code(FDL_FAILED, fdl_json_array_optional(object, "v.json", "s", &child, &error), &error);
    json_decref(object);
}

/* ---- without memory --------------------------------------------------------- */

static int allocations_left;

static void *scarce_malloc(size_t size) {
    return allocations_left-- > 0 ? malloc(size) : NULL;
}

/* Every allocation of jansson's fails once: an error each time, and nothing lost. */
static void test_parsing_and_writing_without_memory_are_errors(void **state) {
    (void)state;
    const char *text = "{\"a\":{\"b\":[1,2.5,\"x\"]},\"c\":\"a long enough text to need memory of its own\"}";
    json_malloc_t usual_malloc;
    json_free_t usual_free;
    json_get_alloc_funcs(&usual_malloc, &usual_free);
    json_set_alloc_funcs(scarce_malloc, free);
    int failures = 0;
    for (int room = 0;; room++) {
        json_t *value = NULL;
        char *written = NULL;
        size_t length;
        allocations_left = room;
        fdl_code code = fdl_json_parse(text, strlen(text), "x", &value, &error);
        if (code == FDL_OK)
            code = fdl_json_write(value, &written, &length, &error);
        json_decref(value);
        free(written);
        if (code == FDL_OK)
            break;
        failures++;
        assert_int_equal(code, FDL_FAILED);
    }
    json_set_alloc_funcs(usual_malloc, usual_free);
    assert_true(failures > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken_documents_are_told_with_line_and_reason),
        cmocka_unit_test(test_depth_is_limited),
        cmocka_unit_test(test_writing_keeps_order_indents_and_ends_with_a_newline),
        cmocka_unit_test(test_reals_come_back_as_they_are_and_as_short_as_they_can),
        cmocka_unit_test(test_reals_that_are_not_finite_never_appear),
        cmocka_unit_test(test_fields_are_read_with_their_type),
        cmocka_unit_test(test_fields_missing_or_of_another_type_are_named),
        cmocka_unit_test(test_parsing_and_writing_without_memory_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
