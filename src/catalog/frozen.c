/*
 * frozen.c - opens a published catalog and lists the files it needs.
 *
 * The list is what push uploads, gc keeps and verify looks for, so it is wider
 * than what a reader of the last snapshot touches: every file that any snapshot
 * in the catalog names is in it.  A path becomes a key of the store later; what
 * could not be one, or could lead out of the data folder, stops here.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "catalog/frozen.h"
#include "fdl/store.h"
#include "util/text.h"

fdl_code fdl_frozen_open(const fdl_context *context, const char *path, fdl_frozen **out, fdl_error *error) {
    fdl_frozen *frozen = NULL;
    fdl_code code = fdl_alloc(&frozen, 1, sizeof *frozen, error);
    if (code != FDL_OK)
        return code;
    code = fdl_str_copy(&frozen->path, path, error);
    if (code == FDL_OK) {
        frozen->catalog = (fdl_live){.path = frozen->path, .name = "a"};
        code = fdl_live_open(context, &frozen->catalog, 1, &frozen->duck, error);
    }
    if (code != FDL_OK) {
        fdl_frozen_free(frozen);
        return code;
    }
    *out = frozen;
    return FDL_OK;
}

void fdl_frozen_free(fdl_frozen *frozen) {
    if (frozen == NULL)
        return;
    fdl_duck_free(frozen->duck);
    free(frozen->path);
    free(frozen);
}

int64_t fdl_frozen_snapshot(const fdl_frozen *frozen) {
    return frozen->catalog.snapshot_id;
}

const char *fdl_frozen_format(const fdl_frozen *frozen) {
    return frozen->catalog.format;
}

fdl_code fdl_frozen_find_sql(fdl_frozen *frozen, char **found, fdl_error *error) {
    return fdl_duck_find_sql(frozen->duck, "file_a", found, error);
}

/* ---- files ------------------------------------------------------------------ */

/*
 * A file may be named more than once: registered twice, or ended and named again
 * under another id.  It is one file then, and has one size.
 */
static const char files_query[] =
    "SELECT path, bool_and(is_relative), bool_and(is_delete), bool_or(is_delete), min(size_bytes), max(size_bytes),"
    " max(row_count), min(schema_name), min(table_name) FROM"
    " (SELECT path, is_relative, false AS is_delete, size_bytes, record_count AS row_count, schema_name, table_name"
    "  FROM @.all_data_files UNION ALL"
    "  SELECT path, is_relative, true, size_bytes, delete_count, schema_name, table_name FROM @.all_delete_files)"
    " GROUP BY path ORDER BY path";

enum { PATH, RELATIVE, ALL_DELETE, ANY_DELETE, LEAST_SIZE, MOST_SIZE, ROWS, SCHEMA, TABLE };

typedef struct listing {
    const fdl_live *catalog;
    fdl_data_file_callback callback;
    void *data;
} listing;

static fdl_code check_place(const fdl_data_file *file, const fdl_cell *cells, fdl_error *error) {
    fdl_error key;
    if (cells[RELATIVE].is_null || !cells[RELATIVE].integer)
        return fdl_fail(error, FDL_REFUSED, file->path,
                        "the file '%s' of table '%s.%s' is not named relative to the data folder", file->path,
                        file->schema_name, file->table_name);
    if (fdl_key_check(file->path, &key) != FDL_OK)
        return fdl_fail(error, FDL_REFUSED, file->path, "the file '%s' of table '%s.%s' cannot be in a data folder",
                        file->path, file->schema_name, file->table_name);
    return FDL_OK;
}

static fdl_code check_figures(const fdl_data_file *file, const fdl_cell *cells, fdl_error *error) {
    const char *wrong = NULL;
    if (cells[ALL_DELETE].integer != cells[ANY_DELETE].integer)
        wrong = "is named as a data file and as a delete file";
    else if (cells[LEAST_SIZE].is_null || cells[LEAST_SIZE].integer < 0 || cells[ROWS].is_null ||
             cells[ROWS].integer < 0)
        wrong = "has no size or number of rows";
    if (wrong != NULL)
        return fdl_fail(error, FDL_REFUSED, file->path, "the file '%s' %s", file->path, wrong);
    if (cells[LEAST_SIZE].integer != cells[MOST_SIZE].integer)
        return fdl_fail(error, FDL_REFUSED, file->path,
                        "the file '%s' is named with two sizes, %" PRId64 " and %" PRId64 " bytes", file->path,
                        cells[LEAST_SIZE].integer, cells[MOST_SIZE].integer);
    return FDL_OK;
}

static fdl_code list_file(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    const listing *list = data;
    fdl_data_file file = {.is_delete = cells[ANY_DELETE].integer != 0,
                          .size_bytes = cells[LEAST_SIZE].integer,
                          .rows = cells[ROWS].integer};
    (void)count;
    fdl_code code = fdl_live_text(list->catalog, &cells[SCHEMA], "the schema of a data file", FDL_LIVE_NAME_LIMIT_BYTES,
                                  &file.schema_name, error);
    if (code == FDL_OK)
        code = fdl_live_text(list->catalog, &cells[TABLE], "the table of a data file", FDL_LIVE_NAME_LIMIT_BYTES,
                             &file.table_name, error);
    if (code == FDL_OK)
        code = fdl_live_text(list->catalog, &cells[PATH], "the path of a data file", FDL_LIVE_NAME_LIMIT_BYTES,
                             &file.path, error);
    if (code == FDL_OK)
        code = check_place(&file, cells, error);
    if (code == FDL_OK)
        code = check_figures(&file, cells, error);
    return code == FDL_OK ? list->callback(list->data, &file, error) : code;
}

fdl_code fdl_frozen_files(fdl_frozen *frozen, fdl_data_file_callback callback, void *data, fdl_error *error) {
    listing list = {.catalog = &frozen->catalog, .callback = callback, .data = data};
    return fdl_live_query(frozen->duck, &frozen->catalog, files_query, list_file, &list, error);
}
