/*
 * keyset.h - which keys a store holds below a prefix, asked for as cheaply as
 * the store allows: one listing where it can list, else a look at each key.
 */
#ifndef FDL_FLOW_KEYSET_H
#define FDL_FLOW_KEYSET_H

#include <stdbool.h>
#include <stdint.h>

#include "fdl/store.h"
#include "util/map.h"

typedef struct fdl_keyset {
    fdl_store *store;
    bool listed;   /* false: each key is looked at when asked for */
    fdl_map sizes; /* of each key listed, in bytes */
} fdl_keyset;

fdl_code fdl_keyset_open(fdl_store *store, const char *prefix, fdl_keyset *out, fdl_error *error);
void fdl_keyset_clear(fdl_keyset *set);

/* Whether `key` was there; `size_bytes` may be NULL.  May be called from several threads at once. */
fdl_code fdl_keyset_has(const fdl_keyset *set, const char *key, bool *there, uint64_t *size_bytes, fdl_error *error);

/* A key written since the listing. */
fdl_code fdl_keyset_add(fdl_keyset *set, const char *key, uint64_t size_bytes, fdl_error *error);

#endif
