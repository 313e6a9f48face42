/*
 * config.c - fdl.json and the rules of its fields, which hold alike for what
 * init is about to write and for what a stranger wrote.
 */
#include "repo/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fdl/version.h"
#include "repo/internal.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/text.h"
#include "util/url.h"

fdl_code fdl_format_check(const char *format, const char *name, fdl_error *error) {
    size_t digits = strspn(format, "0123456789");
    if (digits == 0 || (format[digits] != '.' && format[digits] != '\0'))
        return fdl_fail(error, FDL_FAILED, name, "'%s': field 'fdl' is '%s', not a format version such as '%s'", name,
                        format, FDL_FORMAT);
    if (digits != 1 || format[0] != '0')
        return fdl_fail(error, FDL_FAILED, name,
                        "'%s' is in format '%s', and this program knows format '%s'; use a newer fdl", name, format,
                        FDL_FORMAT);
    return FDL_OK;
}

/* ---- data_dir ----------------------------------------------------------- */

/*
 * Names at the root that mean something else.  Letter case is not told apart:
 * on some machines "Versions" is the folder "versions".
 */
static bool is_taken(const char *part, size_t length) {
    static const char *const taken[] = {"versions",   "refs",         "sources",        ".fdl",
                                        FDL_KEY_HEAD, FDL_KEY_CONFIG, FDL_KEY_REFS_JSON};
    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
        if (strlen(taken[i]) == length && strncasecmp(taken[i], part, length) == 0)
            return true;
    return false;
}

static fdl_code parse_data_dir(const char *given, char **out, fdl_error *error) {
    size_t length = strlen(given);
    if (length == 0)
        return fdl_fail(error, FDL_USAGE, NULL, "data_dir must not be empty; the usual one is 'data/'");
    if (given[0] == '/')
        return fdl_fail(error, FDL_USAGE, given, "data_dir '%s' must be relative to the repository", given);
    if (given[length - 1] == '/')
        length--;

    char *plain = NULL;
    fdl_code code = fdl_str_copy_n(&plain, given, length, error);
    if (code != FDL_OK)
        return code;
    if (fdl_key_check(plain, error) != FDL_OK)
        code = fdl_fail(error, FDL_USAGE, given, "data_dir '%s' must be a plain path without empty, '.' and '..' parts",
                        given);
    else if (is_taken(plain, strcspn(plain, "/")))
        code = fdl_fail(error, FDL_USAGE, given,
                        "data_dir '%s' would lie where the repository keeps something else; choose another", given);
    else
        code = fdl_str_format(out, error, "%s/", plain);
    free(plain);
    return code;
}

/* ---- url ---------------------------------------------------------------- */

/* What follows "s3://": a bucket, then a literal prefix. */
static fdl_code check_bucket(const char *given, const char *bucket, fdl_error *error) {
    for (const char *c = bucket; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == '?' || *c == '#')
            return fdl_fail(error, FDL_USAGE, given, "url '%s' must not have spaces, control characters, '?' or '#'",
                            given);
    return FDL_OK;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

/* A host, a port of up to four digits, and a path in which nothing is encoded: no parser would find anything in it. */
static bool is_plain_web(const char *given) {
    const char *host = strstr(given, "://") + 3;
    const char *at = host + strspn(host, LETTERS DIGITS "-.");
    bool plain = at > host;
    if (*at == ':') {
        size_t digits = strspn(at + 1, DIGITS);
        plain = plain && digits > 0 && digits <= 4 && at[1] != '0';
        at += 1 + digits;
    }
    return plain && (*at == '\0' || *at == '/') && at[strspn(at, LETTERS DIGITS "-._~/")] == '\0';
}

/* Every command reads this: libcurl is loaded, which costs as much as the rest of a short one, only for the others. */
static fdl_code check_web(const char *given, fdl_error *error) {
    fdl_url url = {0};
    fdl_error why = {0};
    if (is_plain_web(given))
        return FDL_OK;
    fdl_code code = fdl_url_parse(given, &url, &why);
    fdl_url_clear(&url);
    return code == FDL_OK ? FDL_OK : fdl_fail(error, code, NULL, "%s%s", code == FDL_USAGE ? "url " : "", why.message);
}

static fdl_code parse_root_url(const char *given, char **out, fdl_error *error) {
    static const char *const schemes[] = {"s3://", "https://", "http://"};
    const char *host = NULL;
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0] && !host; i++)
        if (fdl_str_starts(given, schemes[i]))
            host = given + strlen(schemes[i]);
    if (!host || *host == '\0' || *host == '/')
        return fdl_fail(error, FDL_USAGE, given,
                        "url '%s' must start with 'https://', 'http://' or 's3://' and a host or bucket", given);
    fdl_code code = fdl_str_starts(given, "s3://") ? check_bucket(given, host, error) : check_web(given, error);
    return code == FDL_OK ? fdl_str_format(out, error, "%s%s", given, fdl_str_ends(given, "/") ? "" : "/") : code;
}

/* ---- the document ------------------------------------------------------- */

