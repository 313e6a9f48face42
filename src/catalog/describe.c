/*
 * describe.c - the tables of a published catalog as dataset.json has them.
 *
 * Two queries in the same order: first the tables and views with their figures,
 * then the columns, which are laid into the tables walking along.  DuckLake
 * keeps a nested column as a tree of rows; the tree of one table is read whole
 * and told as one type, in DuckDB's spelling: STRUCT(a INTEGER, b VARCHAR[]).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/frozen.h"
#include "util/json.h"
#include "util/text.h"

/* Deeper than any type that people write. */
#define DEPTH_LIMIT 250
#define COLUMN_LIMIT 1000000u /* of one table, nested ones included */
#define TYPE_LIMIT_BYTES (1u << 20)

/* ---- tables and views -------------------------------------------------------- */

/*
 * Deletes count while their data file is live.  Rows are exact: a file registered
 * twice is read twice.  As a file it counts once.
 */
static const char objects_query[] =
    "WITH data AS (SELECT table_id, sum(rows) AS rows, sum(size) AS size, count(*) AS files FROM"
    "  (SELECT table_id, path, sum(record_count) AS rows, max(size_bytes) AS size FROM @.data_files GROUP BY ALL)"
    "  GROUP BY table_id),"
    " deletes AS (SELECT table_id, sum(rows) AS rows, sum(size) AS size FROM"
    "  (SELECT d.table_id, x.path, sum(x.delete_count) AS rows, max(x.size_bytes) AS size"
    "   FROM @.delete_files x JOIN @.data_files d USING (data_file_id) GROUP BY ALL)"
    "  GROUP BY table_id),"
    " comments AS (SELECT object_id, max(value) AS comment FROM @.tags WHERE key = 'comment' GROUP BY object_id)"
    " SELECT schema_name, table_name AS name, false AS is_view, table_id AS id, comment,"
    "  (coalesce(data.rows, 0) - coalesce(deletes.rows, 0))::BIGINT,"
    "  (coalesce(data.size, 0) + coalesce(deletes.size, 0))::BIGINT, coalesce(data.files, 0)::BIGINT, NULL::VARCHAR"
    " FROM @.tables LEFT JOIN data USING (table_id) LEFT JOIN deletes USING (table_id)"
    "  LEFT JOIN comments ON object_id = table_id"
    " UNION ALL SELECT schema_name, view_name, true, view_id, comment, 0, 0, 0, column_aliases"
    " FROM @.views LEFT JOIN comments ON object_id = view_id"
    " ORDER BY schema_name, name, is_view, id";

enum { SCHEMA, NAME, IS_VIEW, ID, COMMENT, ROWS, BYTES, FILES, ALIASES };

/* A table that waits for its columns. */
typedef struct table {
    int64_t id;
    json_t *object;  /* borrowed from `tables` */
    json_t *columns; /* borrowed from it */
} table;

/* One column of the table being read, nested ones included. */
typedef struct node {
    int64_t id;
    int64_t parent_id;
    bool is_root;
    char *name;     /* as it is written inside a STRUCT */
    char *type;     /* DuckLake's name for it */
    json_t *column; /* of a root; borrowed */
} node;

typedef struct description {
    const fdl_live *catalog;
    json_t *tables;
    table *waiting; /* tables in order; views have no columns of their own */
    size_t waiting_count;

    size_t at; /* the table whose columns are being read */
    node *nodes;
    size_t node_count;
    size_t told; /* nodes that found their place in a type */
} description;

static fdl_code set_text(const description *d, json_t *object, const char *field, const fdl_cell *cell, size_t limit,
                         fdl_error *error) {
    const char *text = NULL;
    char what[64];
    snprintf(what, sizeof what, "a %s", field);
    fdl_code code = fdl_live_text(d->catalog, cell, what, limit, &text, error);
    return code == FDL_OK ? fdl_json_set(object, field, json_string(text), error) : code;
}

static fdl_code set_comment(const description *d, json_t *object, const fdl_cell *cell, fdl_error *error) {
    return cell->is_null ? FDL_OK : set_text(d, object, "comment", cell, FDL_LIVE_TEXT_LIMIT_BYTES, error);
}

