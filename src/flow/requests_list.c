/*
 * requests_list.c - requests as a document: who asks, when, for which branch, and
 * what would change.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "flow/work.h"
#include "store/http.h"
#include "util/json.h"
#include "util/text.h"

#define LISTED_LIMIT 1000
#define CHANGES_LIMIT 100 /* told of one request */

static fdl_code add_line(json_t *lines, fdl_error *error, const char *format, ...) FDL_PRINTF(3, 4);

static fdl_code add_line(json_t *lines, fdl_error *error, const char *format, ...) {
    char line[FDL_MESSAGE_LIMIT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* Cut within a character it would be no text any more. */
    for (size_t length = strlen(line); length > 0 && !fdl_utf8_valid(line, length); length--)
        line[length - 1] = '\0';
    return json_array_append_new(lines, json_string(line)) == 0 ? FDL_OK
                                                                : fdl_fail(error, FDL_FAILED, NULL, "out of memory");
}

static long long number_of(const json_t *object, const char *field) {
    return (long long)json_integer_value(json_object_get(object, field));
}

/* "table 'main.towns': 2 -> 3 rows, 1 file added, 0 removed, 1 column differs" */
static fdl_code add_table(json_t *lines, const json_t *table, fdl_error *error) {
    const json_t *before = json_object_get(table, "before"), *after = json_object_get(table, "after");
    const char *schema = fdl_json_text(table, "schema"), *name = fdl_json_text(table, "name"), *kind = fdl_json_text(table, "kind");
    size_t columns = json_array_size(json_object_get(table, "columns"));
    if (!json_is_object(after))
        return add_line(lines, error, "%s '%s.%s' goes", kind, schema, name);
    if (strcmp(kind, "table") != 0)
        return add_line(lines, error, "%s '%s.%s' %s", kind, schema, name, json_is_object(before) ? "differs" : "is new");
    if (!json_is_object(before))
        return add_line(lines, error, "%s '%s.%s' is new, %lld rows", kind, schema, name, number_of(after, "rows"));
    return add_line(lines, error, "%s '%s.%s': %lld -> %lld rows, files: %lld added, %lld removed%s", kind, schema, name,
                    number_of(before, "rows"), number_of(after, "rows"), number_of(table, "files_added"),
                    number_of(table, "files_removed"), columns ? ", columns differ" : "");
}

/* The differences of a whole table, or of its columns, are told with the table. */
static bool is_told(const json_t *difference) {
    const char *kind = fdl_json_text(difference, "kind");
    return strcmp(kind, "table") == 0 || strcmp(kind, "view") == 0;
}

static fdl_code add_changes(json_t *lines, const json_t *diff, fdl_error *error) {
    fdl_code code = FDL_OK;
    size_t i = 0, left = 0;
    json_t *item = NULL;
    json_array_foreach(json_object_get(diff, "tables"), i, item) {
        if (json_array_size(lines) == CHANGES_LIMIT)
            left++;
        else if (code == FDL_OK)
            code = add_table(lines, item, error);
    }
    json_array_foreach(json_object_get(diff, "differences"), i, item) {
        if (is_told(item))
            continue;
        if (json_array_size(lines) == CHANGES_LIMIT)
            left++;
        else if (code == FDL_OK)
            code = add_line(lines, error, "%s", fdl_json_text(item, "text"));
    }
    return code == FDL_OK && left ? add_line(lines, error, "and %zu more", left) : code;
}

/* What it changes, compared with what it builds on.  One that cannot be compared any more says so instead. */
static fdl_code changes_of(fdl_repo *repo, const fdl_version *version, json_t *lines, fdl_error *error) {
    fdl_diff_result diff = {0};
    json_t *document = NULL;
    fdl_error why = {0};
    if (!version->parent[0])
        return add_line(lines, error, "the first version");
    fdl_code code = fdl_diff(repo, version->parent, version->id, 0, &diff, &why);
    if (code == FDL_OK)
        code = fdl_json_parse(diff.document, strlen(diff.document), "diff", &document, &why);
    code = code == FDL_OK ? add_changes(lines, document, error)
                          : add_line(lines, error, "cannot be compared: %s", why.message);
    json_decref(document);
    fdl_diff_result_clear(&diff);
    return code;
}

/* For one that waits: what a person decides by. */
static fdl_code describe(fdl_repo *repo, const fdl_request_record *request, json_t *item, fdl_error *error) {
    fdl_version version = {0};
    fdl_error unread;
    json_t *changes = NULL;
    fdl_code code = fdl_version_read(repo, request->version, &version, &unread);
    if (code != FDL_OK) /* pruned, or never there: then nobody can approve it */
        return FDL_OK;
    code = fdl_json_set(item, "message", json_string(version.message), error);
    if (code == FDL_OK && request->state == FDL_REQUEST_WAITING) {
        changes = json_array();
        code = changes_of(repo, &version, changes, error);
        if (code == FDL_OK)
            code = fdl_json_set(item, "changes", json_incref(changes), error);
    }
    json_decref(changes);
    fdl_version_clear(&version);
    return code;
}

static fdl_code add_request(fdl_repo *repo, int64_t number, json_t *list, fdl_error *error) {
    fdl_request_record request = {0};
    fdl_code code = fdl_request_read(repo, number, &request, error);
    if (code != FDL_OK)
        return code;
    json_t *author = json_pack("{s:s, s:s*}", "name", request.author_name, "email", request.author_email);
    json_t *item = json_pack("{s:I, s:s, s:s, s:s?, s:o, s:s, s:s, s:s*}", "number", (json_int_t)number, "branch",
                             request.branch, "version", request.version, "expected",
                             request.expected[0] ? request.expected : NULL, "author", author, "created_at",
                             request.created_at, "state", fdl_request_name(request.state), "reason",
                             request.reason);
    code = item ? describe(repo, &request, item, error) : fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    if (code == FDL_OK && json_array_append(list, item) != 0)
        code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    json_decref(item);
    fdl_request_clear(&request);
    return code;
}

fdl_code fdl_requests(fdl_repo *repo, char **document, fdl_error *error) {
    int64_t *numbers = NULL;
    size_t count = 0, length = 0;
    const fdl_config *config = NULL;
    if (fdl_repo_is_http(repo))
        return fdl_http_ask(fdl_repo_store(repo), "GET", "", "requests", NULL, document, &length, error);
    json_t *list = json_array(), *whole = json_pack("{s:O}", "requests", list);
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        code = fdl_request_numbers(repo, &numbers, &count, error);
    for (size_t i = count > LISTED_LIMIT ? count - LISTED_LIMIT : 0; code == FDL_OK && i < count; i++)
        code = add_request(repo, numbers[i], list, error);
    if (code == FDL_OK)
        code = fdl_json_write(whole, document, &length, error);
    json_decref(whole);
    json_decref(list);
    free(numbers);
    return code;
}
