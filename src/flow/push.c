/*
 * push.c - pending versions go to the repository, one by one, each in the order
 * that protects readers:
 *
 *   data files, originals -> catalogs -> dataset, files -> signature ->
 *   version.json -> the ref, by compare-and-swap -> refs.json
 *
 * Nothing a file points to is written after it, and a reader starts at the ref:
 * stopped anywhere before the ref, a push leaves files that no reader reaches,
 * and run again it uploads only what is missing.  push_files.c does what comes
 * before the ref.
 *
 * A host may move the ref by itself, later: then the version waits, and those
 * behind it do so on this machine.
 */
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "flow/asked.h"
#include "flow/pending.h"
#include "flow/push_files.h"
#include "flow/work.h"
#include "repo/history.h"
#include "repo/layout.h"
#include "store/promises.h"
#include "util/file.h"
#include "util/options.h"
#include "util/text.h"

void fdl_push_result_clear(fdl_push_result *result) {
    free(result->pushed);
    memset(result, 0, sizeof *result);
}

typedef struct push {
    const fdl_context *context;
    fdl_work work;
    fdl_repo *repo;
    fdl_store *store;
    const fdl_config *config;
    fdl_pending pending;
    char *local_data; /* the folder of new data files over HTTP, else NULL */
    char branch[FDL_REF_BYTES];
    fdl_push_result *result;
} push;

/* ---- the ref -------------------------------------------------------------------- */

static fdl_code conflict(push *p, const fdl_version *version, const fdl_ref *ref, fdl_error *error) {
    const char *name = p->branch + strlen(FDL_REF_HEADS);
    if (!ref->id[0])
        return fdl_fail(error, FDL_CONFLICT, p->branch,
                        "branch '%s' does not exist, but version '%s' builds on '%s'; create it there first with 'fdl "
                        "branch %s %s %s'",
                        name, version->id, version->parent, p->work.repo, name, version->parent);
    return fdl_fail(error, FDL_CONFLICT, p->branch,
                    "branch '%s' has moved to '%s' since '%s' was checked out; your version is kept: redo the work on "
                    "the new one with 'fdl checkout %s %s --force' (which keeps a backup), then commit and push",
                    name, ref->id, p->work.path, p->work.repo, p->work.path);
}

/* Compares first: an ETag read now protects nothing if the ref moved since checkout. */
static fdl_code read_ref(push *p, const fdl_version *version, fdl_ref *ref, bool *landed, fdl_error *error) {
    *landed = false;
    memset(ref, 0, sizeof *ref);
    fdl_code code = fdl_ref_read(p->repo, p->branch, ref, error);
    if (code == FDL_NOT_FOUND) {
        memset(ref, 0, sizeof *ref);
        code = FDL_OK;
    }
    if (code != FDL_OK || strcmp(ref->id, version->parent) == 0)
        return code;
    if (ref->id[0])
        code = fdl_history_has(p->repo, ref->id, version->id, version->seq, landed, error);
    bool new_branch = !ref->id[0] && p->work.base.id[0] && strcmp(p->branch, p->work.branch) != 0;
    if (code == FDL_OK && new_branch)
        return FDL_OK;
    if (code == FDL_OK && !*landed)
        code = conflict(p, version, ref, error);
    return code;
}

/* The version is on the branch: it becomes the base, and its pending folder goes. */
static fdl_code landed_version(push *p, const fdl_version *version, fdl_error *error) {
    char *catalog = NULL, *base = NULL, *folder = NULL;
    fdl_code code = fdl_pending_file(&p->work, version->id, FDL_FILE_CATALOG, &catalog, error);
    if (code == FDL_OK)
        code = fdl_work_file(&p->work, "base.duckdb", &base, error);
    if (code == FDL_OK)
        code = fdl_pending_file(&p->work, version->id, "", &folder, error);
    if (code == FDL_OK && fdl_file_exists(catalog)) /* gone when an earlier push was stopped right here */
        code = fdl_file_rename(catalog, base, error);
    if (code == FDL_OK) {
        p->work.base = fdl_base_of(version);
        memcpy(p->work.branch, p->branch, sizeof p->work.branch);
        code = fdl_work_save(&p->work, error);
    }
    if (code == FDL_OK)
        code = fdl_folder_remove(folder, error);
    if (code == FDL_OK)
        memcpy(p->result->pushed[p->result->pushed_count++], version->id, FDL_ID_BYTES);
    free(folder);
    free(base);
    free(catalog);
    return code;
}

