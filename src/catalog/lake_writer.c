/*
 * lake_writer.c - fills DuckDB's vectors directly, and appends them behind the
 * caller's back.
 *
 *   caller:  fill 0 | fill 1 | fill 2 | ...
 *   thread:           append 0 | append 1 | ...      (no more than a row group behind)
 *
 * The order of rows stays.  The appender is touched by one thread at a time: by
 * the thread while it lives, by the caller before and after.
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

/* ---- chunks ------------------------------------------------------------------ */

/* A fresh or reset chunk has new data, and no validity until somebody wants it. */
static void look_at(const fdl_lake_writer *writer, fdl_lake_chunk *chunk) {
    for (size_t i = 0; i < writer->table->column_count; i++) {
        chunk->vectors[i] = writer->api->data_chunk_get_vector(chunk->chunk, i);
        chunk->data[i] = writer->api->vector_get_data(chunk->vectors[i]);
        chunk->validity[i] = NULL;
    }
}

static fdl_code create_chunk(const fdl_lake_writer *writer, fdl_lake_chunk *chunk, fdl_error *error) {
    fdl_duck_type types[FDL_LAKE_COLUMN_LIMIT] = {0};
    const fdl_lake_table *table = writer->table;
    for (size_t i = 0; i < table->column_count; i++)
        types[i] = writer->api->create_logical_type(fdl_lake_duck_type(table->columns[i].type));
    chunk->chunk = writer->api->create_data_chunk(types, table->column_count);
    for (size_t i = 0; i < table->column_count; i++)
        writer->api->destroy_logical_type(&types[i]);
    if (chunk->chunk == NULL)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    look_at(writer, chunk);
    return FDL_OK;
}

static fdl_code append(fdl_lake_writer *writer, fdl_lake_chunk *chunk, uint64_t rows, fdl_error *error) {
    writer->api->data_chunk_set_size(chunk->chunk, rows);
    if (writer->api->append_data_chunk(writer->appender, chunk->chunk) != FDL_DUCK_SUCCESS)
        return fdl_duck_fail(error, writer->api->appender_error(writer->appender));
    writer->api->data_chunk_reset(chunk->chunk);
    look_at(writer, chunk);
    return FDL_OK;
}

fdl_code fdl_lake_writer_open(fdl_duck *duck, const char *catalog, const fdl_lake_table *table, fdl_lake_writer *out,
                              fdl_error *error) {
    *out = (fdl_lake_writer){.api = duck->api, .table = table, .filling = &out->chunks[0]};
    pthread_mutex_init(&out->lock, NULL);
    pthread_cond_init(&out->changed, NULL);
    out->chunk_rows = out->api->vector_size();
    if (out->api->appender_create_ext(duck->connection, catalog, "main", table->name, &out->appender) !=
        FDL_DUCK_SUCCESS)
        return fdl_duck_fail(error, out->api->appender_error(out->appender));
    return create_chunk(out, out->filling, error);
}

/* ---- the thread ----------------------------------------------------------------- */

/* The appender would collect more than three groups before it gives them to the table. */
static fdl_code append_full(fdl_lake_writer *writer, fdl_lake_chunk *chunk, fdl_error *error) {
    fdl_code code = append(writer, chunk, writer->chunk_rows, error);
    if (code == FDL_OK && (writer->done_count + 1) * writer->chunk_rows % FDL_LAKE_GROUP_ROWS == 0 &&
        writer->api->appender_flush(writer->appender) != FDL_DUCK_SUCCESS)
        code = fdl_duck_fail(error, writer->api->appender_error(writer->appender));
    return code;
}

static void *append_all(void *data) {
    fdl_lake_writer *writer = data;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        while (writer->done_count == writer->filled_count && !writer->ended)
            pthread_cond_wait(&writer->changed, &writer->lock);
        if (writer->done_count == writer->filled_count)
            break;
        fdl_lake_chunk *chunk = &writer->chunks[writer->done_count % FDL_LAKE_CHUNKS];
        bool failed = writer->code != FDL_OK;
        pthread_mutex_unlock(&writer->lock);
        fdl_error error;
        fdl_code code = failed ? FDL_OK : append_full(writer, chunk, &error);
        pthread_mutex_lock(&writer->lock);
        if (code != FDL_OK) {
            writer->code = code;
            writer->error = error;
        }
        writer->done_count++;
        pthread_cond_signal(&writer->changed);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

static fdl_code start_thread(fdl_lake_writer *writer, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 1; i < FDL_LAKE_CHUNKS && code == FDL_OK; i++)
        code = create_chunk(writer, &writer->chunks[i], error);
    if (code == FDL_OK && pthread_create(&writer->thread, NULL, append_all, writer) != 0)
        code = fdl_fail(error, FDL_FAILED, NULL, "cannot start a thread");
    writer->has_thread = code == FDL_OK;
    return code;
}

