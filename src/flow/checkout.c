/*
 * checkout.c - a version becomes a working catalog.
 *
 *   1 what is there now must have no unpushed work (or --force: it is kept as a backup)
 *   2 the version's catalog is fetched and proved, and thawed in "<work>.fdl/new/"
 *   3 only when all of that is done: backup, base.duckdb, origin.json, the catalog
 *
 * Until step 3 the old working catalog is byte for byte what it was.  Stopped
 * within step 3 nothing is lost either: the stamp tells that state and catalog
 * do not belong together, and the next checkout says so.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "fdl.h"
#include "flow/catalog_get.h"
#include "flow/pending.h"
#include "flow/work.h"
#include "repo/layout.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/options.h"
#include "util/text.h"

void fdl_checkout_result_clear(fdl_checkout_result *result) {
    free(result->attach_statement);
    free(result->backup);
    memset(result, 0, sizeof *result);
}

/* ---- 1: what is there now ------------------------------------------------------ */

/* A working catalog inside the repository would show readers an unpublished state. */
static fdl_code refuse_inside(fdl_repo *repo, const fdl_work *work, fdl_error *error) {
    const char *address = fdl_repo_address(repo);
    char *folder = NULL, *real_folder = NULL, *real_root = NULL;
    bool inside = fdl_str_starts(work->path, address);
    fdl_code code = fdl_path_folder(work->path, &folder, error);
    if (code == FDL_OK && !inside && address[0] == '/' && (real_folder = realpath(folder, NULL)) &&
        (real_root = realpath(address, NULL))) {
        size_t length = strlen(real_root);
        inside = strncmp(real_folder, real_root, length) == 0 && (real_folder[length] == '/' || !real_folder[length]);
    }
    if (code == FDL_OK && inside)
        code = fdl_fail(error, FDL_REFUSED, work->path,
                        "'%s' lies in the repository '%s', where readers would see unpublished work; name a place "
                        "outside",
                        work->path, address);
    free(real_root);
    free(real_folder);
    free(folder);
    return code;
}

/* What the old working catalog holds that is nowhere else; NULL when nothing. */
static fdl_code unpushed_work(const char *path, const char **what, fdl_error *error) {
    fdl_work old = {0};
    fdl_pending pending = {0};
    int64_t snapshot = -1;
    *what = NULL;
    fdl_code code = fdl_work_init(path, &old, error);
    if (code == FDL_OK)
        code = fdl_work_load(&old, error);
    if (code == FDL_OK)
        code = fdl_pending_read(&old, &pending, error);
    if (code == FDL_OK && pending.count > 0) {
        *what = "versions that are committed and not pushed";
    } else if (code == FDL_OK && fdl_file_exists(path)) {
        code = fdl_work_snapshot(&old, &snapshot, error);
        if (code == FDL_OK && snapshot != fdl_work_committed(&old, old.base.snapshot_id))
            *what = "changes that are not committed";
        if (code != FDL_OK && code != FDL_BUSY) { /* whatever it is, it is not ours to throw away */
            *what = "something that fdl does not understand";
            code = FDL_OK;
        }
    } else if (code == FDL_FAILED) { /* it may still be all that is left of somebody's work */
        *what = "a state that is damaged";
        code = FDL_OK;
    } else if (code == FDL_NOT_FOUND) {
        if (fdl_file_exists(path))
            *what = "something that fdl did not put there";
        code = FDL_OK;
    }
    fdl_pending_clear(&pending);
    fdl_work_clear(&old);
    return code;
}

/* ---- 2: the new one, built aside ----------------------------------------------- */

typedef struct build {
    char *folder;  /* "<work>.fdl/new" */
    char *frozen;  /* the version's catalog */
    char *catalog; /* the SQLite one made of it */
} build;

static void build_clear(build *made) {
    free(made->folder);
    free(made->frozen);
    free(made->catalog);
}

static fdl_code choose_stamp(int64_t *stamp, fdl_error *error) {
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return fdl_fail(error, FDL_FAILED, NULL, "the system gives no random numbers");
    *stamp = 1 + random % 0x7ffffffe;
    return FDL_OK;
}

/*
 * What counts as committed is told from the record's snapshot: were it another
 * than the catalog's, changes made here would pass for what is published.
 */
static fdl_code check_snapshot(const fdl_version *version, const char *catalog, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    fdl_working_state state = {0};
    fdl_code code = fdl_key_version(key, version->id, version->catalog.file.path, error);
    if (code == FDL_OK)
        code = fdl_catalog_state(catalog, &state, error);
    if (code == FDL_OK && state.snapshot_id != version->snapshot_id)
        code = fdl_fail(error, FDL_FAILED, key, "'%s' ends with snapshot %lld, version.json says %lld", key,
                        (long long)state.snapshot_id, (long long)version->snapshot_id);
    return code;
}

