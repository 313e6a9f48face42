/*
 * test_map.c - strings to numbers.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "util/map.h"

static void what_was_put_is_found_with_its_value(void **state) {
    (void)state;
    fdl_map map = {0};
    fdl_error error;
    char key[32];
    for (uint64_t i = 0; i < 10000; i++) {
        snprintf(key, sizeof key, "key %llu", (unsigned long long)(i * 7919 % 10000));
        assert_int_equal(fdl_map_put(&map, key, i * 7919 % 10000, &error), FDL_OK);
    }
    assert_int_equal(map.count, 10000);
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t value = 0;
        snprintf(key, sizeof key, "key %llu", (unsigned long long)i);
        assert_true(fdl_map_get(&map, key, &value));
        assert_int_equal(value, i);
    }
    assert_false(fdl_map_get(&map, "key 10000", NULL));
    assert_false(fdl_map_get(&map, "", NULL));
    fdl_map_clear(&map);
}

static void a_key_put_again_keeps_one_place_and_the_last_value(void **state) {
    (void)state;
    fdl_map map = {0};
    fdl_error error;
    uint64_t value = 0;
    assert_int_equal(fdl_map_put(&map, "a", 1, &error), FDL_OK);
    assert_int_equal(fdl_map_put(&map, "a", 2, &error), FDL_OK);
    assert_int_equal(map.count, 1);
    assert_true(fdl_map_get(&map, "a", &value));
    assert_int_equal(value, 2);
    fdl_map_clear(&map);
    assert_int_equal(map.count, 0);
    assert_false(fdl_map_get(&map, "a", NULL));
}

static void keys_are_copied(void **state) {
    (void)state;
    fdl_map map = {0};
    fdl_error error;
    char key[] = "first";
    assert_int_equal(fdl_map_put(&map, key, 1, &error), FDL_OK);
    key[0] = 'F';
    assert_true(fdl_map_get(&map, "first", NULL));
    assert_false(fdl_map_get(&map, key, NULL));
    fdl_map_clear(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found_with_its_value),
        cmocka_unit_test(a_key_put_again_keeps_one_place_and_the_last_value),
        cmocka_unit_test(keys_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
