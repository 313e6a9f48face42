/* lookup.c - see lookup.h. */
#include "flow/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "util/parallel.h"
#include "util/text.h"

#define PAGE_ENTRIES 1000 /* of a listing; about what one request for an object costs */

/* Keys of one folder, next to each other in lookup.sorted. */
typedef struct group {
    size_t first;
    size_t count;
} group;

typedef struct lookup {
    fdl_store *store;
    const char *const *keys;
    uint64_t *sizes;
    size_t *sorted; /* places in keys, by key */
    group *groups;
    size_t group_count;
} lookup;

static const char *key_at(const lookup *l, size_t place) {
    return l->keys[l->sorted[place]];
}

/* ---- by listing --------------------------------------------------------------- */

typedef struct listing {
    const lookup *l;
    const group *g;
    size_t seen;
    bool too_long;
} listing;

static fdl_code take_entry(void *data, const fdl_entry *entry, fdl_error *error) {
    listing *list = data;
    size_t low = list->g->first, high = low + list->g->count;
    if (++list->seen > PAGE_ENTRIES * list->g->count) {
        list->too_long = true;
        return fdl_fail(error, FDL_FAILED, entry->key, "more names than it pays to list");
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(key_at(list->l, middle), entry->key);
        if (order == 0) {
            list->l->sizes[list->l->sorted[middle]] = entry->object.size_bytes;
            return FDL_OK;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return FDL_OK;
}

static fdl_code list_group(const lookup *l, const group *g, bool *too_long, fdl_error *error) {
    char *prefix = NULL;
    const char *first = key_at(l, g->first), *last = key_at(l, g->first + g->count - 1);
    listing list = {.l = l, .g = g};
    size_t common = 0;
    while (first[common] && first[common] == last[common])
        common++;
    while (common > 0 && ((unsigned char)first[common] & 0xc0) == 0x80) /* a prefix is text: no half characters */
        common--;
    fdl_code code = fdl_str_copy_n(&prefix, first, common, error);
    if (code == FDL_OK)
        code = fdl_store_list(l->store, prefix, FDL_ALL_LEVELS, take_entry, &list, error);
    free(prefix);
    *too_long = list.too_long;
    return list.too_long ? FDL_OK : code;
}

/* ---- one by one ----------------------------------------------------------------- */

static fdl_code ask(const lookup *l, size_t place, fdl_error *error) {
    uint64_t size = 0;
    fdl_code code = fdl_store_size(l->store, key_at(l, place), &size, error);
    l->sizes[l->sorted[place]] = code == FDL_OK ? size : FDL_MISSING;
    return code == FDL_NOT_FOUND ? FDL_OK : code;
}

static fdl_code look_group(void *data, size_t index, fdl_error *error) {
    const lookup *l = data;
    const group *g = &l->groups[index];
    bool singly = g->count == 1;
    fdl_code code = singly ? FDL_OK : list_group(l, g, &singly, error);
    for (size_t i = 0; code == FDL_OK && singly && i < g->count; i++)
        code = ask(l, g->first + i, error);
    return code;
}

/* ---- which ------------------------------------------------------------------------ */

static int by_key(const void *a, const void *b, void *data) {
    const char *const *keys = data;
    return strcmp(keys[*(const size_t *)a], keys[*(const size_t *)b]);
}

static bool same_folder(const char *a, const char *b) {
    const char *name = strrchr(a, '/');
    size_t folder = name ? (size_t)(name - a) + 1 : 0;
    return strncmp(a, b, folder) == 0 && !strchr(b + folder, '/');
}

/* Where a listing gains nothing, every key is a group of its own, so that they are asked for side by side. */
static void sort_out(lookup *l, size_t count) {
    bool lists = l->store->can_list && !l->store->local;
    for (size_t i = 0; i < count; i++) {
        l->sorted[i] = i;
        l->sizes[i] = FDL_MISSING;
    }
    if (count > 1 && lists)
        qsort_r(l->sorted, count, sizeof *l->sorted, by_key, (void *)(uintptr_t)l->keys);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !lists || !same_folder(key_at(l, i), key_at(l, i - 1)))
            l->groups[l->group_count++] = (group){.first = i};
        l->groups[l->group_count - 1].count++;
    }
}

fdl_code fdl_lookup(fdl_store *store, int jobs, const char *const *keys, size_t count, uint64_t *sizes,
                    fdl_error *error) {
    lookup l = {.store = store, .keys = keys, .sizes = sizes};
    if (count == 0)
        return FDL_OK;
    fdl_code code = fdl_alloc(&l.sorted, count, sizeof *l.sorted, error);
    if (code == FDL_OK)
        code = fdl_alloc(&l.groups, count, sizeof *l.groups, error);
    if (code == FDL_OK) {
        sort_out(&l, count);
        code = fdl_parallel(l.group_count, store->local ? 1 : jobs, look_group, &l, error);
    }
    free(l.groups);
    free(l.sorted);
    return code;
}
