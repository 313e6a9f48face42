/* ahead_hints.c - see ahead_hints.h. */
#include "flow/ahead_hints.h"

#include <stdlib.h>
#include <string.h>

#include "repo/ancestors.h"
#include "util/ident.h"
#include "util/parallel.h"
#include "util/text.h"

#define WINDOW 256
#define ROUND_LIMIT 128 /* versions */
#define LATE_MS 900 /* a connection that found the server's queue full is asked for again after a second */
#define FEW_JOBS 6  /* as browsers keep to: the queue of the smallest servers holds as many */
#define FIRST INT64_MAX /* the number of who is read before all that is named */

/* ---- one version --------------------------------------------------------------- */

void fdl_ahead_slot_read(fdl_repo *repo, fdl_ahead_slot *slot, size_t file) {
    fdl_error unread;
    if (file == 0)
        slot->has_version = fdl_version_read(repo, slot->id, &slot->version, &unread) == FDL_OK;
    else
        slot->has_expiry = !slot->may_be_marked || fdl_expiry_read(repo, slot->id, &slot->expiry, &unread) == FDL_OK;
}

void fdl_ahead_slot_clear(fdl_ahead_slot *slot) {
    fdl_version_clear(&slot->version);
    fdl_expiry_clear(&slot->expiry);
}

/* ---- all that are kept ----------------------------------------------------------- */

struct fdl_ahead_hints {
    fdl_repo *repo;
    int jobs;
    int64_t quickest_ms; /* round */
    size_t left;   /* steps that the walk may still take */
    int64_t highest, lowest; /* numbers that the walk needs next, and may need soon */
    fdl_ahead_slot slots[WINDOW];
    size_t count;
    fdl_ahead_slot *round[ROUND_LIMIT];
    size_t round_count;
};

fdl_code fdl_ahead_hints_open(fdl_repo *repo, size_t count, int jobs, fdl_ahead_hints **out, fdl_error *error) {
    fdl_ahead_hints *hints = NULL;
    fdl_code code = fdl_alloc(&hints, 1, sizeof *hints, error);
    if (code != FDL_OK)
        return code;
    hints->repo = repo;
    hints->jobs = jobs;
    hints->quickest_ms = INT64_MAX;
    hints->left = count > 0 ? count - 1 : SIZE_MAX;
    hints->highest = hints->lowest = FIRST;
    *out = hints;
    return FDL_OK;
}

void fdl_ahead_hints_free(fdl_ahead_hints *hints) {
    for (size_t i = 0; hints && i < hints->count; i++)
        fdl_ahead_slot_clear(&hints->slots[i]);
    free(hints);
}

/* ---- what is named ----------------------------------------------------------- */

static fdl_ahead_slot *known(fdl_ahead_hints *hints, const char id[FDL_ID_BYTES]) {
    for (size_t i = 0; i < hints->count; i++)
        if (memcmp(hints->slots[i].id, id, FDL_ID_BYTES) == 0)
            return &hints->slots[i];
    return NULL;
}

/* Where all are taken, the lowest number makes room for a higher one, or there is none. */
static fdl_ahead_slot *room(fdl_ahead_hints *hints, int64_t seq) {
    fdl_ahead_slot *lowest = &hints->slots[0];
    if (hints->count < WINDOW)
        return &hints->slots[hints->count++];
    for (size_t i = 1; i < WINDOW; i++)
        if (hints->slots[i].seq < lowest->seq)
            lowest = &hints->slots[i];
    if (lowest->seq >= seq)
        return NULL;
    fdl_ahead_slot_clear(lowest);
    return lowest;
}

static void name(fdl_ahead_hints *hints, const char id[FDL_ID_BYTES], int64_t seq) {
    fdl_ahead_slot *slot = seq >= hints->lowest && !known(hints, id) ? room(hints, seq) : NULL;
    if (!slot)
        return;
    *slot = (fdl_ahead_slot){.seq = seq, .may_be_marked = true};
    memcpy(slot->id, id, sizeof slot->id);
}

