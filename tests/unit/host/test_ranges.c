/*
 * test_ranges.c - the Range header, also for sizes and texts that no server test reaches.
 */
#include "host/ranges.h"
#include "support/support.h"

static void expect_parts(const char *header, uint64_t size, size_t count, const fdl_range *wanted) {
    fdl_ranges got;
    assert_int_equal(fdl_ranges_read(header, size, &got), FDL_RANGES_PARTS);
    assert_int_equal(got.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(got.items[i].offset_bytes == wanted[i].offset_bytes);
        assert_true(got.items[i].length_bytes == wanted[i].length_bytes);
    }
}

#define expect_part(header, size, offset, length) expect_parts(header, size, 1, &(fdl_range){offset, length})

static void expect_answer(fdl_ranges_answer wanted, const char *header, uint64_t size) {
    fdl_ranges got;
    assert_int_equal(fdl_ranges_read(header, size, &got), wanted);
}

static void test_a_range_is_cut_to_the_object(void **state) {
    (void)state;
    expect_part("bytes=0-0", 1, 0, 1);
    expect_part("bytes=0-", 10, 0, 10);
    expect_part("BYTES=3-4", 10, 3, 2);
    expect_part("bytes=3-100", 10, 3, 7);
    expect_part("bytes=-3", 10, 7, 3);
    expect_part("bytes=-30", 10, 0, 10);
    expect_part("bytes=9-18446744073709551615", 10, 9, 1);
    expect_part("bytes=9-99999999999999999999999999", 10, 9, 1);
    expect_part("bytes=0-18446744073709551615", UINT64_MAX, 0, UINT64_MAX);
    expect_part("bytes=18446744073709551614-", UINT64_MAX, UINT64_MAX - 1, 1);
    expect_part("bytes= , 3-4 ,,", 10, 3, 2);
    expect_part("bytes=20-30,-0,3-4", 10, 3, 2);
}

static void test_several_keep_their_order_and_overlaps(void **state) {
    (void)state;
    const fdl_range wanted[] = {{5, 5}, {0, 3}, {1, 2}};
    expect_parts("bytes=5-,0-2, 1-2", 10, 3, wanted);
}

static void test_what_is_no_range_asks_for_the_whole(void **state) {
    (void)state;
    static const char *const headers[] = {"",          "bytes",     "bytes=",     "bytes=,",     "bytes=a-",      "bytes=1",
                                          "bytes=2-1", "bytes=--1", "bytes=1-2x", "items=0-1", "bytes=0-1;2-3", "bytes=-"};
    expect_answer(FDL_RANGES_WHOLE, NULL, 10);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        expect_answer(FDL_RANGES_WHOLE, headers[i], 10);
    expect_answer(FDL_RANGES_WHOLE, "bytes=0-0", 0);
}

static void test_nothing_of_the_object_and_too_much_of_it_are_refused(void **state) {
    (void)state;
    char many[4 * (FDL_RANGES_LIMIT + 1) + 16] = "bytes=";
    for (size_t i = 0; i <= FDL_RANGES_LIMIT; i++)
        memcpy(many + 6 + 4 * i, "0-0,", 5);
    expect_answer(FDL_RANGES_NONE, many, 1000);
    many[6 + 4 * FDL_RANGES_LIMIT] = '\0';
    expect_answer(FDL_RANGES_PARTS, many, 1000);
    expect_answer(FDL_RANGES_NONE, "bytes=10-", 10);
    expect_answer(FDL_RANGES_NONE, "bytes=-0", 10);
    expect_answer(FDL_RANGES_PARTS, "bytes=0-,0-", 10);
    expect_answer(FDL_RANGES_NONE, "bytes=0-,0-,0-0", 10);
    expect_answer(FDL_RANGES_NONE, "bytes=0-,0-,0-", UINT64_MAX);
}

static void test_a_plain_range_can_be_asked_for_before_the_size_is_known(void **state) {
    (void)state;
    fdl_range got;
    assert_true(fdl_ranges_guess(NULL, &got) && got.offset_bytes == 0 && got.length_bytes == UINT64_MAX);
    assert_true(fdl_ranges_guess("bytes=5-9", &got) && got.offset_bytes == 5 && got.length_bytes == 5);
    assert_true(fdl_ranges_guess("bytes=0-", &got) && got.offset_bytes == 0 && got.length_bytes == UINT64_MAX);
    assert_true(fdl_ranges_guess("bytes=7-", &got) && got.offset_bytes == 7);
    static const char *const headers[] = {"bytes=-5", "bytes=5-4", "bytes=1-2,4-5", "bytes= 1-2", "bytes=x", "items=1-2"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        assert_false(fdl_ranges_guess(headers[i], &got));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_range_is_cut_to_the_object),
        cmocka_unit_test(test_several_keep_their_order_and_overlaps),
        cmocka_unit_test(test_what_is_no_range_asks_for_the_whole),
        cmocka_unit_test(test_a_plain_range_can_be_asked_for_before_the_size_is_known),
        cmocka_unit_test(test_nothing_of_the_object_and_too_much_of_it_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
