/*
 * gc.c - deletes what no version needs.
 *
 *   1 list versions/; the files that live versions name are needed, and for the
 *     length of the grace those of versions that expired
 *   2 list the data folder: what is not needed and older than the grace goes
 *     into the plan; so do folders of pushes that were stopped as long ago
 *
 * Opening a catalog takes 50 ms, reading a files.json 1, and on most days there is
 * nothing to delete.  So 1 first goes by each version's files.json, as far as its
 * record proves it; only where that leaves something to delete are the catalogs
 * of the same listing asked, all of them, and 2 is done again.
 *
 *   3 look at versions/ once more: what a version that came meanwhile needs is
 *     needed too
 *   4 delete
 *
 * The grace protects writers: DuckDB puts a file into the data folder before any
 * version names it.  A push that goes on within it looks at its files once more
 * after its version.json is written and before the ref moves (push_files.c): so
 * step 3 sees the version, or the push sees what is gone by then.  Only what goes
 * after both have looked is left to the grace.
 *
 * All or nothing: while one live catalog cannot be read, nothing is deleted.
 */
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "flow/expired_files.h"
#include "flow/fileset.h"
#include "flow/inventory.h"
#include "flow/opened.h"
#include "flow/plan.h"
#include "flow/pointers.h"
#include "flow/scratch.h"
#include "repo/expiry.h"
#include "repo/files_json.h"
#include "repo/layout.h"
#include "util/ident.h"
#include "util/text.h"

/* fdl_stored.flags */
enum {
    REACHED = 1 << 0, /* a ref leads to it */
    PRUNED = 1 << 1   /* none does, and it is old enough to be forgotten */
};

typedef struct gc {
    fdl_repo *repo;
    fdl_store *store;
    const fdl_config *config;
    const fdl_gc_options *options;
    fdl_gc_result *result;
    fdl_inventory inventory; /* as listed last */
    bool by_index;           /* files.json will do */
    fdl_map read;            /* versions whose files are in `needed` */
    fdl_fileset needed;      /* paths under the data folder */
    fdl_fileset spared;      /* the same, of versions that expired within the grace */
    int64_t unknown_ms;      /* an expired version, whose files nobody knows, may need what was there by then */
    int64_t now_ms;          /* by the store's clock */
    char *scratch;
} gc;

void fdl_gc_result_clear(fdl_gc_result *result) {
    fdl_plan_free(result->plan);
    fdl_plan_free(result->left);
    memset(result, 0, sizeof *result);
}

static bool is_past_grace(const gc *g, int64_t since_ms) {
    return g->options->grace_ms == 0 || (since_ms != 0 && g->now_ms - since_ms >= g->options->grace_ms);
}

/* ---- 1: what is needed ----------------------------------------------------------------- */

static fdl_code need_file(void *data, const fdl_data_file *file, fdl_error *error) {
    return fdl_fileset_add(&((gc *)data)->needed, file->path, error);
}

/* A version that went away since it was listed needs nothing; one that is there and cannot be read stops us. */
static fdl_code judge_unreadable(gc *g, const fdl_stored *stored, fdl_error *error) {
    fdl_error first = *error, ignored;
    fdl_expiry expiry = {0};
    fdl_code code = fdl_expiry_read(g->repo, stored->id, &expiry, &ignored);
    bool gone = code == FDL_OK && expiry.expired && !stored->marked;
    fdl_expiry_clear(&expiry);
    if (gone)
        return FDL_OK;
    return fdl_fail(error, FDL_FAILED, first.key,
                    "which files version '%s' needs cannot be told, so nothing is deleted: %s", stored->id,
                    first.message);
}

static fdl_code need_listed(gc *g, const char *path, fdl_error *error) {
    size_t folder = strlen(g->config->data_dir);
    return path && fdl_str_starts(path, g->config->data_dir) ? fdl_fileset_add(&g->needed, path + folder, error) : FDL_OK;
}

static fdl_code need_entry(void *data, const fdl_file_entry *entry, fdl_error *error) {
    fdl_code code = need_listed(data, entry->path, error);
    return code == FDL_OK ? need_listed(data, entry->delete_path, error) : code;
}

