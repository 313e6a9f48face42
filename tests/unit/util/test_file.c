/*
 * test_file.c - files that are there whole or not at all, folders, paths, and
 * locks that die with their holder.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/support.h"
#include "util/file.h"

static fdl_error error;
static char *scratch;

static int set_up(void **state) {
    (void)state;
    scratch = test_scratch_make();
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_scratch_drop(scratch);
    return 0;
}

static void write_text(const char *path, const char *text) {
    expect_ok(fdl_file_write(path, text, strlen(text), &error), &error);
}

static void expect_text(const char *path, const char *text) {
    char *bytes = NULL;
    size_t length;
    expect_ok(fdl_file_read(path, 1 << 20, &bytes, &length, &error), &error);
    assert_string_equal(bytes, text);
    assert_int_equal(length, strlen(text));
    free(bytes);
}

static size_t count_names(const char *folder) {
    size_t count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count - 2; /* "." and ".." */
}

/* ---- errors --------------------------------------------------------------- */

static void test_errors_say_what_where_and_why_in_lower_case(void **state) {
    (void)state;
    assert_int_equal(fdl_file_error(&error, "write", "/x/y", ENOSPC), FDL_FAILED);
    assert_string_equal(error.message, "cannot write '/x/y': no space left on device");
    assert_string_equal(error.key, "/x/y");
    assert_int_equal(fdl_file_error(&error, "read", "/x", EACCES), FDL_DENIED);
    assert_string_equal(error.message, "cannot read '/x': permission denied");
    assert_int_equal(fdl_file_error(&error, "read", "/x", EIO), FDL_FAILED);
    assert_string_equal(error.message, "cannot read '/x': input/output error");
    assert_int_equal(fdl_file_error(&error, "read", "/x", ENOENT), FDL_NOT_FOUND);
    assert_int_equal(fdl_file_error(&error, "read", "/x", ENOTDIR), FDL_NOT_FOUND);
    assert_int_equal(fdl_file_error(&error, "write", "/x", EROFS), FDL_DENIED);
    assert_int_equal(fdl_file_error(&error, "write", "/x", EPERM), FDL_DENIED);
    assert_int_equal(fdl_file_error(&error, "write", "/x", 99999), FDL_FAILED);
}

/* ---- whole files ----------------------------------------------------------- */

static void test_a_written_file_is_read_back_and_replaced_whole(void **state) {
    (void)state;
    char *path = test_path(scratch, "file");
    write_text(path, "one");
    expect_text(path, "one");
    write_text(path, "");
    expect_text(path, "");
    write_text(path, "three");
    expect_text(path, "three");
    assert_int_equal(count_names(scratch), 1);
    free(path);
}

static void test_a_written_file_has_the_rights_the_user_wants(void **state) {
    (void)state;
    char *path = test_path(scratch, "file");
    struct stat info;
    mode_t before = umask(027);
    write_text(path, "x");
    umask(before);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    free(path);
}

static void test_a_write_that_fails_leaves_what_was_there_and_no_more(void **state) {
    (void)state;
    char *folder = test_path(scratch, "folder");
    expect_ok(fdl_folder_make(folder, &error), &error);
    expect_code(FDL_FAILED, fdl_file_write(folder, "x", 1, &error), &error);
    expect_said(folder, &error);
    assert_int_equal(count_names(scratch), 1);
    char *nowhere = test_path(scratch, "no/folder");
    expect_code(FDL_NOT_FOUND, fdl_file_write(nowhere, "x", 1, &error), &error);
    free(nowhere);
    free(folder);
}

static void test_a_reader_sees_the_old_file_or_the_new(void **state) {
    (void)state;
    char *path = test_path(scratch, "file");
    write_text(path, "old");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    write_text(path, "new and longer");
    char bytes[20];
    assert_int_equal(read(fd, bytes, sizeof bytes), 3);
    assert_memory_equal(bytes, "old", 3);
    close(fd);
    free(path);
}

