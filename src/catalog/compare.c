/*
 * compare.c - whether two published catalogs say the same, and where not.
 *
 * For each kind of thing there is one canonical SELECT over a catalog: names in
 * the place of ids that mean nothing by themselves, and the ids that later work
 * depends on (column ids, mapping ids, first row ids).  The rows of both
 * catalogs are counted, those of one side upwards and those of the other
 * downwards, and what does not cancel differs.  That reads each side once and
 * keeps no order.
 *
 * Catalogs are small and most kinds are in few of them: nearly all that such a
 * query costs is planning, so none is asked about tables that are empty.
 *
 * Files are compared by name: a data file is never changed once it is written.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog.h"
#include "catalog/live.h"
#include "util/text.h"

#define TEXT_LIMIT_BYTES (1u << 20)
#define QUERY_LIMIT_BYTES 65536u

/*
 * What a SELECT joins on is unique on one side at least, whoever wrote the file:
 * see live.h, and min() below.
 *
 * Every SELECT begins with the schema, the name of the thing in it, and the item
 * of that thing; NULL where there is none.  Rows that share all three are one
 * difference, so things without names worth telling are counted.
 */
typedef struct kind {
    const char *name;  /* for programs */
    const char *thing; /* what the named thing is called */
    const char *part;  /* what differs of it; NULL: the thing as a whole */
    bool counted;      /* tell how many */
    const char *from;  /* the table without whose rows there is none of it; NULL: every catalog has some */
    const char *select;
} kind;

static const kind kinds[] = {
    {"schema", "schema", NULL, false, NULL,
     "SELECT schema_name, NULL::VARCHAR AS name, NULL::VARCHAR AS item FROM @.schemas"},
    {"table", "table", NULL, false, NULL, "SELECT schema_name, table_name AS name, NULL::VARCHAR AS item FROM @.tables"},
    /* A default that is NULL is written in two ways, and its type then says nothing. */
    {"column", "table", "column", false, NULL,
     "SELECT t.schema_name, t.table_name AS name,"
     " CASE WHEN p.column_name IS NULL THEN '' ELSE p.column_name || '.' END || c.column_name AS item,"
     " c.column_id, c.parent_id, c.column_order, c.column_type, c.nullable, c.initial_default,"
     " nullif(c.default_value, 'NULL') AS value,"
     " CASE WHEN value IS NOT NULL THEN c.default_type END AS value_type,"
     " CASE WHEN value IS NOT NULL THEN c.default_dialect END AS value_dialect"
     " FROM @.columns c JOIN @.tables t USING (table_id)"
     " LEFT JOIN @.columns p ON p.table_id = c.table_id AND p.column_id = c.parent_id"},
    {"table_tag", "table", "the comment", false, "ducklake_tag",
     "SELECT schema_name, table_name AS name, NULL::VARCHAR AS item, key, value"
     " FROM @.tags JOIN @.tables ON table_id = object_id"},
    {"column_tag", "table", "the comment of column", false, "ducklake_column_tag",
     "SELECT schema_name, table_name AS name, column_name AS item, column_id, key, value"
     " FROM @.column_tags JOIN @.columns USING (table_id, column_id) JOIN @.tables USING (table_id)"},
    {"view", "view", NULL, false, "ducklake_view",
     "SELECT schema_name, view_name AS name, NULL::VARCHAR AS item, dialect, sql, column_aliases FROM @.views"},
    {"view_tag", "view", "the comment", false, "ducklake_view",
     "SELECT schema_name, view_name AS name, NULL::VARCHAR AS item, key, value"
     " FROM @.tags JOIN @.views ON view_id = object_id"},
    {"macro", "macro", NULL, false, "ducklake_macro",
     "SELECT schema_name, macro_name AS name, NULL::VARCHAR AS item, impl_id, dialect, sql, type"
     " FROM @.macros LEFT JOIN file_@.main.ducklake_macro_impl USING (macro_id)"},
    {"macro_parameter", "macro", "parameter", false, "ducklake_macro_parameters",
     "SELECT schema_name, macro_name AS name, parameter_name AS item, impl_id, column_id, parameter_type,"
     " default_value, default_value_type"
     " FROM @.macros JOIN file_@.main.ducklake_macro_parameters USING (macro_id)"},
    {"partition_key", "table", "partition keys", true, "ducklake_partition_column",
     "SELECT schema_name, table_name AS name, NULL::VARCHAR AS item, partition_key_index, column_id, transform"
     " FROM (SELECT partition_id, min(table_id) AS table_id FROM file_@.main.ducklake_partition_info" FDL_LIVE_ROWS
     "  GROUP BY partition_id)"
     " JOIN @.tables USING (table_id)"
     " JOIN (SELECT * EXCLUDE (table_id) FROM file_@.main.ducklake_partition_column) USING (partition_id)"},
    {"sort_key", "table", "sort keys", true, "ducklake_sort_expression",
     "SELECT schema_name, table_name AS name, NULL::VARCHAR AS item, sort_key_index, expression, dialect,"
     " sort_direction, null_order"
     " FROM (SELECT sort_id, min(table_id) AS table_id FROM file_@.main.ducklake_sort_info" FDL_LIVE_ROWS
     "  GROUP BY sort_id)"
     " JOIN @.tables USING (table_id)"
     " JOIN (SELECT * EXCLUDE (table_id) FROM file_@.main.ducklake_sort_expression) USING (sort_id)"},
    {"option", "table", "option", false, NULL,
     "SELECT coalesce(t.schema_name, s.schema_name) AS schema_name, t.table_name AS name, key::VARCHAR AS item, value"
     " FROM file_@.main.ducklake_metadata"
     " LEFT JOIN @.tables t ON scope = 'table' AND scope_id = t.table_id"
     " LEFT JOIN @.schemas s ON scope = 'schema' AND scope_id = s.schema_id"
     " WHERE (scope IS NULL AND key NOT IN ('version', 'created_by', 'data_path'))"
     " OR t.table_id IS NOT NULL OR s.schema_id IS NOT NULL"},
    {"name_mapping", "table", "names in data files", true, "ducklake_name_mapping",
     "SELECT schema_name, table_name AS name, NULL::VARCHAR AS item, mapping_id, type, column_id, source_name,"
     " target_field_id, parent_column, is_partition"
     " FROM (SELECT mapping_id, min(table_id) AS table_id, min(type) AS type FROM file_@.main.ducklake_column_mapping"
     "  WHERE mapping_id IN (SELECT mapping_id FROM @.data_files) GROUP BY mapping_id)"
     " JOIN @.tables USING (table_id) JOIN file_@.main.ducklake_name_mapping USING (mapping_id)"},
    {"data_file", "table", "data files", true, "ducklake_data_file",
     "SELECT t.schema_name, t.table_name AS name, NULL::VARCHAR AS item, path, is_relative, format, record_count,"
     " size_bytes, row_id_start, encryption_key, mapping_id FROM @.data_files JOIN @.tables t USING (table_id)"},
    {"delete_file", "table", "delete files", true, "ducklake_delete_file",
     "SELECT t.schema_name, t.table_name AS name, NULL::VARCHAR AS item, d.path AS data_path, x.path, x.is_relative,"
     " x.format, x.delete_count, x.size_bytes, x.encryption_key"
     " FROM @.delete_files x JOIN @.data_files d USING (data_file_id) JOIN @.tables t ON t.table_id = d.table_id"},
};

