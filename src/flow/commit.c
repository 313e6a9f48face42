/*
 * commit.c - the working catalog becomes a version, on this machine only.
 *
 *   1 freeze      SQLite -> "<work>.fdl/new/ducklake.duckdb", the last snapshot
 *   2 describe    dataset.json: the publisher's words, those of dbt, the catalog's
 *                 figures, the originals kept; files.json.  Beside it, on another
 *                 thread: 4 where that asks no server, and the catalog packed
 *   3 compare     the same as the parent?  then there is nothing to commit
 *   4 check       every data file is there with the size the catalog records
 *   5 record      other formats, version.json, its signature; then the folder is
 *                 renamed into pending/
 *
 * The working catalog is only read (but for --flush-inlined).  Whatever stops a
 * commit leaves nothing but "<work>.fdl/new/", which the next one clears.
 */
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "flow/carries.h"
#include "flow/pending.h"
#include "flow/same_rows.h"
#include "flow/sign.h"
#include "flow/sources.h"
#include "flow/work.h"
#include "repo/ancestors.h"
#include "repo/dataset.h"
#include "repo/dbt.h"
#include "repo/layout.h"
#include "util/aside.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/options.h"
#include "util/text.h"

typedef struct commit {
    const fdl_context *context;
    const fdl_commit_options *options;
    fdl_work work;
    fdl_repo *repo;
    const fdl_config *config;
    fdl_pending pending;

    /* The parent: the last pending version, or the base, or none ("" and snapshot -1). */
    fdl_base parent;
    char *parent_catalog;
    json_t *parent_dataset;
    json_t *parent_tables;
    fdl_needed parent_files;

    char *folder; /* where the version is built */
    char *catalog;
    fdl_freeze_result frozen;
    json_t *tables;
    json_t *dataset;
    fdl_needed needed;
    bool is_checked; /* or will be, by what goes on aside */
    fdl_aside aside; /* reads `needed` and the catalog, writes version.catalog and .packed */
    fdl_version version;
} commit;

static void commit_clear(commit *c) {
    fdl_version_clear(&c->version);
    fdl_needed_clear(&c->needed);
    json_decref(c->dataset);
    json_decref(c->tables);
    fdl_needed_clear(&c->parent_files);
    json_decref(c->parent_tables);
    json_decref(c->parent_dataset);
    free(c->catalog);
    free(c->folder);
    free(c->parent_catalog);
    fdl_pending_clear(&c->pending);
    fdl_repo_free(c->repo);
    fdl_work_clear(&c->work);
}

static fdl_code new_file(const commit *c, const char *name, char **out, fdl_error *error) {
    return fdl_str_format(out, error, "%s/%s", c->folder, name);
}

/* ---- the parent ------------------------------------------------------------- */

static void find_parent(commit *c) {
    c->parent = c->pending.count > 0 ? fdl_base_of(&c->pending.items[c->pending.count - 1]) : c->work.base;
}

static fdl_code read_parent_dataset(commit *c, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *path = NULL, *bytes = NULL;
    size_t length = 0;
    fdl_code code;
    if (c->pending.count > 0) {
        code = fdl_pending_file(&c->work, c->parent.id, FDL_FILE_DATASET, &path, error);
        if (code == FDL_OK)
            code = fdl_file_read(path, FDL_LIMIT_DATASET_BYTES, &bytes, &length, error);
    } else {
        code = fdl_key_version(key, c->parent.id, FDL_FILE_DATASET, error);
        if (code == FDL_OK)
            code = fdl_store_read(fdl_repo_store(c->repo), key, FDL_LIMIT_DATASET_BYTES, &bytes, &length, NULL, error);
    }
    if (code == FDL_OK)
        code = fdl_json_parse(bytes, length, FDL_FILE_DATASET, &c->parent_dataset, error);
    free(bytes);
    free(path);
    return code;
}

