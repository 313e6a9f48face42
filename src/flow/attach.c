/*
 * attach.c - finds a version the way any reader does, and says how to attach it.
 *
 *   1 HEAD, or the ref asked for   2 version.json   3 no expired.json   4 ATTACH
 */
#include <stdlib.h>
#include <string.h>

#include "catalog/duck.h"
#include "fdl.h"
#include "flow/kept.h"
#include "flow/releases.h"
#include "repo/expiry.h"
#include "repo/layout.h"
#include "util/text.h"

#define STATEMENT_LIMIT_BYTES (1u << 16)

void fdl_location_clear(fdl_location *location) {
    fdl_version_clear(&location->version);
    free(location->catalog_url);
    free(location->local_path);
    memset(location, 0, sizeof *location);
}

static fdl_code refuse_expired(const fdl_version *version, const fdl_expiry *expiry, fdl_error *error) {
    const char *id = version->id;
    bool withdrawn = fdl_expiry_is_withdrawn(expiry);
    if (withdrawn)
        fdl_kept_drop(version);
    return fdl_fail(error, FDL_EXPIRED, id, "version '%s' %s on %s and cannot be read any more%s%s", id,
                    withdrawn ? "was withdrawn" : "expired", expiry->expired_at, expiry->text ? ": " : "",
                    expiry->text ? expiry->text : "");
}

fdl_code fdl_locate(fdl_repo *repo, const char *revision, fdl_location *out, fdl_error *error) {
    fdl_location found = {0};
    fdl_expiry expiry = {0};
    fdl_code code = fdl_resolve(repo, revision, &found.target, error);
    if (code == FDL_OK)
        code = fdl_version_read(repo, found.target.id, &found.version, error);
    if (code == FDL_OK)
        code = fdl_expiry_read(repo, found.target.id, &expiry, error);
    if (code == FDL_OK && expiry.expired)
        code = refuse_expired(&found.version, &expiry, error);
    if (code == FDL_OK)
        code = fdl_version_url(repo, found.target.id, found.version.catalog.file.path, &found.catalog_url, error);
    found.format = found.version.catalog.format;
    found.catalog_path = found.version.catalog.file.path;
    if (code == FDL_OK)
        *out = found;
    else
        fdl_location_clear(&found);
    fdl_expiry_clear(&expiry);
    return code;
}

/* ---- another reader ------------------------------------------------------------ */

static fdl_code no_such_format(const fdl_location *location, const char *release, const char *format,
                               fdl_error *error) {
    const fdl_version *version = &location->version;
    fdl_buf formats;
    fdl_buf_init(&formats, FDL_MESSAGE_LIMIT_BYTES);
    fdl_code code = fdl_buf_add_str(&formats, version->catalog.format, error);
    for (size_t i = 0; i < version->other_count && code == FDL_OK; i++)
        code = fdl_buf_add_format(&formats, error, ", %s", version->others[i].format);
    if (code == FDL_OK)
        code = fdl_fail(error, FDL_NOT_FOUND, version->id,
                        "version '%s' has no catalog for DuckDB '%s', which reads DuckLake %s; it has %s", version->id,
                        release, format, formats.data);
    fdl_buf_clear(&formats);
    return code;
}

fdl_code fdl_location_for_duckdb(fdl_repo *repo, fdl_location *location, const char *release, fdl_error *error) {
    const fdl_version *version = &location->version;
    const fdl_catalog_record *chosen = NULL;
    char *url = NULL;
    const char *format = fdl_format_of_release(release);
    if (!format)
        return fdl_fail(error, FDL_USAGE, release,
                        "which DuckLake format DuckDB '%s' reads is not known; name a release from 1.3 to 1.5, such as "
                        "'1.4' or '1.5.0'",
                        release);
    for (size_t i = 0; i <= version->other_count && !chosen; i++) {
        const fdl_catalog_record *record = i == 0 ? &version->catalog : &version->others[i - 1];
        chosen = strcmp(record->format, format) == 0 ? record : NULL;
    }
    if (!chosen)
        return no_such_format(location, release, format, error);
    fdl_code code = fdl_version_url(repo, version->id, chosen->file.path, &url, error);
    if (code == FDL_OK) {
        free(location->catalog_url);
        location->catalog_url = url;
        location->format = chosen->format;
        location->catalog_path = chosen->file.path;
    }
    return code;
}

/* ---- the statement ---------------------------------------------------------------- */

/* "lake" stands as it is; any other name is quoted, which is right for every word DuckDB reserves. */
static fdl_code add_alias(fdl_buf *sql, const char *alias, fdl_error *error) {
    if (!alias || strcmp(alias, "lake") == 0)
        return fdl_buf_add_str(sql, "lake", error);
    return fdl_sql_name(sql, alias, error);
}

/* Where the reader finds the catalog and the data. */
static fdl_code reader_urls(fdl_repo *repo, const fdl_location *location, const char *root, char **catalog, char **data,
                            fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *url = NULL;
    const fdl_config *config = NULL;
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        code = fdl_key_version(key, location->version.id, location->catalog_path, error);
    if (code == FDL_OK)
        code = fdl_key_url(root, key, &url, error);
    if (code == FDL_OK)
        code = fdl_str_format(catalog, error, "ducklake:%s", location->local_path ? location->local_path : url);
    if (code == FDL_OK)
        code = fdl_key_url(root, config->data_dir, data, error);
    free(url);
    return code;
}

fdl_code fdl_attach_statement(fdl_repo *repo, const fdl_location *location, const char *root, const char *alias,
                              char **out, fdl_error *error) {
    char *data_url = NULL, *ducklake_url = NULL;
    fdl_buf sql;
    fdl_buf_init(&sql, STATEMENT_LIMIT_BYTES);
    fdl_code code = alias && !*alias ? fdl_fail(error, FDL_USAGE, NULL, "the name to attach as must not be empty") : FDL_OK;
    if (code == FDL_OK)
        code = reader_urls(repo, location, root ? root : fdl_repo_address(repo), &ducklake_url, &data_url, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, "ATTACH ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&sql, ducklake_url, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, " AS ", error);
    if (code == FDL_OK)
        code = add_alias(&sql, alias, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, " (DATA_PATH ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&sql, data_url, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, ", OVERRIDE_DATA_PATH true, READ_ONLY);", error);
    if (code == FDL_OK) {
        *out = fdl_buf_detach(&sql, NULL);
        code = *out ? FDL_OK : fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    }
    fdl_buf_clear(&sql);
    free(ducklake_url);
    free(data_url);
    return code;
}
