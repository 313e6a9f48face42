/*
 * test_folder.c - the store in a folder: the contract, and what is a folder's
 * own: its scratch, its spellings, its empty folders, links, and lack of rights.
 * Many processes at once are in test_folder_race.c.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/contract.h"
#include "util/buf.h"
#include "util/file.h"

/* ---- the place ----------------------------------------------------------- */

static char *root;
static fdl_error error;

static fdl_store *open_root(void *data) {
    (void)data;
    fdl_store *store = NULL;
    expect_ok(fdl_store_open_folder(NULL, root, &store, &error), &error);
    return store;
}

static fdl_store *open_fresh(void *data) {
    root = test_scratch_make();
    return open_root(data);
}

static void drop_root(void *data) {
    (void)data;
    test_scratch_drop(root);
    root = NULL;
}

static int set_up(void **state) {
    *state = open_fresh(NULL);
    return 0;
}

static int tear_down(void **state) {
    fdl_store_free(*state);
    drop_root(NULL);
    return 0;
}

static const fdl_condition always = {.kind = FDL_ALWAYS};
static const fdl_condition if_absent = {.kind = FDL_IF_ABSENT};

static fdl_source source_of(const char *text) {
    return (fdl_source){.bytes = text, .length_bytes = strlen(text)};
}

static void put(fdl_store *store, const char *key, const char *text, fdl_object *object) {
    fdl_source source = source_of(text);
    expect_ok(fdl_store_put(store, key, &source, always, object, &error), &error);
}

static void expect_text(fdl_store *store, const char *key, const char *text) {
    char *bytes = NULL;
    size_t length;
    expect_ok(fdl_store_read(store, key, 1 << 20, &bytes, &length, NULL, &error), &error);
    assert_string_equal(bytes, text);
    free(bytes);
}

static fdl_code count_entry(void *count, const fdl_entry *entry, fdl_error *problem) {
    (void)entry;
    (void)problem;
    ++*(int *)count;
    return FDL_OK;
}

static int count_keys(fdl_store *store, const char *prefix) {
    int count = 0;
    expect_ok(fdl_store_list(store, prefix, FDL_ALL_LEVELS, count_entry, &count, &error), &error);
    return count;
}

/* Whether a name stands in the root. */
static bool there(const char *name) {
    struct stat info;
    char *path = test_path(root, name);
    bool found = lstat(path, &info) == 0;
    free(path);
    return found;
}

static int count_temps(void) {
    char *tmp = test_path(root, ".fdl/tmp");
    fdl_store *store = NULL;
    expect_ok(fdl_store_open_folder(NULL, tmp, &store, &error), &error);
    int count = count_keys(store, "");
    fdl_store_free(store);
    free(tmp);
    return count;
}

/* ---- the scratch folder --------------------------------------------------- */

static void test_scratch_is_made_by_the_first_write_and_never_listed(void **state) {
    fdl_object object;
    assert_int_equal(fdl_store_head(*state, "a", &object, &error), FDL_NOT_FOUND);
    expect_ok(fdl_store_remove(*state, "a", always, &error), &error);
    assert_int_equal(count_keys(*state, ""), 0);
    assert_false(there(".fdl"));

    put(*state, "a", "x", NULL);
    assert_true(there(".fdl/lock"));
    assert_int_equal(count_keys(*state, ""), 1);
    assert_int_equal(count_keys(*state, ".f"), 0);
    assert_int_equal(count_keys(*state, ".fdl/"), 0);
    assert_int_equal(count_temps(), 0);
}

static void test_keys_in_the_scratch_folder_are_refused(void **state) {
    fdl_object object;
    fdl_source source = source_of("x");
    put(*state, "a", "x", NULL);
    expect_code(FDL_USAGE, fdl_store_head(*state, ".fdl/lock", &object, &error), &error);
    expect_code(FDL_USAGE, fdl_store_put(*state, ".fdl", &source, if_absent, NULL, &error), &error);
    expect_code(FDL_USAGE, fdl_store_put(*state, ".fdl/x", &source, always, NULL, &error), &error);
    expect_code(FDL_USAGE, fdl_store_remove(*state, ".fdl/lock", always, &error), &error);
    expect_code(FDL_USAGE, fdl_store_sync(*state, ".fdl/lock", &error), &error);
    put(*state, ".fdlx", "another name", NULL);
    put(*state, "a2/.fdl/x", "not the root's", NULL);
    assert_int_equal(count_keys(*state, ""), 3);
}

