/*
 * opened.h - the catalog of a published version, proved and opened.
 */
#ifndef FDL_FLOW_OPENED_H
#define FDL_FLOW_OPENED_H

#include "catalog/catalog.h"
#include "fdl/repo.h"

typedef struct fdl_opened {
    fdl_frozen *frozen;
    char *path;     /* of the catalog */
    bool temporary; /* a copy; else it is the catalog where it lies */
} fdl_opened;

/*
 * Fetches the catalog, or finds it in a folder, proves it against version.json
 * and opens it.  FDL_NOT_FOUND: it is missing.  FDL_FAILED: damaged.
 */
fdl_code fdl_opened_get(fdl_repo *repo, const char *scratch, const fdl_version *version, fdl_opened *out,
                        fdl_error *error);
void fdl_opened_clear(fdl_opened *opened);

/* The same for who only wants to know which files it names. */
fdl_code fdl_version_files(fdl_repo *repo, const char *scratch, const fdl_version *version,
                           fdl_data_file_callback callback, void *data, fdl_error *error);

#endif
