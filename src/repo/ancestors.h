/*
 * ancestors.h - which of its ancestors a version names beyond its parent, so that a history can be read many records at once.
 *
 * Entry k, from 0 on, is the last ancestor whose seq 16^(k+1) divides, the parent included.  The parent's own record tells:
 * it is the parent, or the parent's entry k.  The list ends where there is none, or where the parent does not say.
 */
#ifndef FDL_REPO_ANCESTORS_H
#define FDL_REPO_ANCESTORS_H

#include <jansson.h>

#include "fdl/repo.h"

/* The seq of what a version with this one names as entry `index`; 0: it names none. */
int64_t fdl_ancestor_seq(int64_t seq, size_t index);

/* What a child of the version `id` names. */
void fdl_ancestors_of_child(const char *id, int64_t seq, const fdl_ancestors *parents_own, fdl_ancestors *out);

/* The optional field `ancestors` of the document `name`; FDL_FAILED when it is no list of ids, or a longer one. */
fdl_code fdl_ancestors_parse(const json_t *object, const char *name, fdl_ancestors *out, fdl_error *error);

/* Sets the field, unless the list is empty. */
fdl_code fdl_ancestors_set(json_t *object, const fdl_ancestors *ancestors, fdl_error *error);

#endif