static void test_a_read_has_a_limit(void **state) {
    (void)state;
    char *path = test_path(scratch, "file");
    char *bytes = NULL;
    size_t length;
    write_text(path, "12345");
    expect_ok(fdl_file_read(path, 5, &bytes, &length, &error), &error);
    free(bytes);
    expect_code(FDL_REFUSED, fdl_file_read(path, 4, &bytes, &length, &error), &error);
    expect_said(path, &error);
    expect_code(FDL_FAILED, fdl_file_read(scratch, 4, &bytes, &length, &error), &error);
    expect_code(FDL_REFUSED, fdl_file_read("/dev/zero", 100000, &bytes, &length, &error), &error);
    free(path);
}

static void test_a_copy_is_whole_and_replaces_nothing(void **state) {
    (void)state;
    enum { SIZE = 3000001 };
    char *from = test_path(scratch, "from");
    char *to = test_path(scratch, "to");
    char *bytes = malloc(SIZE);
    char *copy = NULL;
    size_t length;
    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * 31 >> 3);
    expect_ok(fdl_file_write(from, bytes, SIZE, &error), &error);
    expect_ok(fdl_file_copy(from, to, &error), &error);
    expect_ok(fdl_file_read(to, SIZE, &copy, &length, &error), &error);
    assert_int_equal(length, SIZE);
    assert_memory_equal(copy, bytes, SIZE);
    free(copy);
    free(bytes);

    write_text(from, "other");
    expect_code(FDL_CONFLICT, fdl_file_copy(from, to, &error), &error);
    expect_said(to, &error);
    uint64_t size;
    expect_ok(fdl_file_size(to, &size, &error), &error);
    assert_int_equal(size, SIZE);
    assert_int_equal(count_names(scratch), 2);
    free(from);
    free(to);
}

static void test_a_file_of_the_kernel_is_copied_too(void **state) {
    (void)state;
    char *to = test_path(scratch, "to");
    char *from_bytes = NULL;
    size_t length;
    expect_ok(fdl_file_copy("/proc/version", to, &error), &error); /* says it has 0 bytes */
    expect_ok(fdl_file_read("/proc/version", 10000, &from_bytes, &length, &error), &error);
    expect_text(to, from_bytes);
    free(from_bytes);
    free(to);
}

static void test_a_missing_source_makes_no_copy(void **state) {
    (void)state;
    char *from = test_path(scratch, "from");
    char *to = test_path(scratch, "to");
    expect_code(FDL_NOT_FOUND, fdl_file_copy(from, to, &error), &error);
    expect_said(from, &error);
    assert_int_equal(count_names(scratch), 0);
    free(from);
    free(to);
}

static void test_rename_size_exists_and_remove(void **state) {
    (void)state;
    char *a = test_path(scratch, "a");
    char *b = test_path(scratch, "b");
    uint64_t size;
    write_text(a, "aa");
    write_text(b, "b");
    expect_ok(fdl_file_rename(a, b, &error), &error);
    expect_text(b, "aa");
    assert_false(fdl_file_exists(a));
    assert_true(fdl_file_exists(b));
    expect_ok(fdl_file_size(b, &size, &error), &error);
    assert_int_equal(size, 2);
    expect_ok(fdl_file_sync(b, &error), &error);
    expect_ok(fdl_file_remove(b, &error), &error);
    expect_ok(fdl_file_remove(b, &error), &error);
    expect_code(FDL_NOT_FOUND, fdl_file_size(b, &size, &error), &error);
    expect_code(FDL_NOT_FOUND, fdl_file_rename(a, b, &error), &error);
    expect_code(FDL_NOT_FOUND, fdl_file_sync(b, &error), &error);
    free(a);
    free(b);
}

/* ---- folders ---------------------------------------------------------------- */

static void test_a_folder_is_made_with_its_parents_once_or_twice(void **state) {
    (void)state;
    char *path = test_path(scratch, "a/b/c");
    expect_ok(fdl_folder_make(path, &error), &error);
    expect_ok(fdl_folder_make(path, &error), &error);
    expect_ok(fdl_folder_sync(path, &error), &error);
    char *file = test_path(scratch, "a/file");
    char *below = test_path(scratch, "a/file/x/y");
    write_text(file, "x");
    expect_code(FDL_NOT_FOUND, fdl_folder_make(file, &error), &error);
    expect_said("not a directory", &error);
    expect_code(FDL_NOT_FOUND, fdl_folder_make(below, &error), &error);
    free(path);
    free(file);
    free(below);
}

