/*
 * lake_writer.h - rows into a DuckDB table, a data chunk at a time.
 *
 * Chunks are filled in place and handed to the appender whole, which costs a
 * fraction of appending value by value.  Every answer is looked at: a broken
 * key shows only when the appender is closed, and after that it must not be
 * used again.
 */
#ifndef FDL_CATALOG_LAKE_WRITER_H
#define FDL_CATALOG_LAKE_WRITER_H

#include "catalog/duck_api.h"
#include "catalog/ducklake_schema.h"

typedef struct fdl_lake_writer {
    const fdl_duck_api *api;
    const fdl_lake_table *table;
    fdl_duck_appender appender;
    fdl_duck_chunk chunk;
    fdl_duck_vector vectors[FDL_LAKE_COLUMN_LIMIT];
    void *data[FDL_LAKE_COLUMN_LIMIT];
    uint64_t *validity[FDL_LAKE_COLUMN_LIMIT]; /* NULL until the chunk has a NULL in the column */
    uint64_t row;
    uint64_t chunk_rows; /* how many it takes */
    int64_t row_count;
} fdl_lake_writer;

/* The struct is filled on failure too; close it in every case. */
fdl_code fdl_lake_writer_open(fdl_duck *duck, const char *catalog, const fdl_lake_table *table, fdl_lake_writer *out,
                              fdl_error *error);

/*
 * The row being filled: each column once, then fdl_lake_writer_next.  Text must
 * be UTF-8: DuckDB would turn anything else into NULL without a word.
 */
void fdl_lake_writer_null(fdl_lake_writer *writer, int column);
void fdl_lake_writer_number(fdl_lake_writer *writer, int column, int64_t value); /* BIGINT, TIMESTAMPTZ */
void fdl_lake_writer_boolean(fdl_lake_writer *writer, int column, bool value);
void fdl_lake_writer_uuid(fdl_lake_writer *writer, int column, const fdl_duck_hugeint *value);
void fdl_lake_writer_text(fdl_lake_writer *writer, int column, const char *text, size_t length);
fdl_code fdl_lake_writer_next(fdl_lake_writer *writer, fdl_error *error);

/* With `code` FDL_OK what is left is written, and `*row_count` is how many rows there were; else it is dropped. */
fdl_code fdl_lake_writer_close(fdl_lake_writer *writer, fdl_code code, int64_t *row_count, fdl_error *error);

/* How DuckDB numbers the types of a catalog's columns. */
int fdl_lake_duck_type(fdl_lake_type type);

#endif
