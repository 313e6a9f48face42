/*
 * ducklake_schema.c - the tables of DuckLake 1.0, as DuckLake itself creates
 * them, and the CREATE TABLE texts made from that.
 *
 * Format 0.4 has the same tables; only the version in the metadata differs.
 */
#include <string.h>

#include "catalog/ducklake_schema.h"

#define BIGINT(column)                                                                                                 \
    { column, FDL_LAKE_BIGINT, false, false }
#define KEY(column)                                                                                                    \
    { column, FDL_LAKE_BIGINT, false, true }
#define VARCHAR(column)                                                                                                \
    { column, FDL_LAKE_VARCHAR, false, false }
#define VARCHAR_NOT_NULL(column)                                                                                       \
    { column, FDL_LAKE_VARCHAR, true, false }
#define BOOLEAN(column)                                                                                                \
    { column, FDL_LAKE_BOOLEAN, false, false }
#define UUID(column)                                                                                                   \
    { column, FDL_LAKE_UUID, false, false }
#define TIMESTAMPTZ(column)                                                                                            \
    { column, FDL_LAKE_TIMESTAMPTZ, false, false }

static const fdl_lake_column metadata_columns[] = {
    VARCHAR_NOT_NULL("key"),
    VARCHAR_NOT_NULL("value"),
    VARCHAR("scope"),
    BIGINT("scope_id"),
};

static const fdl_lake_column snapshot_columns[] = {
    KEY("snapshot_id"),        TIMESTAMPTZ("snapshot_time"), BIGINT("schema_version"),
    BIGINT("next_catalog_id"), BIGINT("next_file_id"),
};

static const fdl_lake_column snapshot_changes_columns[] = {
    KEY("snapshot_id"),        VARCHAR("changes_made"),      VARCHAR("author"),
    VARCHAR("commit_message"), VARCHAR("commit_extra_info"),
};

static const fdl_lake_column schema_columns[] = {
    KEY("schema_id"),       UUID("schema_uuid"), BIGINT("begin_snapshot"),    BIGINT("end_snapshot"),
    VARCHAR("schema_name"), VARCHAR("path"),     BOOLEAN("path_is_relative"),
};

static const fdl_lake_column table_columns[] = {
    BIGINT("table_id"),  UUID("table_uuid"),    BIGINT("begin_snapshot"), BIGINT("end_snapshot"),
    BIGINT("schema_id"), VARCHAR("table_name"), VARCHAR("path"),          BOOLEAN("path_is_relative"),
};

static const fdl_lake_column view_columns[] = {
    BIGINT("view_id"),    UUID("view_uuid"),  BIGINT("begin_snapshot"), BIGINT("end_snapshot"),    BIGINT("schema_id"),
    VARCHAR("view_name"), VARCHAR("dialect"), VARCHAR("sql"),           VARCHAR("column_aliases"),
};

static const fdl_lake_column tag_columns[] = {
    BIGINT("object_id"), BIGINT("begin_snapshot"), BIGINT("end_snapshot"), VARCHAR("key"), VARCHAR("value"),
};

static const fdl_lake_column column_tag_columns[] = {
    BIGINT("table_id"),     BIGINT("column_id"), BIGINT("begin_snapshot"),
    BIGINT("end_snapshot"), VARCHAR("key"),      VARCHAR("value"),
};

static const fdl_lake_column data_file_columns[] = {
    KEY("data_file_id"),    BIGINT("table_id"),        BIGINT("begin_snapshot"),    BIGINT("end_snapshot"),
    BIGINT("file_order"),   VARCHAR("path"),           BOOLEAN("path_is_relative"), VARCHAR("file_format"),
    BIGINT("record_count"), BIGINT("file_size_bytes"), BIGINT("footer_size"),       BIGINT("row_id_start"),
    BIGINT("partition_id"), VARCHAR("encryption_key"), BIGINT("mapping_id"),        BIGINT("partial_max"),
};

static const fdl_lake_column file_column_stats_columns[] = {
    BIGINT("data_file_id"),  BIGINT("table_id"),     BIGINT("column_id"),  BIGINT("column_size_bytes"),
    BIGINT("value_count"),   BIGINT("null_count"),   VARCHAR("min_value"), VARCHAR("max_value"),
    BOOLEAN("contains_nan"), VARCHAR("extra_stats"),
};

static const fdl_lake_column file_variant_stats_columns[] = {
    BIGINT("data_file_id"),   BIGINT("table_id"),          BIGINT("column_id"),     VARCHAR("variant_path"),
    VARCHAR("shredded_type"), BIGINT("column_size_bytes"), BIGINT("value_count"),   BIGINT("null_count"),
    VARCHAR("min_value"),     VARCHAR("max_value"),        BOOLEAN("contains_nan"), VARCHAR("extra_stats"),
};