static fdl_code set_figures(const description *d, json_t *object, const fdl_cell *cells, fdl_error *error) {
    if (cells[ROWS].integer < 0 || cells[BYTES].integer < 0)
        return fdl_fail(error, FDL_REFUSED, d->catalog->path,
                        "the catalog '%s' deletes more rows than there are in '%s.%s'", d->catalog->path,
                        cells[SCHEMA].text, cells[NAME].text);
    fdl_code code = fdl_json_set(object, "rows", json_integer(cells[ROWS].integer), error);
    if (code == FDL_OK)
        code = fdl_json_set(object, "bytes", json_integer(cells[BYTES].integer), error);
    return code == FDL_OK ? fdl_json_set(object, "files", json_integer(cells[FILES].integer), error) : code;
}

static fdl_code wait_for_columns(description *d, int64_t id, json_t *object, json_t *columns, fdl_error *error) {
    fdl_code code = fdl_grow(&d->waiting, d->waiting_count, sizeof *d->waiting, error);
    if (code == FDL_OK)
        d->waiting[d->waiting_count++] = (table){.id = id, .object = object, .columns = columns};
    return code;
}

/* The next of "a","b ""c""": into `name`, which is emptied first; false where the list is broken. */
static bool next_alias(const char **at, char *name) {
    const char *from = *at;
    if (*from++ != '"')
        return false;
    while (*from != '\0' && !(from[0] == '"' && from[1] != '"')) {
        from += from[0] == '"';
        *name++ = *from++;
    }
    *name = '\0';
    if (*from != '"' || (from[1] != '\0' && from[1] != ','))
        return false;
    *at = from + 1 + (from[1] == ',');
    return from[1] == '\0' || **at != '\0';
}

/* What a view's columns are called is known only where its statement says so; their types not without running it. */
static fdl_code view_columns(const description *d, json_t *columns, const fdl_cell *cell, fdl_error *error) {
    const char *at = NULL;
    char *name = NULL;
    if (cell->is_null)
        return FDL_OK;
    fdl_code code = fdl_live_text(d->catalog, cell, "a view's columns", FDL_LIVE_TEXT_LIMIT_BYTES, &at, error);
    if (code == FDL_OK)
        code = fdl_alloc(&name, cell->length + 1, 1, error);
    while (code == FDL_OK && *at != '\0') {
        if (!next_alias(&at, name)) {
            code = fdl_fail(error, FDL_REFUSED, d->catalog->path,
                            "a view in the catalog '%s' has a broken list of columns", d->catalog->path);
            break;
        }
        json_t *column = json_object();
        if (column == NULL || json_array_append_new(columns, column) != 0)
            code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
        if (code == FDL_OK)
            code = fdl_json_set(column, "name", json_string(name), error);
    }
    free(name);
    return code;
}

static fdl_code add_object(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    description *d = data;
    bool is_view = cells[IS_VIEW].integer != 0;
    json_t *object = json_object(), *columns = json_array();
    (void)count;
    if (object == NULL || columns == NULL || json_array_append(d->tables, object) != 0) {
        json_decref(object);
        json_decref(columns);
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    }
    json_decref(object); /* the array holds it from here */
    fdl_code code = set_text(d, object, "schema", &cells[SCHEMA], FDL_LIVE_NAME_LIMIT_BYTES, error);
    if (code == FDL_OK)
        code = set_text(d, object, "name", &cells[NAME], FDL_LIVE_NAME_LIMIT_BYTES, error);
    if (code == FDL_OK)
        code = fdl_json_set(object, "kind", json_string(is_view ? "view" : "table"), error);
    if (code == FDL_OK)
        code = set_comment(d, object, &cells[COMMENT], error);
    if (code == FDL_OK && !is_view)
        code = set_figures(d, object, cells, error);
    if (code == FDL_OK)
        code = fdl_json_set(object, "columns", json_incref(columns), error);
    if (code == FDL_OK)
        code = is_view ? view_columns(d, columns, &cells[ALIASES], error)
                       : wait_for_columns(d, cells[ID].integer, object, columns, error);
    json_decref(columns);
    return code;
}

/* ---- types --------------------------------------------------------------------- */

/* DuckLake's names that are not DuckDB's in lower case. */
static const char *const type_names[][2] = {
    {"int8", "TINYINT"},
    {"int16", "SMALLINT"},
    {"int32", "INTEGER"},
    {"int64", "BIGINT"},
    {"int128", "HUGEINT"},
    {"uint8", "UTINYINT"},
    {"uint16", "USMALLINT"},
    {"uint32", "UINTEGER"},
    {"uint64", "UBIGINT"},
    {"uint128", "UHUGEINT"},
    {"float32", "FLOAT"},
    {"float64", "DOUBLE"},
    {"timestamp_us", "TIMESTAMP"},
    {"timestamptz", "TIMESTAMP WITH TIME ZONE"},
    {"timetz", "TIME WITH TIME ZONE"},
};

