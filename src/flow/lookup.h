/*
 * lookup.h - how large certain objects are, asked in as few requests as the
 * store allows.
 *
 * Names of files that belong together begin alike, for they were made at one
 * time (DuckLake names them by UUIDv7).  So where asking costs a round trip,
 * those of one folder are listed by what their names have in common, a thousand
 * in a request; where that is so little that the listing would be longer than the
 * questions, each is asked for.
 */
#ifndef FDL_FLOW_LOOKUP_H
#define FDL_FLOW_LOOKUP_H

#include "fdl/store.h"

#define FDL_MISSING UINT64_MAX

/* Fills in the size of each object, FDL_MISSING for one that is not there.  `jobs` as for fdl_parallel. */
fdl_code fdl_lookup(fdl_store *store, int jobs, const char *const *keys, size_t count, uint64_t *sizes,
                    fdl_error *error);

#endif
