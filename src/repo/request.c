/*
 * request.c - refs/requests/<number>: a push that waits until somebody lets it
 * through.
 *
 * A number is taken by a write that creates only, and a state is left by one
 * that names what it replaces, so of two hosts each number and each decision is
 * made by one.  Requests are never deleted.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "repo/internal.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/text.h"

#define ATTEMPTS 100 /* numbers that others take while we ask for one */
#define NUMBER_DIGITS 9

static const char *const state_names[] = {NULL, "waiting", "approved", "rejected"};

void fdl_request_clear(fdl_request_record *request) {
    free(request->author_name);
    free(request->author_email);
    free(request->reason);
    memset(request, 0, sizeof *request);
}

const char *fdl_request_name(fdl_request_state state) {
    return state_names[state];
}

static void key_of(int64_t number, char key[FDL_REF_BYTES]) {
    snprintf(key, FDL_REF_BYTES, FDL_REF_REQUESTS "%" PRId64, number);
}

/* ---- reading ------------------------------------------------------------- */

/* `optional`: null, or no such field, is "". */
static fdl_code read_id(const json_t *document, const char *key, const char *field, bool optional,
                        char out[FDL_ID_BYTES], fdl_error *error) {
    const char *id = NULL;
    fdl_code code = optional ? fdl_json_string_optional(document, key, field, &id, error)
                             : fdl_json_string(document, key, field, &id, error);
    if (code != FDL_OK || !id)
        return code;
    if (!fdl_uuid_valid(id))
        return fdl_fail(error, FDL_FAILED, key, "'%s': field '%s' is no version id", key, field);
    fdl_str_fit(out, FDL_ID_BYTES, id);
    return FDL_OK;
}

static fdl_code read_author(const json_t *document, const char *key, fdl_request_record *out, fdl_error *error) {
    json_t *author = NULL;
    const char *name = NULL, *email = NULL;
    fdl_code code = fdl_json_object(document, key, "author", &author, error);
    if (code == FDL_OK)
        code = fdl_json_string(author, key, "name", &name, error);
    if (code == FDL_OK)
        code = fdl_json_string_optional(author, key, "email", &email, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&out->author_name, name, error);
    return code == FDL_OK ? fdl_str_copy(&out->author_email, email, error) : code;
}

static fdl_code read_state(const json_t *document, const char *key, fdl_request_record *out, fdl_error *error) {
    const char *state = NULL, *reason = NULL;
    fdl_code code = fdl_json_string(document, key, "state", &state, error);
    if (code == FDL_OK)
        code = fdl_json_string_optional(document, key, "reason", &reason, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&out->reason, reason, error);
    for (size_t i = 1; code == FDL_OK && i < sizeof state_names / sizeof *state_names; i++)
        if (strcmp(state, state_names[i]) == 0) {
            out->state = (fdl_request_state)i;
            return FDL_OK;
        }
    return code == FDL_OK ? fdl_fail(error, FDL_FAILED, key, "'%s': field 'state' is '%.100s'", key, state) : code;
}

static fdl_code parse(const json_t *document, const char *key, fdl_request_record *out, fdl_error *error) {
    const char *branch = NULL, *time = NULL;
    int64_t ms = 0;
    fdl_code code = fdl_json_string(document, key, "branch", &branch, error);
    if (code == FDL_OK && (!fdl_str_starts(branch, FDL_REF_HEADS) || !fdl_ref_full_name_valid(branch)))
        code = fdl_fail(error, FDL_FAILED, key, "'%s': field 'branch' does not name a branch", key);
    if (code == FDL_OK)
        code = read_id(document, key, "version", false, out->version, error);
    if (code == FDL_OK)
        code = read_id(document, key, "expected", true, out->expected, error);
    if (code == FDL_OK)
        code = fdl_json_string(document, key, "created_at", &time, error);
    if (code == FDL_OK && (!fdl_time_parse(time, &ms) || !fdl_str_fit(out->created_at, sizeof out->created_at, time)))
        code = fdl_fail(error, FDL_FAILED, key, "'%s': field 'created_at' is no time", key);
    if (code == FDL_OK)
        code = read_author(document, key, out, error);
    if (code == FDL_OK)
        code = read_state(document, key, out, error);
    if (code == FDL_OK)
        fdl_str_fit(out->branch, sizeof out->branch, branch);
    return code;
}

