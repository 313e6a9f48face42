/*
 * frozen_reads.c - what a published catalog reads: each data file with the
 * deletes it is read through.
 *
 * A catalog that keeps several snapshots may read one file through several, or
 * through none at first; each way is told.
 */
#include <string.h>

#include "catalog/frozen.h"
#include "fdl/store.h"

/* A file was read without deletes unless one was there when it, and the first snapshot kept, began. */
static const char reads_query[] =
    "SELECT d.path, d.is_relative, d.size_bytes, x.path, coalesce(x.is_relative, true), coalesce(x.size_bytes, 0),"
    " coalesce(x.delete_count, 0)::BIGINT, d.schema_name, d.table_name, u.uuid"
    " FROM @.all_data_files d"
    " JOIN (SELECT data_file_id, path, is_relative, size_bytes, delete_count FROM @.all_delete_files"
    "  UNION ALL SELECT e.data_file_id, NULL, NULL, NULL, NULL FROM @.all_data_files e WHERE NOT EXISTS"
    "  (FROM @.all_delete_files y WHERE y.data_file_id = e.data_file_id AND y.begin_snapshot <= greatest("
    "   e.begin_snapshot, (SELECT min(snapshot_id) FROM file_@.main.ducklake_snapshot)))) x"
    " ON d.data_file_id = x.data_file_id"
    " LEFT JOIN (SELECT table_id::BIGINT AS table_id, min(table_uuid::VARCHAR) AS uuid"
    "  FROM file_@.main.ducklake_table GROUP BY table_id) u ON u.table_id = d.table_id"
    " ORDER BY d.path, x.path NULLS FIRST";

enum { PATH, RELATIVE, SIZE, DELETE_PATH, DELETE_RELATIVE, DELETE_SIZE, DELETE_COUNT, SCHEMA, TABLE, UUID };

typedef struct listing {
    const fdl_live *catalog;
    fdl_lake_read_callback callback;
    void *data;
} listing;

static fdl_code take_text(const listing *l, const fdl_cell *cell, const char *what, const char **out,
                          fdl_error *error) {
    return fdl_live_text(l->catalog, cell, what, FDL_LIVE_NAME_LIMIT_BYTES, out, error);
}

/* The same rule as for the list of files: what could not be a key below the data folder stops here. */
static fdl_code check_path(const listing *l, const char *path, bool relative, fdl_error *error) {
    fdl_error ignored;
    if (relative && fdl_key_check(path, &ignored) == FDL_OK)
        return FDL_OK;
    return fdl_fail(error, FDL_REFUSED, path, "the catalog '%s' names the file '%s', which cannot be in a data folder",
                    l->catalog->path, path);
}

static fdl_code list_read(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    const listing *l = data;
    fdl_lake_read read = {.size_bytes = cells[SIZE].integer,
                          .delete_size_bytes = cells[DELETE_SIZE].integer,
                          .deleted = cells[DELETE_COUNT].integer,
                          .table_uuid = ""};
    (void)count;
    fdl_code code = take_text(l, &cells[PATH], "the path of a data file", &read.path, error);
    if (code == FDL_OK)
        code = check_path(l, read.path, cells[RELATIVE].integer != 0, error);
    if (code == FDL_OK && !cells[DELETE_PATH].is_null) {
        code = take_text(l, &cells[DELETE_PATH], "the path of a delete file", &read.delete_path, error);
        if (code == FDL_OK)
            code = check_path(l, read.delete_path, cells[DELETE_RELATIVE].integer != 0, error);
    }
    if (code == FDL_OK)
        code = take_text(l, &cells[SCHEMA], "the schema of a data file", &read.schema_name, error);
    if (code == FDL_OK)
        code = take_text(l, &cells[TABLE], "the table of a data file", &read.table_name, error);
    if (code == FDL_OK && !cells[UUID].is_null)
        code = take_text(l, &cells[UUID], "the UUID of a table", &read.table_uuid, error);
    return code == FDL_OK ? l->callback(l->data, &read, error) : code;
}

fdl_code fdl_frozen_reads(fdl_frozen *frozen, fdl_lake_read_callback callback, void *data, fdl_error *error) {
    listing l = {.catalog = &frozen->catalog, .callback = callback, .data = data};
    return fdl_live_query(frozen->duck, &frozen->catalog, reads_query, list_read, &l, error);
}
