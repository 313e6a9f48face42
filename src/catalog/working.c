/*
 * working.c - small things asked of a working catalog: which one it is, how far
 * it has come, and whether it can be moved.
 */
#include <stdlib.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "catalog/sqlite_db.h"
#include "util/file.h"
#include "util/text.h"

fdl_code fdl_catalog_stamp(const char *path, int64_t stamp, fdl_error *error) {
    sqlite3 *db = NULL;
    fdl_code code = fdl_sqlite_open(path, FDL_SQLITE_WRITE, &db, error);
    if (code == FDL_OK)
        code = fdl_sqlite_exec(db, error, "PRAGMA user_version = %lld", (long long)stamp);
    sqlite3_close(db);
    return code;
}

fdl_code fdl_catalog_state(const char *path, fdl_working_state *out, fdl_error *error) {
    sqlite3 *db = NULL;
    fdl_working_state state = {0};
    fdl_code code = fdl_sqlite_open(path, FDL_SQLITE_READ, &db, error);
    if (code == FDL_OK)
        code = fdl_sqlite_exec(db, error, "BEGIN");
    if (code == FDL_OK)
        code = fdl_sqlite_integer(db, "PRAGMA user_version", 0, &state.stamp, error);
    if (code == FDL_OK)
        code = fdl_sqlite_integer(db, "SELECT max(snapshot_id) FROM ducklake_snapshot", -1, &state.snapshot_id, error);
    if (code == FDL_OK && state.snapshot_id < 0)
        code = fdl_fail(error, FDL_REFUSED, path, "'%s' is not a DuckLake catalog: it has no snapshot", path);
    sqlite3_close(db);
    if (code == FDL_OK)
        *out = state;
    return code;
}

/*
 * In WAL mode whoever has read the file holds a lock on it until he closes it,
 * so being alone proves that nobody has it open.  (In the other modes an idle
 * reader cannot be seen, and does not mind.)  A stale index of the WAL would
 * stay behind under the old name.
 */
fdl_code fdl_catalog_settle(const char *path, fdl_error *error) {
    sqlite3 *db = NULL;
    char *index = NULL;
    int64_t busy = 0;
    fdl_code code = fdl_sqlite_open(path, FDL_SQLITE_ALONE, &db, error);
    if (code == FDL_OK)
        code = fdl_sqlite_integer(db, "PRAGMA wal_checkpoint(TRUNCATE)", 0, &busy, error);
    if (code == FDL_OK && busy != 0)
        code =
            fdl_fail(error, FDL_BUSY, path, "'%s' is in use by another process; close it there, then try again", path);
    if (code == FDL_OK)
        code = fdl_str_format(&index, error, "%s-shm", path);
    if (code == FDL_OK)
        code = fdl_file_remove(index, error);
    if (sqlite3_close(db) != SQLITE_OK && code == FDL_OK)
        code = fdl_fail(error, FDL_FAILED, path, "cannot close '%s'", path);
    free(index);
    return code;
}
