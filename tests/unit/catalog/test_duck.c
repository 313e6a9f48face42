/*
 * test_duck.c - finding libduckdb, and what a session does and refuses.
 */
#include <sys/stat.h>

#include "catalog/duck_api.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/text.h"
#include "work.h"

/* ---- finding the library; in this order, since a process loads it once --------- */

static void a_named_library_that_is_not_there_is_the_only_one_tried(void **state) {
    (void)state;
    fdl_context context = {.libduckdb = "/no/such/libduckdb.so"};
    fdl_duck *duck = NULL;
    fdl_error error;
    must_fail(fdl_duck_open(&context, &duck, &error), FDL_FAILED, &error, "'/no/such/libduckdb.so'", NULL);
    assert_null(duck);
}

static void another_library_is_told_from_duckdb(void **state) {
    (void)state;
    fdl_context context = {.libduckdb = "libm.so.6"};
    fdl_duck *duck = NULL;
    fdl_error error;
    must_fail(fdl_duck_open(&context, &duck, &error), FDL_FAILED, &error, "'libm.so.6' is no DuckDB library", NULL);
}

static void without_a_library_the_error_says_where_it_was_looked_for_and_how_to_get_it(void **state) {
    (void)state;
    fdl_duck *duck = NULL;
    fdl_error error;
    char *named = getenv("FDL_LIBDUCKDB");
    char *kept = NULL;
    if (named == NULL)
        fail_msg("FDL_LIBDUCKDB must name libduckdb for this test");
    must(fdl_str_copy(&kept, named, &error), &error);
    assert_int_equal(unsetenv("FDL_LIBDUCKDB"), 0);
    fdl_code code = fdl_duck_open(NULL, &duck, &error);
    assert_int_equal(setenv("FDL_LIBDUCKDB", kept, 1), 0);
    free(kept);
    if (code == FDL_OK) /* this machine has one in a usual place */
        fdl_duck_free(duck);
    else
        must_fail(code, FDL_FAILED, &error, "/deps/libduckdb.so'", "/lib/fdl/libduckdb.so'", "the loader's own search",
                  "'make'", "FDL_LIBDUCKDB", "--libduckdb", NULL);
}

/* ---- sessions -------------------------------------------------------------------- */

static fdl_duck *session(void) {
    fdl_duck *duck = NULL;
    fdl_error error;
    must(fdl_duck_open(NULL, &duck, &error), &error);
    return duck;
}

typedef struct seen {
    int64_t rows;
    int64_t sum;
    char last[128];
} seen;

static fdl_code see(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    seen *all = data;
    (void)error;
    assert_int_equal(count, 4);
    assert_int_equal(cells[0].integer, all->rows);
    assert_int_equal(cells[1].is_null, all->rows % 3 == 0);
    if (!cells[1].is_null) {
        assert_int_equal(strlen(cells[1].text), cells[1].length);
        snprintf(all->last, sizeof all->last, "%s", cells[1].text);
    }
    assert_int_equal(cells[2].integer, all->rows % 2 == 0);
    assert_true(cells[3].is_null);
    all->rows++;
    return FDL_OK;
}

static void a_query_streams_all_rows_with_their_values(void **state) {
    (void)state;
    fdl_duck *duck = session();
    fdl_error error;
    seen all = {0};
    must(fdl_duck_query(duck,
                        "SELECT n, CASE WHEN n % 3 = 0 THEN NULL ELSE 'a text of more than twelve bytes ' || n END, "
                        "n % 2 = 0, NULL::VARCHAR FROM range(10000) r(n)",
                        see, &all, &error),
         &error);
    assert_int_equal(all.rows, 10000);
    assert_string_equal(all.last, "a text of more than twelve bytes 9998");
    fdl_duck_free(duck);
}

/* The rows of `sql`, which are 0, 1, 2, ...; reading stops behind `limit`. */
static fdl_code count_in_order(fdl_duck *duck, const char *sql, bool ahead, int64_t limit, int64_t *rows,
                               fdl_error *error) {
    fdl_duck_stream stream;
    uint64_t got = 1;
    *rows = 0;
    fdl_code code = fdl_duck_stream_open(duck, sql, &stream, error);
    if (ahead)
        fdl_duck_stream_read_ahead(&stream);
    while (code == FDL_OK && got > 0 && *rows < limit) {
        code = fdl_duck_stream_next(&stream, &got, error);
        const int64_t *numbers =
            code == FDL_OK && got > 0
                ? stream.api->vector_get_data(stream.api->data_chunk_get_vector(stream.chunk, 0))
                : NULL;
        for (uint64_t i = 0; numbers && i < got; i++)
            assert_int_equal(numbers[i], (*rows)++);
    }
    fdl_duck_stream_close(&stream);
    return code;
}

