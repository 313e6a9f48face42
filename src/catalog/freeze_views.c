/*
 * freeze_views.c - views and macros that work for their author alone.
 *
 * DuckLake writes {DUCKLAKE_CATALOG} where a view names the catalog it lies in,
 * and puts in whatever a reader attached it as.  A view on another database, and
 * every macro that names its own catalog, keeps the alias of the session it was
 * written in, and fails for a reader who chose another.  That is allowed, but
 * not without a word.
 *
 * DuckDB's parser finds the names: it turns SQL into JSON without running it.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalog/freeze.h"
#include "catalog/sqlite_db.h"
#include "util/json.h"
#include "util/text.h"

#define SQL_LIMIT_BYTES (4u << 20)
#define NAMES_LIMIT_BYTES 1200u

#define PLACEHOLDER "{DUCKLAKE_CATALOG}"
#define OWN_CATALOG "fdl_own_catalog" /* a name to parse in its stead */

typedef struct view_check {
    json_t *schemas;   /* an object whose keys are the names of schemas */
    const char *alias; /* the first foreign one found, else NULL; lives as long as `tree` */
    json_t *tree;
} view_check;

static const char *text_field(const json_t *object, const char *field) {
    const char *text = json_string_value(json_object_get(object, field));
    return text == NULL ? "" : text;
}

/* "a.b.c" has a catalog; in "b.c" DuckDB takes b for a catalog when there is no schema b. */
static const char *foreign_alias(const view_check *check, const char *catalog, const char *schema) {
    static const char *const everywhere[] = {"system", "temp", "main", "information_schema", "pg_catalog", OWN_CATALOG};
    const char *name = catalog[0] != '\0' ? catalog : schema;
    if (name[0] == '\0' || (catalog[0] == '\0' && json_object_get(check->schemas, name) != NULL))
        return NULL;
    for (size_t i = 0; i < sizeof everywhere / sizeof *everywhere; i++)
        if (strcasecmp(name, everywhere[i]) == 0)
            return NULL;
    return name;
}

/* jansson bounds the depth of what it parses, so this recursion is bounded too. */
static void find_alias(view_check *check, json_t *node) {
    const char *key = NULL;
    json_t *value = NULL;
    size_t index = 0;
    if (json_is_array(node)) {
        json_array_foreach(node, index, value) {
            if (check->alias == NULL)
                find_alias(check, value);
        }
        return;
    }
    if (!json_is_object(node) || check->alias != NULL)
        return;
    const char *type = text_field(node, "type");
    if (strcmp(type, "BASE_TABLE") == 0)
        check->alias = foreign_alias(check, text_field(node, "catalog_name"), text_field(node, "schema_name"));
    else if (strcmp(type, "FUNCTION") == 0)
        check->alias = foreign_alias(check, text_field(node, "catalog"), text_field(node, "schema"));
    json_object_foreach(node, key, value) {
        if (check->alias == NULL)
            find_alias(check, value);
    }
}

/* The SQL with the placeholder made a name; a scalar macro is an expression. */
static fdl_code parsable(fdl_buf *out, const char *sql, bool is_expression, fdl_error *error) {
    fdl_code code = is_expression ? fdl_buf_add_str(out, "SELECT ", error) : FDL_OK;
    while (code == FDL_OK) {
        const char *found = strstr(sql, PLACEHOLDER);
        if (found == NULL)
            return fdl_buf_add_str(out, sql, error);
        code = fdl_buf_add(out, sql, (size_t)(found - sql), error);
        if (code == FDL_OK)
            code = fdl_buf_add_str(out, OWN_CATALOG, error);
        sql = found + strlen(PLACEHOLDER);
    }
    return code;
}

static fdl_code take_tree(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    view_check *check = data;
    (void)count, (void)error;
    /* Positions may be 2^64-1, which is no whole number to jansson.  What cannot be read is not judged. */
    check->tree = cells[0].is_null ? NULL : json_loadb(cells[0].text, cells[0].length, JSON_DECODE_INT_AS_REAL, NULL);
    return FDL_OK;
}

