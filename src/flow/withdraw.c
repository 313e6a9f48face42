/*
 * withdraw.c - versions whose data must not be public are taken away.
 *
 *   1 survey: which versions, which files, and is anything in the way?
 *     (withdraw_survey.c; changes nothing, and without `confirmed` that is all)
 *   2 tags that point to them go
 *   3 their data files go, at once and with every old state the store keeps
 *   4 expired.json, "withdrawn", for each
 *   5 look again: a version that came meanwhile and names what is gone now, goes too
 *   6 what their folders show goes, catalogs last
 *
 * Stopped before 6 the catalogs still tell which files to delete; stopped within
 * it, the next run finds versions marked as withdrawn with something left, and
 * finishes them.
 */
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "flow/kept.h"
#include "flow/opened.h"
#include "flow/pointers.h"
#include "flow/scratch.h"
#include "flow/withdraw.h"
#include "repo/layout.h"
#include "util/options.h"
#include "util/text.h"

/* A version may come while we look for those that came: bounded all the same. */
#define ROUNDS_LIMIT 10

void fdl_withdraw_result_clear(fdl_withdraw_result *result) {
    for (size_t i = 0; i < result->reader_count; i++) {
        free(result->readers[i].key);
        free(result->readers[i].schema);
        free(result->readers[i].table);
    }
    free(result->items);
    free(result->readers);
    fdl_plan_free(result->plan);
    memset(result, 0, sizeof *result);
}

/* ---- the plan --------------------------------------------------------------------------- */

static fdl_code plan_tags(fdl_wd *w, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < w->pointers.count; i++) {
        const fdl_ref *ref = &w->pointers.items[i];
        const fdl_stored *stored = fdl_inventory_find(&w->inventory, ref->id);
        fdl_deletion deletion = {.key = ref->name, .version = ref->id};
        if (stored && (stored->flags & FDL_WD_AFFECTED) && fdl_str_starts(ref->name, FDL_REF_TAGS))
            code = fdl_plan_add(w->result->plan, FDL_DELETE_TAG, &deletion, error);
    }
    return code;
}

static fdl_code plan_data(fdl_wd *w, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < w->file_count; i++) {
        char *key = NULL;
        const fdl_wd_file *file = &w->files[i];
        if (!file->affected || file->kept)
            continue;
        code = fdl_str_format(&key, error, "%s%s", w->config->data_dir, file->path);
        fdl_deletion deletion = {.key = key, .bytes = file->bytes};
        if (code == FDL_OK)
            code = fdl_plan_add(w->result->plan, FDL_DELETE_NAMED, &deletion, error);
        free(key);
    }
    return code;
}

/* What version.json says of a file in its folder. */
static const char *sha256_of(const fdl_version *version, const char *name) {
    if (version->catalog.file.path && strcmp(name, version->catalog.file.path) == 0)
        return version->catalog.file.sha256;
    if (version->files.path && strcmp(name, version->files.path) == 0)
        return version->files.sha256;
    if (version->packed.path && strcmp(name, version->packed.path) == 0)
        return version->packed.sha256;
    for (size_t i = 0; i < version->other_count; i++)
        if (strcmp(name, version->others[i].file.path) == 0)
            return version->others[i].file.sha256;
    return "";
}

static bool is_main_catalog(const fdl_stored *stored, const char *name) {
    return strcmp(name, stored->version.catalog.file.path ? stored->version.catalog.file.path : FDL_FILE_CATALOG) == 0;
}

/* One pass for everything but the catalog, and one for it. */
static fdl_code plan_folder(fdl_wd *w, const fdl_stored *stored, bool catalog, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < stored->file_count; i++) {
        char key[FDL_KEY_BYTES];
        const fdl_stored_file *file = &stored->files[i];
        if (fdl_is_memory_of_version(file->name) || is_main_catalog(stored, file->name) != catalog)
            continue;
        fdl_deletion deletion = {.key = key,
                                 .bytes = file->bytes,
                                 .version = stored->id,
                                 .sha256 = sha256_of(&stored->version, file->name)};
        code = fdl_key_version(key, stored->id, file->name, error);
        if (code == FDL_OK)
            code = fdl_plan_add(w->result->plan, catalog ? FDL_DELETE_CATALOG : FDL_DELETE_CONTENT, &deletion, error);
    }
    return code;
}

