/*
 * rows.h - two published catalogs as DuckLakes whose tables hold only the rows
 * of files that not both have, so that what they hold can be compared.
 */
#ifndef FDL_CATALOG_ROWS_H
#define FDL_CATALOG_ROWS_H

#include "catalog/catalog.h"
#include "catalog/live.h"

/* A table with files that not both catalogs have. */
typedef struct fdl_rows_table {
    char *schema_name;
    char *name;
    int64_t more; /* rows that the second holds more than the first, as the catalogs count them */
    bool is_in[2]; /* whether the catalogs have the table */
} fdl_rows_table;

typedef struct fdl_rows {
    const fdl_rows_place *place;
    fdl_live catalogs[2]; /* "a" and "b"; once attached, the DuckLakes are "lake_a" and "lake_b" */
    fdl_duck *duck;
    fdl_rows_table *tables; /* in the order of their names */
    size_t table_count;
} fdl_rows;

/* Finds the tables; reads no data file.  The struct is cleared by the caller, also on failure. */
fdl_code fdl_rows_open(const fdl_context *context, const char *frozen_a, const char *frozen_b,
                       const fdl_rows_place *place, fdl_rows *out, fdl_error *error);
void fdl_rows_clear(fdl_rows *rows);

/* Brings the files and attaches the DuckLakes. */
fdl_code fdl_rows_attach(fdl_rows *rows, fdl_error *error);

/* ---- rows.c: what rows of a table are grouped by -------------------------------------- */

typedef struct fdl_rows_keys {
    const fdl_rows *rows;
    const fdl_rows_table *table;
    fdl_buf keys;  /* SQL over the table as "t", a list */
    fdl_buf names; /* ", k0, k1": a column may be called anything */
    size_t count;
    fdl_buf texts; /* the columns for people, a list */
} fdl_rows_keys;

/* `side` is the catalog whose columns these are, "a" or "b".  The struct is cleared by the caller, also on failure. */
fdl_code fdl_rows_keys_find(const fdl_rows *rows, const fdl_rows_table *table, const char *side, fdl_rows_keys *out,
                            fdl_error *error);
void fdl_rows_keys_clear(fdl_rows_keys *keys);

/* 'lake_a."main"."t" AS t' */
fdl_code fdl_rows_add_table(const fdl_rows_table *table, const char *side, fdl_buf *sql, fdl_error *error);

#endif
