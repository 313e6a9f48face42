/*
 * expire.c - the time of old versions ends.
 *
 *   1 list versions, read their records and what points to them; choose
 *   2 expired.json for each that goes
 *   3 read the refs again: what one points to by now gets its marker taken back
 *   4 where a version has no list of its files, leave one; delete catalogs
 *
 * Who makes a ref looks for the marker after writing it (refs.c), so of the two
 * one sees the other: no ref is left on a version whose catalog goes.
 *
 * Stopped anywhere, the next run finds versions that are marked and have a
 * catalog, and finishes them.  Two runs at once can undo each other's step; so
 * whoever takes a marker back looks for the catalog afterwards, and whoever
 * deletes a catalog looks for the marker.
 */
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "flow/expired_files.h"
#include "flow/inventory.h"
#include "flow/plan.h"
#include "flow/pointers.h"
#include "flow/scratch.h"
#include "repo/expiry.h"
#include "repo/layout.h"
#include "util/ident.h"
#include "util/parallel.h"
#include "util/text.h"

/* What a walk found out about a version, in fdl_stored.flags. */
enum {
    REACHED = 1 << 0,   /* in the history that this run is about */
    PROTECTED = 1 << 1, /* one of the newest of a branch */
    POINTED = 1 << 2,   /* a ref, or a push that waits, points to it */
    MARKED = 1 << 3     /* this run wrote its marker */
};

typedef struct expire {
    fdl_repo *repo;
    fdl_store *store;
    const fdl_expire_options *options;
    fdl_inventory inventory;
    int64_t now_ms;
    char *scratch;
    fdl_expire_result *result;
} expire;

void fdl_expire_result_clear(fdl_expire_result *result) {
    free(result->items);
    fdl_plan_free(result->plan);
    memset(result, 0, sizeof *result);
}

static fdl_stored *stored_of(const expire *e, const fdl_expire_item *item) {
    return fdl_inventory_find(&e->inventory, item->id);
}

/* ---- 1: choose ---------------------------------------------------------------------- */

static bool is_our_branch(const expire *e, const char *ref) {
    const char *wanted = e->options->branch;
    return !wanted || (fdl_str_starts(ref, FDL_REF_HEADS) && strcmp(ref + strlen(FDL_REF_HEADS), wanted) == 0);
}

/*
 * Back from what a ref points to.  Where this run is about its history, to the
 * first version, or to one that another walk has been to; else only as far as
 * versions are protected.
 */
static fdl_code walk(expire *e, const fdl_ref *ref, fdl_error *error) {
    bool branch = fdl_str_starts(ref->name, FDL_REF_HEADS), ours = is_our_branch(e, ref->name);
    char id[FDL_ID_BYTES];
    int64_t seq = INT64_MAX;
    memcpy(id, ref->id, sizeof id);
    for (int64_t depth = 0; id[0]; depth++) {
        int64_t place = -1;
        bool protected = branch && depth < e->options->keep;
        fdl_code code = fdl_inventory_record(&e->inventory, id, &place, error);
        if (code != FDL_OK || place < 0)
            return code; /* a history that breaks off ends here */
        fdl_stored *stored = &e->inventory.items[place];
        if (!protected && depth > 0 && (!ours || (stored->flags & REACHED)))
            return FDL_OK;
        if (stored->version.seq >= seq)
            return fdl_fail(error, FDL_FAILED, id, "version '%s' is its own descendant", id);
        seq = stored->version.seq;
        stored->flags |= (ours ? REACHED : 0) | (protected ? PROTECTED : 0) | (depth == 0 ? POINTED : 0);
        memcpy(id, stored->version.parent, sizeof id);
    }
    return FDL_OK;
}