static void make_old(const char *path) {
    struct timespec times[2] = {{.tv_sec = time(NULL) - 2 * 24 * 60 * 60}, {.tv_sec = time(NULL) - 2 * 24 * 60 * 60}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_temporary_files_of_the_dead_are_swept_after_a_day(void **state) {
    put(*state, "a", "x", NULL);
    char *old = test_path(root, ".fdl/tmp/put.00000000.tmp");
    char *young = test_path(root, ".fdl/tmp/put.11111111.tmp");
    expect_ok(fdl_file_write(old, "half", 4, &error), &error);
    expect_ok(fdl_file_write(young, "half", 4, &error), &error);
    make_old(old);

    fdl_store *next = open_root(NULL); /* a store sweeps once */
    put(next, "a", "y", NULL);
    fdl_store_free(next);
    assert_false(fdl_file_exists(old));
    assert_true(fdl_file_exists(young));
    free(old);
    free(young);
}

/* ---- addresses ----------------------------------------------------------- */

static void expect_address(const char *given, const char *wanted) {
    fdl_store *store = NULL;
    expect_ok(fdl_store_open(NULL, given, &store, &error), &error);
    assert_string_equal(store->address, wanted);
    assert_string_equal(store->ops->kind, "folder");
    assert_true(store->can_list && store->local);
    fdl_store_free(store);
}

static void test_all_spellings_of_a_folder_are_one_address(void **state) {
    (void)state;
    expect_address("/srv/lake", "/srv/lake/");
    expect_address("/srv/lake/", "/srv/lake/");
    expect_address("//srv///lake//", "/srv/lake/");
    expect_address("/srv/./x/../lake/.", "/srv/lake/");
    expect_address("/", "/");
    expect_address("file:///srv/lake", "/srv/lake/");
    expect_address("file://localhost/srv/lake/", "/srv/lake/");
    expect_address("file:///srv/a%20lake%2f%E6%97%A5", "/srv/a lake/日/");

    char *here = getcwd(NULL, 0);
    char *wanted = test_path(here, "lake/");
    expect_address("lake", wanted);
    expect_address("./x/../lake/", wanted);
    free(wanted);
    wanted = test_path(here, "s3:lake/"); /* no slash, no scheme */
    expect_address("s3:lake", wanted);
    free(wanted);
    free(here);
}

static void test_what_is_no_address_is_refused(void **state) {
    (void)state;
    fdl_store *store = NULL;
    static const char *const addresses[] = {
        "",        "ftp://host/lake", "s3:/bucket/lake", "S3://bucket/lake", "file://host/lake",
        "file://", "file:///a%2",     "file:///a%00b"};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        expect_code(FDL_USAGE, fdl_store_open(NULL, addresses[i], &store, &error), &error);
}

static void test_a_missing_root_is_told_and_the_first_put_makes_it(void **state) {
    (void)state;
    fdl_object object;
    fdl_buf buf;
    fdl_store *store = NULL;
    int count = 0;
    char *path = test_path(root, "not/yet");
    fdl_buf_init(&buf, 100);
    expect_ok(fdl_store_open_folder(NULL, path, &store, &error), &error);
    expect_code(FDL_NOT_FOUND, fdl_store_head(store, "a", &object, &error), &error);
    expect_said(path, &error);
    expect_code(FDL_NOT_FOUND, fdl_store_get(store, "a", NULL, fdl_buf_sink, &buf, NULL, &error), &error);
    expect_said(path, &error);
    expect_code(FDL_NOT_FOUND, fdl_store_list(store, "", FDL_ALL_LEVELS, count_entry, &count, &error), &error);
    expect_said(path, &error);
    expect_ok(fdl_store_remove(store, "a", always, &error), &error);
    fdl_source source = source_of("x");
    fdl_condition match = {.kind = FDL_IF_MATCH, .etag = "seen"};
    expect_code(FDL_CONFLICT, fdl_store_put(store, "a", &source, match, NULL, &error), &error);
    assert_false(there("not"));
    expect_ok(fdl_store_put(store, "a", &source, if_absent, NULL, &error), &error);
    expect_text(store, "a", "x");
    fdl_store_free(store);
    free(path);
}

/* ---- ETags --------------------------------------------------------------- */

/* Writes over the file in place, as no store does, and gives it its old time back. */
static void tamper(const char *key, const char *text) {
    char *path = test_path(root, key);
    struct stat before;
    assert_int_equal(stat(path, &before), 0);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    struct timespec times[2] = {before.st_atim, before.st_mtim};
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
    free(path);
}

static void test_a_small_objects_etag_is_its_content(void **state) {
    fdl_object a;
    fdl_object b;
    fdl_object again;
    put(*state, "ref", "AAAA", &a);
    put(*state, "ref", "BBBB", &b);
    assert_string_not_equal(a.etag, b.etag);
    tamper("ref", "AAAA"); /* same inode, same size, same time */
    expect_ok(fdl_store_head(*state, "ref", &again, &error), &error);
    assert_string_equal(again.etag, a.etag);
    fdl_source source = source_of("CCCC");
    fdl_condition match_b = {.kind = FDL_IF_MATCH, .etag = b.etag};
    expect_code(FDL_CONFLICT, fdl_store_put(*state, "ref", &source, match_b, NULL, &error), &error);
}

/* ---- reading what is replaced --------------------------------------------- */

typedef struct replacing {
    fdl_store *store;
    fdl_buf got;
    bool done;
} replacing;

static fdl_code replace_then_add(void *data, const void *bytes, size_t length, fdl_error *problem) {
    replacing *r = data;
    fdl_code code = FDL_OK;
    if (!r->done) {
        fdl_source source = source_of("something else");
        code = fdl_store_put(r->store, "big", &source, always, NULL, problem);
        r->done = true;
    }
    return code == FDL_OK ? fdl_buf_add(&r->got, bytes, length, problem) : code;
}

static void test_a_get_ends_with_the_state_it_began_with(void **state) {
    enum { SIZE = 3 << 20 };
    char *bytes = malloc(SIZE);
    assert_non_null(bytes);
    memset(bytes, 'o', SIZE);
    fdl_source source = {.bytes = bytes, .length_bytes = SIZE};
    fdl_object before;
    fdl_object got;
    expect_ok(fdl_store_put(*state, "big", &source, always, &before, &error), &error);

    replacing r = {.store = *state};
    fdl_buf_init(&r.got, SIZE);
    expect_ok(fdl_store_get(*state, "big", NULL, replace_then_add, &r, &got, &error), &error);
    assert_int_equal(r.got.length, SIZE);
    assert_memory_equal(r.got.data, bytes, SIZE);
    assert_string_equal(got.etag, before.etag);
    expect_text(*state, "big", "something else");
    fdl_buf_clear(&r.got);
    free(bytes);
}

/* ---- folders and links ---------------------------------------------------- */

static void test_empty_folders_do_not_block_a_key(void **state) {
    fdl_source source = source_of("x");
    put(*state, "a/b/c/d", "x", NULL);
    put(*state, "a/e", "x", NULL);
    expect_ok(fdl_store_remove(*state, "a/b/c/d", always, &error), &error);
    expect_code(FDL_CONFLICT, fdl_store_put(*state, "a", &source, if_absent, NULL, &error), &error);
    expect_ok(fdl_store_remove(*state, "a/e", always, &error), &error);
    expect_ok(fdl_store_put(*state, "a", &source, if_absent, NULL, &error), &error);
    expect_ok(fdl_store_remove(*state, "a", always, &error), &error);
    put(*state, "a/b", "x", NULL);
}

static void make_link(const char *target, const char *name) {
    char *path = test_path(root, name);
    assert_int_equal(symlink(target, path), 0);
    free(path);
}

static void test_a_symlinked_folder_is_part_of_the_store(void **state) {
    char *elsewhere = test_scratch_make();
    make_link(elsewhere, "data");
    put(*state, "data/main/t/x.parquet", "bytes", NULL);
    expect_text(*state, "data/main/t/x.parquet", "bytes");
    assert_int_equal(count_keys(*state, "data/"), 1);
    expect_ok(fdl_store_sync(*state, "data/main/t/x.parquet", &error), &error);

    fdl_source source = source_of("x");
    expect_ok(fdl_store_remove(*state, "data/main/t/x.parquet", always, &error), &error);
    expect_code(FDL_CONFLICT, fdl_store_put(*state, "data", &source, always, NULL, &error), &error);
    assert_true(there("data"));
    test_scratch_drop(elsewhere);
}

static void test_a_listing_does_not_follow_links_in_circles(void **state) {
    put(*state, "a/b/c", "x", NULL);
    make_link("../..", "a/b/up");
    make_link(".", "a/self");
    make_link("nowhere", "a/dangling");
    assert_int_equal(count_keys(*state, ""), 1);
}

static void test_pipes_are_no_objects(void **state) {
    fdl_object object;
    char *path = test_path(root, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_code(FDL_NOT_FOUND, fdl_store_head(*state, "pipe", &object, &error), &error);
    assert_int_equal(count_keys(*state, ""), 0);
    free(path);
}

static void test_a_name_too_long_for_a_file_is_simply_not_there(void **state) {
    char key[301];
    fdl_object object;
    fdl_source source = source_of("x");
    memset(key, 'k', 300);
    key[300] = '\0';
    expect_code(FDL_NOT_FOUND, fdl_store_head(*state, key, &object, &error), &error);
    expect_ok(fdl_store_remove(*state, key, always, &error), &error);
    expect_code(FDL_FAILED, fdl_store_put(*state, key, &source, if_absent, NULL, &error), &error);
    expect_said("file name too long", &error);
}

/* ---- what the machine refuses --------------------------------------------- */

/* Runs `work` in a child, so that rights, limits and mounts given up there come back. */
static void in_child(int (*work)(void *data, int number), void *data) {
    test_in_processes(1, work, data);
}

static int use_read_only_folder(void *data, int number) {
    fdl_store *store = data;
    fdl_error problem;
    fdl_source source = source_of("x");
    (void)number;
    if (getuid() == 0 && setuid(65534) != 0) /* root may write anywhere */
        return 1;
    fdl_code create = fdl_store_put(store, "b", &source, if_absent, NULL, &problem);
    fdl_code replace = fdl_store_put(store, "a", &source, always, NULL, &problem);
    fdl_code delete = fdl_store_remove(store, "a", always, &problem);
    char *bytes = NULL;
    size_t length;
    fdl_code read = fdl_store_read(store, "a", 10, &bytes, &length, NULL, &problem);
    free(bytes);
    return create != FDL_DENIED || replace != FDL_DENIED || delete != FDL_DENIED || read != FDL_OK;
}

static void test_a_read_only_folder_denies_writes_and_reads_on(void **state) {
    put(*state, "a", "x", NULL);
    char *scratch = test_path(root, ".fdl");
    char *temps = test_path(root, ".fdl/tmp");
    chmod(temps, 0555);
    chmod(scratch, 0555);
    chmod(root, 0555);
    in_child(use_read_only_folder, *state);
    chmod(root, 0755);
    chmod(scratch, 0755);
    chmod(temps, 0755);
    free(scratch);
    free(temps);
}

/* On a disk with room for one object but not for two. */
static int fill_the_disk(fdl_store *store, const char *wanted) {
    enum { SIZE = 700 << 10 };
    char *bytes = calloc(1, SIZE);
    fdl_error problem;
    fdl_source old = source_of("old content");
    fdl_source big = {.bytes = bytes, .length_bytes = SIZE};
    bool good = bytes && fdl_store_put(store, "a", &old, always, NULL, &problem) == FDL_OK &&
                fdl_store_put(store, "b", &big, if_absent, NULL, &problem) == FDL_OK;
    fdl_code replace = fdl_store_put(store, "a", &big, always, NULL, &problem);
    good = good && replace == FDL_FAILED && strstr(problem.message, wanted);
    fdl_code create = fdl_store_put(store, "c", &big, if_absent, NULL, &problem);
    good = good && create == FDL_FAILED && strstr(problem.message, wanted);

    char *read = NULL;
    size_t length = 0;
    fdl_object object;
    good = good && fdl_store_read(store, "a", 100, &read, &length, NULL, &problem) == FDL_OK &&
           strcmp(read, "old content") == 0;
    good = good && fdl_store_head(store, "c", &object, &problem) == FDL_NOT_FOUND;
    good = good && count_temps() == 0;
    if (!good)
        print_error("on a full disk: replace %d, create %d, '%s'\n", replace, create, problem.message);
    free(read);
    free(bytes);
    return !good;
}

static int use_full_disk(void *data, int number) {
    (void)number;
    if (test_mount_small(root, 1 << 20))
        return fill_the_disk(data, "no space left on device");
    print_message("no file system can be mounted here: the file size limit of the next test stands for a full disk\n");
    return 0;
}

/* The other end of room: the process may write no larger file. */
static int use_file_limit(void *data, int number) {
    (void)number;
    fdl_error problem;
    struct rlimit limit = {.rlim_cur = 100 << 10, .rlim_max = 100 << 10};
    char *bytes = calloc(1, 200 << 10);
    fdl_source big = {.bytes = bytes, .length_bytes = 200 << 10};
    fdl_source old = source_of("old content");
    signal(SIGXFSZ, SIG_IGN);
    bool good = bytes && setrlimit(RLIMIT_FSIZE, &limit) == 0 &&
                fdl_store_put(data, "a", &old, always, NULL, &problem) == FDL_OK &&
                fdl_store_put(data, "a", &big, always, NULL, &problem) == FDL_FAILED &&
                strstr(problem.message, "file too large") && count_temps() == 0;
    char *read = NULL;
    size_t length;
    good = good && fdl_store_read(data, "a", 100, &read, &length, NULL, &problem) == FDL_OK &&
           strcmp(read, "old content") == 0;
    free(read);
    free(bytes);
    return !good;
}

static void test_a_full_disk_leaves_the_old_content_and_no_temporary_file(void **state) {
    in_child(use_full_disk, *state);
}

static void test_a_file_that_may_not_grow_leaves_the_old_content(void **state) {
    in_child(use_file_limit, *state);
}

static bool are_apart(const char *here, const char *there) {
    struct stat one;
    struct stat other;
    return stat(here, &one) == 0 && stat(there, &other) == 0 && one.st_dev != other.st_dev;
}

/* Makes "data" lie on another file system: one of our own, or of memory and the disk the one we are not on. */
static bool put_data_elsewhere(char **shared) {
    char *data = test_path(root, "data");
    bool good = mkdir(data, 0777) == 0;
    if (good && !test_mount_small(data, 8 << 20)) {
        *shared = test_path(are_apart(root, "/dev/shm") ? "/dev/shm" : "/var/tmp", "fdl-test-XXXXXX");
        good = mkdtemp(*shared) && rmdir(data) == 0 && symlink(*shared, data) == 0;
    }
    good = good && are_apart(root, data);
    free(data);
    return good;
}

/* New objects are made there without a temporary name; none is replaced. */
static int use_two_disks(void *store, int number) {
    (void)number;
    fdl_error problem = {0};
    fdl_object made = {0};
    fdl_object seen = {0};
    fdl_source one = source_of("one");
    fdl_source two = source_of("two");
    char *shared = NULL, *afar = test_path(root, "data/afar");
    fdl_source given = {.path = afar, .given = true};
    bool good = put_data_elsewhere(&shared) && fdl_file_write(afar, "afar", 4, &problem) == FDL_OK &&
                fdl_store_put(store, "here", &given, if_absent, NULL, &problem) == FDL_OK &&
                fdl_store_put(store, "data/t/given", &given, if_absent, NULL, &problem) == FDL_OK &&
                fdl_store_put(store, "here", &one, if_absent, NULL, &problem) == FDL_CONFLICT &&
                fdl_store_put(store, "data/t/x", &one, if_absent, &made, &problem) == FDL_OK &&
                fdl_store_head(store, "data/t/x", &seen, &problem) == FDL_OK && strcmp(made.etag, seen.etag) == 0 &&
                fdl_store_put(store, "data/t/y", &one, always, NULL, &problem) == FDL_OK &&
                fdl_store_put(store, "data/t/x", &two, if_absent, NULL, &problem) == FDL_CONFLICT &&
                fdl_store_put(store, "data/t/x", &two, always, NULL, &problem) == FDL_UNSUPPORTED &&
                count_keys(store, "") == 5 && count_temps() == 0;
    if (!good)
        print_error("on two disks: %s\n", problem.message);
    if (shared)
        fdl_folder_remove(shared, &problem);
    free(shared);
    free(afar);
    return !good;
}

static void test_a_data_folder_on_another_disk_takes_new_objects(void **state) {
    in_child(use_two_disks, *state);
}

#define own_test(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const contract_place place = {.name = "folder",
                                  .open = open_fresh,
                                  .open_again = open_root,
                                  .close = drop_root,
                                  .checks_sha256 = true,
                                  .syncs = true};
    const struct CMUnitTest tests[] = {
        own_test(test_scratch_is_made_by_the_first_write_and_never_listed),
        own_test(test_keys_in_the_scratch_folder_are_refused),
        own_test(test_temporary_files_of_the_dead_are_swept_after_a_day),
        own_test(test_all_spellings_of_a_folder_are_one_address),
        own_test(test_what_is_no_address_is_refused),
        own_test(test_a_missing_root_is_told_and_the_first_put_makes_it),
        own_test(test_a_small_objects_etag_is_its_content),
        own_test(test_a_get_ends_with_the_state_it_began_with),
        own_test(test_empty_folders_do_not_block_a_key),
        own_test(test_a_symlinked_folder_is_part_of_the_store),
        own_test(test_a_listing_does_not_follow_links_in_circles),
        own_test(test_pipes_are_no_objects),
        own_test(test_a_name_too_long_for_a_file_is_simply_not_there),
        own_test(test_a_read_only_folder_denies_writes_and_reads_on),
        own_test(test_a_full_disk_leaves_the_old_content_and_no_temporary_file),
        own_test(test_a_file_that_may_not_grow_leaves_the_old_content),
        own_test(test_a_data_folder_on_another_disk_takes_new_objects),
    };
    return contract_run(&place) + cmocka_run_group_tests(tests, NULL, NULL);
}