#define KIND_COUNT (sizeof kinds / sizeof *kinds)

/* ---- one difference, told ---------------------------------------------------- */

static const char *verb_of(const fdl_difference *d) {
    if (d->removed == 0)
        return " was added";
    return d->added == 0 ? " was removed" : " differs";
}

/* "table 'main.t': column 'b' differs", "table 'main.t': data files differ (2 added, 1 removed)" */
static fdl_code tell(const kind *k, fdl_difference *d, fdl_error *error) {
    fdl_buf text;
    fdl_error line;
    fdl_code code = FDL_OK;
    fdl_buf_init(&text, TEXT_LIMIT_BYTES);
    if (d->name != NULL)
        code = fdl_buf_add_format(&text, error, "%s '%s.%s'", k->thing, d->schema_name, d->name);
    else if (d->schema_name != NULL)
        code = fdl_buf_add_format(&text, error, "schema '%s'", d->schema_name);
    if (code == FDL_OK && k->part != NULL)
        code = fdl_buf_add_format(&text, error, "%s%s", text.length > 0 ? ": " : "", k->part);
    if (code == FDL_OK && d->item != NULL)
        code = fdl_buf_add_format(&text, error, " '%s'", d->item);
    if (code == FDL_OK && k->counted)
        code =
            fdl_buf_add_format(&text, error, " differ (%" PRId64 " added, %" PRId64 " removed)", d->added, d->removed);
    else if (code == FDL_OK)
        code = fdl_buf_add_str(&text, verb_of(d), error);
    if (code == FDL_OK) {
        fdl_fail(&line, FDL_OK, NULL, "%s", text.data); /* cleans and shortens what people are to read */
        memcpy(d->text, line.message, sizeof d->text);
    }
    fdl_buf_clear(&text);
    return code;
}

/* ---- the comparison ------------------------------------------------------------ */

typedef struct comparison {
    fdl_live catalogs[2];
    fdl_duck *duck;
    bool is_there[KIND_COUNT]; /* in one of them at least */
    const kind *kind;          /* the one being compared */
    fdl_difference_callback callback;
    void *data;
} comparison;

static fdl_code optional_text(const comparison *c, const fdl_cell *cell, const char **out, fdl_error *error) {
    return cell->is_null ? FDL_OK
                         : fdl_live_text(&c->catalogs[0], cell, "a name", FDL_LIVE_NAME_LIMIT_BYTES, out, error);
}

