/*
 * test_folder_durable.c - what a folder store sends to the disk, and when: the
 * bytes before they have a name, the name's folder after, and every folder above
 * once.
 *
 * The system calls are the real ones; this program stands before them and writes
 * down their order.
 */
#define _GNU_SOURCE 1
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fdl/store.h"
#include "support/support.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/text.h"

static char *root;
static fdl_buf calls; /* "sync:<path> name:<path> ...", paths from the root */
static fdl_error error;

static void write_down(const char *what, const char *path) {
    size_t length = root ? strlen(root) : 0;
    bool inside = root && strncmp(path, root, length) == 0;
    const char *shown = inside ? path + length : path;
    if (strstr(shown, "/.fdl/tmp/put."))
        shown = "TEMP";
    fdl_buf_add_format(&calls, &error, "%s%s:%s", calls.length ? " " : "", what, shown);
}

/* ---- before the system's calls ---------------------------------------------- */

int fsync(int fd) {
    char link[64];
    char path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    write_down("sync", path);
    return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to) {
    write_down("name", to);
    return (int)syscall(SYS_renameat2, -100, from, -100, to, 0); /* -100: AT_FDCWD */
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags) {
    write_down("name", to);
    return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}

/* ---- the tests -------------------------------------------------------------- */

static int set_up(void **state) {
    fdl_store *store = NULL;
    root = test_scratch_make();
    expect_ok(fdl_store_open_folder(NULL, root, &store, &error), &error);
    fdl_buf_init(&calls, 1 << 16);
    *state = store;
    return 0;
}

static int tear_down(void **state) {
    fdl_store_free(*state);
    test_scratch_drop(root);
    root = NULL;
    fdl_buf_clear(&calls);
    return 0;
}

static void put(fdl_store *store, const char *key, fdl_condition_kind kind) {
    fdl_source source = {.bytes = key, .length_bytes = strlen(key)};
    fdl_condition condition = {.kind = kind};
    expect_ok(fdl_store_put(store, key, &source, condition, NULL, &error), &error);
}

/* Fails unless the calls since the last time are these. */
static void expect_calls(const char *wanted) {
    assert_string_equal(calls.data ? calls.data : "", wanted);
    fdl_buf_clear(&calls);
}

/* The folders are there, so that nothing but the put itself is seen. */
static void prepare(fdl_store *store) {
    put(store, "a/b/first", FDL_ALWAYS);
    fdl_buf_clear(&calls);
}

/* The same, and the store knows "a/b" well, which it does not while it is very young. */
static void prepare_well(fdl_store *store) {
    for (int tries = 0; tries < 100000; tries++) {
        fdl_buf_clear(&calls);
        put(store, "a/b/first", FDL_ALWAYS);
        if (fdl_str_ends(calls.data, "sync:/a/b")) {
            fdl_buf_clear(&calls);
            return;
        }
    }
    fail_msg("the file system below '%s' does not tell when a folder was born", root);
}

static void test_bytes_reach_the_disk_before_their_name_and_the_name_before_the_answer(void **state) {
    prepare(*state);
    put(*state, "a/x", FDL_IF_ABSENT);
    expect_calls("sync:TEMP name:/a/x sync:/a sync:");
    put(*state, "y", FDL_IF_ABSENT);
    expect_calls("sync:TEMP name:/y sync:");
    put(*state, "y", FDL_ALWAYS);
    expect_calls("sync:TEMP name:/y sync:");
}

static void test_a_given_file_reaches_the_disk_before_it_is_renamed(void **state) {
    fdl_store *store = *state;
    char *folder = NULL;
    prepare(store);
    expect_ok(fdl_store_place(store, &folder, &error), &error);
    char *path = test_path(folder, "put.x.tmp");
    fdl_source source = {.path = path, .given = true};
    expect_ok(fdl_file_write(path, "bytes", 5, &error), &error);
    fdl_buf_clear(&calls);
    expect_ok(fdl_store_put(store, "a/x", &source, (fdl_condition){.kind = FDL_IF_ABSENT}, NULL, &error), &error);
    expect_calls("sync:TEMP name:/a/x sync:/a sync:");
    assert_false(fdl_file_exists(path));
    free(path);
    free(folder);
}

