/*
 * live.h - what a frozen catalog says at its last snapshot, as plain views.
 *
 * DuckLake keeps history in its tables: a row counts while no later snapshot
 * ended it, and a table's path is in pieces over three of them.  Everybody who
 * reads a frozen catalog would have to say so in each query.  Instead a catalog
 * is attached once under a short name and views of that name's schema say it:
 * "a.tables", "a.columns", "a.data_files" (listed in live.c).
 *
 * The file may be a stranger's.  It is attached to a session that can reach
 * nothing else, only its real tables are read, and ids that should be unique
 * are checked before anything joins on them.
 */
#ifndef FDL_CATALOG_LIVE_H
#define FDL_CATALOG_LIVE_H

#include "catalog/duck.h"

/* A catalog to open: where it is, and the schema its views shall have (a plain identifier). */
typedef struct fdl_live {
    const char *path;
    const char *name;
    int64_t snapshot_id; /* the last one; filled when opened */
    char format[8];      /* of DuckLake, "1.0"; the same */
} fdl_live;

/*
 * Opens a session with all the catalogs, locked.  FDL_REFUSED, naming the file,
 * for one that is no DuckLake catalog of a format we read.
 */
fdl_code fdl_live_open(const fdl_context *context, fdl_live *catalogs, size_t count, fdl_duck **out, fdl_error *error);

/* The same in a session that is open already, with its extensions and settings; locks it. */
fdl_code fdl_live_add(fdl_duck *duck, fdl_live *catalogs, size_t count, fdl_error *error);

/*
 * Adds SQL text in which every '@' stands for the catalog's name, '#' for its
 * last snapshot, and "file_@.main." leads to its own tables.  The text holds no
 * other '@' and '#'.
 */
fdl_code fdl_live_expand(const fdl_live *catalog, const char *text, fdl_buf *sql, fdl_error *error);

/* Runs such a text. */
fdl_code fdl_live_run(fdl_duck *duck, const fdl_live *catalog, const char *sql, fdl_error *error);

/* Which rows of a table with history count at the last snapshot; for such texts. */
#define FDL_LIVE_ROWS " WHERE begin_snapshot <= # AND (end_snapshot IS NULL OR end_snapshot > #)"

/* The same text as a query. */
fdl_code fdl_live_query(fdl_duck *duck, const fdl_live *catalog, const char *sql, fdl_row_callback callback, void *data,
                        fdl_error *error);

/* FDL_REFUSED when rows or deletes lie in the catalog itself: then no list of files tells what the tables hold. */
fdl_code fdl_live_check_inlined(fdl_duck *duck, const fdl_live *catalog, fdl_error *error);

/*
 * A cell of text from the file: FDL_REFUSED, saying what it is and where, when
 * it is missing, longer than `limit_bytes`, not UTF-8, or holds a NUL.
 */
fdl_code fdl_live_text(const fdl_live *catalog, const fdl_cell *cell, const char *what, size_t limit_bytes,
                       const char **out, fdl_error *error);

/* Longest names, and longest texts (comments, statements). */
#define FDL_LIVE_NAME_LIMIT_BYTES 65536u
#define FDL_LIVE_TEXT_LIMIT_BYTES (1u << 20)

#endif