/* Gives the full chunk away and waits for an empty one. */
static fdl_code hand_over(fdl_lake_writer *writer, fdl_error *error) {
    if (!writer->has_thread) {
        fdl_code code = start_thread(writer, error);
        if (code != FDL_OK)
            return code;
    }
    pthread_mutex_lock(&writer->lock);
    writer->filled_count++;
    pthread_cond_signal(&writer->changed);
    while (writer->filled_count - writer->done_count == FDL_LAKE_CHUNKS)
        pthread_cond_wait(&writer->changed, &writer->lock);
    fdl_code code = writer->code;
    if (code != FDL_OK)
        *error = writer->error;
    pthread_mutex_unlock(&writer->lock);
    writer->filling = &writer->chunks[writer->filled_count % FDL_LAKE_CHUNKS];
    writer->row = 0;
    return code;
}

static fdl_code join_thread(fdl_lake_writer *writer, fdl_code code, fdl_error *error) {
    pthread_mutex_lock(&writer->lock);
    writer->ended = true;
    pthread_cond_signal(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    if (code == FDL_OK && writer->code != FDL_OK) {
        code = writer->code;
        *error = writer->error;
    }
    return code;
}

/* ---- rows ------------------------------------------------------------------------- */

void fdl_lake_writer_null(fdl_lake_writer *writer, int column) {
    fdl_lake_chunk *chunk = writer->filling;
    if (chunk->validity[column] == NULL) {
        writer->api->vector_ensure_validity_writable(chunk->vectors[column]);
        chunk->validity[column] = writer->api->vector_get_validity(chunk->vectors[column]);
    }
    chunk->validity[column][writer->row / 64] &= ~(UINT64_C(1) << (writer->row % 64));
}

void fdl_lake_writer_uuid(fdl_lake_writer *writer, int column, const fdl_duck_hugeint *value) {
    ((fdl_duck_hugeint *)writer->filling->data[column])[writer->row] = *value;
}

void fdl_lake_writer_text(fdl_lake_writer *writer, int column, const char *text, size_t length) {
    fdl_duck_string *string = &((fdl_duck_string *)writer->filling->data[column])[writer->row];
    if (length > sizeof string->in_place.bytes) {
        writer->api->vector_assign_string_element_len(writer->filling->vectors[column], writer->row, text, length);
        return;
    }
    memset(string, 0, sizeof *string); /* DuckDB compares all sixteen bytes */
    string->in_place.length = (uint32_t)length;
    memcpy(string->in_place.bytes, text, length);
}

fdl_code fdl_lake_writer_next(fdl_lake_writer *writer, fdl_error *error) {
    writer->row_count++;
    writer->row++;
    return writer->row == writer->chunk_rows ? hand_over(writer, error) : FDL_OK;
}

fdl_code fdl_lake_writer_close(fdl_lake_writer *writer, fdl_code code, int64_t *row_count, fdl_error *error) {
    if (writer->has_thread)
        code = join_thread(writer, code, error);
    if (code == FDL_OK && writer->row > 0)
        code = append(writer, writer->filling, writer->row, error);
    if (code == FDL_OK && writer->api->appender_close(writer->appender) != FDL_DUCK_SUCCESS)
        code = fdl_duck_fail(error, writer->api->appender_error(writer->appender));
    if (code == FDL_OK)
        *row_count = writer->row_count;
    if (writer->appender != NULL)
        writer->api->appender_destroy(&writer->appender);
    for (size_t i = 0; i < FDL_LAKE_CHUNKS; i++)
        if (writer->chunks[i].chunk != NULL)
            writer->api->destroy_data_chunk(&writer->chunks[i].chunk);
    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->lock);
    return code;
}
