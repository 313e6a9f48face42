/* ahead.c - see ahead.h. */
#include "flow/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "fdl/store.h"
#include "flow/ahead_hints.h"
#include "repo/layout.h"
#include "util/ident.h"
#include "util/parallel.h"
#include "util/text.h"

#define WINDOW 256
#define JOBS 32         /* small reads side by side: it is the waiting that costs, not the bytes; of a folder it is the work */
#define LISTING_PAYS 40 /* versions; a listing of all is a page for every 200 or so */

typedef struct listed {
    char id[FDL_ID_BYTES];
    bool marked; /* has an expired.json, or may have */
} listed;

typedef fdl_ahead_slot slot;

struct fdl_ahead {
    fdl_repo *repo;
    listed *listed; /* by id */
    size_t listed_count;
    size_t window; /* versions read ahead at once, at most */
    size_t depth;  /* and now */
    slot slots[WINDOW];
    size_t slot_count;
    size_t taken; /* of them */
    fdl_ahead_hints *hints; /* where it is far away and there is no listing */
};

/* ---- what there is ----------------------------------------------------------- */

static fdl_code take_entry(void *data, const fdl_entry *entry, fdl_error *error) {
    fdl_ahead *ahead = data;
    char id[FDL_ID_BYTES];
    const char *rest = entry->key + strlen(FDL_KEY_VERSIONS);
    if (strlen(rest) < FDL_ID_BYTES || rest[FDL_ID_BYTES - 1] != '/')
        return FDL_OK;
    memcpy(id, rest, FDL_ID_BYTES - 1);
    id[FDL_ID_BYTES - 1] = '\0';
    /* Most stores tell a folder's files one after the other; none has to. */
    listed *last = ahead->listed_count > 0 ? &ahead->listed[ahead->listed_count - 1] : NULL;
    if (!last || strcmp(last->id, id) != 0) {
        fdl_code code = fdl_grow(&ahead->listed, ahead->listed_count, sizeof *ahead->listed, error);
        if (code != FDL_OK || !fdl_uuid_valid(id))
            return code;
        last = &ahead->listed[ahead->listed_count++];
        *last = (listed){.marked = false};
        memcpy(last->id, id, sizeof id);
    }
    last->marked |= entry->folder || strcmp(rest + FDL_ID_BYTES, FDL_FILE_EXPIRED) == 0;
    return FDL_OK;
}

static int by_id(const void *a, const void *b) {
    return strcmp(((const listed *)a)->id, ((const listed *)b)->id);
}

static void sort_out(fdl_ahead *ahead) {
    size_t kept = 0;
    if (ahead->listed_count > 0)
        qsort(ahead->listed, ahead->listed_count, sizeof *ahead->listed, by_id);
    for (size_t i = 0; i < ahead->listed_count; i++) {
        if (kept > 0 && strcmp(ahead->listed[kept - 1].id, ahead->listed[i].id) == 0)
            ahead->listed[kept - 1].marked |= ahead->listed[i].marked;
        else
            ahead->listed[kept++] = ahead->listed[i];
    }
    ahead->listed_count = kept;
}

static int jobs(const fdl_ahead *ahead) {
    int wanted = fdl_repo_context(ahead->repo)->jobs;
    if (wanted > 0)
        return wanted;
    return fdl_repo_store(ahead->repo)->local ? fdl_processors() : JOBS;
}

fdl_code fdl_ahead_open(fdl_repo *repo, size_t count, fdl_ahead **out, fdl_error *error) {
    fdl_ahead *ahead = NULL;
    const fdl_store *store = fdl_repo_store(repo);
    fdl_code code = fdl_alloc(&ahead, 1, sizeof *ahead, error);
    if (code != FDL_OK)
        return code;
    ahead->repo = repo;
    ahead->window = ahead->depth = count > 0 && count < WINDOW ? count : WINDOW;
    fdl_depth depth = store->local ? FDL_FOLDER_NAMES : FDL_ALL_LEVELS;
    if (store->can_list && (count == 0 || count >= LISTING_PAYS))
        code = fdl_store_list(fdl_repo_store(repo), FDL_KEY_VERSIONS, depth, take_entry, ahead, error);
    if (code == FDL_DENIED) { /* a public bucket that nobody may list is read as well without */
        ahead->listed_count = 0;
        code = FDL_OK;
    }
    sort_out(ahead);
    if (code == FDL_OK && !store->local && ahead->listed_count == 0)
        code = fdl_ahead_hints_open(repo, count, jobs(ahead), &ahead->hints, error);
    if (code == FDL_OK)
        *out = ahead;
    else
        fdl_ahead_free(ahead);
    return code;
}

