/*
 * freeze_stats.c - the smallest and largest values of a table are those of its
 * files.
 *
 * DuckLake widens them with every write and hardly ever narrows them.  What was
 * deleted, files and all, would stand in every later version: for all to read,
 * also after the version that had it was withdrawn.
 *
 * A value that some kept file has stays as it is.  One that none has any more
 * becomes the outermost of those that they have, where the text of every one can
 * be compared; else it stays too.  It is never made unknown while there is a file
 * with values: DuckLake takes NULL for "no values yet", and the next rows written
 * would make it a span that leaves out the others, which readers then never find.
 */
#include <stdlib.h>
#include <string.h>

#include "catalog/freeze.h"
#include "catalog/sqlite_db.h"
#include "util/text.h"

#define SQL_LIMIT_BYTES (1u << 20)
#define LOOSE_AT_ONCE 1000 /* in one statement */

/* ---- what the table says, and which of it some file has too ------------------------- */

static int by_column(const void *a, const void *b) {
    const fdl_freeze_span *one = a, *other = b;
    if (one->table_id != other->table_id)
        return one->table_id < other->table_id ? -1 : 1;
    return (one->column_id > other->column_id) - (one->column_id < other->column_id);
}

static fdl_code copy_end(sqlite3_value *value, fdl_freeze_end *out, fdl_error *error) {
    const char *text = (const char *)sqlite3_value_text(value);
    out->is_attained = text == NULL; /* unknown: nothing to be narrowed */
    out->length = text == NULL ? 0 : (size_t)sqlite3_value_bytes(value);
    return text == NULL ? FDL_OK : fdl_str_copy_n(&out->text, text, out->length, error);
}

static fdl_code add_span(void *data, sqlite3_value **row, fdl_error *error) {
    fdl_freeze *freeze = data;
    int64_t table_id = sqlite3_value_int64(row[0]);
    if (!fdl_idset_has(&freeze->kept[FDL_LAKE_TABLE], table_id))
        return FDL_OK;
    fdl_code code = fdl_grow(&freeze->spans, freeze->span_count, sizeof *freeze->spans, error);
    if (code != FDL_OK)
        return code;
    fdl_freeze_span *span = &freeze->spans[freeze->span_count++];
    *span = (fdl_freeze_span){.table_id = table_id, .column_id = sqlite3_value_int64(row[1])};
    code = copy_end(row[2], &span->low, error);
    return code == FDL_OK ? copy_end(row[3], &span->high, error) : code;
}

fdl_code fdl_freeze_spans_read(fdl_freeze *freeze, fdl_error *error) {
    fdl_code code = fdl_sqlite_walk(freeze->db, "table_id, column_id, min_value, max_value", FDL_LAKE_TABLE_STATS,
                                    add_span, freeze, error);
    if (code == FDL_OK && freeze->span_count > 0)
        qsort(freeze->spans, freeze->span_count, sizeof *freeze->spans, by_column);
    return code;
}

void fdl_freeze_spans_clear(fdl_freeze *freeze) {
    for (size_t i = 0; i < freeze->span_count; i++) {
        free(freeze->spans[i].low.text);
        free(freeze->spans[i].high.text);
    }
    free(freeze->spans);
}

/* The columns of a file come in order, so that the next one is mostly the one behind the last. */
static fdl_freeze_span *find_span(fdl_freeze *freeze, int64_t table_id, int64_t column_id) {
    fdl_freeze_span wanted = {.table_id = table_id, .column_id = column_id};
    fdl_freeze_span *next = freeze->next_span;
    if (freeze->span_count == 0)
        return NULL;
    if (next == NULL || by_column(next, &wanted) != 0)
        next = bsearch(&wanted, freeze->spans, freeze->span_count, sizeof wanted, by_column);
    if (next != NULL)
        freeze->next_span = next + 1 < freeze->spans + freeze->span_count ? next + 1 : NULL;
    return next;
}

static void attain(fdl_freeze_end *end, sqlite3_value *value) {
    if (end->is_attained || sqlite3_value_type(value) != SQLITE_TEXT)
        return;
    const unsigned char *text = sqlite3_value_text(value);
    end->is_attained = text != NULL && (size_t)sqlite3_value_bytes(value) == end->length &&
                       memcmp(text, end->text, end->length) == 0;
}

void fdl_freeze_attain(fdl_freeze *freeze, int64_t table_id, int64_t column_id, sqlite3_value *low,
                       sqlite3_value *high) {
    fdl_freeze_span *span = find_span(freeze, table_id, column_id);
    if (span == NULL)
        return;
    attain(&span->low, low);
    attain(&span->high, high);
}

static bool is_loose(const fdl_freeze_span *span) {
    return !span->low.is_attained || !span->high.is_attained;
}

bool fdl_freeze_narrows(const fdl_freeze *freeze) {
    for (size_t i = 0; i < freeze->span_count; i++)
        if (is_loose(&freeze->spans[i]))
            return true;
    return false;
}

/* ---- what they become ----------------------------------------------------------------- */

