/*
 * duck_api.h - the part of DuckDB's C API that we use, and streams over it.
 *
 * The prototypes are declared here from the public documentation of the C API,
 * since the library is opened at run time and no header of it is needed to
 * build.  Names are DuckDB's own without the prefix: `duckdb_connect` is
 * api->connect.  Only freeze and thaw, which move whole tables as data chunks,
 * need this; everybody else is served by duck.h.
 */
#ifndef FDL_CATALOG_DUCK_API_H
#define FDL_CATALOG_DUCK_API_H

#include "catalog/duck.h"
#include "util/aside.h"

/* Handles are pointers to things only DuckDB knows. */
typedef struct fdl_duck_database_ *fdl_duck_database;
typedef struct fdl_duck_connection_ *fdl_duck_connection;
typedef struct fdl_duck_config_ *fdl_duck_config;
typedef struct fdl_duck_statement_ *fdl_duck_statement;
typedef struct fdl_duck_type_ *fdl_duck_type;
typedef struct fdl_duck_chunk_ *fdl_duck_chunk;
typedef struct fdl_duck_vector_ *fdl_duck_vector;
typedef struct fdl_duck_appender_ *fdl_duck_appender;

/* Passed by value to fetch_chunk, so its size is part of the contract: 48 bytes. */
typedef struct fdl_duck_result {
    uint64_t deprecated[3];
    void *deprecated_columns;
    char *deprecated_error;
    void *internal;
} fdl_duck_result;

/* A VARCHAR in a vector: up to 12 bytes in place, else a prefix and a pointer. */
typedef union fdl_duck_string {
    uint32_t length;
    struct {
        uint32_t length;
        char bytes[12];
    } in_place;
    struct {
        uint32_t length;
        char prefix[4];
        const char *bytes;
    } apart;
} fdl_duck_string;

/* A UUID in a vector: 128 bits, the top one flipped so that it sorts as a signed number. */
typedef struct fdl_duck_hugeint {
    uint64_t lower;
    int64_t upper;
} fdl_duck_hugeint;

enum { FDL_DUCK_SUCCESS = 0 };

/* Type ids, as the C API numbers them. */
enum {
    FDL_DUCK_BOOLEAN = 1,
    FDL_DUCK_BIGINT = 5,
    FDL_DUCK_VARCHAR = 17,
    FDL_DUCK_UUID = 27,
    FDL_DUCK_TIMESTAMP_TZ = 31,
};

/* USE(result, name, parameters), where a state is an int: 0 is success. */
#define FDL_DUCK_SYMBOLS(USE)                                                                                          \
    USE(const char *, library_version, (void))                                                                         \
    USE(int, create_config, (fdl_duck_config * out))                                                                   \
    USE(int, set_config, (fdl_duck_config config, const char *name, const char *value))                                \
    USE(void, destroy_config, (fdl_duck_config * config))                                                              \
    USE(int, open_ext, (const char *path, fdl_duck_database *out, fdl_duck_config config, char **out_error))           \
    USE(void, close, (fdl_duck_database * database))                                                                   \
    USE(int, connect, (fdl_duck_database database, fdl_duck_connection * out))                                         \
    USE(void, disconnect, (fdl_duck_connection * connection))                                                          \
    USE(void, free, (void *memory))                                                                                    \
    USE(int, query, (fdl_duck_connection connection, const char *sql, fdl_duck_result *out))                           \
    USE(int, prepare, (fdl_duck_connection connection, const char *sql, fdl_duck_statement *out))                      \
    USE(const char *, prepare_error, (fdl_duck_statement statement))                                                   \
    USE(void, destroy_prepare, (fdl_duck_statement * statement))                                                       \
    USE(int, execute_prepared_streaming, (fdl_duck_statement statement, fdl_duck_result * out))                        \
    USE(const char *, result_error, (fdl_duck_result * result))                                                        \
    USE(void, destroy_result, (fdl_duck_result * result))                                                              \
    USE(uint64_t, column_count, (fdl_duck_result * result))                                                            \
    USE(int, column_type, (fdl_duck_result * result, uint64_t column))                                                 \
    USE(fdl_duck_chunk, fetch_chunk, (fdl_duck_result result))                                                         \
    USE(fdl_duck_type, create_logical_type, (int type))                                                                \
    USE(void, destroy_logical_type, (fdl_duck_type * type))                                                            \
    USE(fdl_duck_chunk, create_data_chunk, (fdl_duck_type * types, uint64_t count))                                    \
    USE(void, destroy_data_chunk, (fdl_duck_chunk * chunk))                                                            \
    USE(void, data_chunk_reset, (fdl_duck_chunk chunk))                                                                \
    USE(uint64_t, data_chunk_get_size, (fdl_duck_chunk chunk))                                                         \
    USE(void, data_chunk_set_size, (fdl_duck_chunk chunk, uint64_t size))                                              \
    USE(fdl_duck_vector, data_chunk_get_vector, (fdl_duck_chunk chunk, uint64_t column))                               \
    USE(uint64_t, vector_size, (void))                                                                                 \
    USE(void *, vector_get_data, (fdl_duck_vector vector))                                                             \
    USE(uint64_t *, vector_get_validity, (fdl_duck_vector vector))                                                     \
    USE(void, vector_ensure_validity_writable, (fdl_duck_vector vector))                                               \
    USE(void, vector_assign_string_element_len,                                                                        \
        (fdl_duck_vector vector, uint64_t row, const char *text, uint64_t length))                                     \
    USE(int, appender_create_ext,                                                                                      \
        (fdl_duck_connection connection, const char *catalog, const char *schema, const char *table,                   \
         fdl_duck_appender *out))                                                                                      \
    USE(const char *, appender_error, (fdl_duck_appender appender))                                                    \
    USE(int, append_data_chunk, (fdl_duck_appender appender, fdl_duck_chunk chunk))                                    \
    USE(int, appender_flush, (fdl_duck_appender appender))                                                             \
    USE(int, appender_close, (fdl_duck_appender appender))                                                             \
    USE(int, appender_destroy, (fdl_duck_appender * appender))

