/*
 * create.c - making working catalogs: the frame that thaw fills too, and the
 * empty one to start from.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "catalog/ducklake_schema.h"
#include "catalog/lake_value.h"
#include "catalog/protect.h"
#include "catalog/working_new.h"
#include "fdl/version.h"
#include "util/file.h"
#include "util/ident.h"

#define SQL_LIMIT_BYTES (1u << 20)

/* ---- the frame ------------------------------------------------------------ */

static fdl_code create_tables(sqlite3 *db, fdl_error *error) {
    fdl_buf sql;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < FDL_LAKE_TABLE_COUNT && code == FDL_OK; i++)
        code = fdl_lake_create_sql(&sql, &fdl_lake_tables[i], FDL_LAKE_SQLITE, "", error);
    if (code == FDL_OK)
        code = fdl_sqlite_exec(db, error, "%s", sql.data);
    fdl_buf_clear(&sql);
    return code;
}

/* Large pages are filled and written with less work; but DuckLake writes whole ones, also for a row. */
#define LARGE_BYTES (4u << 20)
#define PAGE_BYTES 4096
#define LARGE_PAGE_BYTES 16384

fdl_code fdl_working_new_begin(const char *path, uint64_t bytes, fdl_working_new *out, fdl_error *error) {
    int fd = -1;
    *out = (fdl_working_new){.path = path};
    if (fdl_file_exists(path))
        return fdl_fail(error, FDL_CONFLICT, path, "'%s' exists already", path);
    fdl_code code = fdl_temp_create(path, &out->temporary, &fd, error);
    if (code == FDL_OK) {
        close(fd);
        code = fdl_sqlite_fill(out->temporary, bytes < LARGE_BYTES ? PAGE_BYTES : LARGE_PAGE_BYTES, &out->db, error);
    }
    if (code == FDL_OK)
        code = fdl_sqlite_exec(out->db, error, "BEGIN");
    if (code == FDL_OK)
        code = create_tables(out->db, error);
    return code;
}

/* The file is new and has no WAL, so one fsync makes all of it durable. */
static fdl_code take_name(fdl_working_new *working, fdl_error *error) {
    char *folder = NULL;
    fdl_code code = fdl_file_sync(working->temporary, error);
    if (code == FDL_OK && fdl_rename_new(working->temporary, working->path) != 0)
        code = errno == EEXIST ? fdl_fail(error, FDL_CONFLICT, working->path, "'%s' exists already", working->path)
                               : fdl_file_error(error, "write", working->path, errno);
    if (code == FDL_OK)
        code = fdl_path_folder(working->path, &folder, error);
    if (code == FDL_OK)
        code = fdl_folder_sync(folder, error);
    free(folder);
    return code;
}

fdl_code fdl_working_new_end(fdl_working_new *working, int64_t stamp, fdl_code code, fdl_error *error) {
    if (code == FDL_OK)
        code = fdl_lake_protect(working->db, error);
    if (code == FDL_OK)
        code = fdl_sqlite_exec(working->db, error, "PRAGMA user_version = %lld; COMMIT", (long long)stamp);
    if (sqlite3_close(working->db) != SQLITE_OK && code == FDL_OK)
        code = fdl_fail(error, FDL_FAILED, working->path, "cannot close '%s'", working->path);
    if (code == FDL_OK)
        code = take_name(working, error);
    if (code != FDL_OK && working->temporary != NULL)
        unlink(working->temporary);
    free(working->temporary);
    *working = (fdl_working_new){0};
    return code;
}

/* ---- the empty catalog ------------------------------------------------------ */

/* What DuckLake leaves behind when it attaches a new catalog: snapshot 0, which made the schema "main". */
static fdl_code fill_empty(sqlite3 *db, const char *data_path, fdl_error *error) {
    char now[FDL_LAKE_TIME_BYTES];
    char schema_uuid[37];
    fdl_code code = fdl_uuid_v4(schema_uuid, error);
    if (code != FDL_OK)
        return code;
    fdl_lake_time_write(fdl_now_us(), now);
    return fdl_sqlite_exec(
        db, error,
        "INSERT INTO ducklake_metadata (key, value) VALUES ('version', '" FDL_DUCKLAKE_FORMAT "'),"
        "('created_by', 'FDL " FDL_VERSION "'), ('data_path', %Q), ('encrypted', 'false');"
        "INSERT INTO ducklake_snapshot VALUES (0, %Q, 0, 1, 0);"
        "INSERT INTO ducklake_snapshot_changes VALUES (0, 'created_schema:\"main\"', NULL, NULL, NULL);"
        "INSERT INTO ducklake_schema VALUES (0, %Q, 0, NULL, 'main', 'main/', 1)",
        data_path, now, schema_uuid);
}

fdl_code fdl_catalog_create(const fdl_context *context, const char *path, const fdl_thaw_options *options,
                            fdl_error *error) {
    fdl_working_new working;
    (void)context;
    fdl_code code = fdl_working_new_begin(path, 0, &working, error);
    if (code == FDL_OK)
        code = fill_empty(working.db, options->data_path, error);
    return fdl_working_new_end(&working, options->stamp, code, error);
}
