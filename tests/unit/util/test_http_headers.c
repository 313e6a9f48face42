/*
 * test_http_headers.c - header lists and their limits, and HTTP's dates.  The
 * exchanges themselves are tested over the wire, in tests/net.
 */
#include "support/support.h"
#include "util/http.h"

static fdl_error error;

static void a_header_is_found_in_any_case_and_the_first_counts(void **state) {
    (void)state;
    fdl_http_headers headers = {0};
    expect_ok(fdl_http_add(&headers, "ETag", "\"one\"", &error), &error);
    expect_ok(fdl_http_add(&headers, "etag", "\"two\"", &error), &error);
    assert_string_equal(fdl_http_get(&headers, "ETAG"), "\"one\"");
    assert_null(fdl_http_get(&headers, "ETa"));
    fdl_http_headers_clear(&headers);
    assert_null(fdl_http_get(&headers, "ETag"));
}

static void a_line_break_does_not_become_a_header(void **state) {
    (void)state;
    fdl_http_headers headers = {0};
    expect_code(FDL_FAILED, fdl_http_add(&headers, "If-Match", "x\r\nAuthorization: y", &error), &error);
    expect_code(FDL_FAILED, fdl_http_add(&headers, "If-Match\n", "x", &error), &error);
    assert_int_equal(headers.count, 0);
    fdl_http_headers_clear(&headers);
}

static void there_is_a_limit_to_headers(void **state) {
    (void)state;
    fdl_http_headers headers = {0};
    for (int i = 0; i < FDL_HTTP_HEADER_LIMIT; i++)
        expect_ok(fdl_http_add(&headers, "x", "y", &error), &error);
    expect_code(FDL_FAILED, fdl_http_add(&headers, "x", "y", &error), &error);
    fdl_http_headers_clear(&headers);

    char *big = malloc(FDL_HTTP_HEADERS_LIMIT_BYTES);
    assert_non_null(big);
    memset(big, 'x', FDL_HTTP_HEADERS_LIMIT_BYTES - 1);
    big[FDL_HTTP_HEADERS_LIMIT_BYTES - 1] = '\0';
    expect_code(FDL_FAILED, fdl_http_add(&headers, "name", big, &error), &error);
    fdl_http_headers_clear(&headers);
    free(big);
}

static void dates_are_read(void **state) {
    (void)state;
    assert_int_equal(fdl_http_date("Sun, 06 Nov 1994 08:49:37 GMT"), 784111777000);
    assert_int_equal(fdl_http_date(NULL), 0);
    assert_int_equal(fdl_http_date("soon"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_found_in_any_case_and_the_first_counts),
        cmocka_unit_test(a_line_break_does_not_become_a_header),
        cmocka_unit_test(there_is_a_limit_to_headers),
        cmocka_unit_test(dates_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
