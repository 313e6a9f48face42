/* test_ancestors.c - which ancestors a version names, told from its parent's record alone; and the field, written and read. */
#include "lake.h"

#include "repo/ancestors.h"

/* A version's id says its number. */
static void id_of(int64_t seq, char out[FDL_ID_BYTES]) {
    snprintf(out, FDL_ID_BYTES, "019a0000-0000-7000-8000-%012llx", (unsigned long long)seq);
}

static void each_version_names_the_last_ancestors_that_powers_of_16_divide(void **state) {
    (void)state;
    fdl_ancestors own = {.count = 0};
    for (int64_t seq = 1; seq <= 70000; seq++) {
        size_t wanted = 0;
        char id[FDL_ID_BYTES];
        for (int64_t step = 16; step < seq; step *= 16) {
            int64_t last = seq - 1;
            while (seq % 997 == 0 && last % step != 0) /* the slow way, for some */
                last--;
            last = last / step * step;
            id_of(last, id);
            assert_true(wanted < own.count);
            assert_string_equal(own.ids[wanted], id);
            assert_int_equal(fdl_ancestor_seq(seq, wanted), last);
            wanted++;
        }
        assert_int_equal(own.count, wanted);
        assert_int_equal(fdl_ancestor_seq(seq, wanted), 0);
        id_of(seq, id);
        fdl_ancestors_of_child(id, seq, &own, &own);
    }
}

static void what_the_parent_does_not_say_is_left_out(void **state) {
    (void)state;
    fdl_ancestors none = {.count = 0}, out;
    fdl_ancestors_of_child("", 0, &none, &out); /* of no version: the first one's */
    assert_int_equal(out.count, 0);
    fdl_ancestors_of_child(ID_A, 300, &none, &out);
    assert_int_equal(out.count, 0);
    fdl_ancestors_of_child(ID_A, 304, &none, &out);
    assert_int_equal(out.count, 1);
    assert_string_equal(out.ids[0], ID_A);
    fdl_ancestors_of_child(ID_B, 305, &out, &out);
    assert_int_equal(out.count, 1);
    assert_string_equal(out.ids[0], ID_A);
    fdl_ancestors_of_child(ID_C, 512, &none, &out);
    assert_int_equal(out.count, 2);
    assert_string_equal(out.ids[1], ID_C);
}

/* A list that is longer than its seq allows, and the largest numbers there are. */
static void a_strangers_numbers_overflow_nothing(void **state) {
    (void)state;
    fdl_ancestors full = {.count = FDL_ANCESTORS_LIMIT}, out;
    for (size_t i = 0; i < full.count; i++)
        memcpy(full.ids[i], ID_A, FDL_ID_BYTES);
    fdl_ancestors_of_child(ID_B, 40, &full, &out);
    assert_int_equal(out.count, 1);
    fdl_ancestors_of_child(ID_B, INT64_MAX - 1, &full, &out);
    assert_int_equal(out.count, FDL_ANCESTORS_LIMIT);
    fdl_ancestors_of_child(ID_B, INT64_MAX, &full, &out);
    assert_int_equal(out.count, 0);
    assert_int_equal(fdl_ancestor_seq(INT64_MAX, FDL_ANCESTORS_LIMIT - 1), INT64_C(7) << 60);
    assert_int_equal(fdl_ancestor_seq(INT64_MAX, FDL_ANCESTORS_LIMIT), 0);
    assert_int_equal(fdl_ancestor_seq(0, 0), 0);
    assert_int_equal(fdl_ancestor_seq(INT64_MIN, 0), 0);
}

static void the_field_is_written_behind_the_parents_and_read_back(void **state) {
    (void)state;
    lake l = {0};
    fdl_version version = {0}, again = {0};
    char *text = lake_version_text(ID_B, ID_A, 600), *bytes = NULL;
    size_t length = 0;
    assert_null(strstr(text, "ancestors"));
    expect(&l, FDL_OK, fdl_version_parse(text, strlen(text), ID_B, &version, &l.error));
    assert_int_equal(version.ancestors.count, 0);
    version.ancestors.count = 2;
    memcpy(version.ancestors.ids[0], ID_C, FDL_ID_BYTES);
    memcpy(version.ancestors.ids[1], ID_D, FDL_ID_BYTES);
    expect(&l, FDL_OK, fdl_version_write(&version, &bytes, &length, &l.error));
    assert_non_null(strstr(bytes, "  \"parents\": [\"" ID_A "\"],\n"
                                  "  \"ancestors\": [\"" ID_C "\", \"" ID_D "\"],\n"
                                  "  \"created_at\""));
    expect(&l, FDL_OK, fdl_version_parse(bytes, length, ID_B, &again, &l.error));
    assert_int_equal(again.ancestors.count, 2);
    assert_string_equal(again.ancestors.ids[0], ID_C);
    assert_string_equal(again.ancestors.ids[1], ID_D);
    free(bytes);
    bytes = NULL;
    memcpy(version.ancestors.ids[1], "../../x", 8);
    expect(&l, FDL_FAILED, fdl_version_write(&version, &bytes, &length, &l.error));
    expect_message(&l, "ancestors");
    version.ancestors.count = FDL_ANCESTORS_LIMIT + 1;
    expect(&l, FDL_FAILED, fdl_version_write(&version, &bytes, &length, &l.error));
    expect_message(&l, "ancestors");
    assert_null(bytes);
    fdl_version_clear(&version);
    fdl_version_clear(&again);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_version_names_the_last_ancestors_that_powers_of_16_divide),
        cmocka_unit_test(what_the_parent_does_not_say_is_left_out),
        cmocka_unit_test(a_strangers_numbers_overflow_nothing),
        cmocka_unit_test(the_field_is_written_behind_the_parents_and_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