/* Reads what points where, and marks every version with what that means for it. */
static fdl_code survey(expire *e, fdl_error *error) {
    fdl_ref_list pointers = {0};
    bool found = !e->options->branch;
    fdl_code code = fdl_pointers_read(e->repo, &pointers, error);
    for (size_t i = 0; i < e->inventory.count; i++)
        e->inventory.items[i].flags &= MARKED;
    for (size_t i = 0; code == FDL_OK && i < pointers.count; i++) {
        found = found || is_our_branch(e, pointers.items[i].name);
        code = walk(e, &pointers.items[i], error);
    }
    if (code == FDL_OK && !found)
        code = fdl_fail(error, FDL_NOT_FOUND, e->options->branch, "no branch '%s' in '%s'", e->options->branch,
                        fdl_repo_address(e->repo));
    fdl_ref_list_clear(&pointers);
    return code;
}

static bool is_old(const expire *e, const fdl_stored *stored) {
    int64_t made_ms = 0;
    if (e->options->before_ms == 0)
        return true;
    return fdl_time_parse(stored->version.created_at, &made_ms) && made_ms < e->options->before_ms;
}

static fdl_code add_item(expire *e, const fdl_stored *stored, fdl_expire_outcome outcome, fdl_error *error) {
    fdl_expire_result *result = e->result;
    fdl_code code = fdl_grow(&result->items, result->count, sizeof *result->items, error);
    if (code != FDL_OK)
        return code;
    fdl_expire_item *item = &result->items[result->count++];
    *item = (fdl_expire_item){.seq = stored->version.seq, .outcome = outcome};
    memcpy(item->id, stored->id, sizeof item->id);
    memcpy(item->created_at, stored->version.created_at, sizeof item->created_at);
    return FDL_OK;
}

/* What an earlier run had marked and not finished, unless a ref has come to point to it. */
static fdl_code choose_unfinished(expire *e, fdl_stored *stored, fdl_error *error) {
    fdl_code code = fdl_expiry_read(e->repo, stored->id, &stored->expiry, error);
    if (code != FDL_OK || !stored->expiry.expired)
        return code;
    if (fdl_expiry_is_withdrawn(&stored->expiry)) {
        fdl_note(fdl_repo_context(e->repo), FDL_NOTE_WARNING,
                 "the withdrawal of version '%s' was stopped; run it again with 'fdl withdraw %s %s'", stored->id,
                 fdl_repo_address(e->repo), stored->id);
        return FDL_OK;
    }
    return add_item(e, stored, stored->flags & POINTED ? FDL_OUTCOME_KEPT : FDL_OUTCOME_FINISHED, error);
}

static int by_seq(const void *a, const void *b) {
    const fdl_expire_item *left = a, *right = b;
    return left->seq != right->seq ? (left->seq < right->seq ? -1 : 1) : strcmp(left->id, right->id);
}

static fdl_code choose(expire *e, fdl_error *error) {
    fdl_code code = fdl_inventory_read(e->repo, &e->inventory, error);
    if (code == FDL_OK)
        code = fdl_inventory_records(&e->inventory, error);
    if (code == FDL_OK)
        code = fdl_inventory_bare(&e->inventory, error);
    if (code == FDL_OK)
        code = survey(e, error);
    for (size_t i = 0; code == FDL_OK && i < e->inventory.count; i++) {
        fdl_stored *stored = &e->inventory.items[i];
        bool goes = (stored->flags & (REACHED | PROTECTED | POINTED)) == REACHED && is_old(e, stored);
        if (stored->record_ms != 0 && stored->marked && stored->has_catalog)
            code = choose_unfinished(e, stored, error);
        else if (stored->record_ms != 0 && !stored->marked && !stored->bare && goes)
            code = add_item(e, stored, FDL_OUTCOME_EXPIRED, error);
    }
    if (code == FDL_OK && e->result->count > 1)
        qsort(e->result->items, e->result->count, sizeof *e->result->items, by_seq);
    return code;
}

/* ---- 2: mark ------------------------------------------------------------------------- */

