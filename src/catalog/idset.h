/*
 * idset.h - a set of ids: which tables live, which files are kept.
 *
 * Open addressing over a power of two, at most half full.  Asked a million
 * times in a row about neighbouring ids, so it remembers its last answer.
 */
#ifndef FDL_CATALOG_IDSET_H
#define FDL_CATALOG_IDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fdl/error.h"

/* Zeroed is empty. */
typedef struct fdl_idset {
    int64_t *slots;
    uint8_t *used;
    size_t slot_count; /* a power of two, or 0 */
    size_t count;
    int64_t last_id;
    bool last_answer;
    bool asked;
} fdl_idset;

/* `*is_new` (may be NULL) tells whether it was not there yet. */
fdl_code fdl_idset_add(fdl_idset *set, int64_t id, bool *is_new, fdl_error *error);
bool fdl_idset_has(fdl_idset *set, int64_t id);
void fdl_idset_clear(fdl_idset *set);

#endif
