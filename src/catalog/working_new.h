/*
 * working_new.h - a working catalog that is being made: it grows under a
 * temporary name and takes its own when it is whole and on the disk.
 */
#ifndef FDL_CATALOG_WORKING_NEW_H
#define FDL_CATALOG_WORKING_NEW_H

#include "catalog/catalog.h"
#include "catalog/sqlite_db.h"

typedef struct fdl_working_new {
    sqlite3 *db;
    char *temporary;
    const char *path;
} fdl_working_new;

/* FDL_CONFLICT when `path` exists.  All 28 tables are there, empty; some `bytes` are expected in them. */
fdl_code fdl_working_new_begin(const char *path, uint64_t bytes, fdl_working_new *out, fdl_error *error);

/* With `code` FDL_OK: protection, stamp, disk, name.  Else nothing is left, and `code` is returned. */
fdl_code fdl_working_new_end(fdl_working_new *working, int64_t stamp, fdl_code code, fdl_error *error);

#endif
