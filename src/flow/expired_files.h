/*
 * expired_files.h - which data files an expired version named, as far as that is
 * still known: its catalog is gone, but its files.json may be there.
 */
#ifndef FDL_FLOW_EXPIRED_FILES_H
#define FDL_FLOW_EXPIRED_FILES_H

#include <stdbool.h>

#include "fdl/repo.h"

/* A data or delete file; strings live until the callback returns. */
typedef struct fdl_listed_file {
    const char *path; /* under the data folder */
    const char *schema;
    const char *table;
} fdl_listed_file;

typedef fdl_code (*fdl_listed_callback)(void *data, const fdl_listed_file *file, fdl_error *error);

/*
 * Tells each file that files.json lists.  `*known` is false when there is none,
 * or it is not what version.json says, or it makes no sense.
 */
fdl_code fdl_expired_files(fdl_repo *repo, const fdl_version *version, fdl_listed_callback callback, void *data,
                           bool *known, fdl_error *error);

/*
 * Writes the list of a version that has none, before its catalog goes.  A catalog
 * that cannot be read leaves none: that is noted, and costs a longer grace.
 */
fdl_code fdl_expired_files_leave(fdl_repo *repo, const char *scratch, const fdl_version *version, fdl_error *error);

#endif
