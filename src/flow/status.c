/*
 * status.c - where a working catalog stands: what is not committed, what is not
 * pushed, and whether its branch has moved.  Reads one ref of the repository,
 * and the request of a version that waits for approval;
 * when that fails the local half is told all the same.
 */
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "flow/asked.h"
#include "flow/pending.h"
#include "flow/work.h"
#include "util/text.h"

void fdl_status_result_clear(fdl_status_result *result) {
    free(result->repo);
    free(result->pending);
    free(result->attach_statement);
    memset(result, 0, sizeof *result);
}

static fdl_code fill_local(const fdl_work *work, const fdl_pending *pending, fdl_status_result *out,
                           fdl_error *error) {
    memcpy(out->branch, work->branch, sizeof out->branch);
    memcpy(out->base, work->base.id, sizeof out->base);
    out->base_seq = work->base.seq;
    out->base_snapshot = work->base.snapshot_id;
    out->committed_snapshot = fdl_work_committed(
        work, pending->count ? pending->items[pending->count - 1].snapshot_id : work->base.snapshot_id);
    fdl_code code = fdl_str_copy(&out->repo, work->repo, error);
    if (code == FDL_OK)
        code = fdl_work_snapshot(work, &out->snapshot, error);
    if (code == FDL_OK)
        code = fdl_alloc(&out->pending, pending->count ? pending->count : 1, sizeof *out->pending, error);
    for (size_t i = 0; code == FDL_OK && i < pending->count; i++)
        memcpy(out->pending[i], pending->items[i].id, FDL_ID_BYTES);
    out->pending_count = pending->count;
    return code;
}

/* A pending version that the branch holds was pushed; only the answer was lost. */
static bool is_ours(const fdl_status_result *status, const char *id) {
    if (strcmp(id, status->base) == 0)
        return true;
    for (size_t i = 0; i < status->pending_count; i++)
        if (strcmp(id, status->pending[i]) == 0)
            return true;
    return false;
}

static void fill_remote(fdl_repo *repo, fdl_status_result *out) {
    fdl_error error;
    fdl_ref ref = {0};
    const fdl_config *config = NULL;
    if (!out->branch[0])
        return;
    fdl_code code = fdl_ref_read(repo, out->branch, &ref, &error);
    if (code == FDL_NOT_FOUND && fdl_repo_config(repo, &config, &error) != FDL_OK)
        code = FDL_FAILED; /* not the branch is gone, but the repository or the way to it */
    if (code != FDL_OK && code != FDL_NOT_FOUND) {
        memcpy(out->remote_error, error.message, sizeof out->remote_error);
        return;
    }
    out->remote_known = true;
    if (code == FDL_OK)
        memcpy(out->remote, ref.id, sizeof out->remote);
    out->moved = !is_ours(out, out->remote);
}

fdl_code fdl_status(const fdl_context *context, const char *path, fdl_status_result *out, fdl_error *error) {
    fdl_work work = {0};
    fdl_repo *repo = NULL;
    fdl_pending pending = {0};
    fdl_status_result status = {0};
    fdl_code code = fdl_work_init(path, &work, error);
    if (code == FDL_OK)
        code = fdl_work_load(&work, error);
    if (code == FDL_OK)
        code = fdl_pending_read(&work, &pending, error);
    if (code == FDL_OK)
        code = fill_local(&work, &pending, &status, error);
    if (code == FDL_OK)
        code = fdl_repo_open(context, work.repo, &repo, error);
    if (code == FDL_OK) {
        fill_remote(repo, &status);
        if (pending.count > 0 && fdl_asked_read(&work, repo, pending.items[0].id, &status.request, NULL) != FDL_OK)
            status.request = (fdl_request){.state = FDL_NOT_ASKED};
        fdl_error ignored; /* without the repository the data folder is not known */
        if (fdl_work_attach_statement(&work, repo, &status.attach_statement, &ignored) != FDL_OK)
            status.attach_statement = NULL;
        *out = status;
        status = (fdl_status_result){0};
    }
    fdl_status_result_clear(&status);
    fdl_repo_free(repo);
    fdl_pending_clear(&pending);
    fdl_work_clear(&work);
    return code;
}