static fdl_code load_parent(commit *c, fdl_error *error) {
    fdl_frozen *frozen = NULL;
    if (!c->parent.id[0])
        return FDL_OK;
    fdl_code code = c->pending.count > 0
                        ? fdl_pending_file(&c->work, c->parent.id, FDL_FILE_CATALOG, &c->parent_catalog, error)
                        : fdl_work_base_catalog(&c->work, c->repo, &c->parent_catalog, error);
    if (code == FDL_OK)
        code = read_parent_dataset(c, error);
    if (code == FDL_OK)
        code = fdl_frozen_open(c->context, c->parent_catalog, &frozen, error);
    if (code == FDL_OK)
        code = fdl_frozen_files(frozen, fdl_needed_add, &c->parent_files, error);
    if (code == FDL_OK)
        code = fdl_frozen_describe(frozen, &c->parent_tables, error);
    fdl_frozen_free(frozen);
    return code;
}

/* ---- 1: freeze ---------------------------------------------------------------- */

static fdl_code freeze(commit *c, fdl_error *error) {
    char *published = NULL, *data_url = NULL, *work_data = NULL;
    fdl_code code = fdl_work_new_folder(&c->work, &c->folder, error);
    if (code == FDL_OK)
        code = new_file(c, FDL_FILE_CATALOG, &c->catalog, error);
    if (code == FDL_OK) /* for readers who do not pass DATA_PATH */
        code = fdl_key_url(c->config->url ? c->config->url : fdl_repo_address(c->repo), c->config->data_dir, &published,
                           error);
    if (code == FDL_OK)
        code = fdl_data_url(c->repo, &data_url, error);
    if (code == FDL_OK)
        code = fdl_work_data_path(&c->work, c->repo, &work_data, error);
    if (code == FDL_OK && c->options->flush_inlined)
        code = fdl_catalog_flush_inlined(c->context, c->work.path, work_data, error);
    if (code == FDL_OK) {
        const char *roots[] = {data_url, work_data, published};
        fdl_freeze_options options = {
            .data_path = published,
            .roots = roots,
            .root_count = sizeof roots / sizeof *roots,
            .keep_from = c->options->keep_snapshots ? c->parent.snapshot_id + 1 : -1,
            .allow_encrypted = c->options->allow_encrypted,
        };
        code = fdl_catalog_freeze(c->context, c->work.path, c->catalog, &options, &c->frozen, error);
    }
    free(work_data);
    free(data_url);
    free(published);
    return code;
}

/* ---- 2: describe ---------------------------------------------------------------- */

static fdl_code given_dataset(const commit *c, json_t **out, fdl_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    fdl_code code = fdl_file_read(c->options->dataset_path, FDL_LIMIT_DATASET_BYTES, &bytes, &length, error);
    if (code == FDL_OK)
        code = fdl_json_parse(bytes, length, c->options->dataset_path, out, error);
    free(bytes);
    return code;
}

static fdl_code dbt_words(const commit *c, json_t **out, fdl_error *error) {
    char *path = NULL, *bytes = NULL;
    size_t length = 0;
    fdl_code code = fdl_str_format(&path, error, "%s/" FDL_DBT_MANIFEST, c->options->dbt_folder);
    if (code == FDL_OK)
        code = fdl_file_read(path, FDL_LIMIT_DBT_BYTES, &bytes, &length, error);
    if (code == FDL_NOT_FOUND)
        code = fdl_fail(error, code, path, "there is no '%s'; name the folder that dbt writes to, usually target", path);
    if (code == FDL_OK)
        code = fdl_dbt_words(bytes, length, path, out, error);
    free(bytes);
    free(path);
    return code;
}

static fdl_code warn_of_column(void *data, const char *schema, const char *table, const char *column,
                               fdl_error *error) {
    const commit *c = data;
    (void)error;
    fdl_note(c->context, FDL_NOTE_WARNING, "dbt describes the column '%s.%s.%s', which the catalog does not have",
             schema, table, column);
    return FDL_OK;
}

