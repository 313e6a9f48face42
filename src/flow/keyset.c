/*
 * keyset.c - one listing, or a look at each key.
 */
#include "flow/keyset.h"

#include <string.h>

static fdl_code add(void *data, const fdl_entry *entry, fdl_error *error) {
    return fdl_map_put(data, entry->key, entry->object.size_bytes, error);
}

fdl_code fdl_keyset_open(fdl_store *store, const char *prefix, fdl_keyset *out, fdl_error *error) {
    fdl_keyset set = {.store = store, .listed = store->can_list && !store->local};
    fdl_code code = set.listed ? fdl_store_list(store, prefix, FDL_ALL_LEVELS, add, &set.sizes, error) : FDL_OK;
    if (code == FDL_OK)
        *out = set;
    else
        fdl_keyset_clear(&set);
    return code;
}

void fdl_keyset_clear(fdl_keyset *set) {
    fdl_map_clear(&set->sizes);
    memset(set, 0, sizeof *set);
}

fdl_code fdl_keyset_has(const fdl_keyset *set, const char *key, bool *there, uint64_t *size_bytes, fdl_error *error) {
    uint64_t size = 0;
    if (set->listed) {
        *there = fdl_map_get(&set->sizes, key, size_bytes);
        return FDL_OK;
    }
    fdl_code code = fdl_store_size(set->store, key, &size, error);
    *there = code == FDL_OK;
    if (size_bytes)
        *size_bytes = size;
    return code == FDL_NOT_FOUND ? FDL_OK : code;
}

fdl_code fdl_keyset_add(fdl_keyset *set, const char *key, uint64_t size_bytes, fdl_error *error) {
    return set->listed ? fdl_map_put(&set->sizes, key, size_bytes, error) : FDL_OK;
}
