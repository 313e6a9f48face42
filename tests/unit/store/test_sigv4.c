/*
 * test_sigv4.c - our signatures against other people's: the examples AWS
 * publishes for S3, and values that botocore computed for requests of the kind
 * we send.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/sigv4.h"
#include "util/ident.h"

#define EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define MAY_2013_MS 1369353600000 /* 20130524T000000Z, the day of AWS's examples */
#define OCTOBER_MS 1792054800000  /* 20261015T090000Z */
#define COUNT(array) (sizeof(array) / sizeof *(array))

static fdl_error error;

static const fdl_sigv4_key aws_key = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", NULL,
                                      "us-east-1", "s3"};

static fdl_sigv4_key our_key(const char *region, const char *token) {
    return (fdl_sigv4_key){"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", token, region, "s3"};
}

/* Signs, and compares with "SignedHeaders=..., Signature=..." */
static void expect_signed(const fdl_sigv4_key *key, const fdl_sigv4_request *request, const char *payload,
                          fdl_http_headers *headers, const char *names, const char *signature) {
    assert_int_equal(fdl_sigv4_sign(key, request, payload, headers, &error), FDL_OK);
    const char *authorization = fdl_http_get(headers, "Authorization");
    assert_non_null(authorization);
    char expected[512];
    snprintf(expected, sizeof expected, "SignedHeaders=%s, Signature=%s", names, signature);
    const char *found = strstr(authorization, "SignedHeaders=");
    assert_non_null(found);
    assert_string_equal(found, expected);
    fdl_http_headers_clear(headers);
}

static void add(fdl_http_headers *headers, const char *name, const char *value) {
    assert_int_equal(fdl_http_add(headers, name, value, &error), FDL_OK);
}

/* ---- AWS's own examples ---------------------------------------------------- */