/* ---- a host that decides --------------------------------------------------------- */

/* Told each time: to send it again would bring its data back. */
static fdl_code refuse_withdrawn(push *p, const fdl_version *version, const fdl_request *request, fdl_error *error) {
    fdl_expiry expiry = {0};
    fdl_code code = fdl_expiry_read(p->repo, version->id, &expiry, error);
    if (code == FDL_OK && expiry.expired)
        code = fdl_fail(error, FDL_EXPIRED, version->id,
                        "request %lld for version '%s' was rejected, and the version is gone (%s): redo the work with 'fdl "
                        "checkout %s %s --force' (which keeps a backup)",
                        (long long)request->number, version->id, expiry.reason, p->work.repo, p->work.path);
    fdl_expiry_clear(&expiry);
    return code;
}

/* What became of an earlier push of this version that was left to the host.  A rejection is told once. */
static fdl_code look_at_request(push *p, const fdl_version *version, fdl_error *error) {
    fdl_request request;
    fdl_code code = fdl_asked_read(&p->work, p->repo, version->id, &request, error);
    if (code != FDL_OK || request.number == 0 || request.state == FDL_REQUEST_APPROVED)
        return code; /* without a number there is nobody to ask but by trying again */
    if (request.state == FDL_REQUEST_WAITING) {
        p->result->request = request;
        return FDL_OK;
    }
    code = refuse_withdrawn(p, version, &request, error);
    if (code == FDL_OK)
        code = fdl_asked_forget(&p->work, version->id, error);
    if (code != FDL_OK)
        return code;
    return fdl_fail(error, FDL_REFUSED, version->id,
                    "request %lld for version '%s' was rejected%s%s; push again to ask anew, or redo the work with 'fdl "
                    "checkout %s %s --force' (which keeps a backup)",
                    (long long)request.number, version->id, request.reason[0] ? ": " : "", request.reason, p->work.repo,
                    p->work.path);
}

/*
 * The version is complete in the repository, and the host will not move the ref
 * for us: by a request that somebody approves, or by means of its own (403).
 */
static fdl_code leave_to_host(push *p, const fdl_version *version, fdl_error *error) {
    p->result->request = (fdl_request){.state = FDL_REQUEST_WAITING, .number = fdl_asked_number(error->key)};
    return fdl_asked_save(&p->work, version->id, p->result->request.number, error);
}

/* Step 5. */
static fdl_code move_ref(push *p, const fdl_version *version, fdl_ref *ref, fdl_error *error) {
    bool landed = false;
    fdl_code code = fdl_ref_write(p->repo, p->branch, version->id, ref->id[0] ? ref : NULL, error);
    if (code == FDL_WAITING || (code == FDL_DENIED && fdl_repo_is_http(p->repo)))
        return leave_to_host(p, version, error);
    if (code != FDL_CONFLICT)
        return code;
    fdl_error refused = *error; /* told as the comparison would have, a moment later */
    code = read_ref(p, version, ref, &landed, error);
    if (code == FDL_OK && !landed) {
        *error = refused;
        code = refused.code;
    }
    return code;
}

static bool is_waiting(const push *p) {
    return p->result->request.state == FDL_REQUEST_WAITING;
}

