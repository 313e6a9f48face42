/*
 * requests.c - pushes that wait for approval: kept, shown, let through or turned
 * down.
 *
 *     waiting --> approved --> the branch moves --> refs.json
 *        ^            |
 *        `------------'  the branch had moved elsewhere
 *
 * The decision is one conditional write, so of an approval and a rejection, or
 * of two hosts, one holds.  It comes before the branch moves; stopped between
 * the two, approving again goes on.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "flow/refs.h"
#include "flow/work.h"
#include "repo/history.h"
#include "repo/layout.h"
#include "store/http.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/options.h"
#include "util/text.h"

#define AGAIN_LIMIT 100 /* newest requests looked through for the same push */

/* ---- making ----------------------------------------------------------------------- */

static bool is_same(const fdl_request_record *request, const fdl_request_options *options) {
    return request->state == FDL_REQUEST_WAITING && strcmp(request->branch, options->branch) == 0 &&
           strcmp(request->version, options->version) == 0 && strcmp(request->expected, options->expected) == 0;
}

/* `*number` stays 0 when there is none. */
static fdl_code find_same(fdl_repo *repo, const fdl_request_options *options, int64_t *number, fdl_error *error) {
    int64_t *numbers = NULL;
    size_t count = 0;
    fdl_code code = fdl_request_numbers(repo, &numbers, &count, error);
    size_t last = count > AGAIN_LIMIT ? count - AGAIN_LIMIT : 0;
    for (size_t i = count; code == FDL_OK && *number == 0 && i-- > last;) {
        fdl_request_record request = {0};
        code = fdl_request_read(repo, numbers[i], &request, error);
        if (code == FDL_OK && is_same(&request, options))
            *number = request.number;
        fdl_request_clear(&request);
    }
    free(numbers);
    return code;
}

fdl_code fdl_request_make(fdl_repo *repo, const fdl_request_options *options, int64_t *number, fdl_error *error) {
    fdl_request_record request = {.state = FDL_REQUEST_WAITING};
    options = FDL_OPTIONS(fdl_request_options, options);
    *number = 0;
    if (!options->branch || !options->version || !options->expected || !options->author_name)
        return fdl_fail(error, FDL_USAGE, NULL, "a request needs a branch, what it holds, a version and an author");
    fdl_code code = find_same(repo, options, number, error);
    if (code != FDL_OK || *number)
        return code;
    fdl_str_fit(request.branch, sizeof request.branch, options->branch);
    fdl_str_fit(request.version, sizeof request.version, options->version);
    fdl_str_fit(request.expected, sizeof request.expected, options->expected);
    fdl_time_write(fdl_now_ms() / 1000 * 1000, request.created_at);
    code = fdl_str_copy(&request.author_name, options->author_name, error);
    if (code == FDL_OK)
        code = fdl_request_create(repo, &request, error);
    *number = request.number;
    fdl_request_clear(&request);
    return code;
}

/* ---- deciding ---------------------------------------------------------------------- */

static fdl_code decided(const fdl_request_record *request, fdl_error *error) {
    return fdl_fail(error, FDL_CONFLICT, request->branch, "request %" PRId64 " was %s already", request->number,
                    fdl_request_name(request->state));
}

/* The branch as it is; one that does not exist has no id. */
static fdl_code read_branch(fdl_repo *repo, const char *branch, fdl_ref *out, fdl_error *error) {
    fdl_code code = fdl_ref_read(repo, branch, out, error);
    if (code == FDL_NOT_FOUND)
        *out = (fdl_ref){0};
    return code == FDL_NOT_FOUND ? FDL_OK : code;
}

/* Whether the branch has the version, be it below others. */
static fdl_code has_landed(fdl_repo *repo, const fdl_request_record *request, const fdl_ref *ref, bool *landed,
                           fdl_error *error) {
    fdl_version version = {0};
    *landed = strcmp(ref->id, request->version) == 0;
    if (*landed || !ref->id[0] || strcmp(ref->id, request->expected) == 0)
        return FDL_OK;
    fdl_code code = fdl_version_read(repo, request->version, &version, error);
    if (code == FDL_OK)
        code = fdl_history_has(repo, ref->id, version.id, version.seq, landed, error);
    fdl_version_clear(&version);
    return code;
}

static fdl_code moved(const fdl_request_record *request, const fdl_ref *ref, fdl_error *error) {
    const char *name = request->branch + strlen(FDL_REF_HEADS);
    if (!ref->id[0])
        return fdl_fail(error, FDL_CONFLICT, request->branch, "branch '%s' is gone; request %" PRId64 " builds on '%s'",
                        name, request->number, request->expected);
    return fdl_fail(error, FDL_CONFLICT, request->branch,
                    "branch '%s' has moved to '%s'; request %" PRId64 " cannot be carried out any more: reject it, and "
                    "let the work be redone on the new version",
                    name, ref->id, request->number);
}

/* The branch moved at this very moment: then the request waits as before, for somebody to see that. */
static fdl_code move_branch(fdl_repo *repo, fdl_request_record *request, const fdl_ref *ref, fdl_error *error) {
    fdl_error later;
    fdl_code code = ref->id[0] ? fdl_ref_write(repo, request->branch, request->version, ref, error)
                               : fdl_ref_make(repo, request->branch, request->version, error);
    if (code != FDL_OK && code != FDL_UNCERTAIN)
        (void)fdl_request_set(repo, request, FDL_REQUEST_WAITING, NULL, &later);
    return code;
}