/* What the files of a table say of a column's smallest (or largest) value, where the table says what none of them does. */
#define SPAN(outermost, outermost_by, value)                                                                           \
    "SELECT g.table_id, g.column_id, any_value(f.files) = count(s.column_id)"                                          \
    "  AND bool_and(s." value " IS NOT NULL OR s.value_count = 0) AS complete,"                                        \
    " CASE WHEN any_value(c.column_type) IN ('varchar', 'uuid') THEN " ANY(outermost, value)                           \
    " WHEN regexp_matches(any_value(c.column_type), '^u?int[0-9]+$') THEN " COMPARED(outermost_by, value, "HUGEINT")   \
    " WHEN regexp_matches(any_value(c.column_type), '^decimal\\([0-9]+, ?[0-9]\\)$')"                                  \
    "  THEN " COMPARED(outermost_by, value, "DECIMAL(38, 9)")                                                          \
    " WHEN any_value(c.column_type) IN ('float32', 'float64') THEN " COMPARED(outermost_by, value, "DOUBLE")           \
    " WHEN any_value(c.column_type) = 'time' THEN " COMPARED(outermost_by, value, "TIME")                              \
    " WHEN any_value(c.column_type) IN ('date', 'timestamp', 'timestamptz', 'timestamp_s', 'timestamp_ms') THEN "      \
    COMPARED(outermost_by, value, "TIMESTAMPTZ") " END AS span FROM loose g"                                           \
    " JOIN frozen.main.ducklake_file_column_stats s USING (table_id, column_id)"                                       \
    " JOIN files f USING (table_id)"                                                                                   \
    " JOIN frozen.main.ducklake_column c ON c.table_id = g.table_id AND c.column_id = g.column_id"                     \
    "  AND c.end_snapshot IS NULL"                                                                                     \
    " GROUP BY g.table_id, g.column_id"

/* A value, or NULL where there is none, in a list; no list where one cannot be compared. */
#define ANY(outermost, value) "[" outermost "(s." value ")]"
#define COMPARED(outermost_by, value, type)                                                                            \
    "CASE WHEN count(s." value ") = count(TRY_CAST(s." value " AS " type ")) THEN [" outermost_by "(s." value          \
    ", TRY_CAST(s." value " AS " type "))] END"

#define NARROWED(attained, value, spans)                                                                               \
    "CASE WHEN coalesce(l." attained ", true) OR g." value " IS NULL THEN g." value " WHEN f.files IS NULL THEN NULL"                  \
    " WHEN " spans ".complete AND " spans ".span IS NOT NULL THEN " spans ".span[1] ELSE g." value " END"

static const char narrow[] =
    "INSERT INTO frozen.main.ducklake_table_column_stats WITH"
    " files AS MATERIALIZED (SELECT table_id, count(*) AS files FROM frozen.main.ducklake_data_file GROUP BY table_id),"
    " loose AS MATERIALIZED (SELECT table_id, column_id, bool_and(low) AS low, bool_and(high) AS high"
    "  FROM temp.main.loose GROUP BY table_id, column_id),"
    " lows AS MATERIALIZED (" SPAN("min", "arg_min", "min_value") "),"
    " highs AS MATERIALIZED (" SPAN("max", "arg_max", "max_value") ")"
    " SELECT g.table_id, g.column_id, g.contains_null, g.contains_nan, " NARROWED("low", "min_value", "lows") ", "
    NARROWED("high", "max_value", "highs") ", g.extra_stats"
    " FROM temp.main.ducklake_table_column_stats g LEFT JOIN loose l USING (table_id, column_id)"
    " LEFT JOIN files f USING (table_id)"
    " LEFT JOIN lows USING (table_id, column_id) LEFT JOIN highs USING (table_id, column_id)"
    " ORDER BY g.table_id, g.column_id";

static fdl_code insert_loose(fdl_freeze *freeze, size_t from, size_t *next, fdl_error *error) {
    fdl_buf sql;
    size_t count = 0;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    fdl_code code = fdl_buf_add_str(&sql, "INSERT INTO temp.main.loose VALUES", error);
    for (; from < freeze->span_count && count < LOOSE_AT_ONCE && code == FDL_OK; from++) {
        const fdl_freeze_span *span = &freeze->spans[from];
        if (is_loose(span))
            code = fdl_buf_add_format(&sql, error, "%s (%lld, %lld, %d = 1, %d = 1)", count++ > 0 ? "," : "",
                                      (long long)span->table_id, (long long)span->column_id, span->low.is_attained,
                                      span->high.is_attained);
    }
    if (code == FDL_OK && count > 0)
        code = fdl_duck_exec(freeze->duck, error, "%s", sql.data);
    fdl_buf_clear(&sql);
    *next = from;
    return code;
}

fdl_code fdl_freeze_narrow(fdl_freeze *freeze, fdl_error *error) {
    fdl_code code = fdl_duck_exec(freeze->duck, error,
                                  "CREATE TEMP TABLE loose (table_id BIGINT, column_id BIGINT, low BOOLEAN, high BOOLEAN)");
    for (size_t at = 0; at < freeze->span_count && code == FDL_OK;)
        code = insert_loose(freeze, at, &at, error);
    return code == FDL_OK ? fdl_duck_exec(freeze->duck, error, "%s", narrow) : code;
}