static void test_a_folder_made_by_somebody_else_is_synced_with_all_above(void **state) {
    prepare(*state);
    char *path = test_path(root, "a/b/c/d");
    char *parent = test_path(root, "a/b/c");
    assert_int_equal(mkdir(parent, 0777), 0);
    assert_int_equal(mkdir(path, 0777), 0);
    put(*state, "a/b/c/d/x", FDL_IF_ABSENT);
    expect_calls("sync:TEMP name:/a/b/c/d/x sync:/a/b/c/d sync:/a/b/c sync:/a/b sync:/a sync:");
    free(path);
    free(parent);
}

static void test_the_folders_above_are_synced_once(void **state) {
    prepare_well(*state);
    put(*state, "a/b/x", FDL_IF_ABSENT);
    put(*state, "a/b/y", FDL_ALWAYS);
    expect_calls("sync:TEMP name:/a/b/x sync:/a/b sync:TEMP name:/a/b/y sync:/a/b");
    expect_ok(fdl_store_remove(*state, "a/b/x", (fdl_condition){.kind = FDL_ALWAYS}, &error), &error);
    expect_calls("sync:/a/b");
    expect_ok(fdl_store_sync(*state, "a/b/y", &error), &error);
    expect_calls("sync:/a/b/y sync:/a/b");
}

static void test_a_folder_made_anew_is_another_one(void **state) {
    fdl_store *store = *state;
    prepare_well(store);
    fdl_store *other = NULL;
    expect_ok(fdl_store_open_folder(NULL, root, &other, &error), &error);
    expect_ok(fdl_store_remove(other, "a/b/first", (fdl_condition){.kind = FDL_ALWAYS}, &error), &error);
    put(other, "a", FDL_IF_ABSENT); /* takes the empty folders away */
    expect_ok(fdl_store_remove(other, "a", (fdl_condition){.kind = FDL_ALWAYS}, &error), &error);
    put(other, "a/b/second", FDL_IF_ABSENT);
    fdl_store_free(other);
    fdl_buf_clear(&calls);
    put(store, "a/b/third", FDL_IF_ABSENT);
    expect_calls("sync:TEMP name:/a/b/third sync:/a/b sync:/a sync:");
}

static void test_sync_makes_a_file_written_past_the_store_durable(void **state) {
    prepare(*state);
    char *folder = test_path(root, "data/main/t");
    char *path = test_path(folder, "x.parquet");
    expect_ok(fdl_folder_make(folder, &error), &error);
    expect_ok(fdl_file_write(path, "bytes", 5, &error), &error);
    fdl_buf_clear(&calls);
    expect_ok(fdl_store_sync(*state, "data/main/t/x.parquet", &error), &error);
    expect_calls("sync:/data/main/t/x.parquet sync:/data/main/t sync:/data/main sync:/data sync:");
    free(folder);
    free(path);
}

static void test_new_folders_are_synced_from_their_parents(void **state) {
    (void)state;
    char *path = test_path(root, "n/m");
    expect_ok(fdl_folder_make(path, &error), &error);
    expect_calls("sync: sync:/n");
    free(path);
}

static void test_a_written_file_reaches_the_disk_before_its_name(void **state) {
    (void)state;
    char *path = test_path(root, "file");
    expect_ok(fdl_file_write(path, "x", 1, &error), &error);
    assert_non_null(strstr(calls.data, ".tmp name:/file sync:"));
    free(path);
}

#define own_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        own_test(test_bytes_reach_the_disk_before_their_name_and_the_name_before_the_answer),
        own_test(test_a_given_file_reaches_the_disk_before_it_is_renamed),
        own_test(test_a_folder_made_by_somebody_else_is_synced_with_all_above),
        own_test(test_the_folders_above_are_synced_once),
        own_test(test_a_folder_made_anew_is_another_one),
        own_test(test_sync_makes_a_file_written_past_the_store_durable),
        own_test(test_new_folders_are_synced_from_their_parents),
        own_test(test_a_written_file_reaches_the_disk_before_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