/* Both lists come sorted by path, so one walk tells old from new. */
static void mark_old_files(commit *c) {
    const fdl_needed *parent = &c->parent_files;
    for (size_t i = 0, at = 0; i < c->needed.count && at < parent->count;) {
        int order = strcmp(c->needed.items[i].path, parent->items[at].path);
        if (order == 0)
            c->needed.items[i].is_new = false;
        i += order <= 0;
        at += order >= 0;
    }
}

/* The data files are there as the catalog says. */
static fdl_code look_at_files(commit *c, fdl_error *error) {
    char *local = NULL;
    fdl_code code = FDL_OK;
    if (fdl_repo_is_http(c->repo))
        code = fdl_work_data_path(&c->work, c->repo, &local, error);
    if (code == FDL_OK)
        code = fdl_needed_check(c->repo, local, &c->needed, error);
    free(local);
    return code;
}

static fdl_code describe_catalog(commit *c, fdl_error *error) {
    fdl_catalog_record *record = &c->version.catalog;
    fdl_code code = fdl_carry_record(c->folder, FDL_FILE_CATALOG, &record->file, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&record->format, FDL_DUCKLAKE_FORMAT, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&record->storage, "duckdb-" FDL_DUCKDB_STORAGE, error);
    return code == FDL_OK ? fdl_carry_packed(c->folder, &c->version, error) : code;
}

static fdl_code go_on_aside(void *data, fdl_error *error) {
    commit *c = data;
    fdl_code code = c->is_checked ? look_at_files(c, error) : FDL_OK;
    return code == FDL_OK ? describe_catalog(c, error) : code;
}

static fdl_code look_at_catalog(commit *c, fdl_error *error) {
    fdl_frozen *frozen = NULL;
    fdl_code code = fdl_frozen_open(c->context, c->catalog, &frozen, error);
    if (code == FDL_OK)
        code = fdl_frozen_files(frozen, fdl_needed_add, &c->needed, error);
    if (code == FDL_OK) {
        mark_old_files(c);
        c->is_checked = fdl_repo_store(c->repo)->local;
        fdl_aside_start(&c->aside, go_on_aside, c);
        code = fdl_frozen_describe(frozen, &c->tables, error);
    }
    if (code == FDL_OK)
        code = fdl_carry_index(c->repo, frozen, c->folder, &c->version, error);
    fdl_frozen_free(frozen);
    return code;
}

static fdl_code describe(commit *c, fdl_error *error) {
    json_t *given = NULL, *words = NULL;
    fdl_code code = look_at_catalog(c, error);
    if (code == FDL_OK && c->options->dataset_path)
        code = given_dataset(c, &given, error);
    if (code == FDL_OK && c->options->dbt_folder)
        code = dbt_words(c, &words, error);
    if (code == FDL_OK)
        code = given ? fdl_dataset_join(given, c->options->dataset_path, NULL, words, c->tables, &c->dataset, error)
                     : fdl_dataset_join(c->parent_dataset, FDL_FILE_DATASET, c->parent_tables, words, c->tables,
                                        &c->dataset, error);
    if (code == FDL_OK)
        code = fdl_dataset_unheard(words, c->dataset, warn_of_column, c, error);
    if (code == FDL_OK && (given || c->options->source_count > 0))
        code = fdl_sources_check(c->dataset, given ? c->options->dataset_path : FDL_FILE_DATASET, error);
    if (code == FDL_OK)
        code = fdl_sources_keep(c->options->sources, c->options->source_count, c->folder, c->dataset, error);
    json_decref(words);
    json_decref(given);
    return code;
}

/* ---- 3: compare ------------------------------------------------------------------- */

static fdl_code compare(commit *c, bool *same, fdl_error *error) {
    char *difference = NULL;
    *same = false;
    if (c->options->allow_empty || !c->parent.id[0] || !fdl_dataset_same(c->dataset, c->parent_dataset))
        return FDL_OK;
    fdl_code code = fdl_frozen_same(c->context, c->parent_catalog, c->catalog, same, &difference, error);
    if (code == FDL_OK && !*same) { /* perhaps the same rows, in other files */
        free(difference);
        code = fdl_same_rows(&c->work, c->repo, c->parent_catalog, c->catalog, c->folder, same, &difference, error);
    }
    if (code == FDL_OK && difference)
        fdl_note(c->context, FDL_NOTE_DETAIL, "%s", difference);
    free(difference);
    if (code == FDL_OK && *same) { /* so that status and checkout know that nothing is left to commit */
        c->work.same_snapshot = c->frozen.snapshot_id;
        code = fdl_work_save(&c->work, error);
    }
    return code;
}

