/*
 * history.c - see history.h.
 */
#include "history.h"

#include "catalog/catalog.h"
#include "catalog/duck.h"
#include "catalog/ducklake_schema.h"
#include "repo/layout.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/text.h"

#define VERSIONS_LIMIT 100
#define CATALOGS_LIMIT 200
#define SWEEP_LIMIT 10000

int64_t late_ms;

struct history_object {
    char *key;
    char *bytes;
    size_t length;
    char *dataset; /* dataset.json, of a catalog */
};

/* ---- a store whose clock can be late --------------------------------------------------- */

static fdl_code tell_time(fdl_store *store, int64_t *now_ms, fdl_error *error) {
    (void)store, (void)error;
    *now_ms = fdl_now_ms() + late_ms;
    return FDL_OK;
}

static void open_store(history *h) {
    static fdl_store_ops late_ops;
    fdl_store *faulty = NULL, *traced = NULL;
    expect(h, FDL_OK, fdl_store_open_memory(NULL, &h->inner, &h->error));
    expect(h, FDL_OK, fdl_store_open_fault(h->inner, &h->fault, &faulty, &h->error));
    expect(h, FDL_OK, fdl_store_open_trace(faulty, &h->trace, &traced, &h->error));
    late_ops = *traced->ops;
    late_ops.clock = tell_time;
    traced->ops = &late_ops;
    expect(h, FDL_OK, fdl_repo_open_store(&h->context, traced, &h->repo, &h->error));
}

void history_open(history *h) {
    memset(h, 0, sizeof *h);
    late_ms = 0;
    h->folder = test_scratch_make();
    open_store(h);
    history_put(h, "fdl.json", "{\"fdl\":\"0.1\",\"id\":\"5f0c8a52-6d3e-4f8e-9b1a-2c7d4e9f0a13\",\"data_dir\":\"data/\"}");
    history_put(h, "HEAD", "ref: refs/heads/main\n");
}

static void close_store(history *h) {
    fdl_repo_free(h->repo);
    fdl_trace_clear(&h->trace);
    h->repo = NULL;
}

void history_close(history *h) {
    close_store(h);
    for (size_t i = 0; i < h->saved_count; i++) {
        free(h->saved[i].key);
        free(h->saved[i].bytes);
    }
    free(h->saved);
    test_scratch_drop(h->folder);
    memset(h, 0, sizeof *h);
}

/* ---- objects ------------------------------------------------------------------------------ */

static void put_bytes(history *h, const char *key, const void *bytes, size_t length) {
    fdl_source source = {.bytes = bytes, .length_bytes = length};
    expect(h, FDL_OK, fdl_store_put(h->inner, key, &source, (fdl_condition){.kind = FDL_ALWAYS}, NULL, &h->error));
}

void history_put(history *h, const char *key, const char *text) {
    put_bytes(h, key, text, strlen(text));
}

void history_remove(history *h, const char *key) {
    expect(h, FDL_OK, fdl_store_remove(h->inner, key, (fdl_condition){.kind = FDL_ALWAYS}, &h->error));
}

bool history_has(history *h, const char *key) {
    fdl_object object;
    fdl_code code = fdl_store_head(h->inner, key, &object, &h->error);
    assert_true(code == FDL_OK || code == FDL_NOT_FOUND);
    return code == FDL_OK;
}

char *history_get(history *h, const char *key) {
    char *bytes = NULL;
    size_t length;
    expect(h, FDL_OK, fdl_store_read(h->inner, key, 1 << 20, &bytes, &length, NULL, &h->error));
    return bytes;
}

/* ---- catalogs ------------------------------------------------------------------------------ */

const char *history_id(int number) {
    static char ids[VERSIONS_LIMIT][FDL_ID_BYTES];
    assert_true(number > 0 && number < VERSIONS_LIMIT);
    snprintf(ids[number], FDL_ID_BYTES, "019a0000-0000-7000-8000-0000000000%02d", number);
    return ids[number];
}

/* A file as a word names it. */
typedef struct word {
    char table[64];
    char file[64];
    char delete[64]; /* "" for none */
    int deleted;
} word;

/* The first word of `words`, copied, and where it starts. */
static const char *next_word(const char *words, char out[200]) {
    words += strspn(words, " ");
    snprintf(out, 200, "%.*s", (int)strcspn(words, " "), words);
    return words;
}

