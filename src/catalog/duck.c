/*
 * duck.c - sessions on DuckDB: open, attach, lock, run, read row by row.
 *
 * A result is always streamed: a catalog may hold a million rows, and a
 * materialised result of them costs more memory than all the rest.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* vasprintf */
#endif

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/duck_api.h"
#include "util/file.h"
#include "util/text.h"

#define SQL_LIMIT_BYTES (16u << 20)
#define ROW_LIMIT_BYTES (256u << 20)

/* ---- sessions ----------------------------------------------------------- */

fdl_code fdl_duck_fail(fdl_error *error, const char *said) {
    if (said == NULL || said[0] == '\0')
        said = "no reason given";
    return fdl_fail(error, FDL_FAILED, NULL, "duckdb: %.*s", (int)strcspn(said, "\r\n"), said);
}

fdl_code fdl_duck_name_file(const char *path, fdl_code code, fdl_code as, fdl_error *error) {
    if (code != FDL_FAILED || error == NULL || strncmp(error->message, "duckdb: ", 8) != 0)
        return code;
    fdl_error said = *error;
    return fdl_fail(error, as, path, "cannot read the catalog '%s': %s", path, said.message);
}

/*
 * One thread, since catalogs are small and other work runs beside us; nothing
 * fetched, nothing loaded unasked, nothing read or left in the home or the
 * current folder.
 */
static fdl_code configure(const fdl_duck_api *api, fdl_duck_config config, fdl_error *error) {
    static const char *const settings[][2] = {
        {"threads", "1"},
        {"autoinstall_known_extensions", "false"},
        {"autoload_known_extensions", "false"},
        {"allow_community_extensions", "false"},
        {"allow_unsigned_extensions", "true"}, /* duck_extension.c says which; it can only be taken back later */
        {"allow_persistent_secrets", "false"},
        {"temp_directory", ""},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        if (api->set_config(config, settings[i][0], settings[i][1]) != FDL_DUCK_SUCCESS) {
            return fdl_fail(error, FDL_FAILED, NULL, "duckdb %s does not know the setting '%s'", api->library_version(),
                            settings[i][0]);
        }
    }
    return FDL_OK;
}

static fdl_code open_database(fdl_duck *duck, fdl_error *error) {
    const fdl_duck_api *api = duck->api;
    fdl_duck_config config = NULL;
    char *said = NULL;
    if (api->create_config(&config) != FDL_DUCK_SUCCESS)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    fdl_code code = configure(api, config, error);
    if (code == FDL_OK && api->open_ext(NULL, &duck->database, config, &said) != FDL_DUCK_SUCCESS)
        code = fdl_duck_fail(error, said);
    if (said != NULL)
        api->free(said);
    api->destroy_config(&config);
    if (code == FDL_OK && api->connect(duck->database, &duck->connection) != FDL_DUCK_SUCCESS)
        code = fdl_fail(error, FDL_FAILED, NULL, "duckdb: cannot connect to a database in memory");
    return code;
}

fdl_code fdl_duck_open(const fdl_context *context, fdl_duck **out, fdl_error *error) {
    fdl_duck *duck = NULL;
    fdl_code code = fdl_alloc(&duck, 1, sizeof *duck, error);
    if (code != FDL_OK)
        return code;
    code = fdl_duck_load(context, &duck->api, &duck->library_path, error);
    if (code == FDL_OK)
        code = open_database(duck, error);
    if (code != FDL_OK) {
        fdl_duck_free(duck);
        return code;
    }
    *out = duck;
    return FDL_OK;
}

const char *fdl_duck_version(const fdl_duck *duck) {
    return duck->api->library_version();
}

const char *fdl_duck_library(const fdl_duck *duck) {
    return duck->library_path;
}

void fdl_duck_free(fdl_duck *duck) {
    if (duck == NULL || duck->lost)
        return;
    if (duck->connection != NULL)
        duck->api->disconnect(&duck->connection);
    if (duck->database != NULL)
        duck->api->close(&duck->database);
    free(duck);
}

