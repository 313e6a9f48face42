/*
 * test_url.c - addresses taken apart, and names written into URLs.
 */
#include "support/support.h"
#include "util/url.h"

static fdl_error error;

static void expect_url(const char *text, bool tls, const char *authority, const char *path) {
    fdl_url url;
    expect_ok(fdl_url_parse(text, &url, &error), &error);
    assert_int_equal(url.tls, tls);
    assert_string_equal(url.authority, authority);
    assert_string_equal(url.path, path);
    fdl_url_clear(&url);
}

static void an_address_comes_apart(void **state) {
    (void)state;
    expect_url("http://host", false, "host", "/");
    expect_url("https://host/a/b", true, "host", "/a/b");
    expect_url("https://HostName:8443/A/", true, "hostname:8443", "/A/");
    expect_url("http://host:80/", false, "host", "/");
    expect_url("https://host:443/", true, "host", "/");
    expect_url("http://host:443/", false, "host:443", "/");
    expect_url("http://127.0.0.1:9000", false, "127.0.0.1:9000", "/");
    expect_url("http://[::1]:9000/x", false, "[::1]:9000", "/x");
    expect_url("http://[2001:DB8::1]/x", false, "[2001:db8::1]", "/x");
    expect_url("http://host/a%20b/%2e%2E/%C3%BC", false, "host", "/a%20b/%2e%2E/%C3%BC");
    expect_url("http://host/a/../b/./c", false, "host", "/a/../b/./c");
}

static void what_is_no_address_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "host",
        "ftp://host/",
        "http:",
        "http:/host",
        "http://",
        "http:///path",
        "https:///",
        "http://host?",
        "http://host/?a=b",
        "http://host/#f",
        "http://host:x/",
        "http://ho st/",
        "http://host:99999/",
        "http://[::1/",
        "http://u@host/",
        "http://u:p@host/",
        "file:///etc/passwd",
    };
    fdl_url url;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_code(FDL_USAGE, fdl_url_parse(texts[i], &url, &error), &error);
}

static void a_password_is_not_repeated(void **state) {
    (void)state;
    fdl_url url;
    expect_code(FDL_USAGE, fdl_url_parse("https://me:very-private@host/", &url, &error), &error);
    assert_null(strstr(error.message, "very-private"));
    expect_code(FDL_USAGE, fdl_url_parse("https://me:very-private@host:nope/", &url, &error), &error);
    assert_null(strstr(error.message, "very-private"));
}

static void expect_encoded(const char *text, const char *as_path, const char *as_value) {
    fdl_buf buf;
    fdl_buf_init(&buf, 1000);
    expect_ok(fdl_url_add_path(&buf, text, &error), &error);
    assert_string_equal(buf.data, as_path);
    fdl_buf_clear(&buf);
    expect_ok(fdl_url_add_value(&buf, text, &error), &error);
    assert_string_equal(buf.data, as_value);
    fdl_buf_clear(&buf);
}

static void everything_but_the_unreserved_is_encoded(void **state) {
    (void)state;
    expect_encoded("AZaz09-._~", "AZaz09-._~", "AZaz09-._~");
    expect_encoded("a b+c", "a%20b%2Bc", "a%20b%2Bc");
    expect_encoded("100%", "100%25", "100%25");
    expect_encoded("%20", "%2520", "%2520");
    expect_encoded("\xc3\xbc/\xc3\xa9", "%C3%BC/%C3%A9", "%C3%BC%2F%C3%A9");
    expect_encoded("?a=b&c#d", "%3Fa%3Db%26c%23d", "%3Fa%3Db%26c%23d");
    expect_encoded("!*'();:@$,[]\"<>\\^`{|}", "%21%2A%27%28%29%3B%3A%40%24%2C%5B%5D%22%3C%3E%5C%5E%60%7B%7C%7D",
                   "%21%2A%27%28%29%3B%3A%40%24%2C%5B%5D%22%3C%3E%5C%5E%60%7B%7C%7D");
    expect_encoded("\x01\x7f\xff", "%01%7F%FF", "%01%7F%FF");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_comes_apart),
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(a_password_is_not_repeated),
        cmocka_unit_test(everything_but_the_unreserved_is_encoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