static fdl_code tell_plain(const char *type, fdl_buf *out, fdl_error *error) {
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (strcmp(type, type_names[i][0]) == 0)
            return fdl_buf_add_str(out, type_names[i][1], error);
    fdl_code code = FDL_OK;
    for (; *type != '\0' && code == FDL_OK; type++) {
        char letter = *type >= 'a' && *type <= 'z' ? (char)(*type - 'a' + 'A') : *type;
        code = fdl_buf_add(out, &letter, 1, error);
    }
    return code;
}

static fdl_code broken_columns(const description *d, fdl_error *error) {
    const json_t *object = d->waiting[d->at].object;
    return fdl_fail(error, FDL_REFUSED, d->catalog->path,
                    "the columns of '%s.%s' in the catalog '%s' are no tree we can read",
                    json_string_value(json_object_get(object, "schema")),
                    json_string_value(json_object_get(object, "name")), d->catalog->path);
}

/* The first child of `id`: nodes come sorted by parent, the roots first. */
static size_t first_child(const description *d, int64_t id) {
    size_t low = 0, high = d->node_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const node *n = &d->nodes[middle];
        if (n->is_root || n->parent_id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * Adds the whole type of a node.  Ids are unique and a node has one parent, so
 * what hangs below a root is a tree; a ring of nodes hangs below none, and is
 * noticed by the nodes left over in the end.
 */
static fdl_code tell_type(description *d, const node *n, int depth, fdl_buf *out, fdl_error *error) {
    size_t first = first_child(d, n->id), end = first;
    while (end < d->node_count && d->nodes[end].parent_id == n->id)
        end++;
    size_t children = end - first;
    bool is_list = strcmp(n->type, "list") == 0, is_map = strcmp(n->type, "map") == 0,
         is_struct = strcmp(n->type, "struct") == 0;
    bool fits = is_list ? children == 1 : is_map ? children == 2 : is_struct ? children >= 1 : children == 0;
    if (!fits || depth > DEPTH_LIMIT)
        return broken_columns(d, error);
    d->told++;
    if (children == 0)
        return tell_plain(n->type, out, error);

    fdl_code code = is_list ? FDL_OK : fdl_buf_add_str(out, is_map ? "MAP(" : "STRUCT(", error);
    for (size_t i = first; i < end && code == FDL_OK; i++) {
        if (i > first)
            code = fdl_buf_add_str(out, ", ", error);
        if (code == FDL_OK && is_struct)
            code = fdl_buf_add_format(out, error, "%s ", d->nodes[i].name);
        if (code == FDL_OK)
            code = tell_type(d, &d->nodes[i], depth + 1, out, error);
    }
    return code == FDL_OK ? fdl_buf_add_str(out, is_list ? "[]" : ")", error) : code;
}

/* ---- columns --------------------------------------------------------------------- */

/* A name inside a STRUCT is quoted as DuckDB quotes it. */
static const char columns_query[] =
    "SELECT table_id, column_id, parent_id, column_name,"
    " CASE WHEN regexp_full_match(column_name, '[A-Za-z_][A-Za-z0-9_]*')"
    "  AND lower(column_name) NOT IN (SELECT keyword_name FROM duckdb_keywords()) THEN column_name"
    "  ELSE '\"' || replace(column_name, '\"', '\"\"') || '\"' END,"
    " column_type, nullable, comment"
    " FROM @.columns JOIN @.tables USING (table_id) LEFT JOIN"
    " (SELECT table_id, column_id, max(value) AS comment FROM @.column_tags WHERE key = 'comment' GROUP BY ALL)"
    " USING (table_id, column_id)"
    " ORDER BY schema_name, table_name, table_id, parent_id NULLS FIRST, column_order, column_id";

enum { TABLE_ID, COLUMN_ID, PARENT_ID, COLUMN_NAME, QUOTED_NAME, COLUMN_TYPE, NULLABLE, COLUMN_COMMENT };

static void drop_nodes(description *d) {
    for (size_t i = 0; i < d->node_count; i++) {
        free(d->nodes[i].name);
        free(d->nodes[i].type);
    }
    d->node_count = 0;
}

/* Ends the table whose columns were being read: fills in the types. */
static fdl_code finish_table(description *d, fdl_error *error) {
    fdl_code code = FDL_OK;
    d->told = 0;
    for (size_t i = 0; i < d->node_count && d->nodes[i].is_root && code == FDL_OK; i++) {
        fdl_buf type;
        fdl_buf_init(&type, TYPE_LIMIT_BYTES);
        code = tell_type(d, &d->nodes[i], 1, &type, error);
        if (code == FDL_OK)
            code = fdl_json_set(d->nodes[i].column, "type", json_string(type.data), error);
        fdl_buf_clear(&type);
    }
    if (code == FDL_OK && d->told != d->node_count)
        code = broken_columns(d, error);
    drop_nodes(d);
    return code;
}

/* Lays a column of the table itself into it; its type is filled in by finish_table. */
static fdl_code add_root(const description *d, const fdl_cell *cells, json_t **out, fdl_error *error) {
    json_t *column = json_object();
    if (column == NULL || json_array_append_new(d->waiting[d->at].columns, column) != 0)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    *out = column;
    fdl_code code = set_text(d, column, "name", &cells[COLUMN_NAME], FDL_LIVE_NAME_LIMIT_BYTES, error);
    if (code == FDL_OK)
        code = fdl_json_set(column, "type", json_string(""), error);
    if (code == FDL_OK)
        code =
            fdl_json_set(column, "nullable", json_boolean(cells[NULLABLE].is_null || cells[NULLABLE].integer), error);
    return code == FDL_OK ? set_comment(d, column, &cells[COLUMN_COMMENT], error) : code;
}

static fdl_code add_node(description *d, const fdl_cell *cells, fdl_error *error) {
    const char *name = NULL, *type = NULL;
    node n = {
        .id = cells[COLUMN_ID].integer, .parent_id = cells[PARENT_ID].integer, .is_root = cells[PARENT_ID].is_null};
    if (d->node_count >= COLUMN_LIMIT)
        return broken_columns(d, error);
    fdl_code code =
        fdl_live_text(d->catalog, &cells[QUOTED_NAME], "a column's name", FDL_LIVE_NAME_LIMIT_BYTES, &name, error);
    if (code == FDL_OK)
        code =
            fdl_live_text(d->catalog, &cells[COLUMN_TYPE], "a column's type", FDL_LIVE_NAME_LIMIT_BYTES, &type, error);
    if (code == FDL_OK && n.is_root)
        code = add_root(d, cells, &n.column, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&n.name, name, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&n.type, type, error);
    if (code == FDL_OK)
        code = fdl_grow(&d->nodes, d->node_count, sizeof *d->nodes, error);
    if (code != FDL_OK) {
        free(n.name);
        free(n.type);
        return code;
    }
    d->nodes[d->node_count++] = n;
    return FDL_OK;
}

static fdl_code add_column(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    description *d = data;
    (void)count;
    fdl_code code = FDL_OK;
    while (code == FDL_OK && d->waiting[d->at].id != cells[TABLE_ID].integer) {
        code = finish_table(d, error);
        if (code == FDL_OK && ++d->at == d->waiting_count)
            return fdl_fail(error, FDL_FAILED, d->catalog->path,
                            "the tables and columns of '%s' come in different orders", d->catalog->path);
    }
    return code == FDL_OK ? add_node(d, cells, error) : code;
}

fdl_code fdl_frozen_describe(fdl_frozen *frozen, json_t **out, fdl_error *error) {
    description d = {.catalog = &frozen->catalog, .tables = json_array()};
    if (d.tables == NULL)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    fdl_code code = fdl_live_check_inlined(frozen->duck, d.catalog, error);
    if (code == FDL_OK)
        code = fdl_live_query(frozen->duck, d.catalog, objects_query, add_object, &d, error);
    if (code == FDL_OK && d.waiting_count > 0)
        code = fdl_live_query(frozen->duck, d.catalog, columns_query, add_column, &d, error);
    if (code == FDL_OK && d.waiting_count > 0)
        code = finish_table(&d, error);
    drop_nodes(&d);
    free(d.nodes);
    free(d.waiting);
    if (code != FDL_OK)
        json_decref(d.tables);
    else
        *out = d.tables;
    return code;
}
