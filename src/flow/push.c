/*
 * push.c - pending versions go to the repository, one by one, each in the order
 * that protects readers:
 *
 *   data files, originals -> catalogs -> dataset, files -> signature ->
 *   version.json -> the ref, by compare-and-swap -> refs.json
 *
 * Nothing a file points to is written after it, and a reader starts at the ref:
 * stopped anywhere before the ref, a push leaves files that no reader reaches,
 * and run again it uploads only what is missing.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "flow/pending.h"
#include "flow/sources.h"
#include "flow/upload.h"
#include "flow/work.h"
#include "repo/history.h"
#include "repo/layout.h"
#include "store/promises.h"
#include "util/file.h"
#include "util/parallel.h"
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

/* ---- uploads ------------------------------------------------------------------ */

static fdl_code upload(push *p, const char *key, const char *path, const char *sha256, fdl_error *error) {
    return fdl_upload(p->store, key, path, sha256, &p->result->sent, error);
}

typedef struct data_push {
    push *p;
    fdl_needed needed;
} data_push;

/* Step 1.  Where DuckDB wrote into the repository itself, the file only has to be made durable. */
static fdl_code push_data_file(void *data, size_t index, fdl_error *error) {
    push *p = ((data_push *)data)->p;
    const fdl_needed_file *file = &((data_push *)data)->needed.items[index];
    char *key = NULL, *local = NULL;
    if (!file->is_new)
        return FDL_OK;
    fdl_code code = fdl_str_format(&key, error, "%s%s", p->config->data_dir, file->path);
    if (code == FDL_OK && p->local_data)
        code = fdl_str_format(&local, error, "%s%s", p->local_data, file->path);
    if (code == FDL_OK)
        code = local && fdl_file_exists(local) ? upload(p, key, local, NULL, error) : fdl_store_sync(p->store, key, error);
    free(local);
    free(key);
    return code;
}

static fdl_code push_data(push *p, const fdl_version *version, fdl_error *error) {
    char *path = NULL;
    data_push step = {.p = p};
    fdl_code code = fdl_pending_file(&p->work, version->id, "files.txt", &path, error);
    if (code == FDL_OK)
        code = fdl_needed_read(path, &step.needed, error);
    if (code == FDL_OK)
        code = fdl_needed_check(p->repo, p->local_data, &step.needed, error);
    if (code == FDL_OK)
        code = fdl_parallel(step.needed.count, p->context->jobs, push_data_file, &step, error);
    fdl_needed_clear(&step.needed);
    free(path);
    return code;
}

static fdl_code push_version_file(push *p, const fdl_version *version, const char *name, const char *sha256,
                                  fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *path = NULL;
    fdl_code code = fdl_key_version(key, version->id, name, error);
    if (code == FDL_OK)
        code = fdl_pending_file(&p->work, version->id, name, &path, error);
    if (code == FDL_OK)
        code = upload(p, key, path, sha256, error);
    free(path);
    return code;
}

/* The same bytes are often there already, from the version before: large ones are not sent to find that out. */
static fdl_code push_source(push *p, const char *folder, const char *sha256, fdl_error *error) {
    char key[FDL_SOURCE_KEY_BYTES];
    char *path = NULL;
    uint64_t size = 0;
    fdl_object object = {0};
    fdl_source_key(key, sha256);
    fdl_code code = fdl_str_format(&path, error, "%s/%s", folder, sha256);
    if (code == FDL_OK)
        code = fdl_file_size(path, &size, error);
    if (code == FDL_OK) {
        fdl_error unseen;
        bool there = fdl_store_head(p->store, key, &object, &unseen) == FDL_OK && object.size_bytes == size;
        code = there ? FDL_OK : upload(p, key, path, sha256, error);
    }
    free(path);
    return code;
}

static fdl_code push_sources(push *p, const fdl_version *version, fdl_error *error) {
    char *folder = NULL;
    DIR *dir = NULL;
    fdl_code code = fdl_pending_file(&p->work, version->id, FDL_FOLDER_SOURCES, &folder, error);
    if (code == FDL_OK && !(dir = opendir(folder)) && errno != ENOENT)
        code = fdl_file_error(error, "list", folder, errno);
    for (struct dirent *entry; code == FDL_OK && dir && (entry = readdir(dir));)
        if (strlen(entry->d_name) == FDL_SHA256_BYTES - 1)
            code = push_source(p, folder, entry->d_name, error);
    if (dir)
        closedir(dir);
    free(folder);
    return code;
}

static fdl_code push_record(push *p, const fdl_version *version, const fdl_file_record *record, fdl_error *error) {
    return record->path ? push_version_file(p, version, record->path, record->sha256, error) : FDL_OK;
}

/* Before the record that it is about, so that no reader finds a signed version unsigned. */
static fdl_code push_signature(push *p, const fdl_version *version, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_pending_file(&p->work, version->id, FDL_FILE_SIGNATURE, &path, error);
    if (code == FDL_OK && fdl_file_exists(path))
        code = push_version_file(p, version, FDL_FILE_SIGNATURE, NULL, error);
    free(path);
    return code;
}

/* Steps 1 to 4. */
static fdl_code push_files(push *p, const fdl_version *version, fdl_error *error) {
    fdl_code code = push_data(p, version, error);
    if (code == FDL_OK)
        code = push_sources(p, version, error);
    if (code == FDL_OK)
        code = push_record(p, version, &version->catalog.file, error);
    for (size_t i = 0; i < version->other_count && code == FDL_OK; i++)
        code = push_record(p, version, &version->others[i].file, error);
    if (code == FDL_OK)
        code = push_record(p, version, &version->dataset, error);
    if (code == FDL_OK)
        code = push_record(p, version, &version->files, error);
    if (code == FDL_OK)
        code = push_signature(p, version, error);
    if (code == FDL_OK)
        code = push_version_file(p, version, FDL_FILE_VERSION, NULL, error);
    return code;
}

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
        p->work.base.seq = version->seq;
        p->work.base.snapshot_id = version->snapshot_id;
        memcpy(p->work.base.id, version->id, sizeof p->work.base.id);
        memcpy(p->work.base.sha256, version->catalog.file.sha256, sizeof p->work.base.sha256);
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

static fdl_code push_one(push *p, const fdl_version *version, fdl_error *error) {
    fdl_ref ref = {0};
    bool landed = false;
    fdl_code code = read_ref(p, version, &ref, &landed, error);
    if (code == FDL_OK && !landed)
        code = push_files(p, version, error);
    if (code == FDL_OK && !landed) {
        code = fdl_ref_write(p->repo, p->branch, version->id, ref.id[0] ? &ref : NULL, error);
        if (code == FDL_CONFLICT) { /* tell it as the comparison would have, a moment later */
            fdl_error refused = *error;
            code = read_ref(p, version, &ref, &landed, error);
            if (code == FDL_OK && !landed) {
                *error = refused;
                code = refused.code;
            }
        }
    }
    if (code == FDL_OK)
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
    for (size_t i = 0; code == FDL_OK && i < p.pending.count; i++)
        code = push_one(&p, &p.pending.items[i], error);
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
