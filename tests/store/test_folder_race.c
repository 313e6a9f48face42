/*
 * test_folder_race.c - many processes on one folder: every round of a race has
 * one winner, no update is lost, and a process killed at any point leaves a
 * sound store behind and no lock.
 */
#define _GNU_SOURCE 1
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fdl/store.h"
#include "support/support.h"
#include "util/file.h"

#define PROCESSES 16

static char *root;

static int set_up(void **state) {
    (void)state;
    root = test_scratch_make();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_scratch_drop(root);
    return 0;
}

static const fdl_condition always = {.kind = FDL_ALWAYS};
static const fdl_condition if_absent = {.kind = FDL_IF_ABSENT};

static fdl_condition if_match(const fdl_object *seen) {
    return (fdl_condition){.kind = FDL_IF_MATCH, .etag = seen->etag};
}

static fdl_store *open_root(void) {
    fdl_store *store = NULL;
    fdl_error error;
    if (fdl_store_open_folder(NULL, root, &store, &error) != FDL_OK)
        print_error("%s\n", error.message);
    return store;
}

static fdl_code put_text(fdl_store *store, const char *key, const char *text, fdl_condition condition) {
    fdl_error error;
    fdl_source source = {.bytes = text, .length_bytes = strlen(text)};
    fdl_code code = fdl_store_put(store, key, &source, condition, NULL, &error);
    if (code != FDL_OK && code != FDL_CONFLICT)
        print_error("put %s: %s\n", key, error.message);
    return code;
}

/* The text at the key, cut to `room_bytes`. */
static fdl_code get_text(fdl_store *store, const char *key, char *room, size_t room_bytes, fdl_object *seen) {
    fdl_error error;
    char *bytes = NULL;
    size_t length;
    fdl_code code = fdl_store_read(store, key, room_bytes - 1, &bytes, &length, seen, &error);
    if (code == FDL_OK)
        memcpy(room, bytes, length + 1);
    else if (code != FDL_NOT_FOUND)
        print_error("get %s: %s\n", key, error.message);
    free(bytes);
    return code;
}

/* ---- compare and swap ---------------------------------------------------- */

#define ROUNDS 200

/* Round n is won by whoever turns n into n + 1. */
static int swap_until_the_end(void *data, int number) {
    atomic_int *wins = data;
    fdl_store *store = open_root();
    int failed = 0;
    (void)number;
    for (long n = 0; !failed && n < ROUNDS;) {
        char text[32];
        fdl_object seen;
        failed = get_text(store, "refs/heads/main", text, sizeof text, &seen) != FDL_OK;
        n = strtol(text, NULL, 10);
        if (failed || n >= ROUNDS)
            break;
        snprintf(text, sizeof text, "%ld", n + 1);
        fdl_code code = put_text(store, "refs/heads/main", text, if_match(&seen));
        if (code == FDL_OK)
            atomic_fetch_add(&wins[n], 1);
        failed = code != FDL_OK && code != FDL_CONFLICT;
    }
    fdl_store_free(store);
    return failed;
}

static void test_every_round_of_swaps_has_one_winner(void **state) {
    (void)state;
    atomic_int *wins = test_shared_make(ROUNDS * sizeof *wins);
    fdl_store *store = open_root();
    assert_int_equal(put_text(store, "refs/heads/main", "0", always), FDL_OK);
    test_in_processes(PROCESSES, swap_until_the_end, wins);
    for (int i = 0; i < ROUNDS; i++)
        assert_int_equal(wins[i], 1);
    fdl_store_free(store);
    test_shared_drop(wins, ROUNDS * sizeof *wins);
}

/* ---- creations, swaps and deletions together ------------------------------ */

/*
 * Every value is written once in the whole test, and each operation that takes
 * effect uses up the value it saw.  If all of them happened one after the other,
 * each value but the last was used up exactly once; a lost update leaves one
 * unused, a double win uses one twice.
 */
#define VALUES_EACH 200

typedef struct history {
    atomic_int made[PROCESSES * VALUES_EACH];
    atomic_int used[PROCESSES * VALUES_EACH];
} history;