static fdl_code plan_record(fdl_wd *w, const fdl_stored *stored, const fdl_file_record *record, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    fdl_deletion deletion = {.key = key, .version = stored->id, .sha256 = record->sha256};
    if (!record->path || fdl_stored_find(stored, record->path))
        return FDL_OK;
    fdl_code code = fdl_key_version(key, stored->id, record->path, error);
    return code == FDL_OK ? fdl_plan_add(w->result->plan, FDL_DELETE_CONTENT, &deletion, error) : code;
}

/* A catalog that expire has deleted tells smallest and largest values, to whoever asks a bucket for its old version. */
static fdl_code plan_deleted(fdl_wd *w, const fdl_stored *stored, fdl_error *error) {
    const fdl_version *version = &stored->version;
    fdl_code code = plan_record(w, stored, &version->catalog.file, error);
    if (code == FDL_OK)
        code = plan_record(w, stored, &version->packed, error);
    for (size_t i = 0; code == FDL_OK && i < version->other_count; i++)
        code = plan_record(w, stored, &version->others[i].file, error);
    return code;
}

/* What is not there any more first: as long as anything else is, the next run knows that this one was stopped. */
static fdl_code plan_folders(fdl_wd *w, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && fdl_wd_may_keep_old(w) && i < w->inventory.count; i++)
        if (w->inventory.items[i].flags & FDL_WD_AFFECTED)
            code = plan_deleted(w, &w->inventory.items[i], error);
    for (size_t i = 0; code == FDL_OK && i < w->inventory.count; i++) {
        const fdl_stored *stored = &w->inventory.items[i];
        if (stored->flags & FDL_WD_AFFECTED)
            code = plan_folder(w, stored, false, error);
        if (code == FDL_OK && (stored->flags & FDL_WD_AFFECTED))
            code = plan_folder(w, stored, true, error);
    }
    return code;
}

static fdl_code plan_source(fdl_wd *w, fdl_error *error) {
    char *key = NULL;
    if (!w->options->source)
        return FDL_OK;
    fdl_code code = fdl_str_format(&key, error, "sources/%s", w->options->source);
    fdl_deletion deletion = {.key = key, .sha256 = w->options->source};
    if (code == FDL_OK)
        code = fdl_store_size(w->store, key, &deletion.bytes, error);
    if (code == FDL_OK)
        code = fdl_plan_add(w->result->plan, FDL_DELETE_SOURCE, &deletion, error);
    else if (code == FDL_NOT_FOUND && (w->options->revision_count > 0 || w->options->table))
        code = FDL_OK; /* a run that was stopped has deleted it */
    free(key);
    return code;
}

static int by_seq(const void *a, const void *b) {
    const fdl_withdraw_item *left = a, *right = b;
    return left->seq != right->seq ? (left->seq < right->seq ? -1 : 1) : strcmp(left->id, right->id);
}

static fdl_code add_item(fdl_wd *w, const fdl_stored *stored, fdl_error *error) {
    fdl_withdraw_result *result = w->result;
    fdl_code code = fdl_grow(&result->items, result->count, sizeof *result->items, error);
    if (code != FDL_OK)
        return code;
    fdl_withdraw_item *item = &result->items[result->count++];
    *item = (fdl_withdraw_item){.seq = stored->version.seq,
                                .given = (stored->flags & FDL_WD_GIVEN) != 0,
                                .files_unknown = (stored->flags & FDL_WD_UNKNOWN) != 0};
    memcpy(item->id, stored->id, sizeof item->id);
    memcpy(item->created_at, stored->version.created_at, sizeof item->created_at);
    return FDL_OK;
}

static fdl_code list_items(fdl_wd *w, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < w->inventory.count; i++)
        if (w->inventory.items[i].flags & FDL_WD_AFFECTED)
            code = add_item(w, &w->inventory.items[i], error);
    if (code == FDL_OK && w->result->count > 1)
        qsort(w->result->items, w->result->count, sizeof *w->result->items, by_seq);
    return code;
}

static fdl_code find_source(void *found, const fdl_entry *entry, fdl_error *error) {
    (void)entry, (void)error;
    *(bool *)found = true;
    return FDL_OK;
}

