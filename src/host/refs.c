/*
 * refs.c - the one step that makes a version visible, taken for a writer.
 *
 *   branch:  as the request expects it? (412)  does the version hold? (409)  -> --approve: a request (202)
 *                                                                           -> compare-and-swap -> refs.json
 *   tag:     nothing there yet (409), a version that branches have, or one that holds -> create -> refs.json
 *
 * What was read is what the store's conditional write names, so of several hosts
 * before one repository the store decides.
 */
#include "host/refs.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "fdl/flow.h"
#include "flow/refs.h"
#include "host/answer.h"
#include "host/conditions.h"
#include "host/host.h"
#include "repo/history.h"
#include "repo/layout.h"
#include "util/ident.h"
#include "util/text.h"

/* ---- what is asked --------------------------------------------------------------------- */

static fdl_code read_id(fdl_host_request *request, char id[FDL_ID_BYTES], fdl_error *error) {
    const char *text = request->body.data ? request->body.data : "";
    size_t length = request->body.length;
    length -= length > 0 && text[length - 1] == '\n';
    length -= length > 0 && text[length - 1] == '\r';
    id[0] = '\0';
    if (length == FDL_ID_BYTES - 1) {
        memcpy(id, text, length);
        id[length] = '\0';
    }
    if (fdl_uuid_valid(id))
        return FDL_OK;
    return fdl_fail(error, FDL_USAGE, request->key, "the body for '%s' must be a version id and a newline", request->key);
}

/* The ref as it is; one that does not exist has no id. */
static fdl_code read_ref(fdl_host_request *request, fdl_ref *out, fdl_error *error) {
    fdl_code code = fdl_ref_read(request->repo, request->key, out, error);
    if (code != FDL_NOT_FOUND)
        return code;
    memset(out, 0, sizeof *out);
    return FDL_OK;
}

static fdl_code check_conditions(fdl_host_request *request, const fdl_ref *ref, fdl_error *error) {
    char etag[FDL_HTTP_ETAG_BYTES];
    const char *match = fdl_host_header(request, MHD_HTTP_HEADER_IF_MATCH);
    const char *none = fdl_host_header(request, MHD_HTTP_HEADER_IF_NONE_MATCH);
    fdl_http_etag(ref->id[0] ? ref->etag : "", etag);
    bool holds = (!match || fdl_http_etag_listed(match, etag, false)) && (!none || !fdl_http_etag_listed(none, etag, true));
    if (holds)
        return FDL_OK;
    if (!ref->id[0])
        return fdl_answer_fail(request, MHD_HTTP_PRECONDITION_FAILED, error, FDL_CONFLICT, request->key,
                               "'%s' does not exist", request->key);
    return fdl_answer_fail(request, MHD_HTTP_PRECONDITION_FAILED, error, FDL_CONFLICT, request->key,
                           "'%s' holds '%s', which is not what the request expects", request->key, ref->id);
}

/* What a PUT of a ref asks for, and what the ref holds, as the request expects it. */
static fdl_code read_move(fdl_host_request *request, char id[FDL_ID_BYTES], fdl_ref *ref, fdl_error *error) {
    fdl_code code = read_id(request, id, error);
    if (code == FDL_OK)
        code = read_ref(request, ref, error);
    return code == FDL_OK ? check_conditions(request, ref, error) : code;
}

/* The reason why a version may not be pointed to is no missing page, and no fault of ours. */
static fdl_code judge(fdl_host_request *request, fdl_code code, fdl_error *error) {
    if (code != FDL_NOT_FOUND && code != FDL_USAGE)
        return code;
    fdl_error why = *error;
    return fdl_answer_fail(request, MHD_HTTP_CONFLICT, error, FDL_REFUSED, why.key[0] ? why.key : request->key, "%s",
                           why.message);
}

/* ---- what is answered -------------------------------------------------------------------- */

