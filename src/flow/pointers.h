/*
 * pointers.h - everything that keeps a version: branches, tags, and the pushes
 * that wait for approval.
 */
#ifndef FDL_FLOW_POINTERS_H
#define FDL_FLOW_POINTERS_H

#include "fdl/repo.h"

/*
 * All of them, each with its full name ("refs/requests/7" too) and what it
 * points to.  Released with fdl_ref_list_clear.
 */
fdl_code fdl_pointers_read(fdl_repo *repo, fdl_ref_list *out, fdl_error *error);

/* The first that points to `id`, or NULL. */
const fdl_ref *fdl_pointers_find(const fdl_ref_list *pointers, const char *id);

#endif