static void signs_awss_example_get_with_a_range(void **state) {
    (void)state;
    fdl_http_headers headers = {0};
    add(&headers, "Range", "bytes=0-9");
    fdl_sigv4_request request = {"GET", "examplebucket.s3.amazonaws.com", "/test.txt", NULL, 0, MAY_2013_MS};
    expect_signed(&aws_key, &request, EMPTY_SHA256, &headers, "host;range;x-amz-content-sha256;x-amz-date",
                  "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

static void signs_awss_example_put(void **state) {
    (void)state;
    static const char body[] = "Welcome to Amazon S3.";
    char payload[65];
    assert_int_equal(fdl_sha256_bytes(body, strlen(body), payload, &error), FDL_OK);
    fdl_http_headers headers = {0};
    add(&headers, "Date", "Fri, 24 May 2013 00:00:00 GMT");
    add(&headers, "x-amz-storage-class", "REDUCED_REDUNDANCY");
    fdl_sigv4_request request = {"PUT", "examplebucket.s3.amazonaws.com", "/test%24file.text", NULL, 0, MAY_2013_MS};
    expect_signed(&aws_key, &request, payload, &headers,
                  "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
                  "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

static void signs_awss_example_with_a_parameter_without_a_value(void **state) {
    (void)state;
    fdl_http_headers headers = {0};
    fdl_sigv4_param params[] = {{"lifecycle", ""}};
    fdl_sigv4_request request = {"GET", "examplebucket.s3.amazonaws.com", "/", params, 1, MAY_2013_MS};
    expect_signed(&aws_key, &request, EMPTY_SHA256, &headers, "host;x-amz-content-sha256;x-amz-date",
                  "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

static void signs_awss_example_list(void **state) {
    (void)state;
    fdl_http_headers headers = {0};
    fdl_sigv4_param params[] = {{"prefix", "J"}, {"max-keys", "2"}};
    fdl_sigv4_request request = {"GET", "examplebucket.s3.amazonaws.com", "/", params, COUNT(params), MAY_2013_MS};
    expect_signed(&aws_key, &request, EMPTY_SHA256, &headers, "host;x-amz-content-sha256;x-amz-date",
                  "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void presigns_awss_example(void **state) {
    (void)state;
    fdl_http_headers none = {0};
    fdl_sigv4_request request = {"GET", "examplebucket.s3.amazonaws.com", "/test.txt", NULL, 0, MAY_2013_MS};
    char *query;
    assert_int_equal(fdl_sigv4_presign(&aws_key, &request, &none, 86400, &query, &error), FDL_OK);
    assert_string_equal(query,
                        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1"
                        "%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
                        "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
    free(query);
}

/* ---- botocore's values ----------------------------------------------------- */

static void signs_a_conditional_put_as_botocore_does(void **state) {
    (void)state;
    fdl_sigv4_key key = our_key("eu-west-1", NULL);
    fdl_http_headers headers = {0};
    add(&headers, "If-Match", "\"abc\"");
    add(&headers, "Content-Type", "text/plain");
    fdl_sigv4_request request = {"PUT", "s3.eu-west-1.amazonaws.com", "/b.x/lake/refs/heads/main", NULL, 0, OCTOBER_MS};
    expect_signed(&key, &request, "c532f2865b0a7810d6e00736f371038674a35560fde46f65ee6ce56423340d37", &headers,
                  "content-type;host;if-match;x-amz-content-sha256;x-amz-date",
                  "094dd8d5b5b492a6b59b41540e27ad8d87a6b159ed5ed0775329b632c3c4bc5a");
}

static void signs_a_listing_with_a_session_token_as_botocore_does(void **state) {
    (void)state;
    fdl_sigv4_key key = our_key("us-east-1", "to/ken+1==");
    fdl_http_headers headers = {0};
    fdl_sigv4_param params[] = {{"list-type", "2"},
                                {"prefix", "lake/\xc3\xbc/\xc3\xa9 b+c%"},
                                {"delimiter", "/"},
                                {"max-keys", "7"},
                                {"continuation-token", "1/2=="}};
    fdl_sigv4_request request = {"GET", "127.0.0.1:9000", "/b", params, COUNT(params), OCTOBER_MS};
    expect_signed(&key, &request, EMPTY_SHA256, &headers, "host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
                  "da704efd55de80c969878760e30b4b508e1d212dc6d8830fb99393ad051bdeeb");
}

static void signs_for_an_ipv6_host_and_an_escaped_key_as_botocore_does(void **state) {
    (void)state;
    fdl_sigv4_key key = our_key("auto", NULL);
    fdl_http_headers headers = {0};
    add(&headers, "Range", "bytes=0-0");
    fdl_sigv4_request request = {"HEAD", "[::1]:9000", "/b/a%20b%2Bc/100%25/%C3%BC/%C3%A9/%2520", NULL, 0, OCTOBER_MS};
    expect_signed(&key, &request, EMPTY_SHA256, &headers, "host;range;x-amz-content-sha256;x-amz-date",
                  "7c653aa5c1c877ad0a54aba6ae46c3ff87fc900473a2768d3359c1b6b0ad3877");
}

static void signs_the_start_of_a_multipart_upload_as_botocore_does(void **state) {
    (void)state;
    fdl_sigv4_key key = our_key("us-west-2", NULL);
    fdl_http_headers headers = {0};
    fdl_sigv4_param params[] = {{"uploads", ""}};
    fdl_sigv4_request request = {"POST", "b.s3.us-west-2.amazonaws.com", "/k", params, 1, OCTOBER_MS};
    expect_signed(&key, &request, EMPTY_SHA256, &headers, "host;x-amz-content-sha256;x-amz-date",
                  "7ede68b693929f3920fdb0021443ab75fb96786219ac4e2abea7b9673b9cb7e8");
}

static void presigns_an_upload_with_its_headers_as_botocore_does(void **state) {
    (void)state;
    fdl_sigv4_key key = our_key("us-west-2", NULL);
    fdl_http_headers headers = {0};
    add(&headers, "If-None-Match", "*");
    add(&headers, "Content-Length", "12");
    add(&headers, "x-amz-checksum-sha256", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    fdl_sigv4_request request = {"PUT", "b.s3.us-west-2.amazonaws.com", "/lake/a%20b%2Bc", NULL, 0, OCTOBER_MS};
    char *query;
    assert_int_equal(fdl_sigv4_presign(&key, &request, &headers, 3600, &query, &error), FDL_OK);
    assert_non_null(
        strstr(query, "&X-Amz-SignedHeaders=content-length%3Bhost%3Bif-none-match%3Bx-amz-checksum-sha256&"));
    assert_non_null(strstr(query, "X-Amz-Signature=1317308a9084f75d9e27c4916ed2624adaa8c1b57159c63f5e08ec0b05cd7e19"));
    free(query);
    fdl_http_headers_clear(&headers);
}

static void presigns_a_download_with_a_session_token_as_botocore_does(void **state) {
    (void)state;
    fdl_sigv4_key key = our_key("us-east-1", "to/ken+1==");
    fdl_http_headers none = {0};
    fdl_sigv4_param params[] = {{"response-content-type", "text/plain"}};
    fdl_sigv4_request request = {"GET", "127.0.0.1:9000", "/b/k", params, 1, OCTOBER_MS};
    char *query;
    assert_int_equal(fdl_sigv4_presign(&key, &request, &none, 60, &query, &error), FDL_OK);
    assert_non_null(strstr(query, "X-Amz-Security-Token=to%2Fken%2B1%3D%3D"));
    assert_non_null(strstr(query, "X-Amz-Signature=6c7a05e15fdc760fed66d1549bca5aad46f3dc61bfc5dc21c9d503d32b7ec80c"));
    free(query);
}

/* ---- rules of our own ------------------------------------------------------ */

static void sorts_parameters_by_name_and_not_by_pair(void **state) {
    (void)state;
    fdl_sigv4_param params[] = {{"a-b", "1"}, {"a", "2"}, {"B", "3"}, {"a", "1"}};
    char *query;
    assert_int_equal(fdl_sigv4_query(params, COUNT(params), &query, &error), FDL_OK);
    assert_string_equal(query, "B=3&a=1&a=2&a-b=1");
    free(query);
}

static void a_signed_url_lives_at_most_a_week(void **state) {
    (void)state;
    fdl_http_headers none = {0};
    fdl_sigv4_request request = {"GET", "h", "/", NULL, 0, OCTOBER_MS};
    char *query = NULL;
    assert_int_equal(fdl_sigv4_presign(&aws_key, &request, &none, 604801, &query, &error), FDL_USAGE);
    assert_int_equal(fdl_sigv4_presign(&aws_key, &request, &none, 0, &query, &error), FDL_USAGE);
    assert_null(query);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signs_awss_example_get_with_a_range),
        cmocka_unit_test(signs_awss_example_put),
        cmocka_unit_test(signs_awss_example_with_a_parameter_without_a_value),
        cmocka_unit_test(signs_awss_example_list),
        cmocka_unit_test(presigns_awss_example),
        cmocka_unit_test(signs_a_conditional_put_as_botocore_does),
        cmocka_unit_test(signs_a_listing_with_a_session_token_as_botocore_does),
        cmocka_unit_test(signs_for_an_ipv6_host_and_an_escaped_key_as_botocore_does),
        cmocka_unit_test(signs_the_start_of_a_multipart_upload_as_botocore_does),
        cmocka_unit_test(presigns_an_upload_with_its_headers_as_botocore_does),
        cmocka_unit_test(presigns_a_download_with_a_session_token_as_botocore_does),
        cmocka_unit_test(sorts_parameters_by_name_and_not_by_pair),
        cmocka_unit_test(a_signed_url_lives_at_most_a_week),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
