/*
 * lake_writer.h - rows into a DuckDB table, a data chunk at a time.
 *
 * Chunks are filled in place and handed to the appender whole, which costs a
 * fraction of appending value by value.  Compressing them is as much work as
 * reading them from SQLite, so a large table gets a thread that appends while
 * the caller fills the next chunk.
 */
#ifndef FDL_CATALOG_LAKE_WRITER_H
#define FDL_CATALOG_LAKE_WRITER_H

#include <pthread.h>

#include "catalog/duck_api.h"
#include "catalog/ducklake_schema.h"

/* How far filling may be ahead of appending: a row group is 30, and while one is compressed the next is filled. */
#define FDL_LAKE_CHUNKS 32

/* A row group is compressed as soon as its rows are there, so a table is never held whole. */
#define FDL_LAKE_GROUP_ROWS 61440

typedef struct fdl_lake_chunk {
    fdl_duck_chunk chunk;
    fdl_duck_vector vectors[FDL_LAKE_COLUMN_LIMIT];
    void *data[FDL_LAKE_COLUMN_LIMIT];
    uint64_t *validity[FDL_LAKE_COLUMN_LIMIT]; /* NULL until the chunk has a NULL in the column */
} fdl_lake_chunk;

typedef struct fdl_lake_writer {
    const fdl_duck_api *api;
    const fdl_lake_table *table;
    fdl_duck_appender appender;
    fdl_lake_chunk chunks[FDL_LAKE_CHUNKS];
    fdl_lake_chunk *filling;
    uint64_t row;        /* in the chunk being filled */
    uint64_t chunk_rows; /* how many a chunk takes */
    int64_t row_count;

    /* The thread, from the second chunk on; what follows is shared under the lock. */
    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t filled_count; /* chunks handed over */
    uint64_t done_count;   /* chunks appended */
    bool ended;            /* no more will be handed over */
    fdl_code code;         /* the first failure */
    fdl_error error;
} fdl_lake_writer;

/* The struct is filled on failure too; close it in every case. */
fdl_code fdl_lake_writer_open(fdl_duck *duck, const char *catalog, const fdl_lake_table *table, fdl_lake_writer *out,
                              fdl_error *error);

/*
 * The row being filled: each column once, then fdl_lake_writer_next.  Text must
 * be UTF-8: DuckDB would turn anything else into NULL without a word.
 */
void fdl_lake_writer_null(fdl_lake_writer *writer, int column);
static inline void fdl_lake_writer_number(fdl_lake_writer *writer, int column, int64_t value) { /* BIGINT, TIMESTAMPTZ */
    ((int64_t *)writer->filling->data[column])[writer->row] = value;
}
static inline void fdl_lake_writer_boolean(fdl_lake_writer *writer, int column, bool value) {
    ((bool *)writer->filling->data[column])[writer->row] = value;
}
void fdl_lake_writer_uuid(fdl_lake_writer *writer, int column, const fdl_duck_hugeint *value);
void fdl_lake_writer_text(fdl_lake_writer *writer, int column, const char *text, size_t length);
fdl_code fdl_lake_writer_next(fdl_lake_writer *writer, fdl_error *error);

/*
 * With `code` FDL_OK what is left is written, and `*row_count` is how many rows
 * there were; else it is dropped.  A broken key shows only here.
 */
fdl_code fdl_lake_writer_close(fdl_lake_writer *writer, fdl_code code, int64_t *row_count, fdl_error *error);

/* How DuckDB numbers the types of a catalog's columns. */
int fdl_lake_duck_type(fdl_lake_type type);

#endif
