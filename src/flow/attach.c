/*
 * attach.c - finds a version the way any reader does, and says how to attach it.
 *
 *   1 HEAD, or the ref asked for   2 version.json   3 no expired.json   4 ATTACH
 */
#include <stdlib.h>
#include <string.h>

#include "catalog/duck.h"
#include "fdl.h"
#include "util/text.h"

#define STATEMENT_LIMIT_BYTES (1u << 16)

void fdl_location_clear(fdl_location *location) {
    fdl_version_clear(&location->version);
    free(location->catalog_url);
    memset(location, 0, sizeof *location);
}

static fdl_code refuse_expired(const char *id, const fdl_expiry *expiry, fdl_error *error) {
    bool withdrawn = strcmp(expiry->reason, "withdrawn") == 0;
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
        code = refuse_expired(found.target.id, &expiry, error);
    if (code == FDL_OK)
        code = fdl_version_url(repo, &found.version, &found.catalog_url, error);
    if (code == FDL_OK)
        *out = found;
    else
        fdl_location_clear(&found);
    fdl_expiry_clear(&expiry);
    return code;
}

/* "lake" stands as it is; any other name is quoted, which is right for every word DuckDB reserves. */
static fdl_code add_alias(fdl_buf *sql, const char *alias, fdl_error *error) {
    if (!alias || strcmp(alias, "lake") == 0)
        return fdl_buf_add_str(sql, "lake", error);
    return fdl_sql_name(sql, alias, error);
}

fdl_code fdl_attach_statement(fdl_repo *repo, const fdl_location *location, const char *alias, char **out,
                              fdl_error *error) {
    char *data_url = NULL, *ducklake_url = NULL;
    fdl_buf sql;
    fdl_buf_init(&sql, STATEMENT_LIMIT_BYTES);
    fdl_code code = alias && !*alias ? fdl_fail(error, FDL_USAGE, NULL, "the name to attach as must not be empty") : FDL_OK;
    if (code == FDL_OK)
        code = fdl_data_url(repo, &data_url, error);
    if (code == FDL_OK)
        code = fdl_str_format(&ducklake_url, error, "ducklake:%s", location->catalog_url);
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