/* ---- 4: check ---------------------------------------------------------------------- */

static fdl_code check_files(commit *c, fdl_error *error) {
    fdl_code code = fdl_aside_end(&c->aside, error);
    return code == FDL_OK && !c->is_checked ? look_at_files(c, error) : code;
}

/* ---- 5: record ---------------------------------------------------------------------- */

static fdl_code write_dataset(commit *c, fdl_error *error) {
    char *bytes = NULL, *path = NULL;
    size_t length = 0;
    fdl_code code = fdl_json_write(c->dataset, &bytes, &length, error);
    if (code == FDL_OK)
        code = new_file(c, FDL_FILE_DATASET, &path, error);
    if (code == FDL_OK)
        code = fdl_file_write(path, bytes, length, error);
    if (code == FDL_OK)
        code = fdl_carry_record(c->folder, FDL_FILE_DATASET, &c->version.dataset, error);
    free(path);
    free(bytes);
    return code;
}

static fdl_code fill_record(commit *c, fdl_error *error) {
    fdl_version *version = &c->version;
    bool has_parent = c->parent.id[0] != '\0';
    bool new_snapshots = c->frozen.snapshot_id > c->parent.snapshot_id;
    version->seq = c->parent.seq + 1;
    memcpy(version->parent, c->parent.id, sizeof version->parent);
    fdl_ancestors_of_child(c->parent.id, c->parent.seq, &c->parent.ancestors, &version->ancestors);
    fdl_time_write(fdl_now_ms() / 1000 * 1000, version->created_at);
    version->snapshot_id = c->frozen.snapshot_id;
    version->last_snapshot = c->frozen.snapshot_id;
    version->first_snapshot = !has_parent ? 0 : new_snapshots ? c->parent.snapshot_id + 1 : c->frozen.snapshot_id;
    fdl_code code = fdl_uuid_v7(version->id, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&version->format, FDL_FORMAT, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&version->author_name, c->options->author_name, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&version->author_email, c->options->author_email, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&version->message, c->options->message, error);
    return code;
}

static fdl_code write_record(commit *c, fdl_error *error) {
    char *bytes = NULL, *path = NULL, *files = NULL;
    size_t length = 0;
    fdl_code code = new_file(c, "files.txt", &files, error);
    if (code == FDL_OK)
        code = fdl_needed_write(files, &c->needed, error);
    if (code == FDL_OK)
        code = fdl_version_write(&c->version, &bytes, &length, error);
    if (code == FDL_OK)
        code = new_file(c, FDL_FILE_VERSION, &path, error);
    if (code == FDL_OK)
        code = fdl_file_write(path, bytes, length, error);
    if (code == FDL_OK && c->options->sign_key)
        code = fdl_sign_file(path, c->options->sign_key, error);
    free(files);
    free(path);
    free(bytes);
    return code;
}

static fdl_code record(commit *c, fdl_error *error) {
    char *pending = NULL, *target = NULL;
    fdl_code code = fdl_carry_formats(c->repo, c->folder, &c->version, error);
    if (code == FDL_OK)
        code = write_dataset(c, error);
    if (code == FDL_OK)
        code = fill_record(c, error);
    if (code == FDL_OK)
        code = write_record(c, error);
    if (code == FDL_OK)
        code = fdl_work_file(&c->work, "pending", &pending, error);
    if (code == FDL_OK)
        code = fdl_folder_make(pending, error);
    if (code == FDL_OK)
        code = fdl_pending_file(&c->work, c->version.id, "", &target, error);
    if (code == FDL_OK)
        code = fdl_file_rename(c->folder, target, error);
    free(target);
    free(pending);
    return code;
}