static fdl_code mark(void *data, size_t index, fdl_error *error) {
    const expire *e = data;
    const fdl_expire_item *item = &e->result->items[index];
    bool written = false;
    if (item->outcome != FDL_OUTCOME_EXPIRED)
        return FDL_OK;
    fdl_code code = fdl_expiry_write(e->repo, item->id, FDL_REASON_RETENTION, e->now_ms, NULL, &written, error);
    if (code == FDL_OK && written)
        stored_of(e, item)->flags |= MARKED;
    return code;
}

static int jobs(const expire *e) {
    return e->store->local ? 1 : fdl_repo_context(e->repo)->jobs;
}

/* ---- 3: look again --------------------------------------------------------------------- */

static fdl_code has_catalog(const expire *e, const fdl_version *version, bool *there, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    uint64_t size = 0;
    fdl_code code = fdl_key_version(key, version->id, version->catalog.file.path, error);
    if (code == FDL_OK)
        code = fdl_store_size(e->store, key, &size, error);
    *there = code == FDL_OK;
    return code == FDL_NOT_FOUND ? FDL_OK : code;
}

/* Another run may have deleted the catalog at this moment; then the marker must stand. */
static fdl_code take_back(const expire *e, const fdl_stored *stored, fdl_error *error) {
    bool there = false;
    fdl_code code = fdl_expiry_take_back(e->repo, stored->id, error);
    if (code == FDL_OK)
        code = has_catalog(e, &stored->version, &there, error);
    if (code == FDL_OK && !there)
        code = fdl_expiry_write(e->repo, stored->id, FDL_REASON_RETENTION, e->now_ms, NULL, NULL, error);
    return code;
}

/* Whoever else marked a version just now will also finish it. */
static void leave_to_others(expire *e) {
    size_t kept = 0;
    for (size_t i = 0; i < e->result->count; i++) {
        fdl_expire_item *item = &e->result->items[i];
        if (item->outcome != FDL_OUTCOME_EXPIRED || (stored_of(e, item)->flags & MARKED))
            e->result->items[kept++] = *item;
    }
    e->result->count = kept;
}

/* Only our own markers go because a branch protects the version; an earlier run's, only because a ref points to it. */
static fdl_code look_again(expire *e, fdl_error *error) {
    leave_to_others(e);
    fdl_code code = survey(e, error);
    for (size_t i = 0; code == FDL_OK && i < e->result->count; i++) {
        fdl_expire_item *item = &e->result->items[i];
        const fdl_stored *stored = stored_of(e, item);
        if ((stored->flags & POINTED) || ((stored->flags & PROTECTED) && (stored->flags & MARKED)))
            item->outcome = FDL_OUTCOME_KEPT;
        if (item->outcome == FDL_OUTCOME_KEPT)
            code = take_back(e, stored, error);
    }
    return code;
}

/* ---- 4: delete --------------------------------------------------------------------------- */

static bool is_catalog(const fdl_version *version, const char *name) {
    if (strcmp(name, version->catalog.file.path) == 0 || strcmp(name, FDL_FILE_CATALOG) == 0 ||
        fdl_str_starts(name, FDL_FOLDER_CATALOGS "/") || (version->packed.path && strcmp(name, version->packed.path) == 0))
        return true;
    for (size_t i = 0; i < version->other_count; i++)
        if (strcmp(name, version->others[i].file.path) == 0)
            return true;
    return false;
}

static fdl_code plan_version(expire *e, const fdl_stored *stored, fdl_error *error) {
    const fdl_version *version = &stored->version;
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < stored->file_count; i++) {
        char key[FDL_KEY_BYTES];
        const fdl_stored_file *file = &stored->files[i];
        if (!is_catalog(version, file->name))
            continue;
        bool main = strcmp(file->name, version->catalog.file.path) == 0;
        fdl_deletion deletion = {.key = key,
                                 .bytes = file->bytes,
                                 .version = stored->id,
                                 .sha256 = main ? version->catalog.file.sha256 : ""};
        code = fdl_key_version(key, stored->id, file->name, error);
        if (code == FDL_OK)
            code = fdl_plan_add(e->result->plan, FDL_DELETE_CONTENT, &deletion, error);
    }
    return code;
}

