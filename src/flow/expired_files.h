/*
 * expired_files.h - which data files an expired version named, as far as that is
 * still known: its catalog is gone, but its files.json may be there.
 */
#ifndef FDL_FLOW_EXPIRED_FILES_H
#define FDL_FLOW_EXPIRED_FILES_H

#include <stdbool.h>

#include "fdl/repo.h"

/* A path under the data folder; lives until the callback returns. */
typedef fdl_code (*fdl_path_callback)(void *data, const char *path, fdl_error *error);

/*
 * Tells each file that files.json lists.  `*known` is false when there is none,
 * or it is not what version.json says, or it makes no sense.
 */
fdl_code fdl_expired_files(fdl_repo *repo, const fdl_version *version, fdl_path_callback callback, void *data,
                           bool *known, fdl_error *error);

#endif
