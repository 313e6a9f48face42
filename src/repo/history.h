/*
 * history.h - steps back in a history, safe to repeat, and ids found by their
 * first characters.
 *
 * A stranger's repository may lie: a parent may be missing, or be a descendant.
 * Numbers must fall with each step, so every walk made of this step ends.
 */
#ifndef FDL_REPO_HISTORY_H
#define FDL_REPO_HISTORY_H

#include <stdbool.h>

#include "fdl/repo.h"

/*
 * Reads the parent of `child`, which has one (child->parent is not "").
 * FDL_FAILED, naming both: its record is missing, or its seq is not below the
 * child's.  `out` may be `child` itself, which is then replaced.
 */
fdl_code fdl_parent_read(fdl_repo *repo, fdl_version *child, fdl_version *out, fdl_error *error);

/*
 * Whether the version `id`, whose number is `seq`, is `tip` or an ancestor of
 * it.  Reads the records above `seq`, at most 100,000 of them.
 */
fdl_code fdl_history_has(fdl_repo *repo, const char *tip, const char *id, int64_t seq, bool *found, fdl_error *error);

/* Whether one of the refs holds `version` or a descendant of it.  Reads what is above it from each. */
fdl_code fdl_refs_reach(fdl_repo *repo, const fdl_ref_list *refs, const fdl_version *version, bool *reached,
                        fdl_error *error);

/* Whether `text` is a version id, or the first 8 characters or more of one. */
bool fdl_id_prefix_valid(const char *text);

/*
 * The one version whose id starts with `prefix` (checked by the above).
 * FDL_NOT_FOUND: none; FDL_USAGE: several, some of which are named.
 */
fdl_code fdl_id_complete(fdl_repo *repo, const char *prefix, char out[FDL_ID_BYTES], fdl_error *error);

#endif
