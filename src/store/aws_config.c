/*
 * aws_config.c - credentials, region and endpoint from AWS's environment
 * variables and files.
 */
#include <stdlib.h>
#include <string.h>

#include "store/aws_config.h"
#include "util/file.h"
#include "util/text.h"

#define FILE_LIMIT_BYTES (1u << 20)

/* One of the two files: its text ("" when there is none), and the section of our profile in it. */
typedef struct aws_file {
    char *path;
    char *text;
    char *section;
} aws_file;

typedef struct reader {
    fdl_aws_config *config;
    const char *profile;
    bool profile_asked; /* AWS_PROFILE is set, so it must exist */
    aws_file credentials;
    aws_file settings;
} reader;

/* A variable that is set and not empty, else NULL. */
static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* ---- files ---------------------------------------------------------------- */

static fdl_code load(aws_file *file, const char *variable_name, const char *name, fdl_error *error) {
    const char *path = variable(variable_name);
    const char *home = variable("HOME");
    fdl_code code = FDL_OK;
    if (path)
        code = fdl_str_copy(&file->path, path, error);
    else if (home)
        code = fdl_str_format(&file->path, error, "%s/.aws/%s", home, name);
    else
        code = fdl_str_format(&file->path, error, "~/.aws/%s", name);
    if (code != FDL_OK)
        return code;
    size_t length = 0;
    if (!(path || home) || !fdl_file_exists(file->path))
        return fdl_str_copy(&file->text, "", error);
    return fdl_file_read(file->path, FILE_LIMIT_BYTES, &file->text, &length, error);
}

static void unload(aws_file *file) {
    if (file->text)
        explicit_bzero(file->text, strlen(file->text));
    free(file->text);
    free(file->path);
    free(file->section);
}

/* In the settings file every profile but "default" has "profile " before its name. */
static fdl_code name_sections(reader *r, fdl_error *error) {
    bool is_default = strcmp(r->profile, "default") == 0 && !fdl_aws_ini_has(r->settings.text, "profile default");
    fdl_code code = fdl_str_copy(&r->credentials.section, r->profile, error);
    if (code == FDL_OK)
        code = fdl_str_format(&r->settings.section, error, "%s%s", is_default ? "" : "profile ", r->profile);
    return code;
}

/* `*out` stays NULL when the key is missing or empty. */
static fdl_code get(const aws_file *file, const char *section, const char *parent, const char *key, char **out,
                    fdl_error *error) {
    const char *value;
    size_t length;
    if (!fdl_aws_ini_get(file->text, section, parent, key, &value, &length) || length == 0)
        return FDL_OK;
    return fdl_str_copy_n(out, value, length, error);
}

/* ---- credentials ---------------------------------------------------------- */

static fdl_code from_environment(fdl_aws_config *config, fdl_error *error) {
    const char *access_key = variable("AWS_ACCESS_KEY_ID");
    const char *secret_key = variable("AWS_SECRET_ACCESS_KEY");
    if (!access_key && !secret_key)
        return FDL_OK;
    if (!access_key || !secret_key)
        return fdl_fail(error, FDL_DENIED, NULL, "the environment has '%s' but not '%s': set both, or neither",
                        access_key ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY",
                        access_key ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID");
    fdl_code code = fdl_str_copy(&config->access_key, access_key, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&config->secret_key, secret_key, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&config->session_token, variable("AWS_SESSION_TOKEN"), error);
    if (code == FDL_OK)
        code = fdl_str_copy(&config->credential_source, "the environment (AWS_ACCESS_KEY_ID)", error);
    return code;
}

static fdl_code from_file(reader *r, const aws_file *file, fdl_error *error) {
    fdl_aws_config *config = r->config;
    fdl_code code = get(file, file->section, NULL, "aws_access_key_id", &config->access_key, error);
    if (code == FDL_OK)
        code = get(file, file->section, NULL, "aws_secret_access_key", &config->secret_key, error);
    if (code != FDL_OK || (!config->access_key && !config->secret_key))
        return code;
    if (!config->access_key || !config->secret_key)
        return fdl_fail(
            error, FDL_DENIED, NULL,
            "profile '%s' in '%s' has only one of aws_access_key_id and aws_secret_access_key: add the other",
            r->profile, file->path);
    code = get(file, file->section, NULL, "aws_session_token", &config->session_token, error);
    if (code == FDL_OK)
        code = fdl_str_format(&config->credential_source, error, "profile '%s' in '%s'", r->profile, file->path);
    return code;
}

/* Keys that other tools would fetch for this profile: to go on without them would be to act as somebody else. */
static fdl_code refuse_indirect(const reader *r, const aws_file *file, fdl_error *error) {
    static const char *const ways[] = {"credential_process", "role_arn", "sso_session", "sso_start_url",
                                       "web_identity_token_file"};
    const char *value;
    size_t length;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (fdl_aws_ini_get(file->text, file->section, NULL, ways[i], &value, &length))
            return fdl_fail(error, FDL_DENIED, NULL,
                            "profile '%s' in '%s' gets its keys by %s, which fdl does not do: put them into the "
                            "environment with 'aws configure export-credentials --format env'",
                            r->profile, file->path, ways[i]);
    }
    return FDL_OK;
}

