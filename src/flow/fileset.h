/*
 * fileset.h - a set of names, a million of them in 24 MB: only a fingerprint of
 * each is kept.
 *
 * Two names may share one, once in some 10^13 pairs.  Then the set says yes where
 * it should say no, and never the other way; so it may decide what is kept, and
 * must not decide what is deleted.
 */
#ifndef FDL_FLOW_FILESET_H
#define FDL_FLOW_FILESET_H

#include <stdbool.h>

#include "catalog/idset.h"

/* Zeroed is empty.  For one thread at a time, asking too. */
typedef struct fdl_fileset {
    fdl_idset prints;
} fdl_fileset;

fdl_code fdl_fileset_add(fdl_fileset *set, const char *name, fdl_error *error);
bool fdl_fileset_has(fdl_fileset *set, const char *name);
void fdl_fileset_clear(fdl_fileset *set);

#endif