static fdl_code take_difference(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    comparison *c = data;
    fdl_difference difference = {.kind = c->kind->name, .removed = cells[3].integer, .added = cells[4].integer};
    (void)count;
    fdl_code code = optional_text(c, &cells[0], &difference.schema_name, error);
    if (code == FDL_OK)
        code = optional_text(c, &cells[1], &difference.name, error);
    if (code == FDL_OK)
        code = optional_text(c, &cells[2], &difference.item, error);
    if (code == FDL_OK)
        code = tell(c->kind, &difference, error);
    return code == FDL_OK ? c->callback(c->data, &difference, error) : code;
}

/* Two SELECTs as one, the first counted downwards. */
static fdl_code add_both(const comparison *c, const char *select, fdl_buf *sql, fdl_error *error) {
    fdl_code code = fdl_buf_add_str(sql, "SELECT *, -1 AS side FROM (", error);
    if (code == FDL_OK)
        code = fdl_live_expand(&c->catalogs[0], select, sql, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(sql, ") UNION ALL SELECT *, 1 FROM (", error);
    if (code == FDL_OK)
        code = fdl_live_expand(&c->catalogs[1], select, sql, error);
    return code == FDL_OK ? fdl_buf_add_str(sql, ")", error) : code;
}

static fdl_code compare_kind(comparison *c, const kind *k, const char *limit, fdl_error *error) {
    fdl_buf sql;
    fdl_buf_init(&sql, QUERY_LIMIT_BYTES);
    c->kind = k;
    fdl_code code = fdl_buf_add_str(&sql,
                                    "SELECT schema_name, name, item, sum(greatest(-n, 0))::BIGINT,"
                                    " sum(greatest(n, 0))::BIGINT FROM (SELECT * EXCLUDE (side), sum(side) AS n FROM (",
                                    error);
    if (code == FDL_OK)
        code = add_both(c, k->select, &sql, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(
            &sql, error,
            ") GROUP BY ALL HAVING sum(side) <> 0)"
            " GROUP BY ALL ORDER BY schema_name NULLS FIRST, name NULLS FIRST, item NULLS FIRST %s",
            limit);
    if (code == FDL_OK)
        code = fdl_duck_query(c->duck, sql.data, take_difference, c, error);
    fdl_buf_clear(&sql);
    return code;
}

static const char filled_tables_query[] =
    "SELECT DISTINCT table_name FROM duckdb_tables() WHERE database_name IN ('file_a', 'file_b')"
    " AND schema_name = 'main' AND estimated_size > 0";

static fdl_code take_filled_table(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    comparison *c = data;
    (void)count, (void)error;
    for (size_t i = 0; i < KIND_COUNT; i++)
        c->is_there[i] |= kinds[i].from == NULL || strcmp(kinds[i].from, cells[0].text) == 0;
    return FDL_OK;
}

static fdl_code open_both(const fdl_context *context, const char *frozen_a, const char *frozen_b, comparison *c,
                          fdl_error *error) {
    c->catalogs[0] = (fdl_live){.path = frozen_a, .name = "a"};
    c->catalogs[1] = (fdl_live){.path = frozen_b, .name = "b"};
    fdl_code code = fdl_live_open(context, c->catalogs, 2, &c->duck, error);
    for (size_t i = 0; i < 2 && code == FDL_OK; i++)
        code = fdl_live_check_inlined(c->duck, &c->catalogs[i], error);
    return code == FDL_OK ? fdl_duck_query(c->duck, filled_tables_query, take_filled_table, c, error) : code;
}

/* Stops at the first difference when `first` is told to hold it. */
static fdl_code compare_all(comparison *c, char *const *first, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < KIND_COUNT && code == FDL_OK && (first == NULL || *first == NULL); i++)
        if (c->is_there[i])
            code = compare_kind(c, &kinds[i], first == NULL ? "" : "LIMIT 1", error);
    return code;
}

fdl_code fdl_frozen_compare(const fdl_context *context, const char *frozen_a, const char *frozen_b,
                            fdl_difference_callback callback, void *data, fdl_error *error) {
    comparison c = {.callback = callback, .data = data};
    fdl_code code = open_both(context, frozen_a, frozen_b, &c, error);
    if (code == FDL_OK)
        code = compare_all(&c, NULL, error);
    fdl_duck_free(c.duck);
    return code;
}

static fdl_code keep_text(void *data, const fdl_difference *difference, fdl_error *error) {
    return fdl_str_copy(data, difference->text, error);
}

fdl_code fdl_frozen_same(const fdl_context *context, const char *frozen_a, const char *frozen_b, bool *same,
                         char **difference, fdl_error *error) {
    char *first = NULL;
    comparison c = {.callback = keep_text, .data = &first};
    fdl_code code = open_both(context, frozen_a, frozen_b, &c, error);
    if (code == FDL_OK)
        code = compare_all(&c, &first, error);
    fdl_duck_free(c.duck);
    if (code != FDL_OK) {
        free(first);
        return code;
    }
    *same = first == NULL;
    *difference = first;
    return FDL_OK;
}