/* Chunks have 2,048 rows; behind a full one, eight at a time are fetched while the caller reads, where it asks for that. */
static void results_of_any_length_are_read_to_their_end(void **state) {
    static const int64_t lengths[] = {0, 1, 2047, 2048, 2049, 8 * 2048, 9 * 2048, 9 * 2048 + 1, 10 * 2048, 25000};
    (void)state;
    fdl_duck *duck = session();
    fdl_error error;
    char sql[128];
    int64_t rows = 0;
    for (size_t i = 0; i < 2 * sizeof lengths / sizeof *lengths; i++) {
        snprintf(sql, sizeof sql, "SELECT n FROM range(%lld) r(n)", (long long)lengths[i / 2]);
        must(count_in_order(duck, sql, i % 2, INT64_MAX, &rows, &error), &error);
        assert_int_equal(rows, lengths[i / 2]);
    }
    must(count_in_order(duck, "SELECT n FROM range(100000) r(n)", true, 30001, &rows, &error), &error);
    assert_in_range(rows, 30001, 30001 + 2048);
    must_fail(count_in_order(duck, "SELECT CASE WHEN n < 900000 THEN n ELSE error('far behind') END FROM range(1000000) r(n)",
                             true, INT64_MAX, &rows, &error),
              FDL_FAILED, &error, "far behind", NULL);
    assert_in_range(rows, 10000, 900000);
    must(fdl_duck_exec(duck, &error, "SELECT 1"), &error);
    fdl_duck_free(duck);
}

static fdl_code stop_at_three(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    (void)count;
    ++*(int *)data;
    return cells[0].integer == 2 ? fdl_fail(error, FDL_CONFLICT, "k", "enough") : FDL_OK;
}

static void a_callback_that_fails_ends_the_query_with_its_error(void **state) {
    (void)state;
    fdl_duck *duck = session();
    fdl_error error;
    int calls = 0;
    must_fail(fdl_duck_query(duck, "SELECT n FROM range(100000) r(n)", stop_at_three, &calls, &error), FDL_CONFLICT,
              &error, "enough", NULL);
    assert_int_equal(calls, 3);
    must(fdl_duck_exec(duck, &error, "SELECT 1"), &error);
    fdl_duck_free(duck);
}

static void an_error_of_duckdb_is_one_line(void **state) {
    (void)state;
    fdl_duck *duck = session();
    fdl_error error;
    must_fail(fdl_duck_exec(duck, &error, "SELECT * FROM nothing_here"), FDL_FAILED, &error, "duckdb: ", "nothing_here",
              NULL);
    assert_null(strchr(error.message, '\n'));
    int calls = 0;
    must_fail(fdl_duck_query(duck, "SELECT error('half way') FROM range(10)", stop_at_three, &calls, &error),
              FDL_FAILED, &error, "half way", NULL);
    must_fail(fdl_duck_query(duck, "SELECT 1.5::DOUBLE", stop_at_three, &calls, &error), FDL_FAILED, &error, "cast it",
              NULL);
    fdl_duck_free(duck);
}

static void a_locked_session_reaches_no_file_and_stays_locked(void **state) {
    char *folder = *state;
    fdl_duck *duck = session();
    fdl_error error;
    lake_run(folder, "c.duckdb", "CREATE TABLE t(a INT)");
    must(fdl_duck_attach(duck, lake_path(folder, "c.duckdb"), "c", &error), &error);
    must(fdl_duck_lock(duck, &error), &error);
    must(fdl_duck_exec(duck, &error, "SELECT count(*) FROM c.main.ducklake_table"), &error);
    must_fail(fdl_duck_exec(duck, &error, "SELECT * FROM read_text('/etc/hostname')"), FDL_FAILED, &error, NULL);
    must_fail(fdl_duck_exec(duck, &error, "COPY (SELECT 1) TO '%s/out.csv'", folder), FDL_FAILED, &error, NULL);
    must_fail(fdl_duck_exec(duck, &error, "ATTACH '%s/other.duckdb'", folder), FDL_FAILED, &error, NULL);
    must_fail(fdl_duck_exec(duck, &error, "LOAD ducklake"), FDL_FAILED, &error, NULL);
    must_fail(fdl_duck_exec(duck, &error, "SET enable_external_access = true"), FDL_FAILED, &error, NULL);
    must_fail(fdl_duck_exec(duck, &error, "SET threads = 4"), FDL_FAILED, &error, NULL);
    must_fail(fdl_duck_exec(duck, &error, "CREATE TABLE c.main.x(a INT)"), FDL_FAILED, &error, NULL);
    fdl_duck_free(duck);
}

