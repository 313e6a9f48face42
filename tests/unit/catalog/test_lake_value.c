/*
 * test_lake_value.c - instants and UUIDs, compared with what DuckDB makes of
 * the same text.
 */
#include "catalog/lake_value.h"
#include "work.h"

static int64_t parsed(const char *text) {
    int64_t time = 0;
    if (!fdl_lake_time_parse(text, strlen(text), &time))
        fail_msg("'%s' is not taken", text);
    return time;
}

static const int64_t instant = INT64_C(1796001762703170); /* 2026-11-30 01:22:42.70317 UTC */

static void every_spelling_is_the_same_instant(void **state) {
    (void)state;
    static const char *const spellings[] = {
        "2026-11-30 01:22:42.70317+00",     "2026-11-30 01:22:42.70317Z",         "2026-11-30 01:22:42.70317",
        "2026-11-30T01:22:42.703170Z",      "2026-11-30 01:22:42.70317+00:00",    "2026-11-30 10:22:42.70317+09",
        "2026-11-30 10:22:42.70317+0900",   "2026-11-29 21:52:42.70317-03:30",    "2026-11-30 01:22:42.70317 UTC",
        "2026-11-30 01:22:42.703170999-00", "2026-11-30 09:22:57.70317+08:00:15",
    };
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        assert_int_equal(parsed(spellings[i]), instant);
}

static void fractions_have_any_number_of_digits(void **state) {
    (void)state;
    int64_t second = parsed("2026-11-30 01:22:42");
    assert_int_equal(parsed("2026-11-30 01:22:42."), second);
    assert_int_equal(parsed("2026-11-30 01:22:42.5"), second + 500000);
    assert_int_equal(parsed("2026-11-30 01:22:42.000001"), second + 1);
    assert_int_equal(parsed("2026-11-30 01:22:42.00000199"), second + 1);
    assert_int_equal(parsed("2026-11-30 01:22"), second - 42000000);
    assert_int_equal(parsed("2026-11-30"), parsed("2026-11-30 00:00:00+00"));
}

static void what_is_no_instant_is_not_taken(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",
        "now",
        "2026-11-30 01:22:42+",
        "2026-13-01 00:00:00",
        "2026-02-29 00:00:00",
        "2026-11-30 24:00:00",
        "2026-11-30 01:60:00",
        "2026-11-30 01:22:42+093",
        "2026-11-30 01:22:42 +09 x",
        "20261130",
        "2026-11-30 01:22:42.7+9",
        "2026-11-30x",
        "infinity+00",
        "999999-01-01 00:00:00",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t time = 0;
        if (fdl_lake_time_parse(wrong[i], strlen(wrong[i]), &time))
            fail_msg("'%s' is taken", wrong[i]);
    }
}

static void what_is_written_reads_back(void **state) {
    (void)state;
    static const int64_t times[] = {0,
                                    1,
                                    -1,
                                    999999,
                                    -62167219200000000,
                                    -62200000000000000,
                                    253402300799999999,
                                    9223371331199999999,
                                    INT64_MAX,
                                    -INT64_MAX,
                                    951782400000000,
                                    1796001762703170};
    char text[FDL_LAKE_TIME_BYTES];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        fdl_lake_time_write(times[i], text);
        assert_int_equal(parsed(text), times[i]);
    }
    fdl_lake_time_write(instant, text);
    assert_string_equal(text, "2026-11-30 01:22:42.70317+00");
    fdl_lake_time_write(instant - 703170, text);
    assert_string_equal(text, "2026-11-30 01:22:42+00");
}

static fdl_code compare(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    char text[FDL_LAKE_TIME_BYTES];
    (void)count, (void)error;
    *(int64_t *)data += 1;
    assert_int_equal(parsed(cells[0].text), cells[1].integer);
    fdl_lake_time_write(cells[1].integer, text);
    if (cells[2].integer == 1) /* the session was in UTC: the text must be the same */
        assert_string_equal(text, cells[0].text);
    return FDL_OK;
}

static void duckdb_agrees_under_any_time_zone(void **state) {
    (void)state;
    static const char *const zones[] = {"UTC", "Asia/Tokyo", "America/St_Johns", "Asia/Kathmandu", "Africa/Monrovia"};
    fdl_duck *duck = NULL;
    fdl_error error;
    must(fdl_duck_open(NULL, &duck, &error), &error);
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        int64_t rows = 0;
        char sql[512];
        must(fdl_duck_exec(duck, &error, "SET TimeZone = '%s'", zones[i]), &error);
        /* Zones of before 1972 have seconds, which DuckDB does not print. */
        snprintf(sql, sizeof sql,
                 "SELECT t::VARCHAR, epoch_us(t), %d::BIGINT FROM (SELECT make_timestamptz((%s)::BIGINT) AS t "
                 "FROM range(40000) r(n))",
                 i == 0, i == 0 ? "n * 7777777777777 - 70000000000000000" : "n * 577777777777 + 100000000000000");
        must(fdl_duck_query(duck, sql, compare, &rows, &error), &error);
        assert_int_equal(rows, 40000);
    }
    fdl_duck_free(duck);
}

static void uuids_read_and_write(void **state) {
    (void)state;
    static const char *const texts[] = {"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
                                        "2d87d2ba-71da-41bb-ac7b-660d5c628d2b"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fdl_duck_hugeint uuid;
        char text[37];
        assert_true(fdl_lake_uuid_parse(texts[i], strlen(texts[i]), &uuid));
        fdl_lake_uuid_write(&uuid, text);
        assert_string_equal(text, texts[i]);
    }
    fdl_duck_hugeint uuid;
    fdl_duck_hugeint same;
    assert_true(fdl_lake_uuid_parse("2D87D2BA71DA41BBAC7B660D5C628D2B", 32, &uuid));
    assert_true(fdl_lake_uuid_parse(texts[2], 36, &same));
    assert_memory_equal(&uuid, &same, sizeof uuid);
    assert_false(fdl_lake_uuid_parse("", 0, &uuid));
    assert_false(fdl_lake_uuid_parse(texts[2], 35, &uuid));
    assert_false(fdl_lake_uuid_parse("2d87d2ba-71da-41bb-ac7b-660d5c628d2g", 36, &uuid));
    assert_false(fdl_lake_uuid_parse("2d87d2ba-71da-41bb-ac7b-660d5c628d2b0", 37, &uuid));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling_is_the_same_instant), cmocka_unit_test(fractions_have_any_number_of_digits),
        cmocka_unit_test(what_is_no_instant_is_not_taken),    cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(duckdb_agrees_under_any_time_zone),  cmocka_unit_test(uuids_read_and_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
