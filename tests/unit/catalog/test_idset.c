/*
 * test_idset.c - sets of ids.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "catalog/idset.h"

static void has_what_was_added_and_nothing_else(void **state) {
    (void)state;
    fdl_idset set = {0};
    fdl_error error;
    assert_false(fdl_idset_has(&set, 0));
    for (int64_t i = 0; i < 10000; i++)
        assert_int_equal(fdl_idset_add(&set, i * 3, NULL, &error), FDL_OK);
    for (int64_t i = -5; i < 30005; i++)
        assert_int_equal(fdl_idset_has(&set, i), i >= 0 && i < 30000 && i % 3 == 0);
    assert_int_equal(set.count, 10000);
    fdl_idset_clear(&set);
}

static void tells_what_is_new(void **state) {
    (void)state;
    fdl_idset set = {0};
    fdl_error error;
    bool is_new = false;
    static const int64_t ids[] = {0, -1, INT64_MIN, INT64_MAX, 64, 128};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        assert_int_equal(fdl_idset_add(&set, ids[i], &is_new, &error), FDL_OK);
        assert_true(is_new);
        assert_int_equal(fdl_idset_add(&set, ids[i], &is_new, &error), FDL_OK);
        assert_false(is_new);
    }
    fdl_idset_clear(&set);
}

static void does_not_remember_an_answer_that_adding_changed(void **state) {
    (void)state;
    fdl_idset set = {0};
    fdl_error error;
    assert_false(fdl_idset_has(&set, 7));
    assert_int_equal(fdl_idset_add(&set, 7, NULL, &error), FDL_OK);
    assert_true(fdl_idset_has(&set, 7));
    fdl_idset_clear(&set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_what_was_added_and_nothing_else),
        cmocka_unit_test(tells_what_is_new),
        cmocka_unit_test(does_not_remember_an_answer_that_adding_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