static fdl_code build_catalog(fdl_repo *repo, const fdl_work *work, const fdl_version *version, build *made,
                              fdl_error *error) {
    char *data_path = NULL, *published = NULL;
    const fdl_context *context = fdl_repo_context(repo);
    fdl_code code = fdl_work_new_folder(work, &made->folder, error);
    if (code == FDL_OK)
        code = fdl_str_format(&made->frozen, error, "%s/base.duckdb", made->folder);
    if (code == FDL_OK)
        code = fdl_str_format(&made->catalog, error, "%s/catalog.sqlite", made->folder);
    if (code == FDL_OK)
        code = fdl_work_data_path(work, repo, &data_path, error);
    if (code == FDL_OK && fdl_repo_is_http(repo))
        code = fdl_data_url(repo, &published, error);
    fdl_thaw_options options = {.data_path = data_path, .published_prefix = published, .stamp = work->stamp};
    if (code == FDL_OK && !version)
        code = fdl_catalog_create(context, made->catalog, &options, error);
    if (code == FDL_OK && version)
        code = fdl_catalog_download_watched(repo, version, made->frozen, error);
    if (code == FDL_OK && version)
        code = fdl_catalog_thaw(context, made->frozen, made->catalog, &options, error);
    if (code == FDL_OK && version)
        code = check_snapshot(version, made->catalog, error);
    free(published);
    free(data_path);
    return code;
}

/* ---- 3: in place --------------------------------------------------------------- */

static fdl_code move_if_there(const char *from, const char *to, fdl_error *error) {
    return fdl_file_exists(from) ? fdl_file_rename(from, to, error) : FDL_OK;
}

/* "<work>.backup-20261130T012300Z", with its own state folder, so that it can be pushed or looked at. */
static fdl_code make_backup(const fdl_work *work, char **out, fdl_error *error) {
    static const char *const parts[] = {"origin.json", "base.duckdb", "pending", "data"};
    char time[32];
    char *backup = NULL, *folder = NULL;
    fdl_time_write(fdl_now_ms() / 1000 * 1000, time);
    for (char *from = time, *to = time;; from++)
        if (*from != '-' && *from != ':' && !(*to++ = *from))
            break;
    fdl_code code = fdl_str_format(&backup, error, "%s.backup-%s", work->path, time);
    for (int n = 2; code == FDL_OK && fdl_file_exists(backup); n++) {
        free(backup);
        backup = NULL;
        code = fdl_str_format(&backup, error, "%s.backup-%s-%d", work->path, time, n);
    }
    if (code == FDL_OK)
        code = fdl_str_format(&folder, error, "%s.fdl", backup);
    if (code == FDL_OK)
        code = fdl_folder_make(folder, error);
    if (code == FDL_OK)
        code = move_if_there(work->path, backup, error);
    for (size_t i = 0; code == FDL_OK && i < sizeof parts / sizeof *parts; i++) {
        char *from = NULL, *to = NULL;
        code = fdl_work_file(work, parts[i], &from, error);
        if (code == FDL_OK)
            code = fdl_str_format(&to, error, "%s/%s", folder, parts[i]);
        if (code == FDL_OK)
            code = move_if_there(from, to, error);
        free(to);
        free(from);
    }
    if (code == FDL_OK) {
        *out = backup;
        backup = NULL;
    }
    free(folder);
    free(backup);
    return code;
}

static fdl_code put_in_place(const fdl_work *work, const build *made, bool has_base, fdl_error *error) {
    char *base = NULL, *pending = NULL;
    fdl_code code = fdl_work_file(work, "base.duckdb", &base, error);
    if (code == FDL_OK)
        code = fdl_work_file(work, "pending", &pending, error);
    if (code == FDL_OK) /* what counts of it is pushed or in the backup; a stopped push may have left a folder */
        code = fdl_folder_remove(pending, error);
    if (code == FDL_OK)
        code = has_base ? fdl_file_rename(made->frozen, base, error) : fdl_file_remove(base, error);
    if (code == FDL_OK)
        code = fdl_work_save(work, error);
    if (code == FDL_OK)
        code = fdl_file_rename(made->catalog, work->path, error);
    if (code == FDL_OK)
        code = fdl_folder_remove(made->folder, error);
    free(pending);
    free(base);
    return code;
}

/* ---- what a first checkout leaves when it fails: nothing ------------------------------ */

/* How many folders are missing on the way to "<work>.fdl/", itself counted. */
static int missing_folders(const char *folder) {
    char path[PATH_MAX];
    int count = 0;
    if (!fdl_str_fit(path, sizeof path, folder))
        return 0;
    for (char *slash; !fdl_file_exists(path) && (slash = strrchr(path, '/')) && slash > path; *slash = '\0')
        count++;
    return count;
}

