/*
 * import.c - a DuckLake that somebody has becomes the first version of a new
 * repository.
 *
 *   1 its catalog is frozen in a scratch folder, by commit's rules, so that what
 *     cannot be published is said before anything is made
 *   2 init, and a checkout of nothing, whose catalog is replaced by the frozen one
 *   3 the data files that it needs are copied into the data folder
 *   4 commit, push
 *
 * The DuckLake is only read.  Stopped anywhere it can be run again: what was
 * copied is found there.
 */
#include <stdlib.h>
#include <string.h>

#include "catalog/foreign.h"
#include "fdl.h"
#include "flow/pending.h"
#include "flow/scratch.h"
#include "flow/upload.h"
#include "flow/work.h"
#include "util/file.h"
#include "util/options.h"
#include "util/parallel.h"
#include "util/text.h"

typedef struct import {
    fdl_repo *repo;
    const fdl_context *context;
    const fdl_import_options *options;
    fdl_import_result *result;
    bool is_sqlite;
    char *scratch;
    char *frozen; /* its last snapshot */
    char *work;
    fdl_store *data; /* where its files lie */
    fdl_needed needed;
    fdl_meter *meter;
} import;

void fdl_import_result_clear(fdl_import_result *result) {
    fdl_push_result_clear(&result->push);
    memset(result, 0, sizeof *result);
}

static void import_clear(import *m) {
    fdl_needed_clear(&m->needed);
    fdl_store_free(m->data);
    free(m->work);
    free(m->frozen);
    fdl_scratch_remove(m->scratch);
}

/* ---- 1: what is there ------------------------------------------------------------ */

/* DuckLake takes a relative data path from the current folder; it was often that of the catalog. */
static fdl_code absolute_data_path(const char *catalog, const char *path, char **out, fdl_error *error) {
    char *folder = NULL, *beside = NULL;
    if (path[0] == '/' || strstr(path, "://"))
        return fdl_str_format(out, error, "%s%s", path, fdl_str_ends(path, "/") ? "" : "/");
    fdl_code code = fdl_path_folder(catalog, &folder, error);
    if (code == FDL_OK)
        code = fdl_str_format(&beside, error, "%s/%s", folder, path);
    if (code == FDL_OK) {
        char *full = NULL;
        code = fdl_path_absolute(fdl_file_exists(beside) ? beside : path, &full, error);
        if (code == FDL_OK)
            code = fdl_str_format(out, error, "%s/", full);
        free(full);
    }
    free(beside);
    free(folder);
    return code;
}

static fdl_code freeze(import *m, const char *data_path, fdl_error *error) {
    char *thawed = NULL;
    const char *roots[] = {data_path};
    fdl_freeze_options options = {.data_path = data_path,
                                  .roots = roots,
                                  .root_count = 1,
                                  .keep_from = -1,
                                  .allow_encrypted = m->options->commit.allow_encrypted};
    fdl_thaw_options thaw = {.data_path = data_path};
    fdl_freeze_result result;
    fdl_code code = fdl_str_format(&m->frozen, error, "%s/frozen.duckdb", m->scratch);
    if (code == FDL_OK && !m->is_sqlite)
        code = fdl_str_format(&thawed, error, "%s/thawed.sqlite", m->scratch);
    if (code == FDL_OK && !m->is_sqlite)
        code = fdl_catalog_thaw(m->context, m->options->from, thawed, &thaw, error);
    if (code == FDL_OK)
        code = fdl_catalog_freeze(m->context, thawed ? thawed : m->options->from, m->frozen, &options, &result, error);
    free(thawed);
    return code;
}

static fdl_code look(import *m, fdl_error *error) {
    char *given = NULL, *data_path = NULL;
    fdl_frozen *frozen = NULL;
    fdl_code code = fdl_foreign_data_path(m->context, m->options->from, &m->is_sqlite, &given, error);
    if (code == FDL_OK)
        code = absolute_data_path(m->options->from, given, &data_path, error);
    if (code == FDL_OK)
        code = fdl_scratch_make(&m->scratch, error);
    if (code == FDL_OK)
        code = freeze(m, data_path, error);
    if (code == FDL_OK)
        code = fdl_frozen_open(m->context, m->frozen, &frozen, error);
    if (code == FDL_OK)
        code = fdl_frozen_files(frozen, fdl_needed_add, &m->needed, error);
    if (code == FDL_OK)
        code = fdl_store_open(m->context, data_path, &m->data, error);
    fdl_frozen_free(frozen);
    free(data_path);
    free(given);
    return code;
}

/* ---- 2: a working catalog of it --------------------------------------------------- */

