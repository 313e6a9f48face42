/*
 * secret.c - what DuckDB must know of a bucket before it attaches a catalog
 * there: region, endpoint and where the credentials come from.  The credentials
 * themselves are never printed; DuckDB finds them where fdl did, through its aws
 * extension.
 */
#include <stdlib.h>

#include "catalog/duck.h"
#include "fdl.h"
#include "store/s3.h"
#include "util/buf.h"

#define STATEMENT_LIMIT_BYTES (1u << 14)

static fdl_code add_field(fdl_buf *sql, const char *name, const char *value, fdl_error *error) {
    fdl_code code = fdl_buf_add_format(sql, error, ", %s ", name);
    return code == FDL_OK ? fdl_sql_literal(sql, value, error) : code;
}

static fdl_code compose(fdl_buf *sql, const char *address, const fdl_s3_place *place, fdl_error *error) {
    fdl_code code = fdl_buf_add_str(sql, "CREATE OR REPLACE SECRET ", error);
    if (code == FDL_OK) /* a name of its own for each repository, so that several can be attached */
        code = fdl_sql_name(sql, address, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(sql, place->anonymous ? " (TYPE s3" : " (TYPE s3, PROVIDER credential_chain", error);
    if (code == FDL_OK)
        code = add_field(sql, "SCOPE", address, error);
    if (code == FDL_OK)
        code = add_field(sql, "REGION", place->region, error);
    if (code == FDL_OK && place->endpoint)
        code = add_field(sql, "ENDPOINT", place->endpoint, error);
    if (code == FDL_OK && place->path_style)
        code = add_field(sql, "URL_STYLE", "path", error);
    if (code == FDL_OK && !place->tls)
        code = fdl_buf_add_str(sql, ", USE_SSL false", error);
    return code == FDL_OK ? fdl_buf_add_str(sql, ");", error) : code;
}

fdl_code fdl_secret_statement(fdl_repo *repo, char **out, fdl_error *error) {
    fdl_s3_place place;
    fdl_buf sql;
    *out = NULL;
    if (!fdl_s3_describe(fdl_repo_store(repo), &place))
        return FDL_OK;
    fdl_buf_init(&sql, STATEMENT_LIMIT_BYTES);
    fdl_code code = compose(&sql, fdl_repo_address(repo), &place, error);
    if (code == FDL_OK) {
        *out = fdl_buf_detach(&sql, NULL);
        code = *out ? FDL_OK : fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    }
    fdl_buf_clear(&sql);
    return code;
}