static fdl_code parse_fields(fdl_config_file *file, fdl_error *error) {
    static const char name[] = FDL_KEY_CONFIG;
    const char *data_dir = NULL, *url = NULL;
    fdl_config *fields = &file->fields;
    fdl_code code = fdl_json_string(file->document, name, "fdl", &fields->format, error);
    if (code == FDL_OK)
        code = fdl_format_check(fields->format, name, error);
    if (code == FDL_OK)
        code = fdl_json_string_optional(file->document, name, "id", &fields->id, error);
    if (code == FDL_OK && fields->id && !fdl_uuid_valid(fields->id))
        code = fdl_fail(error, FDL_USAGE, name, "id '%s' must be a UUID in lower case", fields->id);
    if (code == FDL_OK)
        code = fdl_json_string_optional(file->document, name, "data_dir", &data_dir, error);
    if (code == FDL_OK)
        code = parse_data_dir(data_dir ? data_dir : "data/", &file->data_dir, error);
    if (code == FDL_OK)
        code = fdl_json_string_optional(file->document, name, "url", &url, error);
    if (code == FDL_OK && url)
        code = parse_root_url(url, &file->url, error);
    fields->data_dir = file->data_dir;
    fields->url = file->url;
    return code;
}

fdl_code fdl_config_parse(const char *bytes, size_t length, fdl_config_file *out, fdl_error *error) {
    fdl_config_file file = {0};
    fdl_code code = fdl_json_parse(bytes, length, FDL_KEY_CONFIG, &file.document, error);
    if (code == FDL_OK)
        code = parse_fields(&file, error);
    if (code == FDL_OK)
        *out = file;
    else
        fdl_config_file_clear(&file);
    return code;
}

void fdl_config_file_clear(fdl_config_file *file) {
    json_decref(file->document);
    free(file->data_dir);
    free(file->url);
    memset(file, 0, sizeof *file);
}

/* ---- its lists ------------------------------------------------------------ */

/* FDL_NOT_FOUND at the end, and without the list. */
static fdl_code list_entry(const json_t *document, const char *field, size_t index, const json_t **out,
                           fdl_error *error) {
    json_t *list = NULL;
    fdl_code code = fdl_json_array_optional(document, FDL_KEY_CONFIG, field, &list, error);
    if (code == FDL_OK && index >= json_array_size(list))
        return fdl_fail(error, FDL_NOT_FOUND, FDL_KEY_CONFIG, "'%s' has no more %s", FDL_KEY_CONFIG, field);
    *out = json_array_get(list, index);
    return code;
}

static bool is_day(const char *text) {
    char instant[FDL_TIME_BYTES];
    int64_t ms = 0;
    snprintf(instant, sizeof instant, "%.10sT00:00:00Z", text);
    return strlen(text) == 10 && fdl_time_parse(instant, &ms);
}

static fdl_code read_catalog_format(const json_t *document, size_t index, fdl_catalog_format *out, fdl_error *error) {
    const json_t *entry = NULL;
    char name[64];
    snprintf(name, sizeof name, "%s#catalog_formats[%zu]", FDL_KEY_CONFIG, index);
    fdl_code code = list_entry(document, "catalog_formats", index, &entry, error);
    if (code == FDL_OK)
        code = fdl_json_string(entry, name, "ducklake", &out->ducklake, error);
    if (code == FDL_OK)
        code = fdl_json_string_optional(entry, name, "until", &out->until, error);
    if (code == FDL_OK && out->until && !is_day(out->until))
        code = fdl_fail(error, FDL_FAILED, FDL_KEY_CONFIG, "'%s': until '%s' must be a day such as '2027-03-31'", name,
                        out->until);
    return code;
}

static fdl_code read_signer(const json_t *document, size_t index, const char **line, fdl_error *error) {
    const json_t *entry = NULL;
    fdl_code code = list_entry(document, "signers", index, &entry, error);
    *line = json_string_value(entry);
    if (code == FDL_OK && (!*line || strpbrk(*line, "\r\n")))
        code = fdl_fail(error, FDL_FAILED, FDL_KEY_CONFIG, "'%s#signers[%zu]' must be one line of text", FDL_KEY_CONFIG,
                        index);
    return code;
}

fdl_code fdl_repo_catalog_format(fdl_repo *repo, size_t index, fdl_catalog_format *out, fdl_error *error) {
    const fdl_config *config = NULL;
    *out = (fdl_catalog_format){0};
    fdl_code code = fdl_repo_config(repo, &config, error);
    return code == FDL_OK ? read_catalog_format(repo->config.document, index, out, error) : code;
}

fdl_code fdl_repo_signer(fdl_repo *repo, size_t index, const char **line, fdl_error *error) {
    const fdl_config *config = NULL;
    fdl_code code = fdl_repo_config(repo, &config, error);
    return code == FDL_OK ? read_signer(repo->config.document, index, line, error) : code;
}

/* Days of the same length compare as text. */
bool fdl_catalog_format_is_due(const fdl_catalog_format *format, int64_t now_ms) {
    char now[FDL_TIME_BYTES];
    fdl_time_write(now_ms, now);
    return !format->until || strncmp(now, format->until, 10) <= 0;
}

static fdl_code check_lists(const json_t *document, fdl_error *error) {
    fdl_catalog_format format;
    const char *line = NULL;
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK; i++)
        code = read_catalog_format(document, i, &format, error);
    code = code == FDL_NOT_FOUND ? FDL_OK : code;
    for (size_t i = 0; code == FDL_OK; i++)
        code = read_signer(document, i, &line, error);
    return code == FDL_NOT_FOUND ? FDL_OK : code;
}

fdl_code fdl_config_check(const char *bytes, size_t length, fdl_error *error) {
    fdl_config_file file = {0};
    fdl_error why = {0};
    fdl_code code = fdl_config_parse(bytes, length, &file, &why);
    if (code == FDL_OK)
        code = check_lists(file.document, &why);
    fdl_config_file_clear(&file);
    return code == FDL_OK ? FDL_OK : fdl_fail(error, FDL_USAGE, FDL_KEY_CONFIG, "%s", why.message);
}
