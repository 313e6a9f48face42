/*
 * kept.h - catalogs that `attach --local` keeps on this machine (attach_local.c).
 */
#ifndef FDL_FLOW_KEPT_H
#define FDL_FLOW_KEPT_H

#include "fdl/repo.h"

/*
 * Deletes what is kept of a version, as well as that can be done: for one that was
 * withdrawn, since a catalog tells the smallest and largest values of its tables.
 */
void fdl_kept_drop(const fdl_version *version);

#endif