static fdl_code run(fdl_duck *duck, const char *sql, fdl_error *error) {
    fdl_duck_result result;
    memset(&result, 0, sizeof result);
    fdl_code code = FDL_OK;
    if (duck->api->query(duck->connection, sql, &result) != FDL_DUCK_SUCCESS)
        code = fdl_duck_fail(error, duck->api->result_error(&result));
    duck->api->destroy_result(&result);
    return code;
}

fdl_code fdl_duck_exec(fdl_duck *duck, fdl_error *error, const char *format, ...) {
    char *sql = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&sql, format, arguments);
    va_end(arguments);
    if (length < 0)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    fdl_code code = run(duck, sql, error);
    free(sql);
    return code;
}

fdl_code fdl_duck_attach(fdl_duck *duck, const char *path, const char *alias, fdl_error *error) {
    fdl_buf sql;
    char *absolute = NULL;
    fdl_buf_init(&sql, SQL_LIMIT_BYTES);
    /* Absolute, so that no name can be taken for a prefix like "sqlite:" or "https:". */
    fdl_code code = fdl_path_absolute(path, &absolute, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&sql, "ATTACH ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(&sql, absolute, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(&sql, error, " AS %s (TYPE duckdb, READ_ONLY)", alias);
    if (code == FDL_OK)
        code = fdl_duck_exec_limited(duck, sql.data, error);
    free(absolute);
    fdl_buf_clear(&sql);
    return code;
}

fdl_code fdl_duck_lock(fdl_duck *duck, fdl_error *error) {
    return run(duck, "SET enable_external_access = false; SET lock_configuration = true", error);
}

/* ---- streams ------------------------------------------------------------ */

fdl_code fdl_duck_stream_open(fdl_duck *duck, const char *sql, fdl_duck_stream *out, fdl_error *error) {
    memset(out, 0, sizeof *out);
    out->api = duck->api;
    if (out->api->prepare(duck->connection, sql, &out->statement) != FDL_DUCK_SUCCESS)
        return fdl_duck_fail(error, out->api->prepare_error(out->statement));
    if (out->api->execute_prepared_streaming(out->statement, &out->result) != FDL_DUCK_SUCCESS)
        return fdl_duck_fail(error, out->api->result_error(&out->result));
    out->column_count = out->api->column_count(&out->result);
    return FDL_OK;
}

/* Into the batch that is not being read.  An empty one is the end. */
static fdl_code fetch(void *data, fdl_error *error) {
    fdl_duck_stream *stream = data;
    fdl_duck_batch *batch = &stream->batches[!stream->current];
    size_t wanted = stream->is_ahead ? FDL_DUCK_BATCH : 1;
    *batch = (fdl_duck_batch){0};
    while (!stream->is_over && batch->count < wanted) {
        fdl_duck_chunk chunk = stream->api->fetch_chunk(stream->result);
        const char *said = chunk == NULL ? stream->api->result_error(&stream->result) : NULL;
        stream->is_over = chunk == NULL; /* to ask once more would be an error */
        if (said != NULL && said[0] != '\0')
            return fdl_duck_fail(error, said);
        if (chunk == NULL)
            break;
        if (stream->api->data_chunk_get_size(chunk) > 0)
            batch->chunks[batch->count++] = chunk;
        else
            stream->api->destroy_data_chunk(&chunk);
    }
    return FDL_OK;
}

void fdl_duck_stream_read_ahead(fdl_duck_stream *stream) {
    stream->reads_ahead = true;
}

/* Behind a full chunk there are likely more. */
static void fetch_ahead(fdl_duck_stream *stream) {
    const fdl_duck_batch *batch = &stream->batches[stream->current];
    if (!stream->reads_ahead || stream->is_over || batch->count == 0 ||
        stream->api->data_chunk_get_size(batch->chunks[batch->count - 1]) < stream->api->vector_size())
        return;
    stream->is_ahead = true;
    fdl_aside_start(&stream->ahead, fetch, stream);
}

static fdl_code next_batch(fdl_duck_stream *stream, fdl_error *error) {
    fdl_code code = stream->is_ahead ? fdl_aside_end(&stream->ahead, error) : fetch(stream, error);
    stream->is_ahead = false;
    stream->current = !stream->current;
    if (code == FDL_OK)
        fetch_ahead(stream);
    return code;
}

fdl_code fdl_duck_stream_next(fdl_duck_stream *stream, uint64_t *rows, fdl_error *error) {
    fdl_duck_batch *batch = &stream->batches[stream->current];
    fdl_code code = FDL_OK;
    if (stream->chunk != NULL)
        stream->api->destroy_data_chunk(&stream->chunk);
    if (batch->read == batch->count)
        code = next_batch(stream, error);
    batch = &stream->batches[stream->current];
    if (code == FDL_OK && batch->read < batch->count)
        stream->chunk = batch->chunks[batch->read++];
    *rows = stream->chunk == NULL ? 0 : stream->api->data_chunk_get_size(stream->chunk);
    return code;
}

void fdl_duck_stream_close(fdl_duck_stream *stream) {
    fdl_error unread;
    if (stream->is_ahead)
        (void)fdl_aside_end(&stream->ahead, &unread);
    for (size_t i = 0; i < 2; i++)
        while (stream->batches[i].read < stream->batches[i].count)
            stream->api->destroy_data_chunk(&stream->batches[i].chunks[stream->batches[i].read++]);
    if (stream->chunk != NULL)
        stream->api->destroy_data_chunk(&stream->chunk);
    if (stream->result.internal != NULL)
        stream->api->destroy_result(&stream->result);
    if (stream->statement != NULL)
        stream->api->destroy_prepare(&stream->statement);
}

/* ---- queries row by row ------------------------------------------------- */

/* One column of the current chunk. */
typedef struct column {
    int type;
    const void *data;
    const uint64_t *validity;
} column;

/* DuckDB's strings have no NUL behind them, so the texts of a row are copied next to each other. */
static fdl_code fill_text(fdl_buf *texts, const fdl_duck_string *string, fdl_cell *cell, fdl_error *error) {
    cell->length = string->length;
    cell->integer = (int64_t)texts->length; /* where it begins; the buf may still move */
    fdl_code code = fdl_buf_add(texts, fdl_duck_string_bytes(string), string->length, error);
    return code == FDL_OK ? fdl_buf_add(texts, "", 1, error) : code;
}

static fdl_code fill_row(const column *columns, uint64_t count, uint64_t row, fdl_buf *texts, fdl_cell *cells,
                         fdl_error *error) {
    fdl_code code = FDL_OK;
    texts->length = 0;
    for (uint64_t i = 0; i < count && code == FDL_OK; i++) {
        cells[i] = (fdl_cell){.is_null = fdl_duck_is_null(columns[i].validity, row)};
        if (cells[i].is_null)
            continue;
        switch (columns[i].type) {
        case FDL_DUCK_BIGINT:
            cells[i].integer = ((const int64_t *)columns[i].data)[row];
            break;
        case FDL_DUCK_BOOLEAN:
            cells[i].integer = ((const bool *)columns[i].data)[row];
            break;
        default:
            code = fill_text(texts, &((const fdl_duck_string *)columns[i].data)[row], &cells[i], error);
        }
    }
    for (uint64_t i = 0; i < count && code == FDL_OK; i++) {
        if (!cells[i].is_null && columns[i].type == FDL_DUCK_VARCHAR) {
            cells[i].text = texts->data + cells[i].integer;
            cells[i].integer = 0;
        }
    }
    return code;
}

static fdl_code check_types(fdl_duck_stream *stream, column *columns, fdl_error *error) {
    for (uint64_t i = 0; i < stream->column_count; i++) {
        columns[i].type = stream->api->column_type(&stream->result, i);
        if (columns[i].type != FDL_DUCK_BIGINT && columns[i].type != FDL_DUCK_BOOLEAN &&
            columns[i].type != FDL_DUCK_VARCHAR) {
            return fdl_fail(error, FDL_FAILED, NULL,
                            "column %d of a query of ours has duckdb type %d; cast it in the SQL", (int)i + 1,
                            columns[i].type);
        }
    }
    return FDL_OK;
}

static fdl_code each_row(fdl_duck_stream *stream, column *columns, uint64_t rows, fdl_buf *texts, fdl_cell *cells,
                         fdl_row_callback callback, void *data, fdl_error *error) {
    for (uint64_t i = 0; i < stream->column_count; i++) {
        fdl_duck_vector vector = stream->api->data_chunk_get_vector(stream->chunk, i);
        columns[i].data = stream->api->vector_get_data(vector);
        columns[i].validity = stream->api->vector_get_validity(vector);
    }
    fdl_code code = FDL_OK;
    for (uint64_t row = 0; row < rows && code == FDL_OK; row++) {
        code = fill_row(columns, stream->column_count, row, texts, cells, error);
        if (code == FDL_OK)
            code = callback(data, cells, (size_t)stream->column_count, error);
    }
    return code;
}

fdl_code fdl_duck_query(fdl_duck *duck, const char *sql, fdl_row_callback callback, void *data, fdl_error *error) {
    fdl_duck_stream stream;
    column *columns = NULL;
    fdl_cell *cells = NULL;
    fdl_buf texts;
    uint64_t rows = 1;
    fdl_buf_init(&texts, ROW_LIMIT_BYTES);
    fdl_code code = fdl_duck_stream_open(duck, sql, &stream, error);
    if (code == FDL_OK)
        code = fdl_alloc(&columns, (size_t)stream.column_count, sizeof *columns, error);
    if (code == FDL_OK)
        code = fdl_alloc(&cells, (size_t)stream.column_count, sizeof *cells, error);
    if (code == FDL_OK)
        code = check_types(&stream, columns, error);
    while (code == FDL_OK && rows > 0) {
        code = fdl_duck_stream_next(&stream, &rows, error);
        if (code == FDL_OK)
            code = each_row(&stream, columns, rows, &texts, cells, callback, data, error);
    }
    fdl_duck_stream_close(&stream);
    fdl_buf_clear(&texts);
    free(columns);
    free(cells);
    return code;
}

/* ---- SQL in a file ------------------------------------------------------- */

#define SQL_IN_FILE                                                                                                    \
    "SELECT 'the view', view_name FROM system.main.duckdb_views() WHERE database_name = '%s' UNION ALL "                \
    "SELECT 'the macro', function_name FROM system.main.duckdb_functions() WHERE database_name = '%s' UNION ALL "       \
    "SELECT 'a computed column in', table_name FROM system.main.duckdb_tables()"                                        \
    " WHERE database_name = '%s' AND contains(sql, 'GENERATED ALWAYS AS') LIMIT 1"

static fdl_code take_sql_found(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    (void)count;
    return fdl_str_format(data, error, "%s '%s'", cells[0].text, cells[1].text);
}

fdl_code fdl_duck_find_sql(fdl_duck *duck, const char *alias, char **found, fdl_error *error) {
    char *sql = NULL;
    *found = NULL;
    fdl_code code = fdl_str_format(&sql, error, SQL_IN_FILE, alias, alias, alias);
    if (code == FDL_OK)
        code = fdl_duck_query(duck, sql, take_sql_found, found, error);
    free(sql);
    return code;
}

/* ---- SQL text ----------------------------------------------------------- */

static fdl_code add_quoted(fdl_buf *sql, const char *text, char quote, fdl_error *error) {
    fdl_code code = fdl_buf_add(sql, &quote, 1, error);
    while (code == FDL_OK && *text != '\0') {
        const char *end = strchr(text, quote);
        size_t length = end == NULL ? strlen(text) : (size_t)(end - text) + 1;
        code = fdl_buf_add(sql, text, length, error);
        if (code == FDL_OK && end != NULL)
            code = fdl_buf_add(sql, &quote, 1, error);
        text += length;
    }
    return code == FDL_OK ? fdl_buf_add(sql, &quote, 1, error) : code;
}

fdl_code fdl_sql_literal(fdl_buf *sql, const char *text, fdl_error *error) {
    return add_quoted(sql, text, '\'', error);
}

fdl_code fdl_sql_name(fdl_buf *sql, const char *name, fdl_error *error) {
    return add_quoted(sql, name, '"', error);
}
