/*
 * map.h - strings to numbers, ordered: the C library's balanced tree (tsearch)
 * with errors and ownership.  No input makes it slow.
 */
#ifndef FDL_UTIL_MAP_H
#define FDL_UTIL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fdl/error.h"

/* Zeroed is empty.  Copies its keys. */
typedef struct fdl_map {
    void *root;
    size_t count;
} fdl_map;

/* A key that is there gets the new value. */
fdl_code fdl_map_put(fdl_map *map, const char *key, uint64_t value, fdl_error *error);

/* `value` may be NULL.  May be called from several threads while nobody puts. */
bool fdl_map_get(const fdl_map *map, const char *key, uint64_t *value);

void fdl_map_clear(fdl_map *map);

#endif
