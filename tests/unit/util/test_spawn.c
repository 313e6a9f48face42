/*
 * test_spawn.c - other programs: what they print, how they end, what they read.
 */
#include <fcntl.h>
#include <unistd.h>

#include "support/support.h"
#include "util/file.h"
#include "util/spawn.h"

static fdl_error error;

static void run(const char *script, const char *input, fdl_spawned *out) {
    const char *const argv[] = {"sh", "-c", script, NULL};
    expect_ok(fdl_spawn(argv, input, out, &error), &error);
}

static void test_both_outputs_and_the_exit_code_come_back(void **state) {
    (void)state;
    fdl_spawned spawned;
    run("echo out; echo one >&2; echo two >&2; exit 3", NULL, &spawned);
    assert_int_equal(spawned.status, 3);
    assert_string_equal(spawned.output, "out\n");
    assert_string_equal(spawned.message, "one\ntwo");
    assert_string_equal(fdl_spawned_reason(&spawned), "two");
    fdl_spawned_clear(&spawned);
}

static void test_words_reach_the_program_as_they_are(void **state) {
    (void)state;
    fdl_spawned spawned;
    const char *const argv[] = {"printf", "%s|", "a b", "$(id)", "'", "", NULL};
    expect_ok(fdl_spawn(argv, NULL, &spawned, &error), &error);
    assert_string_equal(spawned.output, "a b|$(id)|'||");
    fdl_spawned_clear(&spawned);
}

static void test_its_input_is_the_file_given_or_ours(void **state) {
    (void)state;
    fdl_spawned spawned;
    char *folder = test_scratch_make();
    char *path = test_path(folder, "input");
    expect_ok(fdl_file_write(path, "hello", 5, &error), &error);
    run("cat", path, &spawned);
    assert_string_equal(spawned.output, "hello");
    fdl_spawned_clear(&spawned);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    close(fd);
    run("cat", NULL, &spawned);
    assert_string_equal(spawned.output, "hello");
    assert_string_equal(fdl_spawned_reason(&spawned), "");
    fdl_spawned_clear(&spawned);
    free(path);
    test_scratch_drop(folder);
}

static void test_output_beyond_the_limit_is_dropped_and_the_program_ends(void **state) {
    (void)state;
    fdl_spawned spawned;
    run("head -c 1000000 /dev/zero | tr '\\0' x; head -c 1000000 /dev/zero | tr '\\0' y >&2; exit 0", NULL, &spawned);
    assert_int_equal(spawned.status, 0);
    assert_int_equal(strlen(spawned.output), FDL_SPAWN_OUTPUT_LIMIT_BYTES);
    assert_int_equal(strlen(spawned.message), FDL_SPAWN_OUTPUT_LIMIT_BYTES);
    fdl_spawned_clear(&spawned);
}

static void test_a_killed_program_is_told_by_its_signal(void **state) {
    (void)state;
    fdl_spawned spawned;
    run("kill -KILL $$", NULL, &spawned);
    assert_int_equal(spawned.status, 128 + 9);
    fdl_spawned_clear(&spawned);
}

static void test_a_program_or_input_that_is_not_there_is_named(void **state) {
    (void)state;
    fdl_spawned spawned;
    const char *const missing[] = {"fdl-no-such-program", NULL};
    expect_code(FDL_NOT_FOUND, fdl_spawn(missing, NULL, &spawned, &error), &error);
    expect_said("cannot run 'fdl-no-such-program'", &error);
    fdl_spawned_clear(&spawned);
    const char *const there[] = {"cat", NULL};
    expect_code(FDL_NOT_FOUND, fdl_spawn(there, "/no/such/file", &spawned, &error), &error);
    expect_said("'/no/such/file'", &error);
    fdl_spawned_clear(&spawned);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_outputs_and_the_exit_code_come_back),
        cmocka_unit_test(test_words_reach_the_program_as_they_are),
        cmocka_unit_test(test_its_input_is_the_file_given_or_ours),
        cmocka_unit_test(test_output_beyond_the_limit_is_dropped_and_the_program_ends),
        cmocka_unit_test(test_a_killed_program_is_told_by_its_signal),
        cmocka_unit_test(test_a_program_or_input_that_is_not_there_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