/* Below "<work>.fdl/", which is at `path`; what else lies in it, it keeps, and its folder too. */
static bool remove_state(const char *path, bool with_base) {
    static const char *const files[] = {"lock", "base.duckdb"};
    char file[PATH_MAX + 16];
    fdl_error unseen; /* what failed before is to be told */
    snprintf(file, sizeof file, "%s/origin.json", path);
    if (fdl_file_exists(file))
        return false;
    snprintf(file, sizeof file, "%s/new", path);
    fdl_folder_remove(file, &unseen);
    for (int i = 0; i < 1 + with_base; i++) {
        snprintf(file, sizeof file, "%s/%s", path, files[i]);
        unlink(file);
    }
    return rmdir(path) == 0;
}

/* Under its lock, for others may be about to make the same. */
static void remove_made(const fdl_work *work, int missing) {
    char path[PATH_MAX];
    if (work->lock < 0 || !fdl_str_fit(path, sizeof path, work->folder) || !remove_state(path, missing > 0))
        return;
    for (char *slash; --missing > 0 && (slash = strrchr(path, '/'));) {
        *slash = '\0';
        rmdir(path);
    }
}

/* ---- the verb -------------------------------------------------------------------- */

/* The version to check out; `*empty` for HEAD's branch when it has none yet. */
static fdl_code find_version(fdl_repo *repo, const char *revision, fdl_location *found, bool *empty,
                             fdl_error *error) {
    fdl_code code = fdl_locate(repo, revision, found, error);
    *empty = false;
    if (code != FDL_NOT_FOUND)
        return code;
    fdl_error first = *error;
    code = fdl_resolve(repo, revision, &found->target, error);
    *empty = code == FDL_NOT_FOUND && found->target.branch[0];
    if (*empty)
        return FDL_OK;
    *error = first;
    return first.code;
}

static fdl_code describe_origin(fdl_repo *repo, const fdl_location *found, bool empty, fdl_work *work,
                                fdl_error *error) {
    const fdl_config *config = NULL;
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&work->repo, fdl_repo_address(repo), error);
    if (code == FDL_OK)
        code = fdl_str_copy(&work->repo_id, config->id, error);
    if (code == FDL_OK)
        code = choose_stamp(&work->stamp, error);
    memcpy(work->branch, found->target.branch, sizeof work->branch);
    work->base = (fdl_base){.snapshot_id = -1};
    if (!empty)
        work->base = fdl_base_of(&found->version);
    work->same_snapshot = -1;
    return code;
}

fdl_code fdl_checkout(fdl_repo *repo, const char *path, const fdl_checkout_options *options, fdl_checkout_result *out,
                      fdl_error *error) {
    fdl_work work = {0};
    fdl_location found = {0};
    build made = {0};
    fdl_checkout_result result = {0};
    const char *unpushed = NULL;
    bool empty = false;
    int missing = 0;
    options = FDL_OPTIONS(fdl_checkout_options, options);
    fdl_code code = fdl_work_init(path, &work, error);
    if (code == FDL_OK)
        code = refuse_inside(repo, &work, error);
    if (code == FDL_OK) /* before anything is made here, so that a mistyped address leaves nothing */
        code = find_version(repo, options->revision, &found, &empty, error);
    if (code == FDL_OK)
        missing = missing_folders(work.folder);
    if (code == FDL_OK)
        code = fdl_work_lock(&work, error);
    if (code == FDL_OK)
        code = unpushed_work(work.path, &unpushed, error);
    if (code == FDL_OK && unpushed && !options->force)
        code = fdl_fail(error, FDL_REFUSED, work.path,
                        "'%s' holds %s; push them, or check out with --force, which keeps a backup", work.path,
                        unpushed);
    if (code == FDL_OK)
        code = describe_origin(repo, &found, empty, &work, error);
    if (code == FDL_OK)
        code = build_catalog(repo, &work, empty ? NULL : &found.version, &made, error);
    if (code == FDL_OK && fdl_file_exists(work.path)) {
        code = fdl_catalog_settle(work.path, error);
        if (code == FDL_REFUSED && unpushed) /* no catalog at all: it goes to the backup as it is */
            code = FDL_OK;
    }
    if (code == FDL_OK && unpushed)
        code = make_backup(&work, &result.backup, error);
    if (code == FDL_OK)
        code = put_in_place(&work, &made, !empty, error);
    if (code == FDL_OK)
        code = fdl_work_attach_statement(&work, repo, &result.attach_statement, error);
    if (code == FDL_OK) {
        memcpy(result.base, work.base.id, sizeof result.base);
        memcpy(result.branch, work.branch, sizeof result.branch);
        *out = result;
        result = (fdl_checkout_result){0};
    }
    if (code != FDL_OK)
        remove_made(&work, missing);
    fdl_checkout_result_clear(&result);
    build_clear(&made);
    fdl_location_clear(&found);
    fdl_work_clear(&work);
    return code;
}
