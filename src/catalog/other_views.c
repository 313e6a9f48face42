/*
 * other_views.c - views in formats that know no {DUCKLAKE_CATALOG}.
 *
 * DuckLake 1.0 writes this word where a view names the catalog it lies in, and
 * readers put in what they attached it as.  Older ones look a name up in the
 * view's own catalog first, whatever else the reader has, so leaving the catalog
 * out says the same: {DUCKLAKE_CATALOG}.s.t is s.t, and {DUCKLAKE_CATALOG}.t is
 * main.t.
 *
 * The words are changed as text, and DuckDB's parser is the judge: both
 * statements are parsed, the catalog is taken out of the first one's tree, and
 * the trees must be equal.  A view that cannot be parsed or does not pass stops
 * the whole.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalog/other_format.h"
#include "util/json.h"
#include "util/text.h"

#define SQL_LIMIT_BYTES (4u << 20)

#define PLACEHOLDER "{DUCKLAKE_CATALOG}"
#define OWN_CATALOG "fdl_own_catalog" /* a name to parse in its stead */

typedef struct view {
    int64_t id;
    int64_t begin_snapshot;
    char *name;
    char *sql;
} view;

typedef struct views {
    fdl_duck *duck;
    view *items;
    size_t count;
    char **schemas;
    size_t schema_count;
    json_t *tree; /* the last one parsed */
} views;

static bool is_schema(const views *v, const char *name, size_t length) {
    for (size_t i = 0; i < v->schema_count; i++)
        if (strlen(v->schemas[i]) == length && strncasecmp(v->schemas[i], name, length) == 0)
            return true;
    return false;
}

/* ---- the text ------------------------------------------------------------------- */

/* Behind the quoted word that begins here; a doubled quote is one inside. */
static const char *quoted_end(const char *at) {
    char quote = *at++;
    for (; *at; at++)
        if (*at == quote && *++at != quote)
            return at;
    return at;
}

