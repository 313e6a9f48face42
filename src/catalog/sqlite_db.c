/*
 * sqlite_db.c - opening working catalogs, and running statements on them.
 *
 * A catalog is opened to be read with SQLite's read and write mode, and then
 * forbidden to write: only so can SQLite roll back what a crashed writer left
 * half done, which a read-only connection must refuse.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "catalog/sqlite_db.h"
#include "util/file.h"
#include "util/text.h"

fdl_code fdl_sqlite_fail(fdl_error *error, sqlite3 *db, const char *path) {
    int code = db == NULL ? SQLITE_NOMEM : sqlite3_errcode(db) & 0xff;
    switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return fdl_fail(error, FDL_BUSY, path,
                        "'%s' is locked by another process; let it finish or close it, then try again", path);
    case SQLITE_NOTADB:
        return fdl_fail(error, FDL_REFUSED, path, "'%s' is not a SQLite database", path);
    case SQLITE_CORRUPT:
        return fdl_fail(error, FDL_REFUSED, path, "'%s' is damaged; check it out again", path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return fdl_fail(error, FDL_DENIED, path, "cannot write '%s': no permission", path);
    case SQLITE_FULL:
        return fdl_fail(error, FDL_FAILED, path, "cannot write '%s': the disk is full", path);
    default:
        return fdl_fail(error, FDL_FAILED, path, "sqlite cannot use '%s': %s", path,
                        db == NULL ? "out of memory" : sqlite3_errmsg(db));
    }
}

static fdl_code fail_main(fdl_error *error, sqlite3 *db) {
    const char *path = sqlite3_db_filename(db, "main");
    return fdl_sqlite_fail(error, db, path == NULL ? "" : path);
}

/* Absolute, since a name like "file:x?mode=rwc" may have a meaning of its own. */
static fdl_code open_at(const char *path, int flags, sqlite3 **out, fdl_error *error) {
    char *absolute = NULL;
    sqlite3 *db = NULL;
    fdl_code code = fdl_path_absolute(path, &absolute, error);
    if (code == FDL_OK &&
        sqlite3_open_v2(absolute, &db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL) != SQLITE_OK)
        code = fdl_sqlite_fail(error, db, path);
    free(absolute);
    if (code != FDL_OK) {
        sqlite3_close(db);
        return code;
    }
    sqlite3_busy_timeout(db, FDL_SQLITE_WAIT_MS);
    /* A stranger's triggers and views may call no function with side effects. */
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    *out = db;
    return FDL_OK;
}

/* Closing the last connection checkpoints the WAL, which would change the file; an empty one is better tidied up. */
static void keep_wal(sqlite3 *db, const char *path) {
    char *wal = sqlite3_mprintf("%s-wal", path);
    struct stat status;
    if (wal == NULL || (stat(wal, &status) == 0 && status.st_size > 0))
        sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_free(wal);
}

static fdl_code check_lake(sqlite3 *db, const char *path, fdl_error *error) {
    int64_t found = 0;
    fdl_code code = fdl_sqlite_integer(db,
                                       "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN "
                                       "('ducklake_metadata', 'ducklake_snapshot', 'ducklake_table')",
                                       0, &found, error);
    if (code == FDL_OK && found != 3)
        code = fdl_fail(error, FDL_REFUSED, path, "'%s' is not a DuckLake catalog", path);
    return code;
}

fdl_code fdl_sqlite_open(const char *path, fdl_sqlite_mode mode, sqlite3 **out, fdl_error *error) {
    struct stat status;
    sqlite3 *db = NULL;
    if (stat(path, &status) != 0)
        return fdl_fail(error, FDL_NOT_FOUND, path, "no working catalog '%s'", path);
    if (!S_ISREG(status.st_mode))
        return fdl_fail(error, FDL_REFUSED, path, "'%s' is not a file", path);
    fdl_code code = open_at(path, SQLITE_OPEN_READWRITE, &db, error);
    if (code == FDL_OK && mode == FDL_SQLITE_READ) {
        keep_wal(db, path);
        code = fdl_sqlite_exec(db, error, "PRAGMA query_only = 1");
    }
    /* Before the first read: that one takes the lock, and keeps it. */
    if (code == FDL_OK && mode == FDL_SQLITE_ALONE)
        code = fdl_sqlite_exec(db, error, "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT");
    if (code == FDL_OK)
        code = check_lake(db, path, error);
    if (code != FDL_OK) {
        sqlite3_close(db);
        return code;
    }
    *out = db;
    return FDL_OK;
}

