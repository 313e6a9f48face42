/*
 * flush.c - rows that DuckLake keeps in the catalog itself, written to files by
 * DuckLake.
 *
 * Only DuckLake can do that right (row ids, snapshots, types), so this is the
 * one place where fdl attaches a working catalog as a user would.
 */
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog.h"
#include "catalog/duck.h"
#include "util/file.h"
#include "util/text.h"

#define SQL_LIMIT_BYTES (1u << 16)

/* What lies on the web or in a bucket needs one more extension, which finds its keys in the environment. */
static fdl_code load_extensions(fdl_duck *duck, const char *data_path, fdl_error *error) {
    fdl_error ignored;
    fdl_code code = fdl_duck_load_extension(duck, "sqlite_scanner", error);
    if (code == FDL_OK)
        code = fdl_duck_load_extension(duck, "ducklake", error);
    if (code == FDL_OK && strstr(data_path, "://") != NULL)
        code = fdl_duck_load_extension(duck, "httpfs", error);
    else if (code == FDL_OK) /* files already published may be named by URL */
        fdl_duck_load_extension(duck, "httpfs", &ignored);
    return code;
}

fdl_code fdl_catalog_attach_statement(const char *path, const char *data_path, char **out, fdl_error *error) {
    fdl_buf sql;
    char *location = NULL;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_str_format(&location, error, "ducklake:%s", path);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, "ATTACH ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&sql, location, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, " AS lake (DATA_PATH ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&sql, data_path, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql,
                               ", OVERRIDE_DATA_PATH true, META_TYPE 'sqlite', DATA_INLINING_ROW_LIMIT 0, "
                               "META_JOURNAL_MODE 'WAL', BUSY_TIMEOUT 5000);",
                               error);
    if (code == FDL_OK && !(*out = fdl_buf_detach(&sql, NULL)))
        code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    fdl_buf_clear(&sql);
    free(location);
    return code;
}

static fdl_code attach(fdl_duck *duck, const char *path, const char *data_path, fdl_error *error) {
    char *absolute = NULL, *sql = NULL;
    fdl_code code = fdl_path_absolute(path, &absolute, error);
    if (code == FDL_OK)
        code = fdl_catalog_attach_statement(absolute, data_path, &sql, error);
    if (code == FDL_OK)
        code = fdl_duck_exec(duck, error, "%s", sql);
    free(sql);
    free(absolute);
    return code;
}

fdl_code fdl_catalog_flush_inlined(const fdl_context *context, const char *path, const char *data_path,
                                   fdl_error *error) {
    fdl_working_state state;
    fdl_duck *duck = NULL;
    /* DuckLake would make a catalog where there is none. */
    fdl_code code = fdl_catalog_state(path, &state, error);
    if (code == FDL_OK)
        code = fdl_duck_open(context, &duck, error);
    if (code == FDL_OK)
        code = load_extensions(duck, data_path, error);
    if (code == FDL_OK)
        code = attach(duck, path, data_path, error);
    if (code == FDL_OK)
        code = fdl_duck_exec(duck, error, "CALL ducklake_flush_inlined_data('lake'); DETACH lake");
    fdl_duck_free(duck);
    if (code == FDL_FAILED && strstr(error->message, "database is locked") != NULL)
        code =
            fdl_fail(error, FDL_BUSY, path, "'%s' is locked by another process; let it finish, then try again", path);
    return code;
}