static fdl_code approve(fdl_repo *repo, fdl_request_record *request, fdl_error *error) {
    fdl_ref ref = {0};
    bool landed = false;
    if (request->state == FDL_REQUEST_REJECTED)
        return decided(request, error);
    fdl_code code = read_branch(repo, request->branch, &ref, error);
    if (code == FDL_OK)
        code = has_landed(repo, request, &ref, &landed, error);
    if (code == FDL_OK && !landed && strcmp(ref.id, request->expected) != 0)
        code = moved(request, &ref, error);
    if (code == FDL_OK && !landed)
        code = fdl_admit(repo, request->branch, ref.id, request->version, error);
    if (code == FDL_OK && request->state == FDL_REQUEST_WAITING)
        code = fdl_request_set(repo, request, FDL_REQUEST_APPROVED, NULL, error);
    if (code == FDL_OK && !landed)
        code = move_branch(repo, request, &ref, error);
    return code == FDL_OK ? fdl_refs_json_update(repo, error) : code;
}

static fdl_code reject(fdl_repo *repo, fdl_request_record *request, const char *reason, fdl_error *error) {
    if (request->state == FDL_REQUEST_REJECTED) /* the first reason stays */
        return FDL_OK;
    if (request->state != FDL_REQUEST_WAITING)
        return decided(request, error);
    return fdl_request_set(repo, request, FDL_REQUEST_REJECTED, reason, error);
}

/* ---- by a host ---------------------------------------------------------------------- */

static fdl_code read_answer(const char *bytes, size_t length, int64_t number, fdl_request_record *out,
                            fdl_error *error) {
    json_t *document = NULL;
    const char *branch = NULL, *version = NULL, *state = NULL, *reason = NULL;
    fdl_code code = fdl_json_parse(bytes, length, "the host's answer", &document, error);
    if (code == FDL_OK)
        code = fdl_json_string(document, "the host's answer", "branch", &branch, error);
    if (code == FDL_OK)
        code = fdl_json_string(document, "the host's answer", "version", &version, error);
    if (code == FDL_OK)
        code = fdl_json_string(document, "the host's answer", "state", &state, error);
    if (code == FDL_OK)
        code = fdl_json_string_optional(document, "the host's answer", "reason", &reason, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&out->reason, reason, error);
    if (code == FDL_OK) {
        out->number = number;
        out->state = strcmp(state, "approved") == 0 ? FDL_REQUEST_APPROVED : FDL_REQUEST_REJECTED;
        fdl_str_fit(out->branch, sizeof out->branch, branch);
        fdl_str_fit(out->version, sizeof out->version, version);
    }
    json_decref(document);
    return code;
}

/* Only a host may decide what it keeps: we do not see its store. */
static fdl_code ask_host(fdl_repo *repo, int64_t number, const char *word, const char *reason, fdl_request_record *out,
                         fdl_error *error) {
    char key[FDL_REF_BYTES];
    char *body = NULL, *answer = NULL;
    size_t length = 0;
    json_t *document = json_pack("{s:s*}", "reason", reason);
    snprintf(key, sizeof key, FDL_REF_REQUESTS "%" PRId64, number);
    fdl_code code = document ? fdl_json_write(document, &body, &length, error)
                             : fdl_fail(error, FDL_USAGE, NULL, "the reason must be valid UTF-8");
    if (code == FDL_OK)
        code = fdl_http_ask(fdl_repo_store(repo), "POST", key, word, body, &answer, &length, error);
    if (code == FDL_OK)
        code = read_answer(answer, length, number, out, error);
    json_decref(document);
    free(answer);
    free(body);
    return code;
}

/* ---- the verbs ------------------------------------------------------------------------ */

static fdl_code finish(fdl_code code, fdl_request_record *request, fdl_request_record *out) {
    if (code == FDL_OK)
        *out = *request;
    else
        fdl_request_clear(request);
    return code;
}

fdl_code fdl_request_approve(fdl_repo *repo, int64_t number, fdl_request_record *out, fdl_error *error) {
    fdl_request_record request = {0};
    const fdl_config *config = NULL;
    if (fdl_repo_is_http(repo))
        return finish(ask_host(repo, number, "approve", NULL, &request, error), &request, out);
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        code = fdl_request_read(repo, number, &request, error);
    if (code == FDL_OK)
        code = approve(repo, &request, error);
    return finish(code, &request, out);
}

fdl_code fdl_request_reject(fdl_repo *repo, int64_t number, const char *reason, fdl_request_record *out, fdl_error *error) {
    fdl_request_record request = {0};
    const fdl_config *config = NULL;
    if (fdl_repo_is_http(repo))
        return finish(ask_host(repo, number, "reject", reason, &request, error), &request, out);
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        code = fdl_request_read(repo, number, &request, error);
    if (code == FDL_OK)
        code = reject(repo, &request, reason, error);
    return finish(code, &request, out);
}
