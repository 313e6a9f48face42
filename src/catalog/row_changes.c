/*
 * row_changes.c - the rows themselves in which two published catalogs differ,
 * some of them.
 *
 * The same as in rows.c, but that each row's texts are grouped with its keys:
 * they follow from the values, so they split no group, and what is grouped by
 * can go to disk where what is picked from a group could not.
 */
#include <inttypes.h>
#include <string.h>

#include "catalog/rows.h"

#define SQL_LIMIT_BYTES (16u << 20)
#define VALUES_LIMIT_BYTES (64u << 20)

typedef struct changes {
    fdl_rows rows;
    const fdl_rows_table *table;
    int64_t limit;
    fdl_row_change_callback callback;
    void *data;
} changes;

/* ---- may they be laid side by side? ---------------------------------------------- */

static fdl_code take_flag(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    (void)count, (void)error;
    *(bool *)data = cells[0].integer != 0;
    return FDL_OK;
}

static fdl_code add_columns(const fdl_rows_table *table, const char *side, int up, fdl_buf *sql, fdl_error *error) {
    fdl_code code = fdl_buf_add_format(
        sql, error,
        "SELECT column_id, parent_id, column_order, column_name, column_type, %d AS side FROM %s.columns"
        " WHERE table_id IN (SELECT table_id FROM %s.tables WHERE schema_name = ",
        up, side, side);
    if (code == FDL_OK)
        code = fdl_sql_literal(sql, table->schema_name, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(sql, " AND table_name = ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(sql, table->name, error);
    return code == FDL_OK ? fdl_buf_add_str(sql, ")", error) : code;
}

static fdl_code same_columns(const changes *c, bool *same, fdl_error *error) {
    fdl_buf sql;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_buf_add_str(&sql, "SELECT NOT EXISTS (SELECT 1 FROM (", error);
    if (code == FDL_OK)
        code = add_columns(c->table, "a", -1, &sql, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, " UNION ALL ", error);
    if (code == FDL_OK)
        code = add_columns(c->table, "b", 1, &sql, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql,
                               ") GROUP BY column_id, parent_id, column_order, column_name, column_type"
                               " HAVING sum(side) <> 0)",
                               error);
    if (code == FDL_OK)
        code = fdl_duck_query(c->rows.duck, sql.data, take_flag, same, error);
    fdl_buf_clear(&sql);
    return code;
}

/* ---- one table -------------------------------------------------------------------- */

static fdl_code take_row(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    const changes *c = data;
    fdl_row_change change = {
        .schema_name = c->table->schema_name, .table_name = c->table->name, .more = cells[0].integer};
    (void)count;
    fdl_code code = fdl_live_text(&c->rows.catalogs[0], &cells[1], "a row", VALUES_LIMIT_BYTES, &change.values, error);
    return code == FDL_OK ? c->callback(c->data, &change, error) : code;
}

static fdl_code add_side(const fdl_rows_keys *keys, const char *side, int up, fdl_buf *sql, fdl_error *error) {
    fdl_code code = sql->length > 0 ? fdl_buf_add_str(sql, " UNION ALL ", error) : FDL_OK;
    if (code == FDL_OK)
        code = fdl_buf_add_format(sql, error, "SELECT %d, to_json([%s])::VARCHAR, %s FROM ", up, keys->texts.data,
                                  keys->keys.data);
    return code == FDL_OK ? fdl_rows_add_table(keys->table, side, sql, error) : code;
}

static fdl_code tell_rows(changes *c, fdl_error *error) {
    const bool *is_in = c->table->is_in;
    fdl_rows_keys keys;
    fdl_buf sides, sql;
    fdl_buf_init(&sides, SQL_LIMIT_BYTES);
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_rows_keys_find(&c->rows, c->table, is_in[0] ? "a" : "b", &keys, error);
    if (code == FDL_OK && is_in[0])
        code = add_side(&keys, "a", -1, &sides, error);
    if (code == FDL_OK && is_in[1])
        code = add_side(&keys, "b", 1, &sides, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(&sql, error,
                                  "SELECT sum(side)::BIGINT, shown FROM (%s) AS u(side, shown%s) GROUP BY shown%s"
                                  " HAVING sum(side) <> 0 LIMIT %" PRId64,
                                  sides.data, keys.names.data, keys.names.data, c->limit);
    if (code == FDL_OK)
        code = fdl_duck_query(c->rows.duck, sql.data, take_row, c, error);
    fdl_buf_clear(&sql);
    fdl_buf_clear(&sides);
    fdl_rows_keys_clear(&keys);
    return code;
}

static fdl_code tell_table(changes *c, fdl_error *error) {
    fdl_row_change no_rows = {.schema_name = c->table->schema_name, .table_name = c->table->name};
    bool same = true;
    fdl_code code = c->table->is_in[0] && c->table->is_in[1] ? same_columns(c, &same, error) : FDL_OK;
    if (code != FDL_OK)
        return code;
    return same ? tell_rows(c, error) : c->callback(c->data, &no_rows, error);
}

fdl_code fdl_frozen_row_changes(const fdl_context *context, const char *frozen_a, const char *frozen_b,
                                const fdl_rows_place *place, int64_t limit, fdl_row_change_callback callback,
                                void *data, fdl_error *error) {
    changes c = {.limit = limit, .callback = callback, .data = data};
    fdl_code code = fdl_rows_open(context, frozen_a, frozen_b, place, &c.rows, error);
    if (code == FDL_OK && c.rows.table_count > 0)
        code = fdl_rows_attach(&c.rows, error);
    for (size_t i = 0; i < c.rows.table_count && code == FDL_OK; i++) {
        c.table = &c.rows.tables[i];
        code = tell_table(&c, error);
    }
    fdl_rows_clear(&c.rows);
    return code;
}