static fdl_code load(fdl_repo *repo, const char *key, json_t **document, char etag[FDL_ETAG_LIMIT_BYTES],
                     fdl_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    fdl_object object = {0};
    fdl_code code = fdl_document_read(repo, key, FDL_LIMIT_REQUEST_BYTES, &bytes, &length, &object, error);
    if (code == FDL_OK)
        code = fdl_json_parse(bytes, length, key, document, error);
    if (code == FDL_OK)
        fdl_str_fit(etag, FDL_ETAG_LIMIT_BYTES, object.etag);
    free(bytes);
    return code;
}

fdl_code fdl_request_read(fdl_repo *repo, int64_t number, fdl_request_record *out, fdl_error *error) {
    char key[FDL_REF_BYTES];
    json_t *document = NULL;
    fdl_request_record request = {.number = number};
    key_of(number, key);
    fdl_code code = load(repo, key, &document, request.etag, error);
    if (code == FDL_NOT_FOUND)
        code = fdl_fail(error, FDL_NOT_FOUND, key, "no request %" PRId64 "; 'fdl requests' lists what there is", number);
    if (code == FDL_OK)
        code = parse(document, key, &request, error);
    json_decref(document);
    if (code == FDL_OK)
        *out = request;
    else
        fdl_request_clear(&request);
    return code;
}

/* ---- numbers --------------------------------------------------------------- */

typedef struct numbers {
    int64_t *items;
    size_t count;
} numbers;

/* Names that are no numbers, as people write them, are not ours. */
static fdl_code take_number(void *data, const fdl_entry *entry, fdl_error *error) {
    numbers *n = data;
    const char *text = entry->key + strlen(FDL_REF_REQUESTS);
    size_t digits = strspn(text, "0123456789");
    if (entry->folder || digits == 0 || digits > NUMBER_DIGITS || text[digits] || *text == '0')
        return FDL_OK;
    if (n->count == FDL_LIMIT_REFS)
        return fdl_fail(error, FDL_REFUSED, entry->key, "the repository has more than %u requests", FDL_LIMIT_REFS);
    fdl_code code = fdl_grow(&n->items, n->count, sizeof *n->items, error);
    if (code == FDL_OK)
        n->items[n->count++] = strtoll(text, NULL, 10);
    return code;
}

