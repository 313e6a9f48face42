/*
 * parquet.c - what a Parquet file says of itself, read by DuckDB.
 */
#include "catalog/catalog.h"
#include "catalog/duck.h"
#include "util/buf.h"

#define SQL_LIMIT_BYTES (1u << 16)

static fdl_code take_rows(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    (void)error;
    if (count == 1 && !cells[0].is_null)
        *(int64_t *)data = cells[0].integer;
    return FDL_OK;
}

fdl_code fdl_parquet_rows(const fdl_context *context, const char *path, int64_t *rows, fdl_error *error) {
    fdl_duck *duck = NULL;
    fdl_buf sql;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    *rows = -1;
    fdl_code code = fdl_duck_open(context, &duck, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, "SELECT num_rows FROM parquet_file_metadata(", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&sql, path, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, ")", error);
    if (code == FDL_OK)
        code = fdl_duck_query(duck, sql.data, take_rows, rows, error);
    fdl_buf_clear(&sql);
    fdl_duck_free(duck);
    return code;
}
