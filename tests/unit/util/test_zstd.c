/*
 * test_zstd.c - what was packed comes out again, in whatever pieces it arrives.
 */
#include <unistd.h>

#include "support/support.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/zstd.h"

#define BLOCK ((size_t)128 << 10) /* what zstd hands out at once */

static fdl_error error;

static void round_trip(const char *scratch, size_t length, size_t piece) {
    char expected[65], got[65];
    char *plain = NULL, *packed = NULL, *out = NULL, *bytes = calloc(1, length + 1);
    size_t packed_length;
    fdl_unzstd unzstd = {0};
    for (size_t i = 0; i < length; i += 1000)
        bytes[i] = (char)(i / 1000);
    plain = test_path(scratch, "plain");
    packed = test_path(scratch, "packed");
    expect_ok(fdl_file_write(plain, bytes, length, &error), &error);
    expect_ok(fdl_sha256_bytes(bytes, length, expected, &error), &error);
    expect_ok(fdl_zstd_file(plain, packed, &error), &error);
    expect_ok(fdl_file_read(packed, 1 << 20, &out, &packed_length, &error), &error);
    expect_ok(fdl_unzstd_start(&unzstd, "packed", NULL, length, &error), &error);
    for (size_t at = 0; at < packed_length; at += piece)
        expect_ok(fdl_unzstd_add(&unzstd, out + at, at + piece < packed_length ? piece : packed_length - at, &error),
                  &error);
    expect_ok(fdl_unzstd_finish(&unzstd, got, &error), &error);
    assert_string_equal(got, expected);
    free(bytes);
    free(out);
    free(plain);
    free(packed);
}

static void every_length_comes_out_as_it_went_in(void **state) {
    static const size_t lengths[] = {0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK};
    (void)state;
    char *scratch = test_scratch_make();
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        round_trip(scratch, lengths[i], 1 << 20);
        round_trip(scratch, lengths[i], 7);
    }
    test_scratch_drop(scratch);
}

/* Blocks of four bytes that stand for 128 KiB each: what comes out is bounded by what came, whatever its record says. */
static void a_bomb_does_not_go_off(void **state) {
    static const unsigned char head[] = {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58}, block[] = {0x02, 0x00, 0x10, 0};
    fdl_unzstd unzstd = {0};
    (void)state;
    char *scratch = test_scratch_make(), *path = test_path(scratch, "out");
    assert_int_equal(fdl_unzstd_limit(0), 16 << 20);
    assert_true(fdl_unzstd_limit(UINT64_MAX) == UINT64_MAX);
    expect_ok(fdl_unzstd_start(&unzstd, "bomb", path, UINT64_MAX, &error), &error);
    expect_ok(fdl_unzstd_add(&unzstd, head, sizeof head, &error), &error);
    size_t blocks = 0;
    while (blocks < 16384 && fdl_unzstd_add(&unzstd, block, sizeof block, &error) == FDL_OK)
        blocks++;
    assert_int_equal(blocks, 129); /* 16 MiB, and 128 KiB for what came */
    assert_true(unzstd.damaged);
    expect_said("'bomb' is damaged: more comes out of it than", &error);
    fdl_unzstd_drop(&unzstd);
    assert_int_equal(rmdir(scratch), 0); /* nothing is left there */
    free(path);
    test_scratch_drop(scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_comes_out_as_it_went_in),
        cmocka_unit_test(a_bomb_does_not_go_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