static int by_number(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

fdl_code fdl_request_numbers(fdl_repo *repo, int64_t **out, size_t *count, fdl_error *error) {
    numbers n = {0};
    fdl_code code = fdl_store_list(repo->store, FDL_REF_REQUESTS, FDL_ONE_LEVEL, take_number, &n, error);
    if (code != FDL_OK) {
        free(n.items);
        return code;
    }
    if (n.count > 1)
        qsort(n.items, n.count, sizeof *n.items, by_number);
    *out = n.items;
    *count = n.count;
    return FDL_OK;
}

/* ---- writing --------------------------------------------------------------- */

static fdl_code put(fdl_repo *repo, const char *key, const json_t *document, fdl_condition condition, char *etag,
                    fdl_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    fdl_object object = {0};
    fdl_code code = fdl_json_write(document, &bytes, &length, error);
    fdl_source source = {.bytes = bytes, .length_bytes = length};
    if (code == FDL_OK && length > FDL_LIMIT_REQUEST_BYTES)
        code = fdl_fail(error, FDL_USAGE, key, "a request has at most %u bytes; shorten the reason",
                        FDL_LIMIT_REQUEST_BYTES);
    if (code == FDL_OK)
        code = fdl_store_put(repo->store, key, &source, condition, &object, error);
    if (code == FDL_OK)
        fdl_str_fit(etag, FDL_ETAG_LIMIT_BYTES, object.etag);
    free(bytes);
    return code;
}

static fdl_code compose(const fdl_request_record *request, json_t **out, fdl_error *error) {
    json_t *author = json_pack("{s:s, s:s*}", "name", request->author_name, "email", request->author_email);
    *out = json_pack("{s:s, s:s, s:s?, s:o, s:s, s:s, s:s*}", "branch", request->branch, "version", request->version,
                     "expected", request->expected[0] ? request->expected : NULL, "author", author, "created_at",
                     request->created_at, "state", state_names[request->state], "reason", request->reason);
    return *out ? FDL_OK : fdl_fail(error, FDL_USAGE, NULL, "a request takes valid UTF-8 only");
}

/* Whether what stands under our number is what we tried to write there: a lost answer, or one asked twice. */
static bool is_ours(fdl_repo *repo, fdl_request_record *request) {
    fdl_request_record there = {0};
    bool same = fdl_request_read(repo, request->number, &there, NULL) == FDL_OK &&
                strcmp(there.version, request->version) == 0 && strcmp(there.branch, request->branch) == 0 &&
                strcmp(there.created_at, request->created_at) == 0;
    if (same)
        memcpy(request->etag, there.etag, sizeof request->etag);
    fdl_request_clear(&there);
    return same;
}

/* Under the number it has; `*taken`: somebody else has that one. */
static fdl_code create_as(fdl_repo *repo, fdl_request_record *request, const json_t *document, bool *taken, fdl_error *error) {
    char key[FDL_REF_BYTES];
    key_of(request->number, key);
    fdl_code code = put(repo, key, document, (fdl_condition){.kind = FDL_IF_ABSENT}, request->etag, error);
    bool doubtful = code == FDL_CONFLICT || code == FDL_UNCERTAIN;
    if (doubtful && is_ours(repo, request))
        code = FDL_OK;
    *taken = code == FDL_CONFLICT;
    return code;
}

fdl_code fdl_request_create(fdl_repo *repo, fdl_request_record *request, fdl_error *error) {
    int64_t *numbers = NULL;
    size_t count = 0;
    json_t *document = NULL;
    fdl_code code = compose(request, &document, error);
    if (code == FDL_OK)
        code = fdl_request_numbers(repo, &numbers, &count, error);
    bool taken = code == FDL_OK;
    request->number = count ? numbers[count - 1] : 0;
    for (int i = 0; taken && i < ATTEMPTS; i++) {
        request->number++;
        code = create_as(repo, request, document, &taken, error);
    }
    json_decref(document);
    free(numbers);
    return code;
}

fdl_code fdl_request_set(fdl_repo *repo, fdl_request_record *request, fdl_request_state state, const char *reason,
                         fdl_error *error) {
    char key[FDL_REF_BYTES], etag[FDL_ETAG_LIMIT_BYTES] = "";
    json_t *document = NULL;
    fdl_condition condition = {.kind = FDL_IF_MATCH, .etag = request->etag};
    key_of(request->number, key);
    fdl_code code = load(repo, key, &document, etag, error);
    if (code == FDL_OK && strcmp(etag, request->etag) != 0)
        code = FDL_CONFLICT;
    if (code == FDL_OK) /* fields that we do not know stay */
        code = fdl_json_set(document, "state", json_string(state_names[state]), error);
    if (code == FDL_OK && reason)
        code = fdl_json_set(document, "reason", json_string(reason), error);
    else if (code == FDL_OK)
        json_object_del(document, "reason");
    if (code == FDL_OK)
        code = put(repo, key, document, condition, request->etag, error);
    if (code == FDL_CONFLICT)
        code = fdl_fail(error, FDL_CONFLICT, key, "request %" PRId64 " was changed by somebody else at this moment",
                        request->number);
    json_decref(document);
    if (code != FDL_OK)
        return code;
    request->state = state;
    free(request->reason);
    request->reason = NULL;
    return fdl_str_copy(&request->reason, reason, error);
}
