/*
 * other_limits.c - what an older format cannot say.
 *
 * Each limit is a question to the frozen catalog whose answer, if there is one,
 * names the thing.  All were found by letting DuckDB 1.4.4 and 1.5.0 read what
 * 1.5.5 wrote; types and partition keys are those that they were seen to read
 * right, so that what comes later is left out until somebody has looked.
 */
#include "catalog/other_format.h"
#include "util/text.h"

#define SQL_LIMIT_BYTES (1u << 16)

/* What any of the snapshots in the catalog can show. */
#define SHOWN(alias) "coalesce(" alias ".end_snapshot > (SELECT min(snapshot_id) FROM frozen.main.ducklake_snapshot), true)"

/* Names of tables, whichever snapshot they are from. */
#define NAMED_TABLES                                                                                                   \
    "(SELECT t.table_id, any_value(s.schema_name || '.' || t.table_name) AS table_name FROM"                           \
    " frozen.main.ducklake_table t JOIN frozen.main.ducklake_schema s USING (schema_id)"                               \
    " WHERE t.end_snapshot IS NULL OR " SHOWN("t") " GROUP BY t.table_id)"

#define BASIC_TYPES                                                                                                    \
    "boolean|u?int(8|16|32|64|128)|float(32|64)|decimal\\([0-9]+, ?[0-9]+\\)|date|time|timetz|timestamp(_s|_ms|_ns)?"  \
    "|timestamptz|interval|uuid|blob|varchar|json|struct|list|map"

#define UNKNOWN_TYPES(types)                                                                                           \
    "SELECT 'the type ''' || column_type || ''' of column ''' || table_name || '.' || column_name || ''''"             \
    " FROM frozen.main.ducklake_column k JOIN " NAMED_TABLES " USING (table_id)"                                       \
    " WHERE " SHOWN("k") " AND NOT regexp_full_match(column_type, '" types "')"

static const struct {
    unsigned formats;
    const char *sql;
} limits[] = {
    {FDL_OTHER_03, UNKNOWN_TYPES(BASIC_TYPES)},
    {FDL_OTHER_04, UNKNOWN_TYPES(BASIC_TYPES "|geometry|variant")},

    {FDL_OTHER_03, "SELECT 'the macro ''' || schema_name || '.' || macro_name || ''''"
                   " FROM frozen.main.ducklake_macro m JOIN frozen.main.ducklake_schema USING (schema_id)"
                   " WHERE " SHOWN("m")},

    {FDL_OTHER_03, "SELECT 'the sort key of table ''' || table_name || '''' FROM frozen.main.ducklake_sort_info s"
                   " JOIN " NAMED_TABLES " USING (table_id) WHERE " SHOWN("s")},

    {FDL_OTHER_03 | FDL_OTHER_04,
     "SELECT 'the partition key ''' || transform || ''' of table ''' || table_name || ''''"
     " FROM frozen.main.ducklake_partition_column JOIN frozen.main.ducklake_partition_info p USING (partition_id, table_id)"
     " JOIN " NAMED_TABLES " USING (table_id)"
     " WHERE " SHOWN("p") " AND transform NOT IN ('identity', 'year', 'month', 'day', 'hour')"},

    {FDL_OTHER_03,
     "SELECT 'the default ''' || default_value || ''' of column ''' || table_name || '.' || column_name || ''''"
     " FROM frozen.main.ducklake_column k JOIN " NAMED_TABLES " USING (table_id)"
     " WHERE " SHOWN("k") " AND default_value_type <> 'literal'"
     " AND default_value NOT IN ('NULL', 'CAST(''t'' AS BOOLEAN)', 'CAST(''f'' AS BOOLEAN)')"},

    {FDL_OTHER_03 | FDL_OTHER_04,
     "SELECT 'the deletes of table ''' || table_name || ''' in the form ''' || format || ''''"
     " FROM frozen.main.ducklake_delete_file JOIN " NAMED_TABLES " USING (table_id) WHERE format <> 'parquet'"},

    /* Deletes of several snapshots in one file: all of them count for the last, but an earlier one would lose rows. */
    {FDL_OTHER_03,
     "SELECT 'deletes of several snapshots in one file of table ''' || table_name || ''' (--keep-snapshots)'"
     " FROM frozen.main.ducklake_delete_file JOIN " NAMED_TABLES " USING (table_id)"
     " WHERE partial_max > (SELECT min(snapshot_id) FROM frozen.main.ducklake_snapshot)"},

    {FDL_OTHER_03 | FDL_OTHER_04,
     "SELECT 'the file ''' || path || ''', which is not encrypted while the lake is' FROM"
     " (SELECT path, encryption_key FROM frozen.main.ducklake_data_file UNION ALL"
     "  SELECT path, encryption_key FROM frozen.main.ducklake_delete_file)"
     " WHERE encryption_key IS NULL AND EXISTS (FROM frozen.main.ducklake_metadata"
     "  WHERE key = 'encrypted' AND scope IS NULL AND value = 'true')"},
};

static fdl_code take_answer(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    char **obstacle = data;
    (void)count;
    return *obstacle == NULL && !cells[0].is_null ? fdl_str_copy_n(obstacle, cells[0].text, cells[0].length, error)
                                                  : FDL_OK;
}

fdl_code fdl_other_obstacle(fdl_duck *duck, const fdl_other *other, char **obstacle, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < sizeof limits / sizeof *limits && code == FDL_OK && *obstacle == NULL; i++) {
        fdl_buf sql;
        if ((limits[i].formats & other->bit) == 0)
            continue;
        fdl_buf_init(&sql, SQL_LIMIT_BYTES);
        code = fdl_buf_add_format(&sql, error, "%s ORDER BY 1 LIMIT 1", limits[i].sql);
        if (code == FDL_OK)
            code = fdl_duck_query(duck, sql.data, take_answer, obstacle, error);
        fdl_buf_clear(&sql);
    }
    return code;
}