static const fdl_lake_column delete_file_columns[] = {
    KEY("delete_file_id"),  BIGINT("table_id"),        BIGINT("begin_snapshot"),    BIGINT("end_snapshot"),
    BIGINT("data_file_id"), VARCHAR("path"),           BOOLEAN("path_is_relative"), VARCHAR("format"),
    BIGINT("delete_count"), BIGINT("file_size_bytes"), BIGINT("footer_size"),       VARCHAR("encryption_key"),
    BIGINT("partial_max"),
};

static const fdl_lake_column column_columns[] = {
    BIGINT("column_id"),
    BIGINT("begin_snapshot"),
    BIGINT("end_snapshot"),
    BIGINT("table_id"),
    BIGINT("column_order"),
    VARCHAR("column_name"),
    VARCHAR("column_type"),
    VARCHAR("initial_default"),
    VARCHAR("default_value"),
    BOOLEAN("nulls_allowed"),
    BIGINT("parent_column"),
    VARCHAR("default_value_type"),
    VARCHAR("default_value_dialect"),
};

static const fdl_lake_column table_stats_columns[] = {
    BIGINT("table_id"),
    BIGINT("record_count"),
    BIGINT("next_row_id"),
    BIGINT("file_size_bytes"),
};

static const fdl_lake_column table_column_stats_columns[] = {
    BIGINT("table_id"),   BIGINT("column_id"),  BOOLEAN("contains_null"), BOOLEAN("contains_nan"),
    VARCHAR("min_value"), VARCHAR("max_value"), VARCHAR("extra_stats"),
};

static const fdl_lake_column partition_info_columns[] = {
    BIGINT("partition_id"),
    BIGINT("table_id"),
    BIGINT("begin_snapshot"),
    BIGINT("end_snapshot"),
};

static const fdl_lake_column partition_column_columns[] = {
    BIGINT("partition_id"), BIGINT("table_id"),   BIGINT("partition_key_index"),
    BIGINT("column_id"),    VARCHAR("transform"),
};

static const fdl_lake_column file_partition_value_columns[] = {
    BIGINT("data_file_id"),
    BIGINT("table_id"),
    BIGINT("partition_key_index"),
    VARCHAR("partition_value"),
};

static const fdl_lake_column files_scheduled_for_deletion_columns[] = {
    BIGINT("data_file_id"),
    VARCHAR("path"),
    BOOLEAN("path_is_relative"),
    TIMESTAMPTZ("schedule_start"),
};

static const fdl_lake_column inlined_data_tables_columns[] = {
    BIGINT("table_id"),
    VARCHAR("table_name"),
    BIGINT("schema_version"),
};

static const fdl_lake_column column_mapping_columns[] = {
    BIGINT("mapping_id"),
    BIGINT("table_id"),
    VARCHAR("type"),
};

static const fdl_lake_column name_mapping_columns[] = {
    BIGINT("mapping_id"),      BIGINT("column_id"),     VARCHAR("source_name"),
    BIGINT("target_field_id"), BIGINT("parent_column"), BOOLEAN("is_partition"),
};

static const fdl_lake_column schema_versions_columns[] = {
    BIGINT("begin_snapshot"),
    BIGINT("schema_version"),
    BIGINT("table_id"),
};

static const fdl_lake_column macro_columns[] = {
    BIGINT("schema_id"), BIGINT("macro_id"), VARCHAR("macro_name"), BIGINT("begin_snapshot"), BIGINT("end_snapshot"),
};

static const fdl_lake_column macro_impl_columns[] = {
    BIGINT("macro_id"), BIGINT("impl_id"), VARCHAR("dialect"), VARCHAR("sql"), VARCHAR("type"),
};

static const fdl_lake_column macro_parameters_columns[] = {
    BIGINT("macro_id"),        BIGINT("impl_id"),        BIGINT("column_id"),           VARCHAR("parameter_name"),
    VARCHAR("parameter_type"), VARCHAR("default_value"), VARCHAR("default_value_type"),
};

static const fdl_lake_column sort_info_columns[] = {
    BIGINT("sort_id"),
    BIGINT("table_id"),
    BIGINT("begin_snapshot"),
    BIGINT("end_snapshot"),
};

static const fdl_lake_column sort_expression_columns[] = {
    BIGINT("sort_id"),  BIGINT("table_id"),        BIGINT("sort_key_index"), VARCHAR("expression"),
    VARCHAR("dialect"), VARCHAR("sort_direction"), VARCHAR("null_order"),
};

#define TABLE(short_name, keep, owner, owner_column)                                                                   \
    {                                                                                                                  \
        "ducklake_" #short_name, short_name##_columns, sizeof short_name##_columns / sizeof *short_name##_columns,     \
            FDL_LAKE_KEEP_##keep, FDL_LAKE_##owner, owner_column                                                       \
    }