/* Behind the name that begins here. */
static const char *name_end(const char *at) {
    if (*at == '"')
        return quoted_end(at);
    while (*at == '_' || *at == '$' || (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
           (*at >= 'A' && *at <= 'Z') || (unsigned char)*at >= 0x80)
        at++;
    return at;
}

/* What stands for a placeholder: nothing before a schema, else the schema "main".  Where it stands is the judge's. */
static fdl_code replace(const views *v, const char **at, fdl_buf *out, fdl_error *error) {
    const char *name = *at + strlen(PLACEHOLDER);
    name += *name == '.';
    const char *end = name_end(name);
    size_t quotes = *name == '"' && end > name + 1;
    bool has_schema = *end == '.' && is_schema(v, name + quotes, (size_t)(end - name) - 2 * quotes);
    *at = name;
    return has_schema ? FDL_OK : fdl_buf_add_str(out, "main.", error);
}

static fdl_code rewrite(const views *v, const char *sql, fdl_buf *out, fdl_error *error) {
    fdl_code code = FDL_OK;
    while (*sql && code == FDL_OK) {
        const char *end = sql + 1;
        if (*sql == '\'' || *sql == '"')
            end = quoted_end(sql);
        if (fdl_str_starts(sql, PLACEHOLDER)) {
            code = replace(v, &sql, out, error);
            continue;
        }
        code = fdl_buf_add(out, sql, (size_t)(end - sql), error);
        sql = end;
    }
    return code;
}

/* ---- the judge -------------------------------------------------------------------- */

static fdl_code take_tree(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    views *v = data;
    (void)count, (void)error;
    json_decref(v->tree);
    /* Positions may be 2^64-1, which is no whole number to jansson. */
    v->tree = cells[0].is_null ? NULL : json_loadb(cells[0].text, cells[0].length, JSON_DECODE_INT_AS_REAL, NULL);
    return FDL_OK;
}

/* `*tree` is NULL for what DuckDB's parser does not give away. */
static fdl_code parse(views *v, const char *sql, json_t **tree, fdl_error *error) {
    fdl_buf query;
    fdl_buf_init(&query, 3 * SQL_LIMIT_BYTES);
    fdl_code code = fdl_buf_add_str(&query, "SELECT json_serialize_sql(", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&query, sql, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&query, ")::VARCHAR", error);
    if (code == FDL_OK)
        code = fdl_duck_query(v->duck, query.data, take_tree, v, error);
    fdl_buf_clear(&query);
    if (code == FDL_OK && !json_is_true(json_object_get(v->tree, "error"))) {
        *tree = v->tree;
        v->tree = NULL;
    }
    return code;
}

static fdl_code parse_own(views *v, const char *sql, json_t **tree, fdl_error *error) {
    fdl_buf text;
    fdl_buf_init(&text, SQL_LIMIT_BYTES);
    fdl_code code = FDL_OK;
    for (const char *found; code == FDL_OK && (found = strstr(sql, PLACEHOLDER)); sql = found + strlen(PLACEHOLDER)) {
        code = fdl_buf_add(&text, sql, (size_t)(found - sql), error);
        if (code == FDL_OK)
            code = fdl_buf_add_str(&text, OWN_CATALOG, error);
    }
    if (code == FDL_OK)
        code = fdl_buf_add_str(&text, sql, error);
    if (code == FDL_OK)
        code = parse(v, text.data, tree, error);
    fdl_buf_clear(&text);
    return code;
}

static bool says(const json_t *object, const char *field, const char *text) {
    const char *value = json_string_value(json_object_get(object, field));
    return value && strcmp(value, text) == 0;
}

/* A table or function: its catalog is left out, or is where the parser saw a schema. */
static bool leave_out(json_t *node, const char *catalog, const char *schema) {
    if (says(node, catalog, OWN_CATALOG))
        return json_object_set_new(node, catalog, json_string("")) == 0;
    if (says(node, schema, OWN_CATALOG))
        return json_object_set_new(node, schema, json_string("main")) == 0;
    return true;
}

/* catalog.table.column, or catalog.schema.table.column. */
static bool leave_out_of_column(const views *v, json_t *names) {
    const char *first = json_string_value(json_array_get(names, 0));
    const char *second = json_string_value(json_array_get(names, 1));
    if (!first || !second || strcmp(first, OWN_CATALOG) != 0)
        return true;
    if (json_array_size(names) > 3 && is_schema(v, second, strlen(second)))
        return json_array_remove(names, 0) == 0;
    return json_array_set_new(names, 0, json_string("main")) == 0;
}

/* jansson bounds the depth of what it parses, so this recursion is bounded too.  False: out of memory. */
static bool leave_out_catalog(const views *v, json_t *node) {
    const char *key = NULL;
    json_t *value = NULL;
    size_t index = 0;
    bool done = true;
    if (says(node, "type", "BASE_TABLE"))
        done = leave_out(node, "catalog_name", "schema_name");
    else if (says(node, "type", "FUNCTION"))
        done = leave_out(node, "catalog", "schema");
    else if (says(node, "type", "COLUMN_REF"))
        done = leave_out_of_column(v, json_object_get(node, "column_names"));
    json_object_del(node, "query_location");
    json_array_foreach(node, index, value) done = done && leave_out_catalog(v, value);
    json_object_foreach(node, key, value) done = done && leave_out_catalog(v, value);
    return done;
}

static fdl_code means_the_same(views *v, const char *before, const char *after, bool *same, fdl_error *error) {
    json_t *old = NULL, *new = NULL;
    *same = false;
    fdl_code code = parse_own(v, before, &old, error);
    if (code == FDL_OK && old)
        code = parse(v, after, &new, error);
    if (code == FDL_OK && old && new) {
        if (!leave_out_catalog(v, old) || !leave_out_catalog(v, new))
            code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
        *same = json_equal(old, new);
    }
    json_decref(old);
    json_decref(new);
    return code;
}

/* ---- all of them --------------------------------------------------------------------- */

static fdl_code take_view(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    views *v = data;
    (void)count;
    fdl_code code = fdl_grow(&v->items, v->count, sizeof *v->items, error);
    if (code != FDL_OK)
        return code;
    view *item = &v->items[v->count++];
    *item = (view){.id = cells[0].integer, .begin_snapshot = cells[1].integer};
    code = fdl_str_copy_n(&item->name, cells[2].text, cells[2].length, error);
    return code == FDL_OK ? fdl_str_copy_n(&item->sql, cells[3].text, cells[3].length, error) : code;
}

static fdl_code take_schema(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    views *v = data;
    (void)count;
    fdl_code code = fdl_grow(&v->schemas, v->schema_count, sizeof *v->schemas, error);
    if (code == FDL_OK)
        code = fdl_str_copy_n(&v->schemas[v->schema_count], cells[0].text, cells[0].length, error);
    v->schema_count += code == FDL_OK;
    return code;
}

static fdl_code update(const views *v, const view *item, const char *sql, fdl_error *error) {
    fdl_buf statement;
    fdl_buf_init(&statement, 3 * SQL_LIMIT_BYTES);
    fdl_code code = fdl_buf_add_str(&statement, "UPDATE other.main.ducklake_view SET sql = ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&statement, sql, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(&statement, error, " WHERE view_id = %lld AND begin_snapshot = %lld",
                                  (long long)item->id, (long long)item->begin_snapshot);
    if (code == FDL_OK)
        code = fdl_duck_exec(v->duck, error, "%s", statement.data);
    fdl_buf_clear(&statement);
    return code;
}

static fdl_code convert(views *v, const view *item, char **obstacle, fdl_error *error) {
    fdl_buf sql;
    bool same = false;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = rewrite(v, item->sql, &sql, error);
    if (code == FDL_OK)
        code = means_the_same(v, item->sql, sql.data, &same, error);
    if (code == FDL_OK && same)
        code = update(v, item, sql.data, error);
    else if (code == FDL_OK)
        code = fdl_str_format(obstacle, error, "the view '%s', which names its own catalog", item->name);
    fdl_buf_clear(&sql);
    return code;
}

static void views_clear(views *v) {
    for (size_t i = 0; i < v->count; i++) {
        free(v->items[i].name);
        free(v->items[i].sql);
    }
    for (size_t i = 0; i < v->schema_count; i++)
        free(v->schemas[i]);
    free(v->items);
    free(v->schemas);
    json_decref(v->tree);
}

fdl_code fdl_other_views(fdl_duck *duck, char **obstacle, fdl_error *error) {
    views v = {.duck = duck};
    fdl_code code = fdl_duck_query(duck,
                                   "SELECT view_id, v.begin_snapshot, schema_name || '.' || view_name, sql"
                                   " FROM frozen.main.ducklake_view v JOIN frozen.main.ducklake_schema USING (schema_id)"
                                   " WHERE contains(sql, '" PLACEHOLDER "') ORDER BY ALL",
                                   take_view, &v, error);
    if (code == FDL_OK)
        code = fdl_duck_query(duck, "SELECT DISTINCT schema_name FROM frozen.main.ducklake_schema", take_schema, &v,
                              error);
    for (size_t i = 0; i < v.count && code == FDL_OK && *obstacle == NULL; i++)
        code = convert(&v, &v.items[i], obstacle, error);
    views_clear(&v);
    return code;
}
