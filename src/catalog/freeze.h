/*
 * freeze.h - what the parts of freeze share.
 *
 *   freeze.c          the story: read, survey, write, look at the result
 *   freeze_survey.c   what is in the working catalog, and may it be published?
 *   freeze_keep.c     which rows belong to the version
 *   freeze_files.c    where files are, relative to their table's folder
 *   freeze_rows.c     rows, from SQLite's cells to DuckDB's chunks
 *   freeze_stats.c    the smallest and largest values of a table, from its files
 *   freeze_views.c    views that would not work for others
 */
#ifndef FDL_CATALOG_FREEZE_H
#define FDL_CATALOG_FREEZE_H

#include <sqlite3.h>

#include "catalog/catalog.h"
#include "catalog/duck_api.h"
#include "catalog/ducklake_schema.h"
#include "catalog/idset.h"
#include "catalog/lake_path.h"

/* A prefix that means the data folder, ready to compare with. */
typedef struct fdl_freeze_root {
    char *prefix; /* as given; of a URL decoded; ends with '/' */
    char *real;   /* local folders only: without symlinks and detours; NULL if it is not there */
    bool is_url;  /* http(s): paths below are percent-encoded */
} fdl_freeze_root;

/* Files that stop the freeze: how many, and the first few. */
typedef struct fdl_freeze_misfits {
    size_t count;
    fdl_buf examples;
} fdl_freeze_misfits;

/* The smallest or largest value of a column, as its table says. */
typedef struct fdl_freeze_end {
    char *text;
    size_t length;
    bool is_attained; /* some kept file says the same, or nothing is said */
} fdl_freeze_end;

typedef struct fdl_freeze_span {
    int64_t table_id;
    int64_t column_id;
    fdl_freeze_end low;
    fdl_freeze_end high;
} fdl_freeze_span;

typedef struct fdl_freeze {
    const fdl_context *context;
    const fdl_freeze_options *options;
    const char *path; /* of the working catalog */
    sqlite3 *db;      /* in one read transaction */
    fdl_duck *duck;

    int64_t first_snapshot; /* kept; rows that ended at it or before are not */
    int64_t last_snapshot;

    /* By kind: what is part of the version, and what is mentioned at all. */
    fdl_idset kept[FDL_LAKE_KINDS];
    fdl_idset known[FDL_LAKE_KINDS];

    fdl_lake_folders folders;
    fdl_freeze_root *roots;
    size_t root_count;
    fdl_freeze_misfits outside;   /* not under the data folder */
    fdl_freeze_misfits misplaced; /* under it, but not in their table's folder */
    fdl_freeze_misfits odd;       /* with a '%' or the like in the path: published, not without a word */
    fdl_buf scratch;              /* for paths on their way */

    fdl_freeze_span *spans; /* by table and column */
    size_t span_count;
    fdl_freeze_span *next_span; /* most likely asked for next, or NULL */

    int64_t row_counts[FDL_LAKE_TABLE_COUNT]; /* written */
} fdl_freeze;

/* ---- freeze_survey.c ------------------------------------------------------- */

/* Fills snapshots, sets, folders and roots; FDL_REFUSED for what must not be published. */
fdl_code fdl_freeze_survey(fdl_freeze *freeze, fdl_error *error);

/* ---- freeze_keep.c --------------------------------------------------------- */

/* The columns of a table that decide about its rows, as indexes; -1: it has no such column. */
typedef struct fdl_freeze_rule {
    const fdl_lake_table *table;
    int end;
    int owner;
    int mapping;
} fdl_freeze_rule;

fdl_freeze_rule fdl_freeze_rule_of(const fdl_lake_table *table);

/*
 * Whether the row (all columns, in the table's order) is part of the version.  FDL_REFUSED: it lives, and what it belongs to never was.
 */
fdl_code fdl_freeze_keeps(fdl_freeze *freeze, const fdl_freeze_rule *rule, sqlite3_value **row, bool *keeps,
                          fdl_error *error);

/* ---- freeze_files.c -------------------------------------------------------- */

fdl_code fdl_freeze_roots_read(fdl_freeze *freeze, fdl_error *error);
void fdl_freeze_files_clear(fdl_freeze *freeze);

/*
 * The path of a file of `table_id` under its table's folder, as `*text`, valid
 * until the next call.  A file that is not there is noted among the misfits.
 */
fdl_code fdl_freeze_file(fdl_freeze *freeze, int64_t table_id, bool relative, const char *path, size_t length,
                         const char **text, size_t *text_length, fdl_error *error);

/* FDL_REFUSED when there are misfits, with the list. */
fdl_code fdl_freeze_files_judge(fdl_freeze *freeze, fdl_error *error);

/* ---- freeze_rows.c --------------------------------------------------------- */

/* Copies what is kept of a table into the DuckDB database attached as "frozen". */
fdl_code fdl_freeze_rows(fdl_freeze *freeze, const fdl_lake_table *table, fdl_error *error);

/* ---- freeze_stats.c -------------------------------------------------------- */

/* Of the tables that are kept; before any rows are copied. */
fdl_code fdl_freeze_spans_read(fdl_freeze *freeze, fdl_error *error);
void fdl_freeze_spans_clear(fdl_freeze *freeze);

/* A kept file has these values in that column. */
void fdl_freeze_attain(fdl_freeze *freeze, int64_t table_id, int64_t column_id, sqlite3_value *low, sqlite3_value *high);

/*
 * Once all files have been seen: whether some table says more than they do.  Then its rows go into the table of the
 * same name in "temp", and are narrowed on their way from there.
 */
#define FDL_LAKE_FILE_STATS "ducklake_file_column_stats" /* comes before the other */
#define FDL_LAKE_TABLE_STATS "ducklake_table_column_stats"
bool fdl_freeze_narrows(const fdl_freeze *freeze);
fdl_code fdl_freeze_narrow(fdl_freeze *freeze, fdl_error *error);

/* ---- freeze_views.c -------------------------------------------------------- */

/* Notes each view and macro that names the catalog by the alias of one session. */
fdl_code fdl_freeze_views(fdl_freeze *freeze, fdl_error *error);

#endif
