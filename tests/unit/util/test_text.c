/*
 * test_text.c - strings, growing arrays, UTF-8.
 */
#include "support/support.h"
#include "util/buf.h"
#include "util/text.h"

static fdl_error error;

static void test_an_array_grows_as_far_as_it_is_asked_to(void **state) {
    (void)state;
    int *items = NULL;
    for (int i = 0; i < 5000; i++) {
        expect_ok(fdl_grow(&items, (size_t)i, sizeof *items, &error), &error);
        items[i] = i;
    }
    for (int i = 0; i < 5000; i++)
        assert_int_equal(items[i], i);
    free(items);
}

static void test_an_array_emptied_and_filled_again_has_room(void **state) {
    (void)state;
    char *items = NULL;
    size_t count = 0;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 100; i++) {
            expect_ok(fdl_grow(&items, count, 1, &error), &error);
            items[count++] = 'x';
        }
        count = (size_t)round * 7;
    }
    free(items);
}

static void test_an_array_beyond_all_memory_is_an_error(void **state) {
    (void)state;
    char *items = NULL;
    expect_code(FDL_FAILED, fdl_grow(&items, (size_t)1 << 63, 1, &error), &error);
    expect_code(FDL_FAILED, fdl_grow(&items, (size_t)1 << 61, 8, &error), &error);
    assert_null(items);
    char *copy;
    expect_code(FDL_FAILED, fdl_str_copy_n(&copy, "x", SIZE_MAX, &error), &error);
}

static void test_fresh_memory_is_zero_also_for_no_elements(void **state) {
    (void)state;
    long *numbers;
    expect_ok(fdl_alloc(&numbers, 10, sizeof *numbers, &error), &error);
    for (int i = 0; i < 10; i++)
        assert_int_equal(numbers[i], 0);
    free(numbers);
    expect_ok(fdl_alloc(&numbers, 0, sizeof *numbers, &error), &error);
    assert_non_null(numbers);
    free(numbers);
}

static void test_strings_are_copied_and_formatted(void **state) {
    (void)state;
    char *text;
    expect_ok(fdl_str_copy(&text, "lake", &error), &error);
    assert_string_equal(text, "lake");
    free(text);
    expect_ok(fdl_str_copy(&text, NULL, &error), &error);
    assert_null(text);
    expect_ok(fdl_str_copy_n(&text, "lake/data", 4, &error), &error);
    assert_string_equal(text, "lake");
    free(text);
    expect_ok(fdl_str_format(&text, &error, "%s~%d", "main", 3), &error);
    assert_string_equal(text, "main~3");
    free(text);
    for (int length = 250; length < 260; length++) { /* around what is printed at once */
        fdl_buf buf;
        fdl_buf_init(&buf, 1000);
        expect_ok(fdl_str_format(&text, &error, "%0*d", length, 7), &error);
        expect_ok(fdl_buf_add_format(&buf, &error, "%0*d", length, 7), &error);
        assert_int_equal(strlen(text), length);
        assert_int_equal(buf.length, length);
        assert_string_equal(text, buf.data);
        assert_int_equal(text[length - 1], '7');
        fdl_buf_clear(&buf);
        free(text);
    }
}

static void test_beginnings_and_ends(void **state) {
    (void)state;
    assert_true(fdl_str_starts("lake2", "lake"));
    assert_true(fdl_str_starts("lake", ""));
    assert_false(fdl_str_starts("la", "lake"));
    assert_true(fdl_str_ends("x.parquet", ".parquet"));
    assert_false(fdl_str_ends("parquet", ".parquet"));
    assert_true(fdl_str_ends("", ""));
}

static void test_a_string_fits_or_leaves_nothing(void **state) {
    (void)state;
    char room[5] = "junk";
    assert_true(fdl_str_fit(room, sizeof room, "1234"));
    assert_string_equal(room, "1234");
    assert_false(fdl_str_fit(room, sizeof room, "12345"));
    assert_string_equal(room, "");
    assert_false(fdl_str_fit(room, 0, ""));
}

static void test_utf8_is_strict(void **state) {
    (void)state;
    static const char *const good[] = {
        "", "plain", "é", "日本語", "🦆", "\xf4\x8f\xbf\xbf", "\xef\xbf\xbf", "\xed\x9f\xbf", "\xee\x80\x80"};
    static const char *const bad[] = {
        "\x80",
        "\xc3",
        "\xc0\x80",
        "\xc1\xbf",
        "\xe0\x9f\xbf",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xe3\x81",
        "\xf0\x9f\xa6",
        "\xff",
        "ok\xe3\x28\xa1",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(fdl_utf8_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(fdl_utf8_valid(bad[i], strlen(bad[i])));
    assert_true(fdl_utf8_valid("a\0b", 3));
    for (size_t at = 0; at < 24; at++) { /* wherever they stand between eights of ASCII */
        char text[64];
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
            snprintf(text, sizeof text, "%.*s%s%s", (int)at, "012345678901234567890123", good[i], "ab");
            assert_true(fdl_utf8_valid(text, strlen(text)));
        }
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            snprintf(text, sizeof text, "%.*s%s%s", (int)at, "012345678901234567890123", bad[i], "ab");
            assert_false(fdl_utf8_valid(text, strlen(text)));
        }
    }
}

