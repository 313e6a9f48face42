/*
 * rows.c - whether two published catalogs hold the same rows, however these lie
 * in files.
 *
 *   1 does anything but files differ?                       then no
 *   2 which tables have files that not both sides have?     rows_lakes.c
 *   3 do they count as many rows?                           else no, nothing is read
 *   4 rows of one side count up, those of the other down: the first that does
 *     not cancel says no
 *
 * Exactly means: as often, each value by itself and not by what SQL takes for
 * equal.  To GROUP BY, 0.0 is -0.0 and a month is 30 days; a text tells them
 * apart but may write different nested values alike.  So a row is grouped by
 * keys that together leave nothing out (see key_of).
 */
#include <stdlib.h>
#include <string.h>

#include "catalog/rows.h"
#include "util/text.h"

#define SQL_LIMIT_BYTES (16u << 20)

/* ---- 1: does anything but files differ? -------------------------------------------- */

static fdl_code first_other(void *data, const fdl_difference *d, fdl_error *error) {
    char **text = data;
    /* Names in data files go with the files; another meaning of the same is something else. */
    bool of_files = strcmp(d->kind, "data_file") == 0 || strcmp(d->kind, "delete_file") == 0 ||
                    (strcmp(d->kind, "name_mapping") == 0 && (d->added == 0 || d->removed == 0));
    return of_files || *text != NULL ? FDL_OK : fdl_str_copy(text, d->text, error);
}

/* ---- 4: what a row is grouped by ------------------------------------------------------ */

/* A value that has a length of its own, as few bytes; nothing known makes two values of one. */
#define SORT_KEY(value) "sha256(create_sort_key(" value ", 'ASC NULLS LAST'))"

/*
 * In these texts, "?" stands for the column, once in each key.
 *
 *   plain    equal to DuckDB means the same
 *   float    0.0 and -0.0 are equal, and all NaN
 *   text     equal values may be written differently; what is written alike is the same
 *   nested   sort keys of values are equal if DuckDB takes the values, and each in
 *            them, for equal; the texts of such values differ if one in them does
 *   variant  Parquet's bytes of it, fields in order, which name each value's type
 */
static const char columns_query[] =
    "SELECT c.column_name, c.column_type, CASE"
    " WHEN c.column_type IN ('boolean', 'int8', 'int16', 'int32', 'int64', 'int128', 'uint8', 'uint16', 'uint32',"
    "  'uint64', 'uint128', 'varchar', 'json', 'blob', 'uuid', 'date', 'time', 'timestamp', 'timestamp_us',"
    "  'timestamp_s', 'timestamp_ms', 'timestamp_ns', 'timestamptz') OR starts_with(c.column_type, 'decimal(')"
    "  THEN CASE WHEN c.parent_id IS NULL THEN '?' ELSE '' END"
    " WHEN c.column_type IN ('float32', 'float64')"
    "  THEN CASE WHEN c.parent_id IS NULL THEN '?, signbit(?)' ELSE '' END"
    " WHEN c.column_type IN ('interval', 'timetz')"
    "  THEN CASE WHEN c.parent_id IS NULL THEN '?::VARCHAR' ELSE '' END"
    " WHEN c.column_type IN ('struct', 'list', 'map')"
    "  THEN CASE WHEN c.parent_id IS NULL THEN $$" SORT_KEY("?") ", sha256(?::VARCHAR)$$ ELSE '' END"
    " WHEN c.column_type = 'variant' AND c.parent_id IS NULL THEN $$" SORT_KEY(
        "variant_to_parquet_variant(variant_normalize(?))::STRUCT(metadata BLOB, value BLOB)") "$$ END AS keys";

/* The column in the place of each "?". */
static fdl_code add_keys(fdl_rows_keys *s, const char *name, const char *keys, fdl_error *error) {
    fdl_code code = s->keys.length > 0 ? fdl_buf_add_str(&s->keys, ", ", error) : FDL_OK;
    while (code == FDL_OK && *keys != '\0') {
        size_t plain = strcspn(keys, "?");
        code = fdl_buf_add(&s->keys, keys, plain, error);
        keys += plain;
        if (code != FDL_OK || *keys == '\0')
            continue;
        keys++; /* every key has one */
        code = fdl_buf_add_format(&s->names, error, ", k%zu", s->count++);
        if (code == FDL_OK)
            code = fdl_buf_add_str(&s->keys, "t.", error);
        if (code == FDL_OK)
            code = fdl_sql_name(&s->keys, name, error);
    }
    return code;
}

/* A VARIANT in the order of its key. */
static fdl_code add_text(fdl_rows_keys *s, const char *name, bool is_variant, fdl_error *error) {
    fdl_code code = fdl_buf_add_str(&s->texts, s->texts.length > 0 ? ", " : "", error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&s->texts, is_variant ? "variant_normalize(t." : "(t.", error);
    if (code == FDL_OK)
        code = fdl_sql_name(&s->texts, name, error);
    return code == FDL_OK ? fdl_buf_add_str(&s->texts, ")::VARCHAR", error) : code;
}

static fdl_code key_of(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    fdl_rows_keys *s = data;
    const fdl_live *catalog = &s->rows->catalogs[0];
    const char *name = NULL, *type = NULL;
    (void)count;
    fdl_code code = fdl_live_text(catalog, &cells[0], "a column's name", FDL_LIVE_NAME_LIMIT_BYTES, &name, error);
    if (code == FDL_OK)
        code = fdl_live_text(catalog, &cells[1], "a column's type", FDL_LIVE_NAME_LIMIT_BYTES, &type, error);
    if (code == FDL_OK && cells[2].is_null)
        code = fdl_fail(error, FDL_FAILED, name, "the type '%s' of column '%s' of table '%s.%s' is not known", type,
                        name, s->table->schema_name, s->table->name);
    if (code != FDL_OK || cells[2].length == 0) /* in another column */
        return code;
    code = add_keys(s, name, cells[2].text, error);
    return code == FDL_OK ? add_text(s, name, strcmp(type, "variant") == 0, error) : code;
}