static fdl_code plan(fdl_wd *w, fdl_error *error) {
    fdl_code code = fdl_plan_open(
        w->repo, FDL_DELETE_TAG | FDL_DELETE_NAMED | FDL_DELETE_CONTENT | FDL_DELETE_CATALOG | FDL_DELETE_SOURCE,
        &w->result->plan, error);
    if (code == FDL_OK)
        code = list_items(w, error);
    if (code == FDL_OK)
        code = plan_tags(w, error);
    if (code == FDL_OK)
        code = plan_data(w, error);
    if (code == FDL_OK)
        code = plan_source(w, error);
    if (code == FDL_OK)
        code = plan_folders(w, error);
    if (code == FDL_OK)
        code = fdl_store_list(w->store, "sources/", FDL_ONE_LEVEL, find_source, &w->result->has_sources, error);
    return code;
}

/* ---- carried out ---------------------------------------------------------------------------- */

static fdl_code run(fdl_wd *w, unsigned kinds, fdl_error *error) {
    fdl_plan_options options = {.kinds = kinds, .purge = true};
    return fdl_plan_run(w->result->plan, &options, error);
}

static fdl_code mark(fdl_wd *w, const char *id, fdl_error *error) {
    int64_t now_ms = 0;
    fdl_code code = fdl_store_clock(w->store, &now_ms, error);
    if (code == FDL_OK)
        code = fdl_expiry_write(w->repo, id, FDL_REASON_WITHDRAWN, now_ms, w->options->text, NULL, error);
    return code;
}

static fdl_code mark_all(fdl_wd *w, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < w->result->count; i++)
        code = mark(w, w->result->items[i].id, error);
    for (size_t i = 0; code == FDL_OK && i < w->inventory.count; i++)
        if (w->inventory.items[i].flags & FDL_WD_AFFECTED)
            fdl_kept_drop(&w->inventory.items[i].version);
    return code;
}

static bool is_item(const fdl_wd *w, const char *id) {
    for (size_t i = 0; i < w->result->count; i++)
        if (strcmp(w->result->items[i].id, id) == 0)
            return true;
    return false;
}

/* ---- 5: what came meanwhile ------------------------------------------------------------------ */

typedef struct newcomer {
    const fdl_wd *w;
    bool concerned;
} newcomer;

static fdl_code look_for_gone(void *data, const fdl_data_file *file, fdl_error *error) {
    newcomer *n = data;
    const fdl_wd_file *known = fdl_wd_file_find(n->w, file->path);
    (void)error;
    n->concerned = n->concerned || (known && known->affected && !known->kept);
    return FDL_OK;
}

/* One that cannot be read is left to verify; it reads nothing, then. */
static fdl_code take_newcomer(fdl_wd *w, fdl_stored *stored, bool *found, fdl_error *error) {
    newcomer n = {.w = w};
    fdl_code code = fdl_version_files(w->repo, w->scratch, &stored->version, look_for_gone, &n, error);
    if (code == FDL_NOT_FOUND || code == FDL_FAILED || code == FDL_REFUSED)
        return FDL_OK;
    if (code != FDL_OK || !n.concerned)
        return code;
    *found = true;
    stored->flags |= FDL_WD_AFFECTED;
    code = mark(w, stored->id, error);
    if (code == FDL_OK)
        code = add_item(w, stored, error);
    if (code == FDL_OK)
        code = plan_folder(w, stored, false, error);
    return code == FDL_OK ? plan_folder(w, stored, true, error) : code;
}

/* A push that went on during this run wrote its version.json before it looked for our marker, or sees it. */
static fdl_code catch_up(fdl_wd *w, bool *found, fdl_error *error) {
    fdl_inventory now = {0};
    *found = false;
    fdl_code code = fdl_inventory_read(w->repo, &now, error);
    if (code == FDL_OK)
        code = fdl_inventory_records(&now, error);
    for (size_t i = 0; code == FDL_OK && i < now.count; i++) {
        fdl_stored *stored = &now.items[i];
        const fdl_stored *before = fdl_inventory_find(&w->inventory, stored->id);
        bool known = (before && before->record_ms != 0) || is_item(w, stored->id);
        if (!known && fdl_stored_is_live(stored) && !stored->marked)
            code = take_newcomer(w, stored, found, error);
    }
    fdl_inventory_clear(&now);
    return code;
}

