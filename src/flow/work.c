/*
 * work.c - the state beside a working catalog.  work.h draws the folder.
 */
#include "flow/work.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fdl/flow.h"
#include "flow/catalog_get.h"
#include "repo/ancestors.h"
#include "repo/layout.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/text.h"

#define LOCK_WAIT_MS 10000
#define ORIGIN_LIMIT_BYTES (1u << 16)

fdl_code fdl_work_init(const char *path, fdl_work *work, fdl_error *error) {
    memset(work, 0, sizeof *work);
    work->lock = -1;
    work->base.snapshot_id = -1;
    work->same_snapshot = -1;
    size_t length = strlen(path);
    if (length == 0 || path[length - 1] == '/')
        return fdl_fail(error, FDL_USAGE, path, "'%s' cannot be a working catalog; name a file, for example 'work.sqlite'",
                        path);
    fdl_code code = fdl_path_absolute(path, &work->path, error);
    if (code == FDL_OK)
        code = fdl_str_format(&work->folder, error, "%s.fdl", work->path);
    return code;
}

void fdl_work_clear(fdl_work *work) {
    if (work->lock >= 0)
        fdl_lock_release(work->lock);
    free(work->path);
    free(work->folder);
    free(work->repo);
    free(work->repo_id);
    memset(work, 0, sizeof *work);
    work->lock = -1;
}

fdl_code fdl_work_file(const fdl_work *work, const char *name, char **out, fdl_error *error) {
    return fdl_str_format(out, error, "%s/%s", work->folder, name);
}

static fdl_code make_and_lock(fdl_work *work, const char *path, fdl_error *error) {
    fdl_code code = fdl_folder_make(work->folder, error);
    return code == FDL_OK ? fdl_lock_take(path, LOCK_WAIT_MS, &work->lock, error) : code;
}

fdl_code fdl_work_lock(fdl_work *work, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_work_file(work, "lock", &path, error);
    if (code == FDL_OK)
        code = make_and_lock(work, path, error);
    for (int again = 0; code == FDL_NOT_FOUND && again < 3; again++) /* a first checkout that failed took the folder away */
        code = make_and_lock(work, path, error);
    if (code == FDL_BUSY)
        code = fdl_fail(error, FDL_BUSY, work->path, "another fdl command is at work on '%s'; try again when it is done",
                        work->path);
    free(path);
    return code;
}

fdl_code fdl_work_new_folder(const fdl_work *work, char **out, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_work_file(work, "new", &path, error);
    if (code == FDL_OK)
        code = fdl_folder_remove(path, error);
    if (code == FDL_OK)
        code = fdl_folder_make(path, error);
    if (code != FDL_OK) {
        free(path);
        return code;
    }
    *out = path;
    return FDL_OK;
}

/* ---- origin.json -------------------------------------------------------- */

fdl_base fdl_base_of(const fdl_version *version) {
    fdl_base base = {.seq = version->seq, .snapshot_id = version->snapshot_id, .ancestors = version->ancestors};
    memcpy(base.id, version->id, sizeof base.id);
    memcpy(base.sha256, version->catalog.file.sha256, sizeof base.sha256);
    return base;
}

static fdl_code base_parse(const json_t *origin, const char *name, fdl_base *base, fdl_error *error) {
    if (json_is_null(json_object_get(origin, "base")))
        return FDL_OK;
    json_t *object = NULL;
    const char *id = NULL, *sha256 = NULL;
    fdl_code code = fdl_json_object(origin, name, "base", &object, error);
    if (code == FDL_OK)
        code = fdl_json_string(object, name, "id", &id, error);
    if (code == FDL_OK)
        code = fdl_json_count(object, name, "seq", &base->seq, error);
    if (code == FDL_OK)
        code = fdl_json_count(object, name, "snapshot_id", &base->snapshot_id, error);
    if (code == FDL_OK)
        code = fdl_json_string(object, name, "catalog_sha256", &sha256, error);
    if (code == FDL_OK)
        code = fdl_ancestors_parse(object, name, &base->ancestors, error);
    if (code == FDL_OK && (!fdl_str_fit(base->id, sizeof base->id, id) || !fdl_uuid_valid(id) ||
                           !fdl_str_fit(base->sha256, sizeof base->sha256, sha256)))
        code = fdl_fail(error, FDL_FAILED, name, "'%s' is broken: its base is not a version", name);
    return code;
}

