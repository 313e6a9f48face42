/*
 * lake_writer.c - fills DuckDB's vectors directly and appends them.
 */
#include <string.h>

#include "catalog/lake_writer.h"

int fdl_lake_duck_type(fdl_lake_type type) {
    switch (type) {
    case FDL_LAKE_BIGINT:
        return FDL_DUCK_BIGINT;
    case FDL_LAKE_BOOLEAN:
        return FDL_DUCK_BOOLEAN;
    case FDL_LAKE_UUID:
        return FDL_DUCK_UUID;
    case FDL_LAKE_TIMESTAMPTZ:
        return FDL_DUCK_TIMESTAMP_TZ;
    case FDL_LAKE_VARCHAR:
        break;
    }
    return FDL_DUCK_VARCHAR;
}

/* A fresh or reset chunk has new data, and no validity until somebody wants it. */
static void start_chunk(fdl_lake_writer *writer) {
    writer->row = 0;
    for (size_t i = 0; i < writer->table->column_count; i++) {
        writer->vectors[i] = writer->api->data_chunk_get_vector(writer->chunk, i);
        writer->data[i] = writer->api->vector_get_data(writer->vectors[i]);
        writer->validity[i] = NULL;
    }
}

static fdl_code create_chunk(fdl_lake_writer *writer, fdl_error *error) {
    fdl_duck_type types[FDL_LAKE_COLUMN_LIMIT] = {0};
    const fdl_lake_table *table = writer->table;
    for (size_t i = 0; i < table->column_count; i++)
        types[i] = writer->api->create_logical_type(fdl_lake_duck_type(table->columns[i].type));
    writer->chunk = writer->api->create_data_chunk(types, table->column_count);
    for (size_t i = 0; i < table->column_count; i++)
        writer->api->destroy_logical_type(&types[i]);
    if (writer->chunk == NULL)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    writer->chunk_rows = writer->api->vector_size();
    start_chunk(writer);
    return FDL_OK;
}

fdl_code fdl_lake_writer_open(fdl_duck *duck, const char *catalog, const fdl_lake_table *table, fdl_lake_writer *out,
                              fdl_error *error) {
    *out = (fdl_lake_writer){.api = duck->api, .table = table};
    if (out->api->appender_create_ext(duck->connection, catalog, "main", table->name, &out->appender) !=
        FDL_DUCK_SUCCESS)
        return fdl_duck_fail(error, out->api->appender_error(out->appender));
    return create_chunk(out, error);
}

void fdl_lake_writer_null(fdl_lake_writer *writer, int column) {
    if (writer->validity[column] == NULL) {
        writer->api->vector_ensure_validity_writable(writer->vectors[column]);
        writer->validity[column] = writer->api->vector_get_validity(writer->vectors[column]);
    }
    writer->validity[column][writer->row / 64] &= ~(UINT64_C(1) << (writer->row % 64));
}

void fdl_lake_writer_number(fdl_lake_writer *writer, int column, int64_t value) {
    ((int64_t *)writer->data[column])[writer->row] = value;
}

void fdl_lake_writer_boolean(fdl_lake_writer *writer, int column, bool value) {
    ((bool *)writer->data[column])[writer->row] = value;
}

void fdl_lake_writer_uuid(fdl_lake_writer *writer, int column, const fdl_duck_hugeint *value) {
    ((fdl_duck_hugeint *)writer->data[column])[writer->row] = *value;
}

void fdl_lake_writer_text(fdl_lake_writer *writer, int column, const char *text, size_t length) {
    fdl_duck_string *string = &((fdl_duck_string *)writer->data[column])[writer->row];
    if (length > sizeof string->in_place.bytes) {
        writer->api->vector_assign_string_element_len(writer->vectors[column], writer->row, text, length);
        return;
    }
    memset(string, 0, sizeof *string); /* DuckDB compares all sixteen bytes */
    string->in_place.length = (uint32_t)length;
    memcpy(string->in_place.bytes, text, length);
}

static fdl_code append_chunk(fdl_lake_writer *writer, fdl_error *error) {
    writer->api->data_chunk_set_size(writer->chunk, writer->row);
    if (writer->api->append_data_chunk(writer->appender, writer->chunk) != FDL_DUCK_SUCCESS)
        return fdl_duck_fail(error, writer->api->appender_error(writer->appender));
    writer->api->data_chunk_reset(writer->chunk);
    start_chunk(writer);
    return FDL_OK;
}

fdl_code fdl_lake_writer_next(fdl_lake_writer *writer, fdl_error *error) {
    writer->row_count++;
    writer->row++;
    return writer->row == writer->chunk_rows ? append_chunk(writer, error) : FDL_OK;
}

fdl_code fdl_lake_writer_close(fdl_lake_writer *writer, fdl_code code, int64_t *row_count, fdl_error *error) {
    if (code == FDL_OK && writer->row > 0)
        code = append_chunk(writer, error);
    if (code == FDL_OK && writer->api->appender_close(writer->appender) != FDL_DUCK_SUCCESS)
        code = fdl_duck_fail(error, writer->api->appender_error(writer->appender));
    if (code == FDL_OK)
        *row_count = writer->row_count;
    if (writer->appender != NULL)
        writer->api->appender_destroy(&writer->appender);
    if (writer->chunk != NULL)
        writer->api->destroy_data_chunk(&writer->chunk);
    return code;
}
