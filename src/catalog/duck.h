/*
 * duck.h - libduckdb, loaded late, and a small session on it.
 *
 * The library is found and opened with dlopen the first time a session is
 * opened; commands that need no DuckDB never load it.  A session is an
 * in-memory database with one connection and one thread; catalogs are attached
 * to it by path, never opened as the main database, so that nothing in a
 * stranger's file (a macro named "count", a view on /etc/passwd) can change what
 * our own SQL means.
 */
#ifndef FDL_CATALOG_DUCK_H
#define FDL_CATALOG_DUCK_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fdl/context.h"
#include "fdl/error.h"
#include "util/buf.h"

typedef struct fdl_duck fdl_duck;

fdl_code fdl_duck_open(const fdl_context *context, fdl_duck **out, fdl_error *error);
void fdl_duck_free(fdl_duck *duck);

/* Which library a session runs on: "v1.5.5", and its path.  Belong to the process. */
const char *fdl_duck_version(const fdl_duck *duck);
const char *fdl_duck_library(const fdl_duck *duck);

/* Runs statements; FDL_FAILED with DuckDB's first line. */
fdl_code fdl_duck_exec(fdl_duck *duck, fdl_error *error, const char *format, ...) FDL_PRINTF(3, 4);

/*
 * Attaches a DuckDB file read-only as `alias` (a plain identifier).  A stranger can make one that keeps DuckDB
 * busy for ever: after a minute this is FDL_FAILED, and the session is only to be freed.
 */
fdl_code fdl_duck_attach(fdl_duck *duck, const char *path, const char *alias, fdl_error *error);

/* DuckDB's failure while it reads a stranger's file says which file, and is `as`; other errors stay what they are. */
fdl_code fdl_duck_name_file(const char *path, fdl_code code, fdl_code as, fdl_error *error);

/*
 * Loads one of DuckDB's own extensions ("ducklake") from the places
 * docs/internals/catalog.md lists; never fetches one.  FDL_FAILED says how to get it.
 */
fdl_code fdl_duck_load_extension(fdl_duck *duck, const char *name, fdl_error *error);

/* Which file that would be; just the name where it is left to DuckDB's own folders. */
fdl_code fdl_duck_find_extension(fdl_duck *duck, const char *name, char out[PATH_MAX], fdl_error *error);

/* "linux_amd64", as extensions' folders are named. */
fdl_code fdl_duck_platform(fdl_duck *duck, char out[64], fdl_error *error);

/*
 * After this the session can open no further file, load no extension and
 * change no setting.  Called once everything is attached.
 */
fdl_code fdl_duck_lock(fdl_duck *duck, fdl_error *error);

/* One cell: BIGINT and BOOLEAN come as integer, VARCHAR as text (NUL-terminated, length without it). */
typedef struct fdl_cell {
    bool is_null;
    int64_t integer;
    const char *text;
    size_t length;
} fdl_cell;

/* Called for each row; cells live until it returns.  Anything but FDL_OK ends the query. */
typedef fdl_code (*fdl_row_callback)(void *data, const fdl_cell *cells, size_t count, fdl_error *error);

/*
 * Streams the rows of one SELECT whose columns are BIGINT, BOOLEAN or VARCHAR (cast others in the SQL).
 * The callback must not run another statement in the same session: that would end the stream.
 */
fdl_code fdl_duck_query(fdl_duck *duck, const char *sql, fdl_row_callback callback, void *data, fdl_error *error);

/*
 * What of the attached file `alias` is no plain table, as "the view 'x'"; NULL: nothing.  Its SQL would run
 * at whoever reads the file, for DuckLake's queries find macros and views there by name.
 */
fdl_code fdl_duck_find_sql(fdl_duck *duck, const char *alias, char **found, fdl_error *error);

/* 'text' and "name" as SQL literals and identifiers, quotes doubled. */
fdl_code fdl_sql_literal(fdl_buf *sql, const char *text, fdl_error *error);
fdl_code fdl_sql_name(fdl_buf *sql, const char *name, fdl_error *error);

#endif