typedef struct fdl_duck_api {
#define FDL_DUCK_FIELD(result, name, parameters) result(*name) parameters;
    FDL_DUCK_SYMBOLS(FDL_DUCK_FIELD)
#undef FDL_DUCK_FIELD
} fdl_duck_api;

struct fdl_duck {
    const fdl_duck_api *api;
    fdl_duck_database database;
    fdl_duck_connection connection;
    const char *library_path; /* to find extensions beside it; belongs to the process */
    bool lost;                /* a statement ran over its time: it keeps the session, for good */
};

/*
 * Runs a statement that may take 60 s of processor time, or half of what the process may use.
 * FDL_FAILED: it took longer.  The session is lost then: it is only to be freed.
 */
fdl_code fdl_duck_exec_limited(fdl_duck *duck, const char *sql, fdl_error *error);

/* The library, loaded now if it was not; `path` (may be NULL) is where it was found. */
fdl_code fdl_duck_load(const fdl_context *context, const fdl_duck_api **out, const char **path, fdl_error *error);

/* FDL_FAILED with the first line of what DuckDB said. */
fdl_code fdl_duck_fail(fdl_error *error, const char *said);

/* ---- streams: a query's result, chunk by chunk -------------------------- */

#define FDL_DUCK_BATCH 8 /* chunks of 2,048 rows */

typedef struct fdl_duck_batch {
    fdl_duck_chunk chunks[FDL_DUCK_BATCH];
    size_t count;
    size_t read;
} fdl_duck_batch;

typedef struct fdl_duck_stream {
    const fdl_duck_api *api;
    fdl_duck_statement statement;
    fdl_duck_result result;
    fdl_duck_chunk chunk; /* the current one */
    uint64_t column_count;

    /* With `reads_ahead`, one is read while the other is fetched, once a result has turned out to be long. */
    bool reads_ahead;
    fdl_duck_batch batches[2];
    size_t current;
    bool is_over; /* all of it has been fetched */
    fdl_aside ahead;
    bool is_ahead;
} fdl_duck_stream;

/*
 * A session has one stream at a time: another statement ends it.  The struct is
 * filled on failure too, and stays where it is; close it in every case.
 */
fdl_code fdl_duck_stream_open(fdl_duck *duck, const char *sql, fdl_duck_stream *out, fdl_error *error);
/* Before the first chunk: DuckDB makes the next ones while the caller reads, and up to 16 are held. */
void fdl_duck_stream_read_ahead(fdl_duck_stream *stream);
/* The next chunk in stream->chunk, which belongs to the stream; `*rows` is 0 at the end. */
fdl_code fdl_duck_stream_next(fdl_duck_stream *stream, uint64_t *rows, fdl_error *error);
void fdl_duck_stream_close(fdl_duck_stream *stream);

/* `validity` is NULL when every row of the vector has a value. */
static inline bool fdl_duck_is_null(const uint64_t *validity, uint64_t row) {
    return validity != NULL && (validity[row / 64] >> (row % 64) & 1) == 0;
}

static inline const char *fdl_duck_string_bytes(const fdl_duck_string *string) {
    return string->length <= sizeof string->in_place.bytes ? string->in_place.bytes : string->apart.bytes;
}

#endif