static int make_same_folder(void *path, int number) {
    (void)number;
    fdl_error problem;
    return fdl_folder_make(path, &problem) != FDL_OK;
}

static void test_many_processes_may_make_the_same_folder(void **state) {
    (void)state;
    char *path = test_path(scratch, "1/2/3/4/5/6/7/8");
    test_in_processes(8, make_same_folder, path);
    assert_true(fdl_file_exists(path));
    free(path);
}

static void test_a_folder_is_removed_with_all_in_it_and_nothing_behind_links(void **state) {
    (void)state;
    char *kept = test_path(scratch, "kept");
    char *kept_file = test_path(scratch, "kept/file");
    char *gone = test_path(scratch, "gone");
    char *deep = test_path(scratch, "gone/a/b/c");
    char *file = test_path(scratch, "gone/a/file");
    char *link = test_path(scratch, "gone/a/link");
    char *dangling = test_path(scratch, "gone/dangling");
    expect_ok(fdl_folder_make(kept, &error), &error);
    write_text(kept_file, "x");
    expect_ok(fdl_folder_make(deep, &error), &error);
    write_text(file, "x");
    assert_int_equal(symlink(kept, link), 0);
    assert_int_equal(symlink("nowhere", dangling), 0);
    expect_ok(fdl_folder_remove(gone, &error), &error);
    assert_false(fdl_file_exists(gone));
    expect_text(kept_file, "x");
    expect_ok(fdl_folder_remove(gone, &error), &error);

    /* A link in the folder's own place is not gone through either. */
    assert_int_equal(symlink(kept, gone), 0);
    assert_int_not_equal(fdl_folder_remove(gone, &error), FDL_OK);
    expect_text(kept_file, "x");
    char *all[] = {kept, kept_file, gone, deep, file, link, dangling};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* ---- paths ------------------------------------------------------------------ */

static void expect_absolute(const char *path, const char *wanted) {
    char *got = NULL;
    expect_ok(fdl_path_absolute(path, &got, &error), &error);
    assert_string_equal(got, wanted);
    free(got);
}

static void test_paths_become_absolute_and_plain(void **state) {
    (void)state;
    expect_absolute("/", "/");
    expect_absolute("//", "/");
    expect_absolute("/..", "/");
    expect_absolute("/a/../..", "/");
    expect_absolute("/a", "/a");
    expect_absolute("/a/", "/a");
    expect_absolute("/a//b/./c/../d/.", "/a/b/d");
    expect_absolute("/a/...", "/a/...");
    expect_absolute("/a/..b/.c", "/a/..b/.c");

    char *here = getcwd(NULL, 0);
    char *below = test_path(here, "x/y");
    expect_absolute(".", here);
    expect_absolute("x/y", below);
    expect_absolute("./z/../x//y/", below);
    free(below);
    free(here);
    char *got = NULL;
    expect_code(FDL_USAGE, fdl_path_absolute("", &got, &error), &error);
}

static void test_the_folder_of_a_path(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"/a/b", "/a"}, {"/a", "/"}, {"/", "/"}, {"a", "."}, {"a/b", "a"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        char *got = NULL;
        expect_ok(fdl_path_folder(pairs[i][0], &got, &error), &error);
        assert_string_equal(got, pairs[i][1]);
        free(got);
    }
}

/* ---- locks ------------------------------------------------------------------ */

static void test_a_lock_is_held_by_one_and_named_to_the_others(void **state) {
    (void)state;
    char *path = test_path(scratch, "lock");
    int first;
    int second;
    expect_ok(fdl_lock_take(path, 0, &first, &error), &error);
    expect_code(FDL_BUSY, fdl_lock_take(path, 0, &second, &error), &error);
    expect_said(path, &error);
    expect_code(FDL_BUSY, fdl_lock_take(path, 30, &second, &error), &error);
    fdl_lock_release(first);
    expect_ok(fdl_lock_take(path, 0, &second, &error), &error);
    fdl_lock_release(second);
    free(path);
}