static void only_a_duckdb_file_can_be_attached(void **state) {
    char *folder = *state;
    fdl_duck *duck = session();
    fdl_error error;
    must(fdl_file_write(lake_path(folder, "text"), "hello", 5, &error), &error);
    must_fail(fdl_duck_attach(duck, lake_path(folder, "text"), "a", &error), FDL_FAILED, &error, NULL);
    must_fail(fdl_duck_attach(duck, lake_path(folder, "missing"), "a", &error), FDL_FAILED, &error, NULL);
    assert_false(fdl_file_exists(lake_path(folder, "missing")));
    fdl_duck_free(duck);
}

static void quotes_cannot_leave_a_literal_or_a_name(void **state) {
    (void)state;
    fdl_duck *duck = session();
    fdl_error error;
    fdl_buf sql;
    fdl_buf_init(&sql, 4096);
    must(fdl_buf_add_str(&sql, "CREATE TABLE ", &error), &error);
    must(fdl_sql_name(&sql, "a\"b; DROP TABLE x; --\n\\", &error), &error);
    must(fdl_buf_add_str(&sql, " AS SELECT ", &error), &error);
    must(fdl_sql_literal(&sql, "it's; ''\\", &error), &error);
    must(fdl_buf_add_str(&sql, " AS v", &error), &error);
    must(fdl_duck_exec(duck, &error, "%s", sql.data), &error);
    must(fdl_duck_exec(duck, &error,
                       "SELECT CASE WHEN (SELECT v FROM \"a\"\"b; DROP TABLE x; --\n\\\") = 'it''s; ''''\\' THEN 1 "
                       "ELSE error('other') END"),
         &error);
    fdl_buf_clear(&sql);
    fdl_duck_free(duck);
}

static void a_missing_extension_says_how_to_get_it(void **state) {
    (void)state;
    fdl_duck *duck = session();
    fdl_error error;
    must_fail(fdl_duck_load_extension(duck, "no_such_extension", &error), FDL_FAILED, &error, "'no_such_extension'",
              "'make'", "INSTALL", "FDL_EXTENSIONS", NULL);
    fdl_duck_free(duck);
}

/* Whole but for its signature, which are the last bytes of the file. */
static void an_extension_from_elsewhere_must_be_signed(void **state) {
    const char *folder = *state;
    fdl_duck *duck = session();
    char path[PATH_MAX], platform[64];
    fdl_error error;
    must(fdl_duck_find_extension(duck, "ducklake", path, &error), &error);
    must(fdl_duck_platform(duck, platform, &error), &error);
    char elsewhere[1024], copy[1200];
    snprintf(elsewhere, sizeof elsewhere, "%s/%s/%s", folder, fdl_duck_version(duck), platform);
    snprintf(copy, sizeof copy, "%s/ducklake.duckdb_extension", elsewhere);
    must(fdl_folder_make(elsewhere, &error), &error);
    must(fdl_file_copy(path, copy, &error), &error);
    FILE *file = fopen(copy, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, -8, SEEK_END), 0);
    assert_int_equal(fwrite("unsigned", 1, 8, file), 8);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(setenv("FDL_EXTENSIONS", folder, 1), 0);
    must_fail(fdl_duck_load_extension(duck, "ducklake", &error), FDL_FAILED, &error, "'ducklake'", "signature", NULL);
    assert_int_equal(unsetenv("FDL_EXTENSIONS"), 0);
    must(fdl_duck_load_extension(duck, "ducklake", &error), &error);
    fdl_duck_free(duck);
}

static int make(void **state) {
    *state = lake_folder_make();
    return 0;
}

static int drop(void **state) {
    lake_folder_remove(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_named_library_that_is_not_there_is_the_only_one_tried),
        cmocka_unit_test(another_library_is_told_from_duckdb),
        cmocka_unit_test(without_a_library_the_error_says_where_it_was_looked_for_and_how_to_get_it),
        cmocka_unit_test(a_query_streams_all_rows_with_their_values),
        cmocka_unit_test(results_of_any_length_are_read_to_their_end),
        cmocka_unit_test(a_callback_that_fails_ends_the_query_with_its_error),
        cmocka_unit_test(an_error_of_duckdb_is_one_line),
        cmocka_unit_test_setup_teardown(a_locked_session_reaches_no_file_and_stays_locked, make, drop),
        cmocka_unit_test_setup_teardown(only_a_duckdb_file_can_be_attached, make, drop),
        cmocka_unit_test(quotes_cannot_leave_a_literal_or_a_name),
        cmocka_unit_test(a_missing_extension_says_how_to_get_it),
        cmocka_unit_test_setup_teardown(an_extension_from_elsewhere_must_be_signed, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