/* A ref may have been made on a version while it was being withdrawn. */
static fdl_code look_at_refs(fdl_wd *w, fdl_error *error) {
    fdl_ref_list now = {0};
    fdl_code code = fdl_pointers_read(w->repo, &now, error);
    for (size_t i = 0; code == FDL_OK && i < now.count; i++) {
        const fdl_ref *ref = &now.items[i];
        if (!is_item(w, ref->id))
            continue;
        if (fdl_str_starts(ref->name, FDL_REF_TAGS))
            code = fdl_ref_remove(w->repo, ref, error);
        else
            code = fdl_fail(error, FDL_REFUSED, ref->name,
                            "'%s' has come to point to version '%s' while that was withdrawn; publish one without the data "
                            "on it, then run this again",
                            ref->name, ref->id);
    }
    fdl_ref_list_clear(&now);
    return code;
}

static fdl_code carry_out(fdl_wd *w, fdl_error *error) {
    bool found = true;
    fdl_code code = run(w, FDL_DELETE_TAG, error);
    if (code == FDL_OK)
        code = run(w, FDL_DELETE_NAMED | FDL_DELETE_SOURCE, error);
    if (code == FDL_OK)
        code = mark_all(w, error);
    for (int round = 0; code == FDL_OK && found && round < ROUNDS_LIMIT; round++)
        code = catch_up(w, &found, error);
    if (code == FDL_OK)
        code = run(w, FDL_DELETE_CONTENT, error);
    if (code == FDL_OK)
        code = run(w, FDL_DELETE_CATALOG, error);
    if (code == FDL_OK)
        code = look_at_refs(w, error);
    if (code == FDL_OK)
        code = fdl_refs_json_update(w->repo, error);
    return code;
}

/* ---- the verb --------------------------------------------------------------------------------- */

static fdl_code check_options(const fdl_withdraw_options *options, fdl_error *error) {
    if (options->revision_count == 0 && !options->table && !options->source)
        return fdl_fail(error, FDL_USAGE, NULL, "name the versions to withdraw, or a table with --table schema.name");
    if (options->table && !strchr(options->table, '.'))
        return fdl_fail(error, FDL_USAGE, options->table, "name the table with its schema: '%s' may be 'main.%s'",
                        options->table, options->table);
    if (options->text && !fdl_utf8_valid(options->text, strlen(options->text)))
        return fdl_fail(error, FDL_USAGE, NULL, "the text must be valid UTF-8");
    return FDL_OK;
}

static fdl_code take_away(fdl_wd *w, fdl_error *error) {
    const fdl_withdraw_options *options = w->options;
    memset(w->result, 0, sizeof *w->result);
    fdl_code code = fdl_repo_config(w->repo, &w->config, error);
    if (code == FDL_OK)
        code = fdl_scratch_make(&w->scratch, error);
    if (code == FDL_OK && (options->revision_count > 0 || options->table || w->source))
        code = fdl_wd_survey(w, error);
    if (code == FDL_OK)
        code = plan(w, error);
    if (code == FDL_OK && options->confirmed)
        code = carry_out(w, error);
    if (code != FDL_OK)
        fdl_withdraw_result_clear(w->result);
    fdl_wd_clear(w);
    fdl_scratch_remove(w->scratch);
    return code;
}

fdl_code fdl_withdraw(fdl_repo *repo, const fdl_withdraw_options *options, fdl_withdraw_result *out,
                      fdl_error *error) {
    options = FDL_OPTIONS(fdl_withdraw_options, options);
    fdl_wd w = {.repo = repo, .store = fdl_repo_store(repo), .options = options, .result = out};
    memset(out, 0, sizeof *out);
    fdl_code code = check_options(options, error);
    return code == FDL_OK ? take_away(&w, error) : code;
}

fdl_code fdl_withdraw_mirrored(fdl_repo *mirror, fdl_repo *source, fdl_error *error) {
    const fdl_withdraw_options options = {.confirmed = true};
    fdl_withdraw_result result = {0};
    fdl_wd w = {.repo = mirror, .store = fdl_repo_store(mirror), .options = &options, .result = &result,
                .source = fdl_repo_store(source)};
    fdl_code code = take_away(&w, error);
    fdl_withdraw_result_clear(&result);
    return code;
}
