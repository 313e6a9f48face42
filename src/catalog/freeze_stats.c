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
#include "catalog/freeze.h"

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
    "CASE WHEN a." attained " OR g." value " IS NULL THEN g." value " WHEN f.files IS NULL THEN NULL"                  \
    " WHEN " spans ".complete AND " spans ".span IS NOT NULL THEN " spans ".span[1] ELSE g." value " END"

static const char narrow[] =
    "INSERT INTO frozen.main.ducklake_table_column_stats WITH"
    " files AS MATERIALIZED (SELECT table_id, count(*) AS files FROM frozen.main.ducklake_data_file GROUP BY table_id),"
    " attained AS MATERIALIZED (SELECT g.table_id, g.column_id, coalesce(bool_or(s.min_value = g.min_value), false) AS low,"
    "  coalesce(bool_or(s.max_value = g.max_value), false) AS high FROM temp.main.ducklake_table_column_stats g"
    "  LEFT JOIN frozen.main.ducklake_file_column_stats s USING (table_id, column_id) GROUP BY g.table_id, g.column_id),"
    " loose AS MATERIALIZED (SELECT table_id, column_id FROM attained WHERE NOT (low AND high)),"
    " lows AS MATERIALIZED (" SPAN("min", "arg_min", "min_value") "),"
    " highs AS MATERIALIZED (" SPAN("max", "arg_max", "max_value") ")"
    " SELECT g.table_id, g.column_id, g.contains_null, g.contains_nan, " NARROWED("low", "min_value", "lows") ", "
    NARROWED("high", "max_value", "highs") ", g.extra_stats"
    " FROM temp.main.ducklake_table_column_stats g JOIN attained a USING (table_id, column_id)"
    " LEFT JOIN files f USING (table_id)"
    " LEFT JOIN lows USING (table_id, column_id) LEFT JOIN highs USING (table_id, column_id)"
    " ORDER BY g.table_id, g.column_id";

fdl_code fdl_freeze_narrow(fdl_freeze *freeze, fdl_error *error) {
    return fdl_duck_exec(freeze->duck, error, "%s", narrow);
}