static void slots_clear(fdl_ahead *ahead) {
    for (size_t i = 0; i < ahead->slot_count; i++)
        fdl_ahead_slot_clear(&ahead->slots[i]);
    memset(ahead->slots, 0, ahead->slot_count * sizeof *ahead->slots);
    ahead->slot_count = ahead->taken = 0;
}

void fdl_ahead_free(fdl_ahead *ahead) {
    if (!ahead)
        return;
    slots_clear(ahead);
    fdl_ahead_hints_free(ahead->hints);
    free(ahead->listed);
    free(ahead);
}

/* ---- reading ahead ------------------------------------------------------------- */

static fdl_code read_one(void *data, size_t index, fdl_error *error) {
    fdl_ahead *ahead = data;
    (void)error;
    fdl_ahead_slot_read(ahead->repo, &ahead->slots[index / FDL_AHEAD_FILES], index % FDL_AHEAD_FILES);
    return FDL_OK;
}

/* Ids need not follow the history: other branches lie between, and clocks run backwards.  What is passed by is not read on. */
static void adapt(fdl_ahead *ahead) {
    if (2 * ahead->taken >= ahead->slot_count)
        ahead->depth = 2 * ahead->depth < ahead->window ? 2 * ahead->depth : ahead->window;
    else
        ahead->depth = ahead->depth / 4 > 0 ? ahead->depth / 4 : 1;
}

static fdl_code fill(fdl_ahead *ahead, const char *id, fdl_error *error) {
    listed wanted = {.marked = false};
    memcpy(wanted.id, id, sizeof wanted.id);
    const listed *at =
        ahead->listed_count > 0 ? bsearch(&wanted, ahead->listed, ahead->listed_count, sizeof wanted, by_id) : NULL;
    size_t before = at ? (size_t)(at - ahead->listed) : 0; /* that many are older */
    adapt(ahead);
    slots_clear(ahead);
    do {
        slot *s = &ahead->slots[ahead->slot_count++];
        memcpy(s->id, at ? at->id : id, sizeof s->id);
        s->may_be_marked = at ? at->marked : true;
    } while (at && at-- > ahead->listed && ahead->slot_count <= before && ahead->slot_count < ahead->depth);
    return fdl_parallel(FDL_AHEAD_FILES * ahead->slot_count, jobs(ahead), read_one, ahead, error);
}

/* Mostly behind the last one that was taken. */
static slot *find(fdl_ahead *ahead, const char *id) {
    for (size_t i = 0; i < ahead->slot_count; i++) {
        slot *s = &ahead->slots[(ahead->taken + i) % ahead->slot_count];
        if (strcmp(s->id, id) == 0)
            return s;
    }
    return NULL;
}

static fdl_code find_listed(fdl_ahead *ahead, const char *id, slot **out, fdl_error *error) {
    fdl_code code = find(ahead, id) ? FDL_OK : fill(ahead, id, error);
    *out = code == FDL_OK ? find(ahead, id) : NULL;
    ahead->taken += *out ? 1 : 0;
    return code;
}

void fdl_ahead_start(fdl_ahead *ahead, const char *id) {
    if (ahead->hints)
        fdl_ahead_hints_start(ahead->hints, id);
}

fdl_code fdl_ahead_take(fdl_ahead *ahead, const char *id, int64_t seq, fdl_version *version, fdl_expiry *expiry,
                        fdl_error *error) {
    slot *s = NULL;
    fdl_code code = FDL_OK;
    if (ahead->hints)
        code = fdl_ahead_hints_find(ahead->hints, id, seq, &s, error);
    else if (ahead->listed_count > 0)
        code = find_listed(ahead, id, &s, error);
    if (s && s->has_version) {
        *version = s->version;
        s->version = (fdl_version){0};
        s->has_version = false;
    } else if (code == FDL_OK) {
        code = fdl_version_read(ahead->repo, id, version, error);
    }
    if (s && s->has_expiry) {
        *expiry = s->expiry;
        s->expiry = (fdl_expiry){0};
        s->has_expiry = false;
    } else if (code == FDL_OK) {
        code = fdl_expiry_read(ahead->repo, id, expiry, error);
    }
    return code;
}
