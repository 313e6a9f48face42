/*
 * file_index.c - the data files of each table.
 *
 * A data file that lives comes with the deletes that count now.  Where the
 * catalog keeps earlier snapshots, files that ended and deletes that were
 * replaced are listed behind, for whoever wants to know what is needed at all.
 */
#include "catalog/file_index.h"

#include "catalog/frozen.h"
#include "fdl/store.h"

/* Live files with their live deletes, tables without files among them; then every pair that is not wholly live. */
static const char index_query[] =
    "SELECT t.schema_name, t.table_name, d.path, d.size_bytes, d.record_count, x.path, x.size_bytes, x.delete_count,"
    " false AS ended FROM @.tables t LEFT JOIN @.data_files d USING (table_id)"
    " LEFT JOIN @.delete_files x USING (data_file_id)"
    " UNION ALL"
    " SELECT d.schema_name, d.table_name, d.path, d.size_bytes, d.record_count, x.path, x.size_bytes, x.delete_count,"
    " true FROM @.all_data_files d LEFT JOIN @.all_delete_files x USING (data_file_id)"
    " WHERE data_file_id NOT IN (SELECT data_file_id FROM @.data_files) OR"
    "  (x.delete_file_id IS NOT NULL AND x.delete_file_id NOT IN (SELECT delete_file_id FROM @.delete_files))"
    " ORDER BY 1, 2, ended, 3, 6";

enum { SCHEMA, TABLE, PATH, SIZE, ROWS, DELETE_PATH, DELETE_SIZE, DELETE_ROWS, ENDED };

typedef struct walk {
    const fdl_live *catalog;
    fdl_table_file_callback callback;
    void *data;
} walk;

static fdl_code read_file(const walk *w, const fdl_cell *cells, const char **path, int64_t *size, int64_t *rows,
                          fdl_error *error) {
    if (cells[0].is_null)
        return FDL_OK;
    fdl_code code = fdl_live_text(w->catalog, &cells[0], "the path of a data file", FDL_LIVE_NAME_LIMIT_BYTES, path, error);
    if (code == FDL_OK)
        code = fdl_key_check(*path, error);
    if (code == FDL_OK && (cells[1].is_null || cells[1].integer < 0 || cells[2].is_null || cells[2].integer < 0))
        code = fdl_fail(error, FDL_REFUSED, *path, "the file '%s' has no size or number of rows", *path);
    *size = cells[1].integer;
    *rows = cells[2].integer;
    return code;
}

static fdl_code take_row(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    const walk *w = data;
    fdl_table_file file = {.ended = cells[ENDED].integer != 0};
    (void)count;
    fdl_code code = fdl_live_text(w->catalog, &cells[SCHEMA], "the schema of a data file", FDL_LIVE_NAME_LIMIT_BYTES,
                                  &file.schema_name, error);
    if (code == FDL_OK)
        code = fdl_live_text(w->catalog, &cells[TABLE], "the table of a data file", FDL_LIVE_NAME_LIMIT_BYTES,
                             &file.table_name, error);
    if (code == FDL_OK)
        code = read_file(w, &cells[PATH], &file.path, &file.size_bytes, &file.rows, error);
    if (code == FDL_OK)
        code = read_file(w, &cells[DELETE_PATH], &file.delete_path, &file.delete_size_bytes, &file.delete_rows, error);
    return code == FDL_OK ? w->callback(w->data, &file, error) : code;
}

fdl_code fdl_frozen_table_files(fdl_frozen *frozen, fdl_table_file_callback callback, void *data, fdl_error *error) {
    walk w = {.catalog = &frozen->catalog, .callback = callback, .data = data};
    return fdl_live_query(frozen->duck, &frozen->catalog, index_query, take_row, &w, error);
}