static void *take_patiently(void *path) {
    static fdl_error problem;
    int lock;
    if (fdl_lock_take(path, 60000, &lock, &problem) != FDL_OK)
        return &problem;
    fdl_lock_release(lock);
    return NULL;
}

static void test_who_waits_gets_the_lock_when_it_is_free(void **state) {
    (void)state;
    char *path = test_path(scratch, "lock");
    int lock;
    pthread_t waiting;
    void *result;
    expect_ok(fdl_lock_take(path, 0, &lock, &error), &error);
    assert_int_equal(pthread_create(&waiting, NULL, take_patiently, path), 0);
    fdl_lock_release(lock);
    pthread_join(waiting, &result);
    assert_null(result);
    free(path);
}

static void test_a_lock_dies_with_its_process(void **state) {
    (void)state;
    char *path = test_path(scratch, "lock");
    int ends[2];
    int lock;
    int status;
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        fdl_error problem;
        if (fdl_lock_take(path, 0, &lock, &problem) == FDL_OK && write(ends[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    expect_code(FDL_BUSY, fdl_lock_take(path, 0, &lock, &error), &error);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    expect_ok(fdl_lock_take(path, 0, &lock, &error), &error);
    fdl_lock_release(lock);
    close(ends[0]);
    close(ends[1]);
    free(path);
}

/* How many files this process has open by that path. */
static int count_open(const char *path) {
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    struct dirent *entry;
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        char target[4096];
        ssize_t length = readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        count += strcmp(target, path) == 0;
    }
    closedir(dir);
    return count;
}

static void *take_for_a_moment(void *path) {
    static fdl_error problem;
    int lock;
    problem.code = fdl_lock_take(path, 300, &lock, &problem);
    if (problem.code == FDL_OK)
        fdl_lock_release(lock);
    return &problem;
}

/* Whoever waited for a file that was removed meanwhile holds nothing by getting it. */
static void test_a_removed_lock_file_does_not_let_two_in(void **state) {
    (void)state;
    char *path = test_path(scratch, "lock");
    int first;
    int second;
    pthread_t waiting;
    void *result;
    expect_ok(fdl_lock_take(path, 0, &first, &error), &error);
    assert_int_equal(pthread_create(&waiting, NULL, take_for_a_moment, path), 0);
    while (count_open(path) < 2)
        sched_yield();
    assert_int_equal(unlink(path), 0);
    expect_ok(fdl_lock_take(path, 0, &second, &error), &error);
    fdl_lock_release(first);
    pthread_join(waiting, &result);
    assert_int_equal(((fdl_error *)result)->code, FDL_BUSY);
    fdl_lock_release(second);
    free(path);
}

#define own_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        own_test(test_errors_say_what_where_and_why_in_lower_case),
        own_test(test_a_written_file_is_read_back_and_replaced_whole),
        own_test(test_a_written_file_has_the_rights_the_user_wants),
        own_test(test_a_write_that_fails_leaves_what_was_there_and_no_more),
        own_test(test_a_reader_sees_the_old_file_or_the_new),
        own_test(test_a_read_has_a_limit),
        own_test(test_a_copy_is_whole_and_replaces_nothing),
        own_test(test_a_file_of_the_kernel_is_copied_too),
        own_test(test_a_missing_source_makes_no_copy),
        own_test(test_rename_size_exists_and_remove),
        own_test(test_a_folder_is_made_with_its_parents_once_or_twice),
        own_test(test_many_processes_may_make_the_same_folder),
        own_test(test_a_folder_is_removed_with_all_in_it_and_nothing_behind_links),
        own_test(test_paths_become_absolute_and_plain),
        own_test(test_the_folder_of_a_path),
        own_test(test_a_lock_is_held_by_one_and_named_to_the_others),
        own_test(test_who_waits_gets_the_lock_when_it_is_free),
        own_test(test_a_lock_dies_with_its_process),
        own_test(test_a_removed_lock_file_does_not_let_two_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