static fdl_code push_one(push *p, const fdl_version *version, fdl_error *error) {
    fdl_push_from from = {.work = &p->work, .repo = p->repo, .config = p->config, .local_data = p->local_data};
    fdl_ref ref = {0};
    bool landed = false;
    fdl_code code = read_ref(p, version, &ref, &landed, error);
    if (code == FDL_OK && !landed)
        code = look_at_request(p, version, error);
    from.parent_is_held = ref.id[0] != '\0';
    if (code == FDL_OK && !landed && !is_waiting(p))
        code = fdl_push_files(&from, version, &p->result->sent, error);
    if (code == FDL_OK && !landed && !is_waiting(p))
        code = move_ref(p, version, &ref, error);
    if (code == FDL_OK && is_waiting(p))
        memcpy(p->result->waiting, version->id, sizeof p->result->waiting);
    else if (code == FDL_OK)
        code = landed_version(p, version, error);
    return code;
}

/* ---- the verb ---------------------------------------------------------------------- */

static fdl_code choose_branch(push *p, const fdl_push_options *options, fdl_error *error) {
    if (!options->branch && !p->work.branch[0])
        return fdl_fail(error, FDL_USAGE, p->work.path,
                        "'%s' was not checked out of a branch; say where to push with --branch", p->work.path);
    if (!options->branch) {
        memcpy(p->branch, p->work.branch, sizeof p->branch);
        return FDL_OK;
    }
    fdl_code code = fdl_ref_name_check(options->branch, error);
    if (code == FDL_OK)
        snprintf(p->branch, sizeof p->branch, FDL_REF_HEADS "%s", options->branch);
    return code;
}

/* The folder of a version that became the base, when its push was stopped before it was gone. */
static fdl_code clear_leftover(const fdl_work *work, fdl_error *error) {
    char *folder = NULL;
    if (!work->base.id[0])
        return FDL_OK;
    fdl_code code = fdl_pending_file(work, work->base.id, "", &folder, error);
    if (code == FDL_OK)
        code = fdl_folder_remove(folder, error);
    free(folder);
    return code;
}

fdl_code fdl_push(const fdl_context *context, const char *path, const fdl_push_options *options, fdl_push_result *out,
                  fdl_error *error) {
    push p = {.context = context, .result = out};
    options = FDL_OPTIONS(fdl_push_options, options);
    memset(out, 0, sizeof *out);
    fdl_code code = fdl_work_open(context, path, &p.work, &p.repo, error);
    if (code == FDL_OK)
        code = choose_branch(&p, options, error);
    if (code == FDL_OK)
        code = fdl_repo_config(p.repo, &p.config, error);
    if (code == FDL_OK)
        code = clear_leftover(&p.work, error);
    if (code == FDL_OK)
        code = fdl_pending_read(&p.work, &p.pending, error);
    if (code == FDL_OK && fdl_repo_is_http(p.repo))
        code = fdl_work_data_path(&p.work, p.repo, &p.local_data, error);
    if (code == FDL_OK)
        code = fdl_alloc(&out->pushed, p.pending.count ? p.pending.count : 1, sizeof *out->pushed, error);
    if (code == FDL_OK) {
        memcpy(out->branch, p.branch, sizeof out->branch);
        p.store = fdl_repo_store(p.repo);
    }
    /* The first push tries the store out: init may have run elsewhere, or long ago. */
    if (code == FDL_OK && p.pending.count > 0 && !p.work.base.id[0] && !context->unsafe_no_conditions)
        code = fdl_store_check_conditions(p.store, error);
    for (size_t i = 0; code == FDL_OK && i < p.pending.count && !is_waiting(&p); i++) {
        code = push_one(&p, &p.pending.items[i], error);
        out->behind_count = p.pending.count - i - 1;
    }
    /* Also when nothing was pending: that repairs a refs.json which a stopped push left behind. */
    if (code == FDL_OK || out->pushed_count > 0) {
        fdl_error late;
        fdl_code updated = fdl_refs_json_update(p.repo, &late);
        if (code == FDL_OK && updated != FDL_OK) {
            *error = late;
            code = updated;
        }
    }
    free(p.local_data);
    fdl_pending_clear(&p.pending);
    fdl_repo_free(p.repo);
    fdl_work_clear(&p.work);
    return code;
}
