/*
 * catalog_get.h - a version's catalog as a file of this machine.
 */
#ifndef FDL_FLOW_CATALOG_GET_H
#define FDL_FLOW_CATALOG_GET_H

#include "fdl/repo.h"

/*
 * Fetches the main catalog to a new file and proves it against version.json;
 * packed where the store is remote and has it so.  A packed one that is damaged
 * is told as a warning, and the catalog itself taken.
 */
fdl_code fdl_catalog_download(fdl_repo *repo, const fdl_version *version, const char *path, fdl_error *error);

/* The same, telling whoever watches (context->progress) how far it is. */
fdl_code fdl_catalog_download_watched(fdl_repo *repo, const fdl_version *version, const char *path, fdl_error *error);

/* The same for who wants the packed file too: whether it is worth asking for. */
fdl_code fdl_catalog_download_mirrored(fdl_repo *repo, const fdl_version *version, const char *path, bool *packed,
                                       fdl_error *error);

/* One of `catalogs`, plain. */
fdl_code fdl_catalog_download_other(fdl_repo *repo, const fdl_version *version, const fdl_file_record *file,
                                    const char *path, fdl_error *error);

#endif
