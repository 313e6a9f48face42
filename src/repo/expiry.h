/*
 * expiry.h - what a marker says of its version.
 */
#ifndef FDL_REPO_EXPIRY_H
#define FDL_REPO_EXPIRY_H

#include "fdl/repo.h"

/* Not merely past its time: its data must not be shown. */
bool fdl_expiry_is_withdrawn(const fdl_expiry *expiry);

#endif