static fdl_code need_version(gc *g, const fdl_stored *stored, fdl_error *error) {
    fdl_error ignored;
    if (fdl_map_get(&g->read, stored->id, NULL))
        return FDL_OK;
    /* What a list named before it turned out to be broken is needed too long at worst. */
    if (g->by_index && fdl_files_read(g->repo, &stored->version, need_entry, g, &ignored) == FDL_OK)
        return fdl_map_put(&g->read, stored->id, 0, error);
    fdl_note(fdl_repo_context(g->repo), FDL_NOTE_DETAIL, "reading what version '%s' needs", stored->id);
    fdl_code code = fdl_version_files(g->repo, g->scratch, &stored->version, need_file, g, error);
    if (code == FDL_NOT_FOUND || code == FDL_FAILED || code == FDL_REFUSED)
        return judge_unreadable(g, stored, error);
    return code == FDL_OK ? fdl_map_put(&g->read, stored->id, 0, error) : code;
}

static fdl_code reach(gc *g, const char *tip, fdl_error *error) {
    char id[FDL_ID_BYTES];
    memcpy(id, tip, sizeof id);
    while (id[0]) {
        int64_t place = -1;
        fdl_code code = fdl_inventory_record(&g->inventory, id, &place, error);
        if (code != FDL_OK || place < 0 || (g->inventory.items[place].flags & REACHED))
            return code;
        g->inventory.items[place].flags |= REACHED;
        memcpy(id, g->inventory.items[place].version.parent, sizeof id);
    }
    return FDL_OK;
}

/* Withdrawals are remembered: else whoever still has the version could push it again. */
static bool may_be_forgotten(const gc *g, const fdl_stored *stored) {
    return stored->record_ms != 0 && !(stored->flags & REACHED) && !fdl_expiry_is_withdrawn(&stored->expiry) &&
           is_past_grace(g, stored->newest_ms);
}

static fdl_code mark_pruned(gc *g, fdl_error *error) {
    fdl_ref_list pointers = {0};
    fdl_code code = fdl_inventory_markers(&g->inventory, error);
    if (code == FDL_OK)
        code = fdl_pointers_read(g->repo, &pointers, error);
    for (size_t i = 0; code == FDL_OK && i < pointers.count; i++)
        code = reach(g, pointers.items[i].id, error);
    for (size_t i = 0; code == FDL_OK && i < g->inventory.count; i++) /* what is too young to go keeps its history */
        if (g->inventory.items[i].record_ms != 0 && !is_past_grace(g, g->inventory.items[i].newest_ms))
            code = reach(g, g->inventory.items[i].id, error);
    for (size_t i = 0; code == FDL_OK && i < g->inventory.count; i++)
        if (may_be_forgotten(g, &g->inventory.items[i]))
            g->inventory.items[i].flags |= PRUNED;
    fdl_ref_list_clear(&pointers);
    return code;
}

/* Lists the versions, again if need be. */
static fdl_code list_versions(gc *g, fdl_error *error) {
    fdl_inventory_clear(&g->inventory);
    fdl_code code = fdl_inventory_read(g->repo, &g->inventory, error);
    if (code == FDL_OK)
        code = fdl_inventory_records(&g->inventory, error);
    if (code == FDL_OK)
        code = fdl_inventory_bare(&g->inventory, error);
    if (code == FDL_OK && g->options->prune_unreachable)
        code = mark_pruned(g, error);
    return code;
}

/* Reads what the live ones need, of those that were not read before. */
static fdl_code need_versions(gc *g, fdl_error *error) {
    fdl_code code = FDL_OK;
    g->result->versions = 0;
    for (size_t i = 0; code == FDL_OK && i < g->inventory.count; i++) {
        const fdl_stored *stored = &g->inventory.items[i];
        if (!fdl_stored_is_live(stored) || (stored->flags & PRUNED))
            continue;
        g->result->versions++;
        if (stored->marked)
            fdl_note(fdl_repo_context(g->repo), FDL_NOTE_WARNING,
                     "version '%s' is marked as gone and still has its catalog, so its files stay: run the expire or "
                     "withdraw again that was stopped",
                     stored->id);
        code = need_version(g, stored, error);
    }
    return code;
}

static fdl_code spare_listed(void *data, const fdl_listed_file *file, fdl_error *error) {
    return fdl_fileset_add(&((gc *)data)->spared, file->path, error);
}