/* ---- the verb ------------------------------------------------------------------------ */

static fdl_code check_options(const fdl_commit_options *options, fdl_error *error) {
    if (!options->message || !*options->message)
        return fdl_fail(error, FDL_USAGE, NULL, "a version needs a message; give one with -m");
    if (!options->author_name || !*options->author_name)
        return fdl_fail(error, FDL_USAGE, NULL, "a version needs an author; give one with --author 'Name <email>'");
    if (!fdl_utf8_valid(options->message, strlen(options->message)) ||
        !fdl_utf8_valid(options->author_name, strlen(options->author_name)) ||
        (options->author_email && !fdl_utf8_valid(options->author_email, strlen(options->author_email))))
        return fdl_fail(error, FDL_USAGE, NULL, "message and author must be valid UTF-8");
    if (options->sign_key && !fdl_file_exists(options->sign_key))
        return fdl_fail(error, FDL_NOT_FOUND, options->sign_key, "cannot sign with '%s': there is no such file",
                        options->sign_key);
    return fdl_sources_check_paths(options->sources, options->source_count, error);
}

/* Cheap and common: no snapshot since the parent, and no new words. */
static fdl_code nothing_new(commit *c, bool *nothing, fdl_error *error) {
    int64_t snapshot = -1;
    fdl_code code = fdl_work_snapshot(&c->work, &snapshot, error);
    *nothing = code == FDL_OK && snapshot == fdl_work_committed(&c->work, c->parent.snapshot_id) &&
               !c->options->dataset_path && !c->options->dbt_folder && c->options->source_count == 0 &&
               !c->options->allow_empty;
    return code;
}

static void tell_about_url(const commit *c) {
    if (c->parent.id[0] || c->config->url || fdl_repo_is_http(c->repo))
        return;
    fdl_note(c->context, FDL_NOTE_INFO,
             "the repository has no public url; with a field \"url\" in fdl.json, catalogs also read without DATA_PATH");
}

static void fill_result(const commit *c, bool made, fdl_commit_result *out) {
    memset(out, 0, sizeof *out);
    out->made = made;
    memcpy(out->id, made ? c->version.id : c->parent.id, sizeof out->id);
    out->seq = made ? c->version.seq : c->parent.seq;
    out->table_count = json_array_size(c->tables);
    out->file_count = c->needed.count;
    out->catalog_bytes = c->frozen.size_bytes;
}

fdl_code fdl_commit(const fdl_context *context, const char *path, const fdl_commit_options *options,
                    fdl_commit_result *out, fdl_error *error) {
    options = FDL_OPTIONS(fdl_commit_options, options);
    commit c = {.context = context, .options = options};
    bool nothing = false;
    fdl_code code = check_options(options, error);
    if (code == FDL_OK)
        code = fdl_work_open(context, path, &c.work, &c.repo, error);
    if (code == FDL_OK)
        code = fdl_repo_config(c.repo, &c.config, error);
    if (code == FDL_OK)
        code = fdl_pending_read(&c.work, &c.pending, error);
    if (code == FDL_OK) {
        find_parent(&c);
        code = nothing_new(&c, &nothing, error);
    }
    if (code == FDL_OK && !nothing)
        code = load_parent(&c, error);
    if (code == FDL_OK && !nothing)
        code = freeze(&c, error);
    if (code == FDL_OK && !nothing)
        code = describe(&c, error);
    if (code == FDL_OK && !nothing)
        code = compare(&c, &nothing, error);
    if (code == FDL_OK && !nothing)
        code = check_files(&c, error);
    if (code == FDL_OK && !nothing)
        code = record(&c, error);
    if (code == FDL_OK && !nothing)
        tell_about_url(&c);
    if (code == FDL_OK)
        fill_result(&c, !nothing, out);
    if (c.folder) { /* gone already when it became the version */
        fdl_error ignored;
        fdl_aside_end(&c.aside, &ignored);
        fdl_folder_remove(c.folder, &ignored);
    }
    commit_clear(&c);
    return code;
}
