/*
 * work.c - a folder to freeze and thaw in.
 */
#include <sqlite3.h>

#include "util/buf.h"
#include "util/file.h"
#include "util/text.h"
#include "work.h"

#define NOTES_LIMIT_BYTES (1u << 16)

/* ---- the bench -------------------------------------------------------------- */

static void take_note(void *data, fdl_note_level level, const char *line) {
    bench *b = data;
    fdl_error error;
    char *longer = NULL;
    if (level != FDL_NOTE_WARNING)
        return;
    must(fdl_str_format(&longer, &error, "%s%s\n", b->notes, line), &error);
    free(b->notes);
    b->notes = longer;
}

int bench_make(void **state) {
    bench *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->folder = lake_folder_make();
    must(fdl_str_format(&b->work, &b->error, "%s/w.sqlite", b->folder), &b->error);
    must(fdl_str_format(&b->frozen, &b->error, "%s/f.duckdb", b->folder), &b->error);
    must(fdl_str_format(&b->data, &b->error, "%s/data/", b->folder), &b->error);
    must(fdl_str_copy(&b->notes, "", &b->error), &b->error);
    b->context = (fdl_context){.note = take_note, .note_data = b};
    b->options = (fdl_freeze_options){
        .data_path = b->data, .roots = (const char *const *)&b->data, .root_count = 1, .keep_from = -1};
    fdl_thaw_options made = {.data_path = b->data};
    must(fdl_catalog_create(&b->context, b->work, &made, &b->error), &b->error);
    *state = b;
    return 0;
}

int bench_drop(void **state) {
    bench *b = *state;
    lake_folder_remove(b->folder);
    free(b->work);
    free(b->frozen);
    free(b->data);
    free(b->notes);
    free(b);
    return 0;
}

/* ---- through DuckDB ----------------------------------------------------------- */

static fdl_duck *open_lake(bench *b, const char *catalog, const char *options) {
    char address[1100], all[1200];
    snprintf(address, sizeof address, "ducklake:%s", catalog);
    snprintf(all, sizeof all, "DATA_PATH '%s', OVERRIDE_DATA_PATH true%s", b->data, options);
    return lake_attach(address, "lake", all);
}

static void run_with(bench *b, const char *options, const char *sql) {
    must(fdl_duck_exec(open_lake(b, b->work, options), &b->error, "%s", sql), &b->error);
    lake_close();
}

void bench_run(bench *b, const char *sql) {
    run_with(b,
             ", META_TYPE 'sqlite', DATA_INLINING_ROW_LIMIT 0, META_JOURNAL_MODE 'WAL', "
             "BUSY_TIMEOUT 5000",
             sql);
}

void bench_run_inlining(bench *b, const char *sql) {
    sqlite_run(b->work, "DELETE FROM ducklake_metadata WHERE key = 'data_inlining_row_limit'");
    run_with(b, ", META_TYPE 'sqlite'", sql);
}

static fdl_code take_integer(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    (void)count, (void)error;
    *(int64_t *)data = cells[0].is_null ? INT64_MIN : cells[0].integer;
    return FDL_OK;
}

int64_t bench_ask(bench *b, const char *catalog, const char *sql) {
    int64_t answer = INT64_MIN;
    bool sqlite = fdl_str_ends(catalog, ".sqlite");
    fdl_duck *duck = open_lake(b, catalog, sqlite ? ", META_TYPE 'sqlite', READ_ONLY" : ", READ_ONLY");
    must(fdl_duck_query(duck, sql, take_integer, &answer, &b->error), &b->error);
    lake_close();
    return answer;
}

int64_t duck_count(const char *path, const char *sql) {
    int64_t answer = INT64_MIN;
    fdl_error error;
    must(fdl_duck_query(lake_attach(path, "file", "TYPE duckdb, READ_ONLY"), sql, take_integer, &answer, &error), &error);
    lake_detach("file");
    return answer;
}

/* ---- freezing and thawing -------------------------------------------------------- */

void bench_freeze(bench *b) {
    must(fdl_catalog_freeze(&b->context, b->work, b->frozen, &b->options, &b->result, &b->error), &b->error);
}

void bench_refused(bench *b, ...) {
    fdl_code code = fdl_catalog_freeze(&b->context, b->work, b->frozen, &b->options, &b->result, &b->error);
    must_fail(code, FDL_REFUSED, &b->error, NULL);
    va_list texts;
    va_start(texts, b);
    for (const char *text = va_arg(texts, const char *); text != NULL; text = va_arg(texts, const char *))
        must_fail(code, FDL_REFUSED, &b->error, text, NULL);
    va_end(texts);
    assert_false(fdl_file_exists(b->frozen));
}

void bench_thaw(bench *b) {
    fdl_thaw_options options = {.data_path = b->data};
    must(fdl_file_remove(b->work, &b->error), &b->error);
    must(fdl_catalog_thaw(&b->context, b->frozen, b->work, &options, &b->error), &b->error);
}

/* ---- with SQLite itself -------------------------------------------------------------- */

static sqlite3 *open_sqlite(const char *path) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    return db;
}

void sqlite_run(const char *path, const char *sql) {
    sqlite3 *db = open_sqlite(path);
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

const char *sqlite_text(const char *path, const char *sql) {
    static char text[4096];
    sqlite3_stmt *statement = NULL;
    sqlite3 *db = open_sqlite(path);
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    text[0] = '\0';
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        snprintf(text, sizeof text, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    return text;
}

int64_t sqlite_count(const char *path, const char *sql) {
    return strtoll(sqlite_text(path, sql), NULL, 10);
}
