/*
 * other_tables.c - how the DuckLake formats differ, as data.
 *
 * Format 0.4 has the tables of 1.0.  0.3 has no macros, sort keys and VARIANT
 * statistics, and four of its tables are others.  Beside that, readers of both
 * do not understand two things that DuckDB 1.5.5 writes and reads well:
 *
 *   - They take the statistics of BOOLEAN columns ('0', '1') for what they are
 *     not, and skip files that have the value.  So none are written: unknown.
 *   - Where a file has no statistics of a column, they skip it whatever is
 *     looked for, and rows whose value is the default of a column added later
 *     are lost.  So each such pair gets a row that says: anything is possible.
 */
#include <string.h>

#include "catalog/other_format.h"

#define COUNT(items) (sizeof(items) / sizeof *(items))

static const fdl_other others[] = {
    {"0.3", "v1.0.0", FDL_OTHER_03, false},
    {"0.4", "v1.5.0", FDL_OTHER_04, false},
    {"1.0", "v1.5.0", FDL_OTHER_10, true},
};

const fdl_other *fdl_other_find(const char *format) {
    for (size_t i = 0; i < COUNT(others); i++)
        if (strcmp(others[i].format, format) == 0)
            return &others[i];
    return NULL;
}

const char *fdl_other_storage(const char *format) {
    const fdl_other *other = fdl_other_find(format);
    return other == NULL ? NULL : other->storage;
}

/* ---- the tables of 0.3 ------------------------------------------------------------- */

#define BIGINT(column) {column, FDL_LAKE_BIGINT, false, false}
#define KEY(column) {column, FDL_LAKE_BIGINT, false, true}
#define VARCHAR(column) {column, FDL_LAKE_VARCHAR, false, false}
#define BOOLEAN(column) {column, FDL_LAKE_BOOLEAN, false, false}

static const fdl_lake_column data_file_03[] = {
    KEY("data_file_id"),    BIGINT("table_id"),        BIGINT("begin_snapshot"),     BIGINT("end_snapshot"),
    BIGINT("file_order"),   VARCHAR("path"),           BOOLEAN("path_is_relative"),  VARCHAR("file_format"),
    BIGINT("record_count"), BIGINT("file_size_bytes"), BIGINT("footer_size"),        BIGINT("row_id_start"),
    BIGINT("partition_id"), VARCHAR("encryption_key"), VARCHAR("partial_file_info"), BIGINT("mapping_id"),
};

static const fdl_lake_column delete_file_03[] = {
    KEY("delete_file_id"),  BIGINT("table_id"),        BIGINT("begin_snapshot"),    BIGINT("end_snapshot"),
    BIGINT("data_file_id"), VARCHAR("path"),           BOOLEAN("path_is_relative"), VARCHAR("format"),
    BIGINT("delete_count"), BIGINT("file_size_bytes"), BIGINT("footer_size"),       VARCHAR("encryption_key"),
};

static const fdl_lake_column column_03[] = {
    BIGINT("column_id"),    BIGINT("begin_snapshot"), BIGINT("end_snapshot"), BIGINT("table_id"),
    BIGINT("column_order"), VARCHAR("column_name"),   VARCHAR("column_type"), VARCHAR("initial_default"),
    VARCHAR("default_value"), BOOLEAN("nulls_allowed"), BIGINT("parent_column"),
};

static const fdl_lake_column schema_versions_03[] = {
    BIGINT("begin_snapshot"),
    BIGINT("schema_version"),
};

#define CHANGED(short_name) {.name = "ducklake_" #short_name, .columns = short_name##_03, .column_count = COUNT(short_name##_03)}

static const fdl_lake_table changed_03[] = {
    CHANGED(data_file),
    CHANGED(delete_file),
    CHANGED(column),
    CHANGED(schema_versions),
};

static const char *const missing_03[] = {
    "ducklake_file_variant_stats", "ducklake_macro",     "ducklake_macro_impl",
    "ducklake_macro_parameters",   "ducklake_sort_info", "ducklake_sort_expression",
};

const fdl_lake_table *fdl_other_table(const fdl_other *other, size_t index) {
    const fdl_lake_table *table = &fdl_lake_tables[index];
    if (other->bit != FDL_OTHER_03)
        return table;
    for (size_t i = 0; i < COUNT(missing_03); i++)
        if (strcmp(missing_03[i], table->name) == 0)
            return NULL;
    for (size_t i = 0; i < COUNT(changed_03); i++)
        if (strcmp(changed_03[i].name, table->name) == 0)
            return &changed_03[i];
    return table;
}

/* ---- what a column holds there -------------------------------------------------------- */