static int step(fdl_store *store, history *h, int value) {
    char text[32];
    fdl_object seen;
    fdl_error error;
    fdl_code code = get_text(store, "key", text, sizeof text, &seen);
    long old = code == FDL_OK ? strtol(text, NULL, 10) : -1;
    bool delete = old >= 0 && value % 3 == 0;
    snprintf(text, sizeof text, "%d", value);
    if (delete)
        code = fdl_store_remove(store, "key", if_match(&seen), &error);
    else
        code = put_text(store, "key", text, old >= 0 ? if_match(&seen) : if_absent);
    if (code == FDL_OK && old >= 0)
        atomic_fetch_add(&h->used[old], 1);
    if (code == FDL_OK && !delete)
        atomic_fetch_add(&h->made[value], 1);
    return code != FDL_OK && code != FDL_CONFLICT;
}

static int make_history(void *data, int number) {
    fdl_store *store = open_root();
    int failed = 0;
    for (int i = 0; !failed && i < VALUES_EACH; i++)
        failed = step(store, data, number * VALUES_EACH + i);
    fdl_store_free(store);
    return failed;
}

static void test_creations_swaps_and_deletions_happen_one_after_the_other(void **state) {
    (void)state;
    history *h = test_shared_make(sizeof *h);
    test_in_processes(PROCESSES, make_history, h);
    char text[32] = "-1";
    fdl_object seen;
    fdl_store *store = open_root();
    get_text(store, "key", text, sizeof text, &seen);
    long last = strtol(text, NULL, 10);
    for (int i = 0; i < PROCESSES * VALUES_EACH; i++)
        assert_int_equal(h->used[i], i == last ? 0 : h->made[i]);
    fdl_store_free(store);
    test_shared_drop(h, sizeof *h);
}

/*
 * Process 0 puts "n:0" without a condition; all others turn "n:k" into "n:k+1"
 * with one.  One that acts on what he saw before "n:0" would bring n-1 back.
 */
static int insist_or_follow(void *data, int number) {
    atomic_bool *over = data;
    fdl_store *store = open_root();
    int failed = 0;
    char text[32];
    fdl_object seen;
    for (int n = 1; number == 0 && !failed && n <= 150; n++) {
        snprintf(text, sizeof text, "%d:0", n);
        failed = put_text(store, "key", text, always) != FDL_OK ||
                 get_text(store, "key", text, sizeof text, &seen) != FDL_OK || strtol(text, NULL, 10) != n;
        if (failed)
            print_error("%d was put, then '%s' was there\n", n, text);
    }
    if (number == 0)
        atomic_store(over, true);
    while (number != 0 && !failed && !atomic_load(over)) {
        char *colon;
        failed = get_text(store, "key", text, sizeof text, &seen) != FDL_OK;
        long n = strtol(text, &colon, 10);
        snprintf(text, sizeof text, "%ld:%ld", n, strtol(colon + 1, NULL, 10) + 1);
        fdl_code code = failed ? FDL_OK : put_text(store, "key", text, if_match(&seen));
        failed = failed || (code != FDL_OK && code != FDL_CONFLICT);
    }
    fdl_store_free(store);
    return failed;
}

static void test_an_unconditional_put_is_not_undone_by_a_swap(void **state) {
    (void)state;
    atomic_bool *over = test_shared_make(sizeof *over);
    fdl_store *store = open_root();
    assert_int_equal(put_text(store, "key", "0:0", always), FDL_OK);
    test_in_processes(6, insist_or_follow, over);
    fdl_store_free(store);
    test_shared_drop(over, sizeof *over);
}

/* ---- folders that come and go ---------------------------------------------- */

/* Half of them make and delete "a/b/c", half "a": each is told yes or conflict, never anything else. */
static int make_and_delete(void *data, int number) {
    fdl_store *store = open_root();
    const char *key = number % 2 ? "a" : "a/b/c";
    int failed = 0;
    for (int i = 0; !failed && i < 150; i++) {
        fdl_error error;
        fdl_code code = put_text(store, key, key, i % 3 ? if_absent : always);
        if (code == FDL_OK)
            atomic_fetch_add(&((atomic_int *)data)[number % 2], 1);
        failed = code != FDL_OK && code != FDL_CONFLICT;
        if (fdl_store_remove(store, key, always, &error) != FDL_OK) {
            print_error("remove %s: %s\n", key, error.message);
            failed = 1;
        }
    }
    fdl_store_free(store);
    return failed;
}

static void test_keys_that_stand_in_each_others_way_get_a_clear_answer(void **state) {
    (void)state;
    atomic_int *made = test_shared_make(2 * sizeof *made);
    test_in_processes(8, make_and_delete, made);
    assert_true(made[0] > 0);
    assert_true(made[1] > 0);
    test_shared_drop(made, 2 * sizeof *made);
}