void fdl_ahead_hints_start(fdl_ahead_hints *hints, const char id[FDL_ID_BYTES]) {
    name(hints, id, FIRST);
}

/* Who is named has a lower number than who names, so room is never made of the one that is looked at. */
static void name_ancestors(fdl_ahead_hints *hints, const fdl_version *version) {
    if (version->seq > hints->highest)
        return; /* it is not where it was said to be */
    if (version->parent[0])
        name(hints, version->parent, version->seq - 1);
    for (size_t i = 0; i < version->ancestors.count; i++)
        name(hints, version->ancestors.ids[i], fdl_ancestor_seq(version->seq, i));
}

/* ---- rounds ------------------------------------------------------------------ */

static fdl_code read_file(void *data, size_t index, fdl_error *error) {
    fdl_ahead_hints *hints = data;
    (void)error;
    fdl_ahead_slot_read(hints->repo, hints->round[index / FDL_AHEAD_FILES], index % FDL_AHEAD_FILES);
    return FDL_OK;
}

static fdl_ahead_slot *highest(fdl_ahead_hints *hints) {
    fdl_ahead_slot *best = NULL;
    for (size_t i = 0; i < hints->count; i++)
        if (!hints->slots[i].asked && (!best || hints->slots[i].seq > best->seq))
            best = &hints->slots[i];
    return best;
}

/* A server that lets some of a round wait for a second gets fewer at once from then on. */
static void adapt(fdl_ahead_hints *hints, int64_t took_ms) {
    if (took_ms < hints->quickest_ms)
        hints->quickest_ms = took_ms;
    if (took_ms - hints->quickest_ms >= LATE_MS && hints->jobs > FEW_JOBS)
        hints->jobs = hints->jobs / 2 > FEW_JOBS ? hints->jobs / 2 : FEW_JOBS;
}

static fdl_code read_round(fdl_ahead_hints *hints, fdl_ahead_slot *first, fdl_error *error) {
    size_t width = (size_t)hints->jobs / FDL_AHEAD_FILES;
    hints->round_count = 0;
    for (fdl_ahead_slot *next = first; next; next = highest(hints)) {
        next->asked = true;
        hints->round[hints->round_count++] = next;
        if (hints->round_count >= width || hints->round_count == ROUND_LIMIT)
            break;
    }
    int64_t began_ms = fdl_steady_ms();
    fdl_code code = fdl_parallel(FDL_AHEAD_FILES * hints->round_count, hints->jobs, read_file, hints, error);
    adapt(hints, fdl_steady_ms() - began_ms);
    for (size_t i = 0; i < hints->round_count; i++)
        if (hints->round[i]->has_version)
            hints->round[i]->seq = hints->round[i]->version.seq;
    for (size_t i = 0; i < hints->round_count; i++)
        if (hints->round[i]->has_version)
            name_ancestors(hints, &hints->round[i]->version);
    return code;
}

static void forget_what_lies_above(fdl_ahead_hints *hints) {
    for (size_t i = hints->count; i-- > 0;) {
        if (hints->slots[i].seq <= hints->highest)
            continue;
        fdl_ahead_slot_clear(&hints->slots[i]);
        hints->slots[i] = hints->slots[--hints->count];
    }
}

fdl_code fdl_ahead_hints_find(fdl_ahead_hints *hints, const char id[FDL_ID_BYTES], int64_t seq, fdl_ahead_slot **out,
                              fdl_error *error) {
    if (seq > 0) {
        size_t window = hints->left < WINDOW ? hints->left : WINDOW;
        hints->highest = seq;
        hints->lowest = seq - (int64_t)window + 1;
        hints->left -= hints->left > 0 ? 1 : 0;
    }
    fdl_ahead_slot *slot = known(hints, id);
    if (!slot || !slot->asked) {
        forget_what_lies_above(hints);
        name(hints, id, seq > 0 ? seq : FIRST);
        slot = known(hints, id);
    }
    fdl_code code = slot && !slot->asked ? read_round(hints, slot, error) : FDL_OK;
    *out = code == FDL_OK ? known(hints, id) : NULL;
    return code;
}