/* The ref is written: a refs.json that could not be is made good by the next change, and no failure of this one. */
static void renew_refs_json(const fdl_host_request *request) {
    fdl_error late;
    if (fdl_refs_json_update(request->repo, &late) != FDL_OK)
        fdl_note(request->host->context, FDL_NOTE_WARNING, "%s", late.message);
}

static fdl_code answer_ref(fdl_host_request *request, unsigned status, fdl_error *error) {
    char etag[FDL_HTTP_ETAG_BYTES] = "";
    fdl_ref now = {0};
    renew_refs_json(request);
    fdl_error unread;
    if (fdl_ref_read(request->repo, request->key, &now, &unread) == FDL_OK)
        fdl_http_etag(now.etag, etag);
    fdl_code code = fdl_answer_bytes(request, status, NULL, "", 0, error);
    if (code == FDL_OK && etag[0])
        fdl_answer_header(request, MHD_HTTP_HEADER_ETAG, etag);
    return code;
}

/* ---- branches ------------------------------------------------------------------------------ */

static bool needs_approval(const fdl_host_request *request) {
    const fdl_host_options *options = &request->host->options;
    const char *name = request->key + strlen(FDL_REF_HEADS);
    for (size_t i = 0; i < options->approve_count; i++)
        if (fnmatch(options->approve[i], name, 0) == 0)
            return true;
    return false;
}

static fdl_code ask_approval(fdl_host_request *request, const fdl_ref *ref, const char *id, fdl_error *error) {
    int64_t number = 0;
    fdl_request_options options = {
        .branch = request->key, .expected = ref->id, .version = id, .author_name = request->who};
    fdl_code code = fdl_request_make(request->repo, &options, &number, error);
    return code == FDL_OK ? fdl_answer_json(request, MHD_HTTP_ACCEPTED,
                                            json_pack("{s:I}", "request", (json_int_t)number), error)
                          : code;
}

static bool has_condition(const fdl_host_request *request) {
    return fdl_host_header(request, MHD_HTTP_HEADER_IF_MATCH) || fdl_host_header(request, MHD_HTTP_HEADER_IF_NONE_MATCH);
}

/*
 * Without a condition the request expects what the version's parent says.  Of a
 * branch that is there fdl_admit asks that in any case; of one that is not, a
 * parent means that it was there once, unless the request says that it is new.
 */
static fdl_code check_expected(fdl_host_request *request, const fdl_ref *ref, const char *id, fdl_error *error) {
    fdl_version version = {0};
    if (ref->id[0] || has_condition(request))
        return FDL_OK;
    fdl_code code = fdl_version_read(request->repo, id, &version, error);
    if (code == FDL_OK && version.parent[0])
        code = fdl_fail(error, FDL_CONFLICT, request->key, "'%s' does not exist, and version '%s' builds on '%s'",
                        request->key, id, version.parent);
    fdl_version_clear(&version);
    return code;
}

static fdl_code move_branch(fdl_host_request *request, const fdl_ref *ref, const char *id, fdl_error *error) {
    fdl_code code = check_expected(request, ref, id, error);
    if (code == FDL_OK)
        code = fdl_admit(request->repo, request->key, ref->id, id, error);
    code = judge(request, code, error);
    if (code == FDL_OK && needs_approval(request))
        return ask_approval(request, ref, id, error);
    if (code == FDL_OK)
        code = ref->id[0] ? fdl_ref_write(request->repo, request->key, id, ref, error)
                          : fdl_ref_make(request->repo, request->key, id, error);
    return code == FDL_OK ? answer_ref(request, ref->id[0] ? MHD_HTTP_OK : MHD_HTTP_CREATED, error) : code;
}

fdl_code fdl_host_branch_put(fdl_host_request *request, fdl_error *error) {
    char id[FDL_ID_BYTES];
    fdl_ref ref;
    fdl_code code = read_move(request, id, &ref, error);
    if (code == FDL_OK && strcmp(ref.id, id) == 0)
        return answer_ref(request, MHD_HTTP_OK, error);
    return code == FDL_OK ? move_branch(request, &ref, id, error) : code;
}