/* Leaves check->tree as NULL for what is no SQL to DuckDB, or too long: it stops nothing. */
static void parse(fdl_freeze *freeze, view_check *check, const char *sql, bool is_expression) {
    fdl_buf text;
    fdl_buf query;
    fdl_error ignored;
    fdl_buf_init(&text, SQL_LIMIT_BYTES);
    fdl_buf_init(&query, 3 * SQL_LIMIT_BYTES);
    json_decref(check->tree);
    check->tree = NULL;
    fdl_code code = parsable(&text, sql, is_expression, &ignored);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&query, "SELECT json_serialize_sql(", &ignored);
    if (code == FDL_OK)
        code = fdl_sql_literal(&query, text.data == NULL ? "" : text.data, &ignored);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&query, ")::VARCHAR", &ignored);
    if (code == FDL_OK)
        fdl_duck_query(freeze->duck, query.data, take_tree, check, &ignored);
    fdl_buf_clear(&text);
    fdl_buf_clear(&query);
}

/* Columns: "view" or "macro", schema, name, sql, whether it is an expression. */
static void check_view(fdl_freeze *freeze, view_check *check, sqlite3_stmt *row) {
    const char *sql = (const char *)sqlite3_column_text(row, 3);
    check->alias = NULL;
    if (sql == NULL)
        return;
    parse(freeze, check, sql, sqlite3_column_int(row, 4) == 1);
    if (check->tree != NULL)
        find_alias(check, check->tree);
    if (check->alias != NULL)
        fdl_note(freeze->context, FDL_NOTE_WARNING,
                 "the %s '%s.%s' names the catalog '%s': it works only for readers who attach one under that name",
                 sqlite3_column_text(row, 0), sqlite3_column_text(row, 1), sqlite3_column_text(row, 2), check->alias);
}

static fdl_code read_schemas(fdl_freeze *freeze, json_t *schemas, fdl_error *error) {
    sqlite3_stmt *statement = NULL;
    bool row = true;
    fdl_code code = fdl_sqlite_prepare(freeze->db, &statement, error,
                                       "SELECT schema_name FROM ducklake_schema WHERE end_snapshot IS NULL");
    while (code == FDL_OK && row) {
        code = fdl_sqlite_step(statement, &row, error);
        const char *name = code == FDL_OK && row ? (const char *)sqlite3_column_text(statement, 0) : NULL;
        if (name != NULL)
            code = fdl_json_set(schemas, name, json_true(), error);
    }
    sqlite3_finalize(statement);
    return code;
}

fdl_code fdl_freeze_views(fdl_freeze *freeze, fdl_error *error) {
    view_check check = {.schemas = json_object()};
    sqlite3_stmt *statement = NULL;
    bool row = true;
    fdl_code code = fdl_sqlite_prepare(
        freeze->db, &statement, error,
        "SELECT 'view', s.schema_name, v.view_name, v.sql, 0 FROM ducklake_view v JOIN ducklake_schema s "
        "ON s.schema_id = v.schema_id AND s.end_snapshot IS NULL WHERE v.end_snapshot IS NULL "
        "UNION ALL SELECT 'macro', s.schema_name, m.macro_name, i.sql, i.type = 'scalar' FROM ducklake_macro m "
        "JOIN ducklake_schema s ON s.schema_id = m.schema_id AND s.end_snapshot IS NULL "
        "JOIN ducklake_macro_impl i ON i.macro_id = m.macro_id WHERE m.end_snapshot IS NULL");
    if (check.schemas == NULL && code == FDL_OK)
        code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    if (code == FDL_OK)
        code = read_schemas(freeze, check.schemas, error);
    while (code == FDL_OK && row) {
        code = fdl_sqlite_step(statement, &row, error);
        if (code == FDL_OK && row)
            check_view(freeze, &check, statement);
    }
    sqlite3_finalize(statement);
    json_decref(check.tree);
    json_decref(check.schemas);
    return code;
}