/* So that gc and withdraw know later which files it named. */
static fdl_code leave_list(const expire *e, const fdl_stored *stored, fdl_error *error) {
    bool has_list = stored->version.files.path || fdl_stored_find(stored, FDL_FILE_FILES);
    return has_list || !stored->has_catalog ? FDL_OK : fdl_expired_files_leave(e->repo, e->scratch, &stored->version, error);
}

static fdl_code leave_lists(const expire *e, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < e->result->count; i++)
        if (e->result->items[i].outcome != FDL_OUTCOME_KEPT)
            code = leave_list(e, stored_of(e, &e->result->items[i]), error);
    return code;
}

static fdl_code plan(expire *e, fdl_error *error) {
    fdl_code code = fdl_plan_open(e->repo, FDL_DELETE_CONTENT, &e->result->plan, error);
    for (size_t i = 0; code == FDL_OK && i < e->result->count; i++)
        if (e->result->items[i].outcome != FDL_OUTCOME_KEPT)
            code = plan_version(e, stored_of(e, &e->result->items[i]), error);
    return code;
}

/* A run beside us may have taken a marker back before the catalog went. */
static fdl_code look_for_markers(expire *e, fdl_error *error) {
    fdl_inventory after = {0};
    fdl_code code = fdl_inventory_read(e->repo, &after, error);
    for (size_t i = 0; code == FDL_OK && i < e->result->count; i++) {
        const fdl_expire_item *item = &e->result->items[i];
        const fdl_stored *stored = fdl_inventory_find(&after, item->id);
        if (item->outcome != FDL_OUTCOME_KEPT && stored && stored->record_ms && !stored->marked && !stored->has_catalog)
            code = fdl_expiry_write(e->repo, item->id, FDL_REASON_RETENTION, e->now_ms, NULL, NULL, error);
    }
    fdl_inventory_clear(&after);
    return code;
}

/* ---- the verb ------------------------------------------------------------------------------ */

static fdl_code check_options(const fdl_expire_options *options, fdl_error *error) {
    if (!options) /* nobody's default */
        return fdl_fail(error, FDL_USAGE, NULL, "say how many of the newest versions stay, with --keep");
    if (options->keep < 0)
        return fdl_fail(error, FDL_USAGE, NULL, "the number of versions to keep must be 0 or more");
    return options->branch ? fdl_ref_name_check(options->branch, error) : FDL_OK;
}

static fdl_code carry_out(expire *e, fdl_error *error) {
    fdl_plan_options run = {.kinds = FDL_DELETE_CONTENT};
    fdl_code code = fdl_store_clock(e->store, &e->now_ms, error);
    if (code == FDL_OK)
        code = fdl_parallel(e->result->count, jobs(e), mark, e, error);
    if (code == FDL_OK)
        code = look_again(e, error);
    if (code == FDL_OK)
        code = leave_lists(e, error);
    if (code == FDL_OK)
        code = plan(e, error);
    if (code == FDL_OK)
        code = fdl_plan_run(e->result->plan, &run, error);
    if (code == FDL_OK)
        code = look_for_markers(e, error);
    return code;
}

fdl_code fdl_expire(fdl_repo *repo, const fdl_expire_options *options, fdl_expire_result *out, fdl_error *error) {
    expire e = {.repo = repo, .store = fdl_repo_store(repo), .options = options, .result = out};
    const fdl_config *config = NULL;
    memset(out, 0, sizeof *out);
    fdl_code code = check_options(options, error);
    if (code == FDL_OK) /* before a listing that could be of anything */
        code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        code = fdl_scratch_make(&e.scratch, error);
    if (code == FDL_OK)
        code = choose(&e, error);
    if (code == FDL_OK && options->dry_run)
        code = plan(&e, error);
    else if (code == FDL_OK && out->count > 0)
        code = carry_out(&e, error);
    if (code != FDL_OK)
        fdl_expire_result_clear(out);
    fdl_inventory_clear(&e.inventory);
    fdl_scratch_remove(e.scratch);
    return code;
}
