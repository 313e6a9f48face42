/*
 * test_ident.c - ids that rise and never repeat, digests, and instants in every
 * spelling.
 */
#include <pthread.h>

#include "support/support.h"
#include "util/file.h"
#include "util/ident.h"

static fdl_error error;

/* ---- UUIDs -------------------------------------------------------------- */

static void test_uuids_have_their_version_and_variant(void **state) {
    (void)state;
    char id[37];
    for (int i = 0; i < 1000; i++) {
        expect_ok(fdl_uuid_v4(id, &error), &error);
        assert_true(fdl_uuid_valid(id));
        assert_int_equal(id[14], '4');
        assert_non_null(strchr("89ab", id[19]));
        expect_ok(fdl_uuid_v7(id, &error), &error);
        assert_true(fdl_uuid_valid(id));
        assert_int_equal(id[14], '7');
        assert_non_null(strchr("89ab", id[19]));
    }
}

/* The milliseconds that a v7 begins with. */
static int64_t ms_of(const char *id) {
    char hex[13];
    memcpy(hex, id, 8);
    memcpy(hex + 8, id + 9, 4);
    hex[12] = '\0';
    return strtoll(hex, NULL, 16);
}

static void test_a_v7_begins_with_its_time(void **state) {
    (void)state;
    char id[37];
    int64_t before = fdl_now_ms();
    expect_ok(fdl_uuid_v7(id, &error), &error);
    int64_t after = fdl_now_ms();
    assert_in_range(ms_of(id), before, after);
}

static void test_v7s_rise_also_within_a_millisecond(void **state) {
    (void)state;
    char last[37] = "";
    char id[37];
    for (int i = 0; i < 100000; i++) {
        expect_ok(fdl_uuid_v7(id, &error), &error);
        assert_true(strcmp(id, last) > 0);
        memcpy(last, id, sizeof last);
    }
}

#define THREADS 4
#define IDS_EACH 5000

static void *make_ids(void *data) {
    char(*ids)[37] = data;
    fdl_error problem;
    for (int i = 0; i < IDS_EACH; i++) {
        if (fdl_uuid_v7(ids[i], &problem) != FDL_OK)
            ids[i][0] = '\0';
    }
    return NULL;
}

static int compare_ids(const void *a, const void *b) {
    return strcmp(a, b);
}

static void test_v7s_of_many_threads_rise_and_differ(void **state) {
    (void)state;
    char(*ids)[37] = calloc(THREADS * IDS_EACH, sizeof *ids);
    pthread_t threads[THREADS];
    assert_non_null(ids);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_ids, ids + i * IDS_EACH), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS * IDS_EACH; i++) {
        if (i % IDS_EACH != 0)
            assert_true(strcmp(ids[i], ids[i - 1]) > 0);
    }
    qsort(ids, THREADS * IDS_EACH, sizeof *ids, compare_ids);
    for (int i = 1; i < THREADS * IDS_EACH; i++)
        assert_string_not_equal(ids[i], ids[i - 1]);
    free(ids);
}

static int make_ids_in_process(void *data, int number) {
    make_ids((char(*)[37])data + number * IDS_EACH);
    return 0;
}

static void test_v7s_of_forked_processes_differ(void **state) {
    (void)state;
    size_t size = (size_t)THREADS * IDS_EACH * 37;
    char(*ids)[37] = test_shared_make(size);
    test_in_processes(THREADS, make_ids_in_process, ids);
    qsort(ids, THREADS * IDS_EACH, sizeof *ids, compare_ids);
    assert_true(fdl_uuid_valid(ids[0]));
    for (int i = 1; i < THREADS * IDS_EACH; i++)
        assert_string_not_equal(ids[i], ids[i - 1]);
    test_shared_drop(ids, size);
}

