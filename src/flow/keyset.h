/*
 * keyset.h - which keys a store holds below a prefix, asked for as cheaply as
 * the store allows: one listing where it can list, else a look at each key.
 */
#ifndef FDL_FLOW_KEYSET_H
#define FDL_FLOW_KEYSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fdl/store.h"

typedef struct fdl_keyset_entry {
    char *key;
    uint64_t size_bytes;
} fdl_keyset_entry;

typedef struct fdl_keyset {
    fdl_store *store;
    bool listed;             /* false: each key is looked at when asked for */
    fdl_keyset_entry *items; /* sorted by key */
    size_t count;
} fdl_keyset;

fdl_code fdl_keyset_open(fdl_store *store, const char *prefix, fdl_keyset *out, fdl_error *error);
void fdl_keyset_clear(fdl_keyset *set);

/* Whether `key` was there; `size_bytes` may be NULL.  May be called from several threads at once. */
fdl_code fdl_keyset_has(const fdl_keyset *set, const char *key, bool *there, uint64_t *size_bytes, fdl_error *error);

/* The size of a key added after the listing. */
#define FDL_KEYSET_WRITTEN UINT64_MAX

/* Keys that have been written since, so that they are not written again.  From one thread. */
fdl_code fdl_keyset_add(fdl_keyset *set, char *const *keys, size_t count, fdl_error *error);

#endif