static fdl_code origin_parse(const json_t *origin, const char *name, fdl_work *work, fdl_error *error) {
    const char *repo = NULL, *repo_id = NULL, *branch = NULL;
    fdl_code code = fdl_json_string(origin, name, "repo", &repo, error);
    if (code == FDL_OK)
        code = fdl_json_string_optional(origin, name, "repo_id", &repo_id, error);
    if (code == FDL_OK)
        code = fdl_json_string_optional(origin, name, "branch", &branch, error);
    if (code == FDL_OK)
        code = fdl_json_count(origin, name, "stamp", &work->stamp, error);
    if (code == FDL_OK)
        code = base_parse(origin, name, &work->base, error);
    const json_t *same = json_object_get(origin, "same_snapshot");
    work->same_snapshot = json_is_integer(same) ? json_integer_value(same) : -1;
    if (code == FDL_OK && !fdl_str_fit(work->branch, sizeof work->branch, branch ? branch : ""))
        code = fdl_fail(error, FDL_FAILED, name, "'%s' is broken: its branch name is too long", name);
    if (code == FDL_OK)
        code = fdl_str_copy(&work->repo, repo, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&work->repo_id, repo_id, error);
    return code;
}

fdl_code fdl_work_load(fdl_work *work, fdl_error *error) {
    char *path = NULL, *bytes = NULL;
    size_t length = 0;
    json_t *origin = NULL;
    fdl_code code = fdl_work_file(work, "origin.json", &path, error);
    if (code == FDL_OK)
        code = fdl_file_read(path, ORIGIN_LIMIT_BYTES, &bytes, &length, error);
    if (code == FDL_NOT_FOUND)
        code = fdl_fail(error, FDL_NOT_FOUND, work->path,
                        "'%s' is not a working catalog; make one with 'fdl checkout <repo> %s'", work->path, work->path);
    if (code == FDL_OK)
        code = fdl_json_parse(bytes, length, path, &origin, error);
    if (code == FDL_OK)
        code = origin_parse(origin, path, work, error);
    json_decref(origin);
    free(bytes);
    free(path);
    return code;
}

static json_t *text_or_null(const char *text) {
    return text && *text ? json_string(text) : json_null();
}

static fdl_code origin_write(const fdl_work *work, json_t *origin, fdl_error *error) {
    json_t *base = NULL;
    fdl_code code = fdl_json_set(origin, "fdl", json_string("0.1"), error);
    if (code == FDL_OK)
        code = fdl_json_set(origin, "repo", json_string(work->repo), error);
    if (code == FDL_OK)
        code = fdl_json_set(origin, "repo_id", text_or_null(work->repo_id), error);
    if (code == FDL_OK)
        code = fdl_json_set(origin, "branch", text_or_null(work->branch), error);
    if (code == FDL_OK) {
        base = work->base.id[0] ? json_pack("{s:s, s:I, s:I, s:s}", "id", work->base.id, "seq",
                                            (json_int_t)work->base.seq, "snapshot_id",
                                            (json_int_t)work->base.snapshot_id, "catalog_sha256", work->base.sha256)
                                : json_null();
        code = fdl_json_set(origin, "base", base, error);
    }
    if (code == FDL_OK && work->base.id[0])
        code = fdl_ancestors_set(base, &work->base.ancestors, error);
    if (code == FDL_OK)
        code = fdl_json_set(origin, "same_snapshot", json_integer(work->same_snapshot), error);
    if (code == FDL_OK)
        code = fdl_json_set(origin, "stamp", json_integer(work->stamp), error);
    return code;
}

fdl_code fdl_work_save(const fdl_work *work, fdl_error *error) {
    char *path = NULL, *bytes = NULL;
    size_t length = 0;
    json_t *origin = json_object();
    fdl_code code = origin ? origin_write(work, origin, error) : fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    if (code == FDL_OK)
        code = fdl_json_write(origin, &bytes, &length, error);
    if (code == FDL_OK)
        code = fdl_work_file(work, "origin.json", &path, error);
    if (code == FDL_OK)
        code = fdl_file_write(path, bytes, length, error);
    json_decref(origin);
    free(bytes);
    free(path);
    return code;
}

/* ---- opening ------------------------------------------------------------ */

