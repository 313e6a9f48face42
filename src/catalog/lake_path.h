/*
 * lake_path.h - where a catalog says its files are.
 *
 * A published catalog names a file relative to its table's folder, the table
 * relative to its schema's, and that relative to the data folder.
 */
#ifndef FDL_CATALOG_LAKE_PATH_H
#define FDL_CATALOG_LAKE_PATH_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fdl/error.h"

/*
 * Whether this may name something below a folder: parts that are not empty, "."
 * or "..", UTF-8 without control characters.
 */
bool fdl_lake_path_valid(const char *path, size_t length);

/* The folder of each table, "main/t/", by id. */
typedef struct fdl_lake_folder {
    int64_t table_id;
    char *path;
} fdl_lake_folder;

typedef struct fdl_lake_folders {
    fdl_lake_folder *items; /* sorted by table_id */
    size_t count;
    size_t last; /* where the last search ended: files of a table lie together */
} fdl_lake_folders;

/*
 * Of the tables that live in `first_snapshot` or later.  FDL_REFUSED, naming the
 * table, when it has no schema or its folder is not below the data folder.
 * The struct is cleared by the caller, also on failure.
 */
fdl_code fdl_lake_folders_read(sqlite3 *db, int64_t first_snapshot, fdl_lake_folders *out, fdl_error *error);
void fdl_lake_folders_clear(fdl_lake_folders *folders);

/* NULL when there is no such table. */
const char *fdl_lake_folder_of(fdl_lake_folders *folders, int64_t table_id);

#endif
