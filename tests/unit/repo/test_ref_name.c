/*
 * test_ref_name.c - the rule for names of branches and tags.
 */
#include "lake.h"

#include "repo/internal.h"

static void plain_names_are_taken(void **state) {
    (void)state;
    static const char *const good[] = {"main",     "a",          "0",       "v1.2.3", "feature/x_y-z",
                                       "a/b/c",    "2025-final", "a.b/c.d", "lock",   "a.lockx",
                                       "x.lock.y", "_",          "019a2f10"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        fdl_error error = {0};
        if (fdl_ref_name_check(good[i], &error) != FDL_OK)
            fail_msg("%s", error.message);
    }
}

static void names_that_could_mean_something_else_are_usage_errors(void **state) {
    (void)state;
    static const char *const bad[] = {"",      "Main",   "HEAD",  "../x", "..",   ".",           ".hidden", "a/.b",
                                      "a/..",  "a..b",   "a//b",  "/a",   "a/",   "/",           "a.lock",  "a.lock/b",
                                      ".lock", "a.",     "a/b.",  "-a",   "a b",  "a\nb",        "a\tb",    "\x01",
                                      "a\x7f", "%2e%2e", "a%2fb", "a\\b", "a~1",  "a^",          "a:b",     "a?b",
                                      "a*",    "a[b",    "a@{1}", "@",    "日本", "caf\xc3\xa9", "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lake l = {0};
        expect(&l, FDL_USAGE, fdl_ref_name_check(bad[i], &l.error));
        expect_message(&l, "cannot be the name of a branch or tag: ");
        for (const char *c = l.error.message; *c; c++)
            assert_true((unsigned char)*c >= ' ' && *c != 0x7f);
    }
}

static void a_name_has_at_most_200_bytes(void **state) {
    (void)state;
    lake l = {0};
    char name[FDL_REF_NAME_LIMIT_BYTES + 2];
    memset(name, 'a', sizeof name);
    name[FDL_REF_NAME_LIMIT_BYTES + 1] = '\0';
    expect(&l, FDL_USAGE, fdl_ref_name_check(name, &l.error));
    expect_message(&l, "200 bytes");
    name[FDL_REF_NAME_LIMIT_BYTES] = '\0';
    expect(&l, FDL_OK, fdl_ref_name_check(name, &l.error));
}

static void full_names_are_branches_and_tags_alone(void **state) {
    (void)state;
    assert_true(fdl_ref_full_name_valid("refs/heads/main"));
    assert_true(fdl_ref_full_name_valid("refs/tags/v1/x"));
    static const char *const bad[] = {"",
                                      "main",
                                      "refs/heads/",
                                      "refs/heads/A",
                                      "refs/heads",
                                      "refs/requests/1",
                                      "refs/tags/../heads/x",
                                      "refs/heads//x",
                                      "refs/x",
                                      "/refs/heads/x",
                                      "refs/heads/x.lock",
                                      "fdl.json"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lake l = {0};
        assert_false(fdl_ref_full_name_valid(bad[i]));
        expect(&l, FDL_USAGE, fdl_ref_full_name_check(bad[i], &l.error));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_names_are_taken),
        cmocka_unit_test(names_that_could_mean_something_else_are_usage_errors),
        cmocka_unit_test(a_name_has_at_most_200_bytes),
        cmocka_unit_test(full_names_are_branches_and_tags_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
