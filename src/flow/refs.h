/* refs.h - making a ref beside an expire that may be running. */
#ifndef FDL_FLOW_REFS_H
#define FDL_FLOW_REFS_H

#include "fdl/repo.h"

/*
 * Creates a ref, and takes it back when the version expired at this moment
 * (FDL_EXPIRED).  FDL_CONFLICT as fdl_ref_write; refs.json is left to the caller.
 */
fdl_code fdl_ref_make(fdl_repo *repo, const char *full_name, const char *id, fdl_error *error);

#endif