static fdl_code replace_catalog(import *m, const fdl_work *work, fdl_error *error) {
    char *path = NULL, *data_path = NULL, *published = NULL;
    fdl_working_state state = {0};
    fdl_code code = fdl_str_format(&path, error, "%s/new.sqlite", m->scratch);
    if (code == FDL_OK)
        code = fdl_work_data_path(work, m->repo, &data_path, error);
    if (code == FDL_OK && fdl_repo_is_http(m->repo))
        code = fdl_data_url(m->repo, &published, error);
    if (code == FDL_OK)
        code = fdl_catalog_state(m->work, &state, error);
    fdl_thaw_options options = {.data_path = data_path, .published_prefix = published, .stamp = state.stamp};
    if (code == FDL_OK)
        code = fdl_catalog_thaw(m->context, m->frozen, path, &options, error);
    if (code == FDL_OK)
        code = fdl_file_rename(path, m->work, error);
    free(published);
    free(data_path);
    free(path);
    return code;
}

static fdl_code check_out(import *m, fdl_error *error) {
    fdl_checkout_options options = {0};
    fdl_checkout_result checkout = {0};
    fdl_work work = {0};
    fdl_code code = fdl_str_format(&m->work, error, "%s/work.sqlite", m->scratch);
    if (code == FDL_OK)
        code = fdl_checkout(m->repo, m->work, &options, &checkout, error);
    if (code == FDL_OK && checkout.base[0])
        code = fdl_fail(error, FDL_CONFLICT, fdl_repo_address(m->repo),
                        "'%s' has versions already; name a place without, to import into", fdl_repo_address(m->repo));
    if (code == FDL_OK)
        code = fdl_work_init(m->work, &work, error);
    if (code == FDL_OK)
        code = replace_catalog(m, &work, error);
    fdl_work_clear(&work);
    fdl_checkout_result_clear(&checkout);
    return code;
}

/* ---- 3: its files ------------------------------------------------------------------- */

static fdl_code copy_file(void *data, size_t index, fdl_error *error) {
    import *m = data;
    const fdl_needed_file *needed = &m->needed.items[index];
    fdl_local_file file = {0};
    const fdl_config *config = NULL;
    char *key = NULL;
    uint64_t size = 0;
    fdl_code code = fdl_repo_config(m->repo, &config, error);
    if (code == FDL_OK)
        code = fdl_str_format(&key, error, "%s%s", config->data_dir, needed->path);
    if (code == FDL_OK)
        code = fdl_local_file_get(m->data, m->scratch, needed->path, UINT64_MAX, &file, error);
    if (code == FDL_OK)
        code = fdl_file_size(file.path, &size, error);
    if (code == FDL_OK && size != needed->size_bytes)
        code = fdl_fail(error, FDL_REFUSED, file.path, "'%s' has %llu bytes, but the catalog records %llu", file.path,
                        (unsigned long long)size, (unsigned long long)needed->size_bytes);
    if (code == FDL_OK)
        code = fdl_upload(fdl_repo_store(m->repo), key, file.path, file.temporary, NULL, &m->result->copied, m->meter, error);
    fdl_local_file_clear(&file);
    free(key);
    return code;
}

static fdl_code copy_files(import *m, fdl_error *error) {
    m->meter = fdl_meter_start(m->context, "copying");
    for (size_t i = 0; i < m->needed.count; i++)
        fdl_meter_expect(m->meter, 1, m->needed.items[i].size_bytes);
    fdl_code code = fdl_parallel(m->needed.count, m->context->jobs, copy_file, m, error);
    fdl_meter_end(m->meter);
    return code;
}

/* ---- the verb -------------------------------------------------------------------------- */

fdl_code fdl_import(fdl_repo *repo, const fdl_import_options *options, fdl_import_result *out, fdl_error *error) {
    options = FDL_OPTIONS(fdl_import_options, options);
    import m = {.repo = repo, .context = fdl_repo_context(repo), .options = options, .result = out};
    memset(out, 0, sizeof *out);
    if (!options->from)
        return fdl_fail(error, FDL_USAGE, NULL, "name the DuckLake to import, with --from");
    fdl_code code = look(&m, error);
    if (code == FDL_OK)
        code = fdl_init(repo, &options->init, &out->created, error);
    if (code == FDL_OK)
        code = check_out(&m, error);
    if (code == FDL_OK)
        code = copy_files(&m, error);
    if (code == FDL_OK)
        code = fdl_commit(m.context, m.work, &options->commit, &out->commit, error);
    if (code == FDL_OK && out->commit.made)
        code = fdl_push(m.context, m.work, NULL, &out->push, error);
    import_clear(&m);
    return code;
}
