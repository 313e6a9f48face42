/*
 * foreign.c - a look at a DuckLake catalog of unknown kind; see foreign.h.
 */
#include "catalog/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/duck.h"
#include "catalog/sqlite_db.h"
#include "util/file.h"
#include "util/text.h"

#define QUERY(table) "SELECT value FROM " table " WHERE key = 'data_path' AND scope IS NULL"

static fdl_code not_one(const char *path, fdl_error *error) {
    return fdl_fail(error, FDL_REFUSED, path, "'%s' is not a DuckLake catalog in a DuckDB or SQLite file", path);
}

/* Both kinds of file say at their start what they are. */
static fdl_code look(const char *path, bool *is_sqlite, fdl_error *error) {
    char start[16] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fdl_file_error(error, "open", path, errno);
    ssize_t got = pread(fd, start, sizeof start, 0);
    close(fd);
    *is_sqlite = got == sizeof start && memcmp(start, "SQLite format 3", sizeof start) == 0;
    bool is_duckdb = got == sizeof start && memcmp(start + 8, "DUCK", 4) == 0;
    return *is_sqlite || is_duckdb ? FDL_OK : not_one(path, error);
}

static fdl_code from_sqlite(const char *path, char **out, fdl_error *error) {
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    bool row = false;
    fdl_code code = fdl_sqlite_open(path, FDL_SQLITE_READ, &db, error);
    if (code == FDL_OK)
        code = fdl_sqlite_prepare(db, &statement, error, QUERY("ducklake_metadata"));
    if (code == FDL_OK)
        code = fdl_sqlite_step(statement, &row, error);
    if (code == FDL_OK && row)
        code = fdl_str_copy(out, (const char *)sqlite3_column_text(statement, 0), error);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return code;
}

static fdl_code take_text(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    char **out = data;
    (void)count;
    return *out ? FDL_OK : fdl_str_copy(out, cells[0].is_null ? NULL : cells[0].text, error);
}

static fdl_code from_duckdb(const fdl_context *context, const char *path, char **out, fdl_error *error) {
    fdl_duck *duck = NULL;
    fdl_code code = fdl_duck_open(context, &duck, error);
    if (code == FDL_OK)
        code = fdl_duck_attach(duck, path, "lake", error);
    if (code == FDL_OK)
        code = fdl_duck_lock(duck, error);
    if (code == FDL_OK && fdl_duck_query(duck, QUERY("lake.main.ducklake_metadata"), take_text, out, error) != FDL_OK)
        code = not_one(path, error);
    fdl_duck_free(duck);
    return code;
}

fdl_code fdl_foreign_data_path(const fdl_context *context, const char *path, bool *is_sqlite, char **out,
                               fdl_error *error) {
    char *found = NULL;
    fdl_code code = look(path, is_sqlite, error);
    if (code == FDL_OK)
        code = *is_sqlite ? from_sqlite(path, &found, error) : from_duckdb(context, path, &found, error);
    if (code == FDL_OK && (!found || !*found))
        code = not_one(path, error);
    if (code == FDL_OK)
        *out = found;
    else
        free(found);
    return code;
}
