/*
 * test_aws_config.c - which credentials, region and endpoint are taken, from
 * which variable or file, and that no message repeats a secret.
 */
#include "store/aws_config.h"
#include "support/support.h"
#include "util/file.h"

static fdl_error error;
static char *folder;
static fdl_aws_config config;

static int set_up(void **state) {
    (void)state;
    static const char *const variables[] = {
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",       "AWS_SESSION_TOKEN",   "AWS_PROFILE",
        "AWS_REGION",        "AWS_DEFAULT_REGION",          "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL",
        "AWS_CONFIG_FILE",   "AWS_SHARED_CREDENTIALS_FILE",
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    folder = test_scratch_make();
    setenv("HOME", folder, 1);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    fdl_aws_config_clear(&config);
    test_scratch_drop(folder);
    return 0;
}

/* Writes ~/.aws/<name>. */
static void file(const char *name, const char *text) {
    char *aws = test_path(folder, ".aws");
    char *path = test_path(aws, name);
    expect_ok(fdl_folder_make(aws, &error), &error);
    expect_ok(fdl_file_write(path, text, strlen(text), &error), &error);
    free(path);
    free(aws);
}

static void read_config(void) {
    fdl_aws_config_clear(&config);
    expect_ok(fdl_aws_config_read(&config, &error), &error);
}

static void expect_denied(const char *part) {
    expect_code(FDL_DENIED, fdl_aws_config_read(&config, &error), &error);
    expect_said(part, &error);
    assert_null(strstr(error.message, "hush"));
}

/* NULL-safe. */
static void expect_text(const char *got, const char *wanted) {
    assert_string_equal(got ? got : "(none)", wanted ? wanted : "(none)");
}

/* ---- credentials ------------------------------------------------------------ */

static void nothing_set_is_anonymous(void **state) {
    (void)state;
    read_config();
    expect_text(config.access_key, NULL);
    expect_text(config.region, NULL);
    expect_text(config.endpoint, NULL);
    assert_non_null(strstr(config.credential_source, "/.aws/credentials'"));
    unsetenv("HOME");
    read_config();
    expect_text(config.access_key, NULL);
    setenv("HOME", "/dev/null", 1);
    read_config();
    expect_text(config.access_key, NULL);
}

static void the_environment_comes_first(void **state) {
    (void)state;
    file("credentials", "[default]\naws_access_key_id = FILE\naws_secret_access_key = hush\n");
    setenv("AWS_ACCESS_KEY_ID", "ENV", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "hush", 1);
    read_config();
    expect_text(config.access_key, "ENV");
    expect_text(config.session_token, NULL);
    setenv("AWS_SESSION_TOKEN", "token", 1);
    read_config();
    expect_text(config.session_token, "token");
    expect_text(config.credential_source, "the environment (AWS_ACCESS_KEY_ID)");
}

static void half_a_pair_is_told(void **state) {
    (void)state;
    setenv("AWS_SECRET_ACCESS_KEY", "hush", 1);
    expect_denied("'AWS_ACCESS_KEY_ID'");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    setenv("AWS_ACCESS_KEY_ID", "", 1); /* empty is not set */
    read_config();
    file("credentials", "[default]\naws_secret_access_key = hush\n");
    expect_denied("profile 'default'");
}

static void a_profile_is_found_in_either_file(void **state) {
    (void)state;
    file("credentials",
         "; a comment\n[default]\naws_access_key_id=D\naws_secret_access_key=hush\n"
         "[ work ]\n  aws_access_key_id = W \r\naws_secret_access_key = hu=sh#;\n aws_session_token = T\n");
    file("config", "[default]\nregion = eu-west-1\n[profile \"own one\"]\naws_access_key_id = O\n"
                   "aws_secret_access_key = hush\nregion = us-west-2\n[profile work]\nregion = ap-south-1\n");
    read_config();
    expect_text(config.access_key, "D");
    expect_text(config.region, "eu-west-1");
    setenv("AWS_PROFILE", "own one", 1);
    read_config();
    expect_text(config.access_key, "O");
    expect_text(config.region, "us-west-2");
    assert_non_null(strstr(config.credential_source, "profile 'own one' in '"));
}

static void keys_of_a_section_may_be_indented_only_below_a_parent(void **state) {
    (void)state;
    file("config", "[default]\ns3 =\n  addressing_style = virtual\n  aws_access_key_id = NESTED\nregion = eu-west-1\n");
    read_config();
    expect_text(config.access_key, NULL);
    expect_text(config.region, "eu-west-1");
    assert_true(config.virtual_host);
}

static void a_profile_that_is_nowhere_is_told(void **state) {
    (void)state;
    file("credentials", "[work]\naws_access_key_id = W\naws_secret_access_key = hush\n");
    setenv("AWS_PROFILE", "wrok", 1);
    expect_denied("'wrok'");
}

static void keys_from_elsewhere_are_not_passed_over(void **state) {
    (void)state;
    file("config", "[default]\ncredential_process = /bin/get hush\n");
    expect_denied("credential_process");
    file("config", "[profile role]\nrole_arn = arn:x\nsource_profile = default\n");
    setenv("AWS_PROFILE", "role", 1);
    expect_denied("role_arn");
}

static void other_files_can_be_named(void **state) {
    (void)state;
    char *path = test_path(folder, "mine");
    static const char text[] = "[default]\naws_access_key_id = M\naws_secret_access_key = hush\n";
    expect_ok(fdl_file_write(path, text, strlen(text), &error), &error);
    file("credentials", "[default]\naws_access_key_id = D\naws_secret_access_key = hush\n");
    setenv("AWS_SHARED_CREDENTIALS_FILE", path, 1);
    read_config();
    expect_text(config.access_key, "M");
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    read_config();
    expect_text(config.access_key, NULL);
    free(path);
}

/* ---- region and endpoint ------------------------------------------------------ */

static void the_region_is_looked_for_in_order(void **state) {
    (void)state;
    file("config", "[default]\nregion = c\n");
    read_config();
    expect_text(config.region, "c");
    setenv("AWS_DEFAULT_REGION", "b", 1);
    read_config();
    expect_text(config.region, "b");
    setenv("AWS_REGION", "a", 1);
    read_config();
    expect_text(config.region, "a");
}

static void the_endpoint_is_looked_for_in_order(void **state) {
    (void)state;
    file("config", "[default]\nendpoint_url = http://d\nservices = here\n\n[services here]\ndynamodb =\n  endpoint_url "
                   "= http://x\n"
                   "s3 =\n  endpoint_url = http://c\n");
    read_config();
    expect_text(config.endpoint, "http://c");
    file("config", "[default]\nendpoint_url = http://d\n");
    read_config();
    expect_text(config.endpoint, "http://d");
    setenv("AWS_ENDPOINT_URL", "http://b", 1);
    read_config();
    expect_text(config.endpoint, "http://b");
    setenv("AWS_ENDPOINT_URL_S3", "http://a", 1);
    read_config();
    expect_text(config.endpoint, "http://a");
}

#define config_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        config_test(nothing_set_is_anonymous),
        config_test(the_environment_comes_first),
        config_test(half_a_pair_is_told),
        config_test(a_profile_is_found_in_either_file),
        config_test(keys_of_a_section_may_be_indented_only_below_a_parent),
        config_test(a_profile_that_is_nowhere_is_told),
        config_test(keys_from_elsewhere_are_not_passed_over),
        config_test(other_files_can_be_named),
        config_test(the_region_is_looked_for_in_order),
        config_test(the_endpoint_is_looked_for_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
