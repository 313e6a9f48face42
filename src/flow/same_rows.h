/*
 * same_rows.h - whether a version to be holds the same rows as its parent.
 */
#ifndef FDL_FLOW_SAME_ROWS_H
#define FDL_FLOW_SAME_ROWS_H

#include "flow/work.h"

/*
 * For two catalogs that differ, see fdl_frozen_same_rows.  `folder` is one of
 * this machine to build in; nothing is left there.  When it cannot be told, a
 * warning says why and `*same` is false.
 */
fdl_code fdl_same_rows(const fdl_work *work, fdl_repo *repo, const char *parent, const char *catalog,
                       const char *folder, bool *same, char **difference, fdl_error *error);

/* fdl_frozen_row_changes of two published versions, whose catalogs are files of this machine. */
fdl_code fdl_row_changes(fdl_repo *repo, const char *from, const char *to, const char *folder, int64_t limit,
                         fdl_row_change_callback callback, void *data, fdl_error *error);

#endif