const fdl_lake_table fdl_lake_tables[FDL_LAKE_TABLE_COUNT] = {
    TABLE(metadata, HISTORY, SCOPE, "scope_id"),
    TABLE(snapshot, SNAPSHOTS, NOTHING, NULL),
    TABLE(snapshot_changes, SNAPSHOTS, NOTHING, NULL),
    TABLE(schema, CURRENT, NOTHING, NULL),
    TABLE(table, HISTORY, TABLE, "table_id"),
    TABLE(view, CURRENT, SCHEMA, "schema_id"),
    TABLE(tag, CURRENT, OBJECT, "object_id"),
    TABLE(column_tag, CURRENT, TABLE, "table_id"),
    TABLE(data_file, CURRENT, TABLE, "table_id"),
    TABLE(file_column_stats, HISTORY, FILE, "data_file_id"),
    TABLE(file_variant_stats, HISTORY, FILE, "data_file_id"),
    TABLE(delete_file, CURRENT, FILE, "data_file_id"),
    TABLE(column, HISTORY, TABLE, "table_id"),
    TABLE(table_stats, HISTORY, TABLE, "table_id"),
    TABLE(table_column_stats, HISTORY, TABLE, "table_id"),
    TABLE(partition_info, HISTORY, TABLE, "table_id"),
    TABLE(partition_column, HISTORY, PARTITION, "partition_id"),
    TABLE(file_partition_value, HISTORY, FILE, "data_file_id"),
    TABLE(files_scheduled_for_deletion, NOTHING, NOTHING, NULL),
    TABLE(inlined_data_tables, NOTHING, NOTHING, NULL),
    TABLE(column_mapping, HISTORY, TABLE, "table_id"),
    TABLE(name_mapping, HISTORY, MAPPING, "mapping_id"),
    TABLE(schema_versions, HISTORY, TABLE, "table_id"),
    TABLE(macro, CURRENT, SCHEMA, "schema_id"),
    TABLE(macro_impl, HISTORY, MACRO, "macro_id"),
    TABLE(macro_parameters, HISTORY, MACRO, "macro_id"),
    TABLE(sort_info, HISTORY, TABLE, "table_id"),
    TABLE(sort_expression, HISTORY, SORT, "sort_id"),
};

const fdl_lake_table *fdl_lake_table_find(const char *name) {
    for (size_t i = 0; i < FDL_LAKE_TABLE_COUNT; i++)
        if (strcmp(fdl_lake_tables[i].name, name) == 0)
            return &fdl_lake_tables[i];
    return NULL;
}

int fdl_lake_column_find(const fdl_lake_table *table, const char *name) {
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

bool fdl_lake_is_files(const fdl_lake_table *table) {
    return strcmp(table->name, "ducklake_data_file") == 0 || strcmp(table->name, "ducklake_delete_file") == 0;
}

const char *fdl_lake_type_name(fdl_lake_type type, fdl_lake_dialect dialect) {
    switch (type) {
    case FDL_LAKE_BIGINT:
        return "BIGINT";
    case FDL_LAKE_BOOLEAN:
        return dialect == FDL_LAKE_SQLITE ? "BIGINT" : "BOOLEAN";
    case FDL_LAKE_UUID:
        return dialect == FDL_LAKE_SQLITE ? "VARCHAR" : "UUID";
    case FDL_LAKE_TIMESTAMPTZ:
        return dialect == FDL_LAKE_SQLITE ? "VARCHAR" : "TIMESTAMP WITH TIME ZONE";
    case FDL_LAKE_VARCHAR:
        break;
    }
    return "VARCHAR";
}

fdl_code fdl_lake_create_sql(fdl_buf *sql, const fdl_lake_table *table, fdl_lake_dialect dialect, const char *qualifier,
                             fdl_error *error) {
    fdl_code code = fdl_buf_add_format(sql, error, "CREATE TABLE %s%s(", qualifier, table->name);
    for (size_t i = 0; i < table->column_count && code == FDL_OK; i++) {
        const fdl_lake_column *column = &table->columns[i];
        code = fdl_buf_add_format(sql, error, "%s\"%s\" %s%s%s", i == 0 ? "" : ", ", column->name,
                                  fdl_lake_type_name(column->type, dialect), column->primary_key ? " PRIMARY KEY" : "",
                                  column->not_null ? " NOT NULL" : "");
    }
    return code == FDL_OK ? fdl_buf_add_str(sql, ");", error) : code;
}

fdl_code fdl_lake_column_list(fdl_buf *sql, const fdl_lake_table *table, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < table->column_count && code == FDL_OK; i++)
        code = fdl_buf_add_format(sql, error, "%s\"%s\"", i == 0 ? "" : ", ", table->columns[i].name);
    return code;
}