/* ---- a sudden end ----------------------------------------------------------- */

/* Objects that tell whether they are whole: n times `unit` bytes of the nth letter. */
static fdl_code put_whole(fdl_store *store, const char *key, size_t unit, int n, fdl_condition condition) {
    fdl_error error;
    size_t length = unit * (size_t)n;
    char *bytes = malloc(length);
    if (!bytes)
        return FDL_FAILED;
    memset(bytes, 'a' + n, length);
    fdl_source source = {.bytes = bytes, .length_bytes = length};
    fdl_code code = fdl_store_put(store, key, &source, condition, NULL, &error);
    free(bytes);
    return code;
}

#define SMALL_UNIT 1000
#define LARGE_UNIT 150000

/* Writes for ever, telling before each operation. */
static void write_for_ever(int pipe) {
    fdl_store *store = open_root();
    for (int i = 0;; i++) {
        char key[32];
        fdl_error error;
        fdl_object seen;
        int n = 1 + i % 20;
        if (write(pipe, "x", 1) != 1)
            _exit(1);
        snprintf(key, sizeof key, "new/%d/small", i % 50);
        if (i % 5 == 0)
            fdl_store_remove(store, key, always, &error);
        else if (i % 5 == 1)
            put_whole(store, key, SMALL_UNIT, n, if_absent);
        else if (i % 5 == 2)
            put_whole(store, "always/small", SMALL_UNIT, n, always);
        else if (i % 5 == 3)
            put_whole(store, "always/large", LARGE_UNIT, n, always);
        else if (fdl_store_head(store, "swapped/small", &seen, &error) == FDL_OK)
            put_whole(store, "swapped/small", SMALL_UNIT, n, if_match(&seen));
        else
            put_whole(store, "swapped/small", SMALL_UNIT, n, if_absent);
    }
}

static fdl_code check_whole(void *data, const fdl_entry *entry, fdl_error *error) {
    size_t unit = strstr(entry->key, "large") ? LARGE_UNIT : SMALL_UNIT;
    char *bytes = NULL;
    size_t length;
    fdl_code code = fdl_store_read(data, entry->key, 26 * unit, &bytes, &length, NULL, error);
    if (code != FDL_OK)
        return code;
    bool whole = length > 0 && length == unit * (size_t)(bytes[0] - 'a');
    for (size_t i = 0; whole && i < length; i++)
        whole = bytes[i] == bytes[0];
    free(bytes);
    return whole ? FDL_OK : fdl_fail(error, FDL_FAILED, entry->key, "'%s' is not whole", entry->key);
}

/* Kills a writer in its `operations`th operation or soon after, wherever it is in it. */
static void kill_a_writer(int operations, int delay) {
    int ends[2];
    char byte;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        write_for_ever(ends[1]);
    close(ends[1]);
    for (int i = 0; i < operations; i++)
        assert_int_equal(read(ends[0], &byte, 1), 1);
    for (volatile int i = 0; i < delay; i++)
        ;
    assert_int_equal(kill(child, SIGKILL), 0);
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_a_killed_writer_leaves_whole_objects_and_no_lock(void **state) {
    (void)state;
    uint32_t chance = 2463534242u;
    fdl_error error;
    char *lock_path = test_path(root, ".fdl/lock");
    for (int round = 0; round < 60; round++) {
        chance ^= chance << 13;
        chance ^= chance >> 17;
        chance ^= chance << 5;
        kill_a_writer(6 + (int)(chance % 23), (int)(chance % 400000));

        int lock;
        fdl_store *store = open_root();
        expect_ok(fdl_lock_take(lock_path, 0, &lock, &error), &error);
        fdl_lock_release(lock);
        expect_ok(fdl_store_list(store, "", FDL_ALL_LEVELS, check_whole, store, &error), &error);
        assert_int_equal(put_whole(store, "always/small", SMALL_UNIT, 3, always), FDL_OK);
        assert_int_equal(put_whole(store, "always/large", LARGE_UNIT, 3, always), FDL_OK);
        fdl_store_free(store);
    }
    free(lock_path);
}

#define own_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        own_test(test_every_round_of_swaps_has_one_winner),
        own_test(test_creations_swaps_and_deletions_happen_one_after_the_other),
        own_test(test_an_unconditional_put_is_not_undone_by_a_swap),
        own_test(test_keys_that_stand_in_each_others_way_get_a_clear_answer),
        own_test(test_a_killed_writer_leaves_whole_objects_and_no_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