/* The grace of a file runs from the end of the last version that named it, too. */
static fdl_code spare_expired(gc *g, fdl_error *error) {
    if (g->options->grace_ms == 0)
        return FDL_OK;
    fdl_code code = fdl_inventory_markers(&g->inventory, error);
    for (size_t i = 0; code == FDL_OK && i < g->inventory.count; i++) {
        const fdl_stored *stored = &g->inventory.items[i];
        int64_t expired_ms = 0;
        bool known = true;
        if (stored->record_ms == 0 || !stored->expiry.expired || stored->has_catalog ||
            fdl_expiry_is_withdrawn(&stored->expiry))
            continue;
        fdl_time_parse(stored->expiry.expired_at, &expired_ms);
        if (is_past_grace(g, expired_ms))
            continue;
        code = fdl_expired_files(g->repo, &stored->version, spare_listed, g, &known, error);
        if (!known && stored->record_ms > g->unknown_ms)
            g->unknown_ms = stored->record_ms;
    }
    return code;
}

/* ---- 2: what is not ---------------------------------------------------------------------- */

static fdl_code judge_file(void *data, const fdl_entry *entry, fdl_error *error) {
    gc *g = data;
    const fdl_object *object = &entry->object;
    const char *path = entry->key + strlen(g->config->data_dir);
    fdl_deletion deletion = {.key = entry->key, .bytes = object->size_bytes};
    if (g->by_index && fdl_plan_count(g->result->plan) > 0) /* there is something to delete: all of this is done again */
        return FDL_OK;
    if (fdl_fileset_has(&g->needed, path)) {
        g->result->needed_files++;
        return FDL_OK;
    }
    if (!fdl_str_ends(entry->key, ".parquet") && !fdl_str_ends(entry->key, ".puffin"))
        return fdl_plan_add(g->result->left, FDL_DELETE_NOTHING, &deletion, error);
    bool spared = (g->unknown_ms != 0 && object->modified_ms <= g->unknown_ms) || fdl_fileset_has(&g->spared, path);
    if (is_past_grace(g, object->modified_ms) && !spared)
        return fdl_plan_add(g->result->plan, FDL_DELETE_DATA, &deletion, error);
    g->result->young_files++;
    g->result->young_bytes += object->size_bytes;
    return FDL_OK;
}

typedef struct only_needed {
    gc *g;
    uint64_t count;
    bool other; /* there is a file that is not */
} only_needed;

static fdl_code count_needed(void *data, const fdl_entry *entry, fdl_error *error) {
    only_needed *found = data;
    (void)error;
    found->other = !fdl_fileset_has(&found->g->needed, entry->key + strlen(found->g->config->data_dir));
    found->count++;
    return found->other ? FDL_FAILED : FDL_OK;
}

/*
 * On most days every file is needed, which names alone tell, and a folder lists those in half the time: so it is
 * tried first where a second listing costs no requests.
 */
static fdl_code judge_data(gc *g, fdl_error *error) {
    only_needed found = {.g = g};
    fdl_code code = FDL_OK;
    if (!g->by_index || !g->store->local)
        return fdl_store_list(g->store, g->config->data_dir, FDL_ALL_LEVELS, judge_file, g, error);
    code = fdl_store_list(g->store, g->config->data_dir, FDL_ALL_NAMES, count_needed, &found, error);
    if (found.other)
        return fdl_store_list(g->store, g->config->data_dir, FDL_ALL_LEVELS, judge_file, g, error);
    g->result->needed_files = found.count;
    return code;
}

/* The folder of a push that was stopped, or of a version that is to be forgotten. */
static bool is_rubbish(const gc *g, const fdl_stored *stored) {
    return stored->record_ms == 0 ? is_past_grace(g, stored->newest_ms) : (stored->flags & PRUNED) != 0;
}

static fdl_code plan_folder(gc *g, const fdl_stored *stored, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < stored->file_count; i++) {
        char key[FDL_KEY_BYTES];
        const fdl_stored_file *file = &stored->files[i];
        fdl_deletion deletion = {.key = key, .bytes = file->bytes, .version = stored->id};
        bool record = strcmp(file->name, FDL_FILE_VERSION) == 0;
        code = fdl_key_version(key, stored->id, file->name, error);
        if (code == FDL_OK)
            code = fdl_plan_add(g->result->plan, record ? FDL_DELETE_RECORD : FDL_DELETE_LEFTOVER, &deletion, error);
    }
    return code;
}