/* What 1.4 knows of a snapshot's changes.  Its ducklake_snapshots() stops at any other word, so it gets none of them. */
#define CHANGES_03                                                                                                     \
    "(created_schema|created_table|created_view|dropped_schema|dropped_table|dropped_view|inserted_into_table"         \
    "|deleted_from_table|altered_table|altered_view|compacted_table)"

#define NOT_OF_BOOLEANS(column)                                                                                        \
    "CASE WHEN (table_id, column_id) IN (SELECT (table_id, column_id) FROM frozen.main.ducklake_column"                \
    " WHERE column_type = 'boolean') THEN NULL ELSE " column " END"

static const struct {
    unsigned formats;
    const char *table;
    const char *column;
    const char *sql;
} conversions[] = {
    {FDL_OTHER_03 | FDL_OTHER_04 | FDL_OTHER_10, "ducklake_metadata", "value",
     "CASE WHEN key = 'version' AND scope IS NULL THEN getvariable('format') ELSE value END"},
    {FDL_OTHER_03 | FDL_OTHER_04, "ducklake_file_column_stats", "min_value", NOT_OF_BOOLEANS("min_value")},
    {FDL_OTHER_03 | FDL_OTHER_04, "ducklake_file_column_stats", "max_value", NOT_OF_BOOLEANS("max_value")},
    /* Newer formats write 'NULL' for "no default", and true and false as expressions. */
    {FDL_OTHER_03, "ducklake_column", "default_value",
     "CASE default_value WHEN 'NULL' THEN NULL WHEN 'CAST(''t'' AS BOOLEAN)' THEN 'true'"
     " WHEN 'CAST(''f'' AS BOOLEAN)' THEN 'false' ELSE default_value END"},
    {FDL_OTHER_03, "ducklake_data_file", "partial_file_info", "'partial_max:' || partial_max"},
    {FDL_OTHER_03, "ducklake_snapshot_changes", "changes_made",
     "CASE WHEN regexp_full_match(regexp_replace(changes_made, '\"([^\"]|\"\")*\"', '', 'g'),"
     " '(" CHANGES_03 ":[^,]*(,|$))*') THEN changes_made ELSE '' END"},
};

static const char *conversion(const fdl_other *other, const fdl_lake_table *table, const char *column) {
    for (size_t i = 0; i < COUNT(conversions); i++)
        if ((conversions[i].formats & other->bit) != 0 && strcmp(conversions[i].table, table->name) == 0 &&
            strcmp(conversions[i].column, column) == 0)
            return conversions[i].sql;
    return NULL;
}

/* 0.3 numbers the schema as a whole, newer ones table by table. */
static bool is_distinct(const fdl_other *other, const fdl_lake_table *table) {
    return other->bit == FDL_OTHER_03 && strcmp(table->name, "ducklake_schema_versions") == 0;
}

fdl_code fdl_other_copy_sql(fdl_buf *sql, const fdl_other *other, const fdl_lake_table *table, fdl_error *error) {
    fdl_code code = fdl_buf_add_format(sql, error, "INSERT INTO other.main.%s SELECT %s", table->name,
                                       is_distinct(other, table) ? "DISTINCT " : "");
    for (size_t i = 0; i < table->column_count && code == FDL_OK; i++) {
        const char *column = table->columns[i].name, *converted = conversion(other, table, column);
        code = fdl_buf_add_str(sql, i == 0 ? "" : ", ", error);
        if (code == FDL_OK)
            code = converted ? fdl_buf_add_str(sql, converted, error) : fdl_sql_name(sql, column, error);
    }
    if (code == FDL_OK)
        code = fdl_buf_add_format(sql, error, " FROM frozen.main.%s", table->name);
    if (code == FDL_OK && is_distinct(other, table))
        code = fdl_buf_add_str(sql, " ORDER BY ALL", error);
    return code;
}

const char *fdl_other_additions(const fdl_other *other) {
    if (other->bit == FDL_OTHER_10)
        return NULL;
    return "INSERT INTO other.main.ducklake_file_column_stats"
           " (data_file_id, table_id, column_id, value_count, null_count)"
           " SELECT data_file_id, table_id, column_id, record_count, record_count"
           " FROM frozen.main.ducklake_data_file JOIN"
           " (SELECT DISTINCT table_id, column_id FROM frozen.main.ducklake_column"
           "  WHERE column_type NOT IN ('struct', 'list', 'map')) USING (table_id)"
           " ANTI JOIN frozen.main.ducklake_file_column_stats USING (data_file_id, column_id)"
           " ORDER BY data_file_id, column_id";
}