/* ---- buf ------------------------------------------------------------------ */

static void test_a_buf_holds_all_bytes_and_ends_them_with_a_nul(void **state) {
    (void)state;
    fdl_buf buf;
    fdl_buf_init(&buf, 1 << 20);
    assert_null(buf.data);
    for (int i = 0; i < 10000; i++)
        expect_ok(fdl_buf_add_format(&buf, &error, "%04d", i), &error);
    assert_int_equal(buf.length, 40000);
    assert_int_equal(strlen(buf.data), 40000);
    assert_memory_equal(buf.data + 4 * 1234, "1234", 4);
    fdl_buf_clear(&buf);
    expect_ok(fdl_buf_sink(&buf, "a\0b", 3, &error), &error);
    assert_memory_equal(buf.data, "a\0b", 4);
    fdl_buf_clear(&buf);
}

static void test_a_buf_never_passes_its_limit_and_keeps_what_it_had(void **state) {
    (void)state;
    fdl_buf buf;
    fdl_buf_init(&buf, 5);
    expect_ok(fdl_buf_add_str(&buf, "abc", &error), &error);
    expect_code(FDL_REFUSED, fdl_buf_add_str(&buf, "def", &error), &error);
    expect_said("5 bytes", &error);
    expect_code(FDL_REFUSED, fdl_buf_add_format(&buf, &error, "%d", 123), &error);
    expect_code(FDL_REFUSED, fdl_buf_add(&buf, "x", SIZE_MAX, &error), &error);
    assert_string_equal(buf.data, "abc");
    expect_ok(fdl_buf_add_str(&buf, "de", &error), &error);
    assert_string_equal(buf.data, "abcde");
    fdl_buf_clear(&buf);
    fdl_buf_init(&buf, 0);
    expect_ok(fdl_buf_add_str(&buf, "", &error), &error);
    expect_code(FDL_REFUSED, fdl_buf_add_str(&buf, "x", &error), &error);
    fdl_buf_clear(&buf);
}

static void test_a_buf_hands_over_its_bytes_once(void **state) {
    (void)state;
    fdl_buf buf;
    size_t length;
    fdl_buf_init(&buf, 100);
    expect_ok(fdl_buf_add_str(&buf, "abc", &error), &error);
    char *text = fdl_buf_detach(&buf, &length);
    assert_string_equal(text, "abc");
    assert_int_equal(length, 3);
    free(text);
    text = fdl_buf_detach(&buf, &length);
    assert_string_equal(text, "");
    assert_int_equal(length, 0);
    free(text);
}

static void test_base64_is_strict(void **state) {
    (void)state;
    static const struct {
        const char *text;
        const char *bytes; /* NULL: refused */
    } cases[] = {
        {"", ""},        {"Zg==", "f"},      {"Zm8=", "fo"},   {"Zm9v", "foo"}, {"Zm9vYmE=", "fooba"}, {"+/+/", "\xfb\xff\xbf"},
        {"Zg", NULL},    {"Zg=", NULL},      {"Zg===", NULL},  {"Zh==", NULL},  {"Zm9=", NULL},        {"Z===", NULL},
        {"Zm9 ", NULL},  {"Zm-v", NULL},     {"Zg==Zg==", NULL}, {"====", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[8];
        size_t length = 99;
        bool good = fdl_base64_decode(cases[i].text, out, sizeof out, &length);
        if (good != (cases[i].bytes != NULL))
            fail_msg("'%s'", cases[i].text);
        if (good) {
            assert_int_equal(length, strlen(cases[i].bytes));
            assert_memory_equal(out, cases[i].bytes, length);
        }
    }
    char small[2];
    size_t length;
    assert_false(fdl_base64_decode("Zm9v", small, sizeof small, &length));
    assert_true(fdl_base64_decode("Zm8=", small, sizeof small, &length));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_array_grows_as_far_as_it_is_asked_to),
        cmocka_unit_test(test_an_array_emptied_and_filled_again_has_room),
        cmocka_unit_test(test_an_array_beyond_all_memory_is_an_error),
        cmocka_unit_test(test_fresh_memory_is_zero_also_for_no_elements),
        cmocka_unit_test(test_strings_are_copied_and_formatted),
        cmocka_unit_test(test_beginnings_and_ends),
        cmocka_unit_test(test_a_string_fits_or_leaves_nothing),
        cmocka_unit_test(test_utf8_is_strict),
        cmocka_unit_test(test_base64_is_strict),
        cmocka_unit_test(test_a_buf_holds_all_bytes_and_ends_them_with_a_nul),
        cmocka_unit_test(test_a_buf_never_passes_its_limit_and_keeps_what_it_had),
        cmocka_unit_test(test_a_buf_hands_over_its_bytes_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