static void test_only_canonical_uuids_are_valid(void **state) {
    (void)state;
    assert_true(fdl_uuid_valid("019a2f10-0c4d-7e88-a1b2-55c0d9e3f7aa"));
    assert_true(fdl_uuid_valid("00000000-0000-0000-0000-000000000000"));
    static const char *const bad[] = {
        "",
        "019a2f10",
        "019A2F10-0C4D-7E88-A1B2-55C0D9E3F7AA",
        "019a2f10-0c4d-7e88-a1b2-55c0d9e3f7a",
        "019a2f10-0c4d-7e88-a1b2-55c0d9e3f7aaa",
        "019a2f100-c4d-7e88-a1b2-55c0d9e3f7aa",
        "019a2f1g-0c4d-7e88-a1b2-55c0d9e3f7aa",
        "{19a2f10-0c4d-7e88-a1b2-55c0d9e3f7a}",
        "019a2f10_0c4d_7e88_a1b2_55c0d9e3f7aa",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(fdl_uuid_valid(bad[i]));
}

/* ---- SHA-256 ------------------------------------------------------------ */

static void test_sha256_of_known_texts(void **state) {
    (void)state;
    char digest[65];
    expect_ok(fdl_sha256_bytes("", 0, digest, &error), &error);
    assert_string_equal(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect_ok(fdl_sha256_bytes(NULL, 0, digest, &error), &error);
    assert_string_equal(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect_ok(fdl_sha256_bytes("abc", 3, digest, &error), &error);
    assert_string_equal(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");

    fdl_sha256 hash;
    expect_ok(fdl_sha256_start(&hash, &error), &error);
    for (int i = 0; i < 1000; i++) {
        char piece[1000];
        memset(piece, 'a', sizeof piece);
        expect_ok(fdl_sha256_add(&hash, piece, sizeof piece, &error), &error);
    }
    expect_ok(fdl_sha256_finish(&hash, digest, &error), &error);
    assert_string_equal(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    fdl_sha256_drop(&hash);
}

static void test_sha256_of_a_file(void **state) {
    (void)state;
    char digest[65];
    char wanted[65];
    uint64_t size = 0;
    char *folder = test_scratch_make();
    char *path = test_path(folder, "x");
    char *bytes = calloc(1, 200000);
    assert_non_null(bytes);
    expect_ok(fdl_file_write(path, bytes, 200000, &error), &error);
    expect_ok(fdl_sha256_bytes(bytes, 200000, wanted, &error), &error);
    expect_ok(fdl_sha256_file(path, digest, &size, &error), &error);
    assert_string_equal(digest, wanted);
    assert_int_equal(size, 200000);
    expect_ok(fdl_file_remove(path, &error), &error);
    expect_code(FDL_NOT_FOUND, fdl_sha256_file(path, digest, NULL, &error), &error);
    expect_code(FDL_FAILED, fdl_sha256_file(folder, digest, NULL, &error), &error);
    free(bytes);
    free(path);
    test_scratch_drop(folder);
}

/* ---- instants ----------------------------------------------------------- */

static void expect_time(const char *text, int64_t wanted) {
    int64_t ms = -1;
    if (!fdl_time_parse(text, &ms))
        fail_msg("'%s' is not read", text);
    assert_int_equal(ms, wanted);
}

static void test_every_spelling_of_an_instant_is_the_same(void **state) {
    (void)state;
    expect_time("1970-01-01T00:00:00Z", 0);
    expect_time("2026-10-15T09:00:00Z", 1792054800000);
    expect_time("2026-10-15t09:00:00z", 1792054800000);
    expect_time("2026-10-15T18:00:00+09:00", 1792054800000);
    expect_time("2026-10-14T21:30:00-11:30", 1792054800000);
    expect_time("2026-10-15T09:00:00-00:00", 1792054800000);
    expect_time("2026-10-15T09:00:00.000Z", 1792054800000);
    expect_time("2026-10-15T09:00:00.5Z", 1792054800500);
    expect_time("2026-10-15T09:00:00.123456789+00:00", 1792054800123);
    expect_time("2024-02-29T23:59:59Z", 1709251199000);
    expect_time("2000-02-29T00:00:00Z", 951782400000);
    expect_time("1969-12-31T23:59:59.999Z", -1);
    expect_time("2016-12-31T23:59:60Z", 1483228800000);
    expect_time("0000-01-01T00:00:00Z", -62167219200000);
    expect_time("9999-12-31T23:59:59.999Z", 253402300799999);
}

static void test_what_is_no_instant_is_not_read(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "2026-10-15",
        "2026-10-15T09:00Z",
        "2026-10-15T09:00:00",
        "2026-10-15 09:00:00Z",
        "2026-10-15T09:00:00Z ",
        " 2026-10-15T09:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-04-00T00:00:00Z",
        "2026-04-01T24:00:00Z",
        "2026-04-01T00:60:00Z",
        "2026-04-01T00:00:61Z",
        "2026-04-01T00:00:00.Z",
        "2026-04-01T00:00:00+9:00",
        "2026-04-01T00:00:00+0900",
        "2026-04-01T00:00:00+24:00",
        "2026-04-01T00:00:00+09:60",
        "2026-4-1T00:00:00Z",
        "+026-04-01T00:00:00Z",
        "2026-04-01T-1:00:00Z",
        "0000-01-01T00:00:00.5+09:00",
        "9999-12-31T23:30:00-09:00",
        "yesterday",
    };
    int64_t ms;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (fdl_time_parse(bad[i], &ms))
            fail_msg("'%s' is read", bad[i]);
    }
}

static void expect_written(int64_t ms, const char *wanted) {
    char text[32];
    fdl_time_write(ms, text);
    assert_string_equal(text, wanted);
}

static void test_instants_are_written_in_utc(void **state) {
    (void)state;
    expect_written(0, "1970-01-01T00:00:00Z");
    expect_written(1792054800000, "2026-10-15T09:00:00Z");
    expect_written(1792054800007, "2026-10-15T09:00:00.007Z");
    expect_written(-1, "1969-12-31T23:59:59.999Z");
    expect_written(-1000, "1969-12-31T23:59:59Z");
    expect_written(INT64_MAX, "9999-12-31T23:59:59.999Z");
    expect_written(INT64_MIN, "0000-01-01T00:00:00Z");
}

static void test_written_instants_are_read_back(void **state) {
    (void)state;
    for (int64_t ms = -62167219200000; ms < 253402300799999; ms += 9876543210987) {
        char text[32];
        fdl_time_write(ms, text);
        expect_time(text, ms);
    }
    assert_true(fdl_now_us() / 1000 - fdl_now_ms() <= 0);
}

static void test_random_hex_is_as_long_as_asked_for_and_never_the_same(void **state) {
    (void)state;
    char one[65], other[65];
    expect_ok(fdl_random_hex(32, one, &error), &error);
    expect_ok(fdl_random_hex(32, other, &error), &error);
    assert_int_equal(strlen(one), 64);
    assert_int_equal(strspn(one, "0123456789abcdef"), 64);
    assert_string_not_equal(one, other);
    expect_code(FDL_FAILED, fdl_random_hex(33, one, &error), &error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uuids_have_their_version_and_variant),
        cmocka_unit_test(test_a_v7_begins_with_its_time),
        cmocka_unit_test(test_v7s_rise_also_within_a_millisecond),
        cmocka_unit_test(test_v7s_of_many_threads_rise_and_differ),
        cmocka_unit_test(test_v7s_of_forked_processes_differ),
        cmocka_unit_test(test_random_hex_is_as_long_as_asked_for_and_never_the_same),
        cmocka_unit_test(test_only_canonical_uuids_are_valid),
        cmocka_unit_test(test_sha256_of_known_texts),
        cmocka_unit_test(test_sha256_of_a_file),
        cmocka_unit_test(test_every_spelling_of_an_instant_is_the_same),
        cmocka_unit_test(test_what_is_no_instant_is_not_read),
        cmocka_unit_test(test_instants_are_written_in_utc),
        cmocka_unit_test(test_written_instants_are_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