static fdl_code from_profile(reader *r, fdl_error *error) {
    bool known = fdl_aws_ini_has(r->credentials.text, r->credentials.section) ||
                 fdl_aws_ini_has(r->settings.text, r->settings.section);
    if (r->profile_asked && !known)
        return fdl_fail(error, FDL_DENIED, NULL, "AWS_PROFILE names '%s', which is neither in '%s' nor in '%s'",
                        r->profile, r->credentials.path, r->settings.path);
    fdl_code code = from_file(r, &r->credentials, error);
    if (code == FDL_OK && !r->config->access_key)
        code = from_file(r, &r->settings, error);
    if (code == FDL_OK && !r->config->access_key)
        code = refuse_indirect(r, &r->credentials, error);
    if (code == FDL_OK && !r->config->access_key)
        code = refuse_indirect(r, &r->settings, error);
    return code;
}

static fdl_code find_credentials(reader *r, fdl_error *error) {
    fdl_code code = from_environment(r->config, error);
    if (code == FDL_OK && !r->config->access_key)
        code = from_profile(r, error);
    if (code == FDL_OK && !r->config->access_key)
        code = fdl_str_format(&r->config->credential_source, error, "neither the environment nor '%s'",
                              r->credentials.path);
    return code;
}

/* ---- region and endpoint -------------------------------------------------- */

static fdl_code find_region(reader *r, fdl_error *error) {
    const char *named = variable("AWS_REGION");
    if (!named)
        named = variable("AWS_DEFAULT_REGION");
    if (named)
        return fdl_str_copy(&r->config->region, named, error);
    return get(&r->settings, r->settings.section, NULL, "region", &r->config->region, error);
}

/* [profile x] services = s  ->  [services s] s3 = \n endpoint_url = ... */
static fdl_code endpoint_of_services(reader *r, fdl_error *error) {
    char *services = NULL;
    char *section = NULL;
    fdl_code code = get(&r->settings, r->settings.section, NULL, "services", &services, error);
    if (code == FDL_OK && services)
        code = fdl_str_format(&section, error, "services %s", services);
    if (code == FDL_OK && section)
        code = get(&r->settings, section, "s3", "endpoint_url", &r->config->endpoint, error);
    free(section);
    free(services);
    return code;
}

static fdl_code find_endpoint(reader *r, fdl_error *error) {
    const char *named = variable("AWS_ENDPOINT_URL_S3");
    if (!named)
        named = variable("AWS_ENDPOINT_URL");
    if (named)
        return fdl_str_copy(&r->config->endpoint, named, error);
    fdl_code code = endpoint_of_services(r, error);
    if (code == FDL_OK && !r->config->endpoint)
        code = get(&r->settings, r->settings.section, NULL, "endpoint_url", &r->config->endpoint, error);
    return code;
}

static void find_style(reader *r) {
    const char *value;
    size_t length;
    r->config->virtual_host =
        fdl_aws_ini_get(r->settings.text, r->settings.section, "s3", "addressing_style", &value, &length) &&
        length == strlen("virtual") && memcmp(value, "virtual", length) == 0;
}

fdl_code fdl_aws_config_read(fdl_aws_config *out, fdl_error *error) {
    fdl_aws_config config = {0};
    reader r = {.config = &config, .profile = variable("AWS_PROFILE")};
    r.profile_asked = r.profile != NULL;
    if (!r.profile)
        r.profile = "default";
    fdl_code code = load(&r.credentials, "AWS_SHARED_CREDENTIALS_FILE", "credentials", error);
    if (code == FDL_OK)
        code = load(&r.settings, "AWS_CONFIG_FILE", "config", error);
    if (code == FDL_OK)
        code = name_sections(&r, error);
    if (code == FDL_OK)
        code = find_credentials(&r, error);
    if (code == FDL_OK)
        code = find_region(&r, error);
    if (code == FDL_OK)
        code = find_endpoint(&r, error);
    if (code == FDL_OK)
        find_style(&r);
    unload(&r.credentials);
    unload(&r.settings);
    if (code != FDL_OK) {
        fdl_aws_config_clear(&config);
        return code;
    }
    *out = config;
    return FDL_OK;
}

static void forget(char *secret) {
    if (secret)
        explicit_bzero(secret, strlen(secret));
    free(secret);
}

void fdl_aws_config_clear(fdl_aws_config *config) {
    if (!config)
        return;
    free(config->access_key);
    forget(config->secret_key);
    forget(config->session_token);
    free(config->credential_source);
    free(config->region);
    free(config->endpoint);
    *config = (fdl_aws_config){0};
}
