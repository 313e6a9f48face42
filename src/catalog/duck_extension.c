/*
 * duck_extension.c - finds DuckDB's own extensions: beside the library, as our
 * setup lays them out, else where the user has installed them.
 *
 * Nothing is ever fetched: what a command does must not depend on a server.  An
 * extension fits one release of DuckDB and one platform alone, so the folders
 * are named by both.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/duck_api.h"
#include "util/file.h"
#include "util/text.h"

#define SQL_LIMIT_BYTES (1u << 16)

static fdl_code take_platform(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    char *platform = data;
    (void)count, (void)error;
    if (!cells[0].is_null)
        fdl_str_fit(platform, 64, cells[0].text);
    return FDL_OK;
}

fdl_code fdl_duck_platform(fdl_duck *duck, char out[64], fdl_error *error) {
    out[0] = '\0';
    return fdl_duck_query(duck, "PRAGMA platform", take_platform, out, error);
}

/* "<folder>/v1.5.5/linux_amd64/<name>.duckdb_extension", if it is there. */
static bool is_in(const fdl_duck *duck, const char *folder, const char *platform, const char *name,
                  char out[PATH_MAX]) {
    int length =
        snprintf(out, PATH_MAX, "%s/%s/%s/%s.duckdb_extension", folder, duck->api->library_version(), platform, name);
    return length > 0 && length < PATH_MAX && fdl_file_exists(out);
}

/* "<the library's folder>/extensions" */
static fdl_code beside_library(const fdl_duck *duck, char **out, fdl_error *error) {
    char *folder = NULL;
    fdl_code code = fdl_path_folder(duck->library_path, &folder, error);
    if (code == FDL_OK)
        code = fdl_str_format(out, error, "%s/extensions", folder);
    free(folder);
    return code;
}

fdl_code fdl_duck_find_extension(fdl_duck *duck, const char *name, char out[PATH_MAX], fdl_error *error) {
    char platform[64] = "";
    char *beside = NULL;
    fdl_code code = fdl_duck_platform(duck, platform, error);
    if (code == FDL_OK)
        code = beside_library(duck, &beside, error);
    if (code == FDL_OK) {
        const char *named = getenv("FDL_EXTENSIONS");
        if ((named == NULL || !is_in(duck, named, platform, name, out)) && !is_in(duck, beside, platform, name, out))
            fdl_str_fit(out, PATH_MAX, name);
    }
    free(beside);
    return code;
}

/*
 * Checking a signature takes DuckDB an eighth of a second.  What came beside the library is as good as the library,
 * whose signature nobody checks either; from everywhere else an extension has to be signed.
 */
static fdl_code want_signature(fdl_duck *duck, const char *path, fdl_error *error) {
    char *beside = NULL;
    fdl_code code = beside_library(duck, &beside, error);
    if (code == FDL_OK && !fdl_str_starts(path, beside))
        code = fdl_duck_exec(duck, error, "SET allow_unsigned_extensions = false");
    free(beside);
    return code;
}

fdl_code fdl_duck_load_extension(fdl_duck *duck, const char *name, fdl_error *error) {
    char path[PATH_MAX];
    fdl_buf sql;
    fdl_error why;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_duck_find_extension(duck, name, path, error);
    if (code == FDL_OK)
        code = want_signature(duck, path, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, "LOAD ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&sql, path, error);
    if (code == FDL_OK && fdl_duck_exec(duck, &why, "%s", sql.data) != FDL_OK)
        code =
            fdl_fail(error, FDL_FAILED, name,
                     "cannot load DuckDB's extension '%s' for %s: run 'make', INSTALL it once in DuckDB, or name its "
                     "folder with FDL_EXTENSIONS (%.400s)",
                     name, duck->api->library_version(), why.message);
    fdl_buf_clear(&sql);
    return code;
}
