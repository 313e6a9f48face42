/*
 * file_index.h - which data files each table of a frozen catalog is made of, with
 * their deletes: what files.json is made from.
 */
#ifndef FDL_CATALOG_FILE_INDEX_H
#define FDL_CATALOG_FILE_INDEX_H

#include "catalog/catalog.h"

/* A data file of a table, or a table without any.  Strings live until the callback returns. */
typedef struct fdl_table_file {
    const char *schema_name;
    const char *table_name;
    const char *path; /* under the data folder; NULL: the table has no file */
    int64_t size_bytes;
    int64_t rows;
    const char *delete_path; /* NULL: all its rows live */
    int64_t delete_size_bytes;
    int64_t delete_rows;
    bool ended; /* no longer part of the last snapshot: only in a catalog that keeps earlier ones */
} fdl_table_file;

typedef fdl_code (*fdl_table_file_callback)(void *data, const fdl_table_file *file, fdl_error *error);

/*
 * All of them, by schema, table, ended and path.  Together they name every file
 * that fdl_frozen_files lists.
 */
fdl_code fdl_frozen_table_files(fdl_frozen *frozen, fdl_table_file_callback callback, void *data, fdl_error *error);

#endif
