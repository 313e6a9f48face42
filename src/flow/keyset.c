/*
 * keyset.c - one listing, sorted, or a look at each key.
 */
#include "flow/keyset.h"

#include <stdlib.h>
#include <string.h>

#include "util/text.h"

static int by_key(const void *a, const void *b) {
    return strcmp(((const fdl_keyset_entry *)a)->key, ((const fdl_keyset_entry *)b)->key);
}

static fdl_code add(void *data, const fdl_entry *entry, fdl_error *error) {
    fdl_keyset *set = data;
    fdl_code code = fdl_grow(&set->items, set->count, sizeof *set->items, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&set->items[set->count].key, entry->key, error);
    if (code == FDL_OK)
        set->items[set->count++].size_bytes = entry->object.size_bytes;
    return code;
}

fdl_code fdl_keyset_add(fdl_keyset *set, char *const *keys, size_t count, fdl_error *error) {
    fdl_code code = FDL_OK;
    if (!set->listed)
        return FDL_OK;
    for (size_t i = 0; i < count && code == FDL_OK; i++)
        code = add(set, &(fdl_entry){.key = keys[i], .object = {.size_bytes = FDL_KEYSET_WRITTEN}}, error);
    if (set->count > 1)
        qsort(set->items, set->count, sizeof *set->items, by_key);
    return code;
}

fdl_code fdl_keyset_open(fdl_store *store, const char *prefix, fdl_keyset *out, fdl_error *error) {
    fdl_keyset set = {.store = store, .listed = store->can_list && !store->local};
    fdl_code code = set.listed ? fdl_store_list(store, prefix, FDL_ALL_LEVELS, add, &set, error) : FDL_OK;
    if (code == FDL_OK && set.count > 1)
        qsort(set.items, set.count, sizeof *set.items, by_key);
    if (code == FDL_OK)
        *out = set;
    else
        fdl_keyset_clear(&set);
    return code;
}

void fdl_keyset_clear(fdl_keyset *set) {
    for (size_t i = 0; i < set->count; i++)
        free(set->items[i].key);
    free(set->items);
    memset(set, 0, sizeof *set);
}

fdl_code fdl_keyset_has(const fdl_keyset *set, const char *key, bool *there, uint64_t *size_bytes, fdl_error *error) {
    fdl_object object = {0};
    if (!set->listed) {
        fdl_code code = fdl_store_head(set->store, key, &object, error);
        *there = code == FDL_OK;
        if (size_bytes)
            *size_bytes = object.size_bytes;
        return code == FDL_NOT_FOUND ? FDL_OK : code;
    }
    fdl_keyset_entry wanted = {.key = (char *)key};
    const fdl_keyset_entry *found =
        set->count ? bsearch(&wanted, set->items, set->count, sizeof *set->items, by_key) : NULL;
    *there = found != NULL;
    if (found && size_bytes)
        *size_bytes = found->size_bytes;
    return FDL_OK;
}
