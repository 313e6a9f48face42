/*
 * sqlite_db.h - SQLite as this folder uses it: errors with our codes, bounded
 * waits, nothing written that was not asked for.
 */
#ifndef FDL_CATALOG_SQLITE_DB_H
#define FDL_CATALOG_SQLITE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "fdl/error.h"

/* How long a lock held by somebody else is waited for. */
#define FDL_SQLITE_WAIT_MS 5000

/* What went wrong last on `db`: FDL_BUSY for a lock, FDL_REFUSED for a file that is no database. */
fdl_code fdl_sqlite_fail(fdl_error *error, sqlite3 *db, const char *path);

/*
 * Opens a working catalog.  FDL_NOT_FOUND: no such file.  FDL_REFUSED: not a
 * DuckLake catalog in SQLite.
 */
typedef enum fdl_sqlite_mode {
    FDL_SQLITE_READ, /* nothing is written, and a WAL with content is left as it is */
    FDL_SQLITE_WRITE,
    FDL_SQLITE_ALONE /* to write; FDL_BUSY while another connection has read it in WAL mode, or is at work */
} fdl_sqlite_mode;
fdl_code fdl_sqlite_open(const char *path, fdl_sqlite_mode mode, sqlite3 **out, fdl_error *error);

/*
 * A new database in the empty file at `path`.  Nothing guards its writing (no
 * journal, no fsync), so it is for a temporary name, and a failure leaves rubbish.
 */
fdl_code fdl_sqlite_fill(const char *path, int page_bytes, sqlite3 **out, fdl_error *error);

/* Runs statements; the format is SQLite's own: %Q is a 'literal', %w the inside of a "name". */
fdl_code fdl_sqlite_exec(sqlite3 *db, fdl_error *error, const char *format, ...);

fdl_code fdl_sqlite_prepare(sqlite3 *db, sqlite3_stmt **out, fdl_error *error, const char *format, ...);
/* `*row` is false at the end. */
fdl_code fdl_sqlite_step(sqlite3_stmt *statement, bool *row, fdl_error *error);

/* One row's columns; they live until the callback returns.  Anything but FDL_OK ends the walk. */
typedef fdl_code (*fdl_sqlite_row)(void *data, sqlite3_value **row, fdl_error *error);

/*
 * Every row of a table, `columns` as SQL lists them.  SQLite calls back from inside one statement, which costs
 * less than stepping to each row and asking for each column.
 */
fdl_code fdl_sqlite_walk(sqlite3 *db, const char *columns, const char *table, fdl_sqlite_row callback, void *data,
                         fdl_error *error);

/* The first column of the first row; `fallback` when there is no row or it is NULL. */
fdl_code fdl_sqlite_integer(sqlite3 *db, const char *sql, int64_t fallback, int64_t *out, fdl_error *error);

#endif