fdl_code fdl_rows_keys_find(const fdl_rows *rows, const fdl_rows_table *table, const char *side, fdl_rows_keys *out,
                            fdl_error *error) {
    fdl_buf sql;
    *out = (fdl_rows_keys){.rows = rows, .table = table};
    fdl_buf_init(&out->keys, SQL_LIMIT_BYTES);
    fdl_buf_init(&out->names, SQL_LIMIT_BYTES);
    fdl_buf_init(&out->texts, SQL_LIMIT_BYTES);
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_buf_add_str(&sql, columns_query, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(
            &sql, error, " FROM %s.columns c JOIN %s.tables t USING (table_id) WHERE t.schema_name = ", side, side);
    if (code == FDL_OK)
        code = fdl_sql_literal(&sql, table->schema_name, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, " AND t.table_name = ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&sql, table->name, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, " ORDER BY c.column_order, c.column_id", error);
    if (code == FDL_OK)
        code = fdl_duck_query(rows->duck, sql.data, key_of, out, error);
    if (code == FDL_OK && out->keys.length == 0)
        code = fdl_fail(error, FDL_FAILED, table->name, "the table '%s.%s' has no columns", table->schema_name,
                        table->name);
    fdl_buf_clear(&sql);
    return code;
}

void fdl_rows_keys_clear(fdl_rows_keys *keys) {
    fdl_buf_clear(&keys->texts);
    fdl_buf_clear(&keys->names);
    fdl_buf_clear(&keys->keys);
}

fdl_code fdl_rows_add_table(const fdl_rows_table *table, const char *side, fdl_buf *sql, fdl_error *error) {
    fdl_code code = fdl_buf_add_format(sql, error, "lake_%s.", side);
    if (code == FDL_OK)
        code = fdl_sql_name(sql, table->schema_name, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(sql, ".", error);
    if (code == FDL_OK)
        code = fdl_sql_name(sql, table->name, error);
    return code == FDL_OK ? fdl_buf_add_str(sql, " AS t", error) : code;
}

/* ---- 4: one table ------------------------------------------------------------------------ */

/* "SELECT <count>, <keys> FROM lake_a."main"."t" AS t" */
static fdl_code add_side(const fdl_rows_keys *s, const char *side, int up, fdl_buf *sql, fdl_error *error) {
    fdl_code code = fdl_buf_add_format(sql, error, "SELECT %d, %s FROM ", up, s->keys.data);
    return code == FDL_OK ? fdl_rows_add_table(s->table, side, sql, error) : code;
}

static fdl_code found_one(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    (void)cells, (void)count, (void)error;
    *(bool *)data = true;
    return FDL_OK;
}

static fdl_code same_in_table(const fdl_rows *rows, const fdl_rows_table *table, bool *same, fdl_error *error) {
    fdl_rows_keys s;
    bool found = false;
    fdl_buf sql;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_rows_keys_find(rows, table, "a", &s, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, "SELECT true FROM (", error);
    if (code == FDL_OK)
        code = add_side(&s, "a", -1, &sql, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, " UNION ALL ", error);
    if (code == FDL_OK)
        code = add_side(&s, "b", 1, &sql, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(&sql, error, ") AS u(side%s) GROUP BY %s HAVING sum(side) <> 0 LIMIT 1", s.names.data,
                                  s.names.data + strlen(", "));
    if (code == FDL_OK)
        code = fdl_duck_query(rows->duck, sql.data, found_one, &found, error);
    *same = !found;
    fdl_buf_clear(&sql);
    fdl_rows_keys_clear(&s);
    return code;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static fdl_code say_rows(const fdl_rows_table *table, bool *same, char **difference, fdl_error *error) {
    fdl_error line;
    *same = false;
    fdl_fail(&line, FDL_OK, NULL, "table '%s.%s': rows differ", table->schema_name, table->name);
    return fdl_str_copy(difference, line.message, error);
}

static fdl_code compare(fdl_rows *rows, bool *same, char **difference, fdl_error *error) {
    for (size_t i = 0; i < rows->table_count; i++)
        if (rows->tables[i].more != 0)
            return say_rows(&rows->tables[i], same, difference, error);
    fdl_code code = rows->table_count > 0 ? fdl_rows_attach(rows, error) : FDL_OK;
    for (size_t i = 0; i < rows->table_count && code == FDL_OK; i++) {
        code = same_in_table(rows, &rows->tables[i], same, error);
        if (code == FDL_OK && !*same)
            return say_rows(&rows->tables[i], same, difference, error);
    }
    return code;
}

fdl_code fdl_frozen_same_rows(const fdl_context *context, const char *frozen_a, const char *frozen_b,
                              const fdl_rows_place *place, bool *same, char **difference, fdl_error *error) {
    fdl_rows rows = {0};
    *difference = NULL;
    *same = false;
    fdl_code code = fdl_frozen_compare(context, frozen_a, frozen_b, first_other, difference, error);
    if (code == FDL_OK && *difference == NULL) {
        *same = true;
        code = fdl_rows_open(context, frozen_a, frozen_b, place, &rows, error);
        if (code == FDL_OK)
            code = compare(&rows, same, difference, error);
        fdl_rows_clear(&rows);
    }
    if (code != FDL_OK) {
        free(*difference);
        *difference = NULL;
        *same = false;
    }
    return code;
}
