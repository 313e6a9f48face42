/*
 * thaw_table.h - the rows of one table of a published catalog, as a virtual
 * table of SQLite.
 */
#ifndef FDL_CATALOG_THAW_TABLE_H
#define FDL_CATALOG_THAW_TABLE_H

#include <sqlite3.h>

#include "catalog/duck_api.h"
#include "catalog/ducklake_schema.h"
#include "catalog/lake_path.h"

/* What one run of a hostile file may make us write. */
#define FDL_THAW_ROW_LIMIT INT64_C(200000000)
#define FDL_THAW_TEXT_LIMIT_BYTES (UINT64_C(64) << 30)

typedef struct fdl_thaw_source {
    fdl_duck *duck;
    const char *file; /* what the published catalog is called in errors */
    fdl_lake_folders folders;
    const char *url_prefix; /* files are named by URL below it; NULL: as they are */
    int64_t row_count;      /* of all tables so far */
    uint64_t text_bytes;

    /* The table being read. */
    const fdl_lake_table *table;
    fdl_duck_stream stream;
    const void *data[FDL_LAKE_COLUMN_LIMIT];
    const uint64_t *validity[FDL_LAKE_COLUMN_LIMIT];
    uint64_t row;
    uint64_t rows;   /* in the current chunk; 0: at the end */
    int path_column; /* -1 in tables without files */
    int relative_column;
    int table_id_column;
    fdl_buf key; /* the file under the data folder, and its URL */
    fdl_buf url;

    fdl_code code; /* why the statement that read failed, when it was us */
    fdl_error error;
} fdl_thaw_source;

/* Makes `fdl_thaw` known to the connection; the source outlives it. */
fdl_code fdl_thaw_register(sqlite3 *db, fdl_thaw_source *source, fdl_error *error);

/* Copies one table from the published catalog, attached as "frozen", into the connection's. */
fdl_code fdl_thaw_copy(sqlite3 *db, fdl_thaw_source *source, const fdl_lake_table *table, fdl_error *error);

#endif
