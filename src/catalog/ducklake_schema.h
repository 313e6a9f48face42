/*
 * ducklake_schema.h - the tables of a DuckLake 1.0 catalog, described once.
 *
 * Creating, thawing, freezing and pruning all read this one description: which
 * tables there are, what their columns hold, and which of their rows are part
 * of a published version.
 */
#ifndef FDL_CATALOG_DUCKLAKE_SCHEMA_H
#define FDL_CATALOG_DUCKLAKE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "fdl/error.h"
#include "util/buf.h"

/* In SQLite UUIDs and instants are text and booleans are 0 or 1. */
typedef enum fdl_lake_type {
    FDL_LAKE_BIGINT,
    FDL_LAKE_VARCHAR,
    FDL_LAKE_BOOLEAN,
    FDL_LAKE_UUID,
    FDL_LAKE_TIMESTAMPTZ
} fdl_lake_type;

typedef struct fdl_lake_column {
    const char *name;
    fdl_lake_type type;
    bool not_null;
    bool primary_key;
} fdl_lake_column;

/* What a row can belong to: the things that have ids. */
typedef enum fdl_lake_kind {
    FDL_LAKE_NOTHING,
    FDL_LAKE_SCHEMA,
    FDL_LAKE_TABLE,
    FDL_LAKE_VIEW,
    FDL_LAKE_MACRO,
    FDL_LAKE_FILE,
    FDL_LAKE_MAPPING,
    FDL_LAKE_PARTITION,
    FDL_LAKE_SORT,
    FDL_LAKE_KINDS,                   /* how many; below are the two that need more than a look at one id */
    FDL_LAKE_OBJECT = FDL_LAKE_KINDS, /* a schema, table, view or macro: they share one sequence of ids */
    FDL_LAKE_SCOPE                    /* an option: global, or of a schema or table by `scope` */
} fdl_lake_kind;

/* Which rows are published (docs/internals/catalog.md says why). */
typedef enum fdl_lake_keep {
    FDL_LAKE_KEEP_NOTHING,   /* never published */
    FDL_LAKE_KEEP_SNAPSHOTS, /* of snapshots from the first one kept on */
    FDL_LAKE_KEEP_CURRENT,   /* not ended, and what it belongs to is kept */
    FDL_LAKE_KEEP_HISTORY    /* ended or not, as long as what it belongs to is kept */
} fdl_lake_keep;

typedef struct fdl_lake_table {
    const char *name;
    const fdl_lake_column *columns;
    size_t column_count;
    fdl_lake_keep keep;
    fdl_lake_kind owner;      /* what its rows belong to */
    const char *owner_column; /* the column with the owner's id; NULL when there is no owner */
} fdl_lake_table;

#define FDL_LAKE_TABLE_COUNT 28
/* No table has more columns. */
#define FDL_LAKE_COLUMN_LIMIT 16

/* In the order DuckLake creates them. */
extern const fdl_lake_table fdl_lake_tables[FDL_LAKE_TABLE_COUNT];

/* NULL when the format has no such table. */
const fdl_lake_table *fdl_lake_table_find(const char *name);
/* The column's index, or -1. */
int fdl_lake_column_find(const fdl_lake_table *table, const char *name);

/* Whether its rows are files: data files and delete files. */
bool fdl_lake_is_files(const fdl_lake_table *table);

typedef enum fdl_lake_dialect { FDL_LAKE_SQLITE, FDL_LAKE_DUCKDB } fdl_lake_dialect;

/* "BIGINT", "TIMESTAMP WITH TIME ZONE", ...: the declared type, as DuckLake declares it in each database. */
const char *fdl_lake_type_name(fdl_lake_type type, fdl_lake_dialect dialect);

/* CREATE TABLE <qualifier><name>(...), as DuckLake creates it there; `qualifier` is "" or "alias.". */
fdl_code fdl_lake_create_sql(fdl_buf *sql, const fdl_lake_table *table, fdl_lake_dialect dialect, const char *qualifier,
                             fdl_error *error);

/* The quoted column names in order, separated by ", ". */
fdl_code fdl_lake_column_list(fdl_buf *sql, const fdl_lake_table *table, fdl_error *error);

#endif