static word read_word(const char *text) {
    word w = {.table = "t"};
    const char *dot = strchr(text, '.');
    if (dot) {
        snprintf(w.table, sizeof w.table, "%.*s", (int)(dot - text), text);
        text = dot + 1;
    }
    snprintf(w.file, sizeof w.file, "%.*s", (int)strcspn(text, "/"), text);
    if (strchr(text, '/'))
        assert_int_equal(sscanf(strchr(text, '/'), "/%63[^:]:%d", w.delete, &w.deleted), 2);
    return w;
}

static void data_key(const char *table, const char *file, char out[FDL_KEY_BYTES]) {
    snprintf(out, FDL_KEY_BYTES, "data/main/%s/%s.parquet", table, file);
}

bool history_has_data(history *h, const char *name) {
    char key[FDL_KEY_BYTES];
    word w = read_word(name);
    data_key(w.table, w.file, key);
    return history_has(h, key);
}

static void put_data(history *h, const word *w) {
    char key[FDL_KEY_BYTES];
    data_key(w->table, w->file, key);
    if (!history_has(h, key))
        history_put(h, key, "x");
    data_key(w->table, w->delete, key);
    if (w->delete[0] && !history_has(h, key))
        history_put(h, key, "x");
}

/* Ids are the same for the same names in every catalog, as in a real history. */
static int id_of(const char *name) {
    unsigned hash = 17;
    for (; *name; name++)
        hash = hash * 31 + (unsigned char)*name;
    return (int)(hash % 1000000) + 1;
}

static fdl_code add_table(fdl_buf *sql, const char *table, fdl_error *error) {
    return fdl_buf_add_format(sql, error,
                              "INSERT INTO f.ducklake_table SELECT %d, '00000000-0000-4000-8000-%012d', 0, NULL, 0, '%s',"
                              " '%s/', true WHERE NOT EXISTS (FROM f.ducklake_table WHERE table_id = %d);"
                              "INSERT INTO f.ducklake_column SELECT 1, 0, NULL, %d, 1, 'i', 'int32', NULL, NULL, true,"
                              " NULL, NULL, NULL WHERE NOT EXISTS (FROM f.ducklake_column WHERE table_id = %d);",
                              id_of(table), id_of(table), table, table, id_of(table), id_of(table), id_of(table));
}