fdl_code fdl_sqlite_fill(const char *path, int page_bytes, sqlite3 **out, fdl_error *error) {
    sqlite3 *db = NULL;
    fdl_code code = open_at(path, SQLITE_OPEN_READWRITE, &db, error);
    if (code == FDL_OK)
        code = fdl_sqlite_exec(db, error,
                               "PRAGMA page_size = %d; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE",
                               page_bytes);
    if (code != FDL_OK) {
        sqlite3_close(db);
        return code;
    }
    *out = db;
    return FDL_OK;
}

static fdl_code run(sqlite3 *db, const char *sql, fdl_error *error) {
    if (sql == NULL)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? FDL_OK : fail_main(error, db);
}

fdl_code fdl_sqlite_exec(sqlite3 *db, fdl_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    fdl_code code = run(db, sql, error);
    sqlite3_free(sql);
    return code;
}

fdl_code fdl_sqlite_prepare(sqlite3 *db, sqlite3_stmt **out, fdl_error *error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *sql = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    fdl_code code = FDL_OK;
    if (sql == NULL)
        code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    else if (sqlite3_prepare_v2(db, sql, -1, out, NULL) != SQLITE_OK)
        code = fail_main(error, db);
    sqlite3_free(sql);
    return code;
}

fdl_code fdl_sqlite_step(sqlite3_stmt *statement, bool *row, fdl_error *error) {
    int result = sqlite3_step(statement);
    *row = result == SQLITE_ROW;
    return result == SQLITE_ROW || result == SQLITE_DONE ? FDL_OK : fail_main(error, sqlite3_db_handle(statement));
}

/* ---- rows, called back -------------------------------------------------------- */

typedef struct walk {
    fdl_sqlite_row callback;
    void *data;
    fdl_code code;
    fdl_error error;
} walk;

static void walk_step(sqlite3_context *context, int count, sqlite3_value **row) {
    walk *w = sqlite3_user_data(context);
    (void)count;
    w->code = w->callback(w->data, row, &w->error);
    if (w->code != FDL_OK)
        sqlite3_result_error(context, "stopped", -1);
}

static void walk_end(sqlite3_context *context) {
    (void)context;
}

fdl_code fdl_sqlite_walk(sqlite3 *db, const char *columns, const char *table, fdl_sqlite_row callback, void *data,
                         fdl_error *error) {
    static const char name[] = "fdl_walk";
    const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY; /* the file's own SQL cannot call it */
    walk w = {.callback = callback, .data = data};
    if (sqlite3_create_function_v2(db, name, -1, flags, &w, NULL, walk_step, walk_end, NULL) != SQLITE_OK)
        return fail_main(error, db);
    fdl_code code = fdl_sqlite_exec(db, error, "SELECT %s(%s) FROM %s", name, columns, table);
    sqlite3_create_function_v2(db, name, -1, flags, NULL, NULL, NULL, NULL, NULL);
    if (w.code == FDL_OK)
        return code;
    *error = w.error;
    return w.code;
}

fdl_code fdl_sqlite_integer(sqlite3 *db, const char *sql, int64_t fallback, int64_t *out, fdl_error *error) {
    sqlite3_stmt *statement = NULL;
    bool row = false;
    fdl_code code = fdl_sqlite_prepare(db, &statement, error, "%s", sql);
    if (code == FDL_OK)
        code = fdl_sqlite_step(statement, &row, error);
    if (code == FDL_OK)
        *out = row && sqlite3_column_type(statement, 0) != SQLITE_NULL ? sqlite3_column_int64(statement, 0) : fallback;
    sqlite3_finalize(statement);
    return code;
}