/* A repository made anew at the same address is another repository. */
static fdl_code same_repository(const fdl_work *work, fdl_repo *repo, fdl_error *error) {
    const fdl_config *config = NULL;
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code != FDL_OK)
        return code;
    if (work->repo_id && (!config->id || strcmp(work->repo_id, config->id) != 0))
        return fdl_fail(error, FDL_CONFLICT, work->repo,
                        "'%s' is not the repository that '%s' was checked out of (its id differs); check out again",
                        work->repo, work->path);
    return FDL_OK;
}

fdl_code fdl_work_open(const fdl_context *context, const char *path, fdl_work *work, fdl_repo **repo,
                       fdl_error *error) {
    fdl_repo *opened = NULL;
    fdl_code code = fdl_work_init(path, work, error);
    /* Looked for before locking, so that a mistyped name leaves no folder behind. */
    if (code == FDL_OK)
        code = fdl_work_load(work, error);
    if (code == FDL_OK)
        code = fdl_work_lock(work, error);
    if (code == FDL_OK) { /* again under the lock: the command we waited for may have changed it */
        free(work->repo);
        free(work->repo_id);
        work->repo = work->repo_id = NULL;
        work->base = (fdl_base){.snapshot_id = -1};
        code = fdl_work_load(work, error);
    }
    if (code == FDL_OK && repo) {
        code = fdl_repo_open(context, work->repo, &opened, error);
        if (code == FDL_OK)
            code = same_repository(work, opened, error);
        if (code == FDL_OK)
            *repo = opened;
        else
            fdl_repo_free(opened);
    }
    return code;
}

fdl_code fdl_work_snapshot(const fdl_work *work, int64_t *snapshot_id, fdl_error *error) {
    fdl_working_state state = {0};
    fdl_code code = fdl_catalog_state(work->path, &state, error);
    if (code != FDL_OK)
        return code;
    if (state.stamp != work->stamp)
        return fdl_fail(error, FDL_FAILED, work->path,
                        "'%s' and its state in '%s' do not belong together (replaced by hand, or a checkout was "
                        "interrupted); check out again with --force, which keeps a backup",
                        work->path, work->folder);
    *snapshot_id = state.snapshot_id;
    return FDL_OK;
}

int64_t fdl_work_committed(const fdl_work *work, int64_t last_version_snapshot) {
    int64_t committed = last_version_snapshot < 0 ? 0 : last_version_snapshot; /* a fresh catalog starts at snapshot 0 */
    return work->same_snapshot > committed ? work->same_snapshot : committed;
}

bool fdl_repo_is_http(fdl_repo *repo) {
    const char *address = fdl_repo_address(repo);
    return fdl_str_starts(address, "http://") || fdl_str_starts(address, "https://");
}

fdl_code fdl_work_data_path(const fdl_work *work, fdl_repo *repo, char **out, fdl_error *error) {
    if (fdl_repo_is_http(repo))
        return fdl_work_file(work, "data/", out, error);
    return fdl_data_url(repo, out, error);
}

fdl_code fdl_work_attach_statement(const fdl_work *work, fdl_repo *repo, char **out, fdl_error *error) {
    char *data_path = NULL;
    fdl_code code = fdl_work_data_path(work, repo, &data_path, error);
    if (code == FDL_OK)
        code = fdl_catalog_attach_statement(work->path, data_path, out, error);
    free(data_path);
    return code;
}

/* ---- the base's catalog --------------------------------------------------- */

fdl_code fdl_work_base_catalog(const fdl_work *work, fdl_repo *repo, char **out, fdl_error *error) {
    char *path = NULL, *fresh = NULL;
    char sha256[FDL_SHA256_BYTES];
    uint64_t size = 0;
    fdl_version version = {0};
    fdl_code code = fdl_work_file(work, "base.duckdb", &path, error);
    if (code != FDL_OK)
        return code;
    if (fdl_sha256_file(path, sha256, &size, error) != FDL_OK || strcmp(sha256, work->base.sha256) != 0) {
        code = fdl_version_read(repo, work->base.id, &version, error);
        if (code == FDL_OK)
            code = fdl_work_file(work, "base.fetched", &fresh, error);
        if (code == FDL_OK)
            code = fdl_file_remove(fresh, error);
        if (code == FDL_OK)
            code = fdl_catalog_download(repo, &version, fresh, error);
        if (code == FDL_OK)
            code = fdl_file_rename(fresh, path, error);
    }
    if (code == FDL_OK) {
        *out = path;
        path = NULL;
    }
    fdl_version_clear(&version);
    free(fresh);
    free(path);
    return code;
}