static fdl_code plan(gc *g, fdl_error *error) {
    fdl_code code = fdl_plan_open(g->repo, FDL_DELETE_DATA | FDL_DELETE_RECORD | FDL_DELETE_LEFTOVER, &g->result->plan,
                                  error);
    if (code == FDL_OK)
        code = fdl_plan_open(g->repo, FDL_DELETE_NOTHING, &g->result->left, error);
    if (code == FDL_OK)
        code = judge_data(g, error);
    for (size_t i = 0; code == FDL_OK && i < g->inventory.count; i++)
        if (is_rubbish(g, &g->inventory.items[i]))
            code = plan_folder(g, &g->inventory.items[i], error);
    return code;
}

static fdl_code plan_again(gc *g, fdl_error *error) {
    g->by_index = false;
    fdl_map_clear(&g->read);
    fdl_fileset_clear(&g->needed);
    fdl_gc_result_clear(g->result);
    fdl_code code = need_versions(g, error);
    return code == FDL_OK ? plan(g, error) : code;
}

/* ---- 3 and 4: look again, and delete -------------------------------------------------------- */

static bool still_goes(void *data, const fdl_deletion *deletion) {
    gc *g = data;
    if (!*deletion->version)
        return !fdl_fileset_has(&g->needed, deletion->key + strlen(g->config->data_dir));
    const fdl_stored *stored = fdl_inventory_find(&g->inventory, deletion->version);
    return stored && is_rubbish(g, stored);
}

/* A version that is to be forgotten loses its record first: stopped after that, it is a folder for the next gc. */
static fdl_code carry_out(gc *g, fdl_error *error) {
    fdl_plan_options records = {.kinds = FDL_DELETE_RECORD, .confirm = still_goes, .data = g};
    fdl_plan_options rest = {.kinds = FDL_DELETE_LEFTOVER | FDL_DELETE_DATA, .confirm = still_goes, .data = g};
    if (fdl_plan_count(g->result->plan) == 0)
        return FDL_OK;
    fdl_code code = list_versions(g, error);
    if (code == FDL_OK)
        code = need_versions(g, error);
    if (code == FDL_OK)
        code = fdl_plan_run(g->result->plan, &records, error);
    if (code == FDL_OK)
        code = fdl_plan_run(g->result->plan, &rest, error);
    return code;
}

/* ---- the verb ---------------------------------------------------------------------------------- */

fdl_code fdl_gc(fdl_repo *repo, const fdl_gc_options *options, fdl_gc_result *out, fdl_error *error) {
    static const fdl_gc_options usual = {.grace_ms = FDL_GRACE_MS};
    options = options ? options : &usual;
    gc g = {.repo = repo, .store = fdl_repo_store(repo), .options = options, .result = out, .by_index = true};
    memset(out, 0, sizeof *out);
    if (options->grace_ms < 0)
        return fdl_fail(error, FDL_USAGE, NULL, "the grace must be 0 or more");
    fdl_code code = fdl_repo_config(repo, &g.config, error);
    if (code == FDL_OK)
        code = fdl_store_clock(g.store, &g.now_ms, error);
    if (code == FDL_OK)
        code = fdl_scratch_make(&g.scratch, error);
    if (code == FDL_OK)
        code = list_versions(&g, error);
    if (code == FDL_OK)
        code = need_versions(&g, error);
    if (code == FDL_OK)
        code = spare_expired(&g, error);
    if (code == FDL_OK)
        code = plan(&g, error);
    if (code == FDL_OK && fdl_plan_count(out->plan) > 0)
        code = plan_again(&g, error);
    if (code == FDL_OK && !options->dry_run)
        code = carry_out(&g, error);
    if (code != FDL_OK)
        fdl_gc_result_clear(out);
    fdl_inventory_clear(&g.inventory);
    fdl_map_clear(&g.read);
    fdl_fileset_clear(&g.needed);
    fdl_fileset_clear(&g.spared);
    fdl_scratch_remove(g.scratch);
    return code;
}