static fdl_code add_files(fdl_buf *sql, const word *w, fdl_error *error) {
    fdl_code code = add_table(sql, w->table, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(
            sql, error,
            "INSERT INTO f.ducklake_data_file (data_file_id, table_id, begin_snapshot, path, path_is_relative,"
            " file_format, record_count, file_size_bytes) VALUES (%d, %d, 0, '%s.parquet', true, 'parquet', 10, 1);",
            id_of(w->file), id_of(w->table), w->file);
    if (code == FDL_OK && w->delete[0])
        code = fdl_buf_add_format(
            sql, error,
            "INSERT INTO f.ducklake_delete_file (delete_file_id, table_id, begin_snapshot, data_file_id, path,"
            " path_is_relative, format, delete_count, file_size_bytes) VALUES (%d, %d, 0, %d, '%s.parquet', true,"
            " 'parquet', %d, 1);",
            id_of(w->delete), id_of(w->table), id_of(w->file), w->delete, w->deleted);
    return code;
}

static fdl_code frame(fdl_buf *sql, const char *path, fdl_error *error) {
    fdl_code code =
        fdl_buf_add_format(sql, error, "ATTACH '%s' AS f (STORAGE_VERSION 'v1.5.0', BLOCK_SIZE 16384);", path);
    for (size_t i = 0; i < FDL_LAKE_TABLE_COUNT && code == FDL_OK; i++)
        code = fdl_lake_create_sql(sql, &fdl_lake_tables[i], FDL_LAKE_DUCKDB, "f.", error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(sql,
                               "INSERT INTO f.ducklake_metadata VALUES ('version', '1.0', NULL, NULL);"
                               "INSERT INTO f.ducklake_snapshot VALUES (0, now(), 0, 9, 9);"
                               "INSERT INTO f.ducklake_schema VALUES (0, '00000000-0000-4000-8000-000000000000', 0, NULL,"
                               " 'main', 'main/', true);",
                               error);
    return code;
}

static void make_catalog(history *h, const char *path, const char *files) {
    fdl_duck *duck = NULL;
    fdl_buf sql;
    fdl_buf_init(&sql, 1 << 20);
    expect(h, FDL_OK, frame(&sql, path, &h->error));
    for (char text[200]; *(files = next_word(files, text));) {
        word w = read_word(text);
        expect(h, FDL_OK, add_files(&sql, &w, &h->error));
        files += strlen(text);
    }
    expect(h, FDL_OK, fdl_buf_add_str(&sql, "CHECKPOINT f; DETACH f;", &h->error));
    expect(h, FDL_OK, fdl_duck_open(&h->context, &duck, &h->error));
    expect(h, FDL_OK, fdl_duck_exec(duck, &h->error, "%s", sql.data));
    fdl_duck_free(duck);
    fdl_buf_clear(&sql);
}

static char *describe(history *h, const char *path) {
    fdl_frozen *frozen = NULL;
    json_t *tables = NULL;
    char *text = NULL;
    size_t length = 0;
    expect(h, FDL_OK, fdl_frozen_open(&h->context, path, &frozen, &h->error));
    expect(h, FDL_OK, fdl_frozen_describe(frozen, &tables, &h->error));
    json_t *dataset = json_pack("{s:o}", "tables", tables);
    expect(h, FDL_OK, fdl_json_write(dataset, &text, &length, &h->error));
    json_decref(dataset);
    fdl_frozen_free(frozen);
    return text;
}

/* Made once for all tests that want the same; DuckDB takes its time. */
static const struct history_object *catalog_of(history *h, const char *files) {
    static struct history_object made[CATALOGS_LIMIT];
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(made[i].key, files) == 0)
            return &made[i];
    char *path = test_path(h->folder, "catalog.duckdb");
    struct history_object *new = &made[count];
    assert_true(count < CATALOGS_LIMIT);
    make_catalog(h, path, files);
    expect(h, FDL_OK, fdl_file_read(path, 64 << 20, &new->bytes, &new->length, &h->error));
    expect(h, FDL_OK, fdl_str_copy(&new->key, files, &h->error));
    new->dataset = describe(h, path);
    expect(h, FDL_OK, fdl_file_remove(path, &h->error));
    count++;
    free(path);
    return new;
}

/* ---- versions --------------------------------------------------------------------------------- */

static void put_file(history *h, const char *id, const char *name, const void *bytes, size_t length,
                     fdl_file_record *record) {
    char key[FDL_KEY_BYTES];
    expect(h, FDL_OK, fdl_key_version(key, id, name, &h->error));
    put_bytes(h, key, bytes, length);
    expect(h, FDL_OK, fdl_sha256_bytes(bytes, length, record->sha256, &h->error));
    record->path = (char *)name;
    record->bytes = length;
}

static int64_t seq_of(history *h, int parent) {
    fdl_version version = {0};
    if (parent == 0)
        return 1;
    expect(h, FDL_OK, fdl_version_read(h->repo, history_id(parent), &version, &h->error));
    int64_t seq = version.seq + 1;
    fdl_version_clear(&version);
    return seq;
}

const char *history_version(history *h, int number, int parent, const char *files) {
    const char *id = history_id(number);
    const struct history_object *catalog = catalog_of(h, files);
    char key[FDL_KEY_BYTES];
    char *bytes = NULL;
    size_t length = 0;
    fdl_version version = {.format = "0.1",
                           .seq = seq_of(h, parent),
                           .author_name = "ada",
                           .message = "a step",
                           .catalog = {.format = "1.0", .storage = "duckdb-v1.5.0"}};
    memcpy(version.id, id, sizeof version.id);
    if (parent)
        memcpy(version.parent, history_id(parent), sizeof version.parent);
    snprintf(version.created_at, sizeof version.created_at, "2026-01-%02dT00:00:00Z", number % 28 + 1);
    for (char text[200]; *(files = next_word(files, text));) {
        word w = read_word(text);
        put_data(h, &w);
        files += strlen(text);
    }
    put_file(h, id, FDL_FILE_CATALOG, catalog->bytes, catalog->length, &version.catalog.file);
    put_file(h, id, FDL_FILE_DATASET, catalog->dataset, strlen(catalog->dataset), &version.dataset);
    expect(h, FDL_OK, fdl_version_write(&version, &bytes, &length, &h->error));
    expect(h, FDL_OK, fdl_key_version(key, id, FDL_FILE_VERSION, &h->error));
    put_bytes(h, key, bytes, length);
    free(bytes);
    return id;
}

void history_ref(history *h, const char *name, int number) {
    char key[FDL_REF_BYTES], line[64];
    snprintf(key, sizeof key, "refs/%s", name);
    snprintf(line, sizeof line, "%s\n", history_id(number));
    history_put(h, key, line);
}

void history_request(history *h, int number, int version, const char *state) {
    char key[FDL_REF_BYTES], text[400];
    snprintf(key, sizeof key, FDL_REF_REQUESTS "%d", number);
    snprintf(text, sizeof text,
             "{\"branch\":\"refs/heads/main\",\"version\":\"%s\",\"expected\":null,\"author\":{\"name\":\"bob\"},"
             "\"created_at\":\"2026-01-29T00:00:00Z\",\"state\":\"%s\"}",
             history_id(version), state);
    history_put(h, key, text);
}

bool history_has_catalog(history *h, int number) {
    char key[FDL_KEY_BYTES];
    expect(h, FDL_OK, fdl_key_version(key, history_id(number), FDL_FILE_CATALOG, &h->error));
    return history_has(h, key);
}

const char *history_reason(history *h, int number) {
    static char reasons[8][sizeof((fdl_expiry *)NULL)->reason];
    static size_t next;
    char *reason = reasons[next++ % 8];
    fdl_fault fault = h->fault;
    fdl_expiry expiry = {0};
    h->fault = (fdl_fault){0};
    expect(h, FDL_OK, fdl_expiry_read(h->repo, history_id(number), &expiry, &h->error));
    h->fault = fault;
    memcpy(reason, expiry.reason, sizeof expiry.reason);
    fdl_expiry_clear(&expiry);
    return reason;
}

/* ---- again and again ---------------------------------------------------------------------------- */

static fdl_code save_object(void *data, const fdl_entry *entry, fdl_error *error) {
    history *h = data;
    fdl_code code = fdl_grow(&h->saved, h->saved_count, sizeof *h->saved, error);
    if (code != FDL_OK)
        return code;
    struct history_object *object = &h->saved[h->saved_count++];
    *object = (struct history_object){0};
    code = fdl_str_copy(&object->key, entry->key, error);
    return code == FDL_OK ? fdl_store_read(h->inner, entry->key, 64 << 20, &object->bytes, &object->length, NULL, error)
                          : code;
}

void history_save(history *h) {
    assert_int_equal(h->saved_count, 0);
    expect(h, FDL_OK, fdl_store_list(h->inner, "", FDL_ALL_LEVELS, save_object, h, &h->error));
}

void history_rewind(history *h) {
    close_store(h);
    h->fault = (fdl_fault){0};
    open_store(h);
    for (size_t i = 0; i < h->saved_count; i++)
        put_bytes(h, h->saved[i].key, h->saved[i].bytes, h->saved[i].length);
}

/* Whether anything was changed, or tried to be. */
static bool has_tried(const history *h) {
    return h->trace.calls[FDL_OP_PUT] + h->trace.calls[FDL_OP_REMOVE] + h->trace.calls[FDL_OP_PURGE] > 0;
}

size_t history_sweep(history *h, fdl_fault_kind kind, fdl_code code, history_work work, void (*check)(history *h)) {
    unsigned changes = 1u << FDL_OP_PUT | 1u << FDL_OP_REMOVE | 1u << FDL_OP_PURGE;
    unsigned ops = kind == FDL_FAULT_LOSE_ANSWER ? changes : (1u << FDL_OP_COUNT) - 1;
    const char *every = getenv("FDL_TEST_SWEEP"); /* make soak fails each call, make check every third */
    size_t step = every && strcmp(every, "every") == 0 ? 1 : 3;
    for (size_t at = 1; at < SWEEP_LIMIT; at += step) {
        history_rewind(h);
        h->fault = (fdl_fault){.ops = ops, .at = at, .kind = kind, .code = code};
        fdl_code got = work(h);
        size_t needed = h->fault.seen;
        h->fault = (fdl_fault){0};
        if (needed < at) {
            expect(h, FDL_OK, got);
            check(h);
            return needed;
        }
        if (got != FDL_OK && !has_tried(h))
            continue; /* all is as it was, and what comes of that the last round shows */
        expect(h, FDL_OK, work(h));
        check(h);
    }
    fail_msg("still failing after %d calls", SWEEP_LIMIT);
    return 0;
}