/* ---- tags ------------------------------------------------------------------------------------ */

/*
 * A version that a ref has was admitted when it came; it must only not be gone.
 * Another is looked at like a branch's, and under --approve takes who may approve,
 * or a tag would publish what nobody has let through.
 */
static fdl_code check_tagged(fdl_host_request *request, const char *id, fdl_error *error) {
    fdl_version version = {0};
    fdl_ref_list refs = {0};
    bool reached = false;
    fdl_code code = fdl_version_read(request->repo, id, &version, error);
    if (code == FDL_OK)
        code = fdl_ref_list_read(request->repo, &refs, error);
    if (code == FDL_OK)
        code = fdl_refs_reach(request->repo, &refs, &version, &reached, error);
    if (code == FDL_OK && !reached && request->host->options.approve_count && request->role < FDL_ROLE_APPROVE)
        code = fdl_fail(error, FDL_DENIED, request->key, "no branch has version '%s': a tag of it takes a token of role approve",
                        id);
    if (code == FDL_OK)
        code = fdl_admit(request->repo, request->key, "", id, error);
    fdl_ref_list_clear(&refs);
    fdl_version_clear(&version);
    return judge(request, code, error);
}

fdl_code fdl_host_tag_put(fdl_host_request *request, fdl_error *error) {
    char id[FDL_ID_BYTES];
    fdl_ref ref;
    fdl_code code = read_move(request, id, &ref, error);
    if (code == FDL_OK && ref.id[0] && strcmp(ref.id, id) != 0)
        code = fdl_fail(error, FDL_CONFLICT, request->key, "'%s' exists already and holds '%s'; a tag never moves",
                        request->key, ref.id);
    if (code == FDL_OK && ref.id[0])
        return answer_ref(request, MHD_HTTP_OK, error);
    if (code == FDL_OK)
        code = check_tagged(request, id, error);
    if (code == FDL_OK)
        code = fdl_ref_make(request->repo, request->key, id, error);
    return code == FDL_OK ? answer_ref(request, MHD_HTTP_CREATED, error) : code;
}

/* ---- deleting ---------------------------------------------------------------------------------- */

static fdl_code check_deletion(fdl_host_request *request, fdl_error *error) {
    char head[FDL_REF_BYTES];
    if (request->kind != FDL_KIND_BRANCH)
        return FDL_OK;
    fdl_code code = fdl_head_read(request->repo, head, error);
    if (code == FDL_OK && strcmp(head, request->key) == 0)
        code = fdl_fail(error, FDL_REFUSED, request->key, "'%s' is the branch that HEAD names and cannot be deleted",
                        request->key);
    if (code == FDL_OK && needs_approval(request) && request->role < FDL_ROLE_APPROVE)
        code = fdl_fail(error, FDL_DENIED, request->key, "'%s' changes by approval only: deleting it takes a token of role approve",
                        request->key);
    return code;
}

fdl_code fdl_host_ref_delete(fdl_host_request *request, fdl_error *error) {
    fdl_ref ref;
    fdl_code code = fdl_ref_read(request->repo, request->key, &ref, error);
    if (code == FDL_OK)
        code = check_conditions(request, &ref, error);
    if (code == FDL_OK)
        code = check_deletion(request, error);
    if (code == FDL_OK)
        code = fdl_ref_remove(request->repo, &ref, error);
    if (code == FDL_OK) {
        renew_refs_json(request);
        code = fdl_answer_bytes(request, MHD_HTTP_NO_CONTENT, NULL, "", 0, error);
    }
    return code;
}

fdl_code fdl_host_own_document(fdl_host_request *request, fdl_error *error) {
    return fdl_answer_fail(request, MHD_HTTP_FORBIDDEN, error, FDL_DENIED, request->key,
                           "'%s' is written by the host itself", request->key);
}
