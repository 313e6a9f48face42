/*
 * contract.c - see contract.h.  One test a promise; races are in contract_race.c.
 */
#include <dirent.h>

#include "store/contract.h"
#include "store/contract_tests.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/ident.h"

static const contract_place *the_place;

const contract_place *contract_current(void) {
    return the_place;
}

/* ---- a test's tools ------------------------------------------------------ */

static const fdl_condition always = {.kind = FDL_ALWAYS};
static const fdl_condition if_absent = {.kind = FDL_IF_ABSENT};

static fdl_condition if_match(const char *etag) {
    return (fdl_condition){.kind = FDL_IF_MATCH, .etag = etag};
}

static fdl_source source_of(const char *text) {
    return (fdl_source){.bytes = text, .length_bytes = strlen(text)};
}

static fdl_object put(fdl_store *store, const char *key, const char *text) {
    fdl_error error;
    fdl_object object;
    fdl_source source = source_of(text);
    expect_ok(fdl_store_put(store, key, &source, always, &object, &error), &error);
    return object;
}

/* Fails the test unless the key holds `text`. */
static void expect_text(fdl_store *store, const char *key, const char *text) {
    fdl_error error;
    char *bytes = NULL;
    size_t length;
    expect_ok(fdl_store_read(store, key, 1 << 20, &bytes, &length, NULL, &error), &error);
    assert_string_equal(bytes, text);
    assert_int_equal(length, strlen(text));
    free(bytes);
}

static void expect_missing(fdl_store *store, const char *key) {
    fdl_error error;
    fdl_object object;
    expect_code(FDL_NOT_FOUND, fdl_store_head(store, key, &object, &error), &error);
    uint64_t size = 0;
    expect_code(FDL_NOT_FOUND, fdl_store_size(store, key, &size, &error), &error);
}

/* Bytes that tell their place: no two stretches of a big object are alike. */
static char *pattern(size_t length) {
    char *bytes = malloc(length + 1);
    assert_non_null(bytes);
    uint32_t state = 2463534242u;
    for (size_t i = 0; i < length; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        bytes[i] = (char)state;
    }
    return bytes;
}

static void expect_bytes(fdl_store *store, const char *key, const char *bytes, size_t length, const fdl_object *put) {
    fdl_error error;
    fdl_object got;
    fdl_object head;
    char *read = NULL;
    size_t read_length;
    expect_ok(fdl_store_read(store, key, (size_t)64 << 20, &read, &read_length, &got, &error), &error);
    assert_int_equal(read_length, length);
    assert_memory_equal(read, bytes, length);
    free(read);
    expect_ok(fdl_store_head(store, key, &head, &error), &error);
    assert_int_equal(got.size_bytes, length);
    assert_int_equal(head.size_bytes, length);
    assert_true(head.etag[0] != '\0');
    assert_string_equal(got.etag, head.etag);
    assert_string_equal(put->etag, head.etag);
    uint64_t size = 0;
    expect_ok(fdl_store_size(store, key, &size, &error), &error);
    assert_int_equal(size, length);
    assert_int_equal(put->size_bytes, length);
}

static char *write_file(const char *folder, const char *name, const void *bytes, size_t length) {
    fdl_error error;
    char *path = test_path(folder, name);
    expect_ok(fdl_file_write(path, bytes, length, &error), &error);
    return path;
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

/* ---- reading what was written -------------------------------------------- */

static const size_t sizes[] = {0, 1, 4096, 65537, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (3 << 20) + 7};
#define SIZE_COUNT (sizeof sizes / sizeof *sizes)

static void test_bytes_come_back_as_they_were_put(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        fdl_object object;
        char *bytes = pattern(sizes[i]);
        fdl_source source = {.bytes = bytes, .length_bytes = sizes[i]};
        expect_ok(fdl_store_put(store, "a/b/c", &source, always, &object, &error), &error);
        expect_bytes(store, "a/b/c", bytes, sizes[i], &object);
        free(bytes);
    }
}

static void test_a_file_is_put_as_its_bytes(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    char *folder = test_scratch_make();
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        fdl_object object;
        char digest[65];
        char *bytes = pattern(sizes[i]);
        char *path = write_file(folder, "source", bytes, sizes[i]);
        expect_ok(fdl_sha256_bytes(bytes, sizes[i], digest, &error), &error);
        fdl_source source = {.bytes = "not these", .length_bytes = 9, .path = path, .sha256 = digest};
        expect_ok(fdl_store_put(store, "data/x.parquet", &source, always, &object, &error), &error);
        expect_bytes(store, "data/x.parquet", bytes, sizes[i], &object);
        source.given = true;
        expect_ok(fdl_store_put(store, "data/y.parquet", &source, always, &object, &error), &error);
        expect_bytes(store, "data/y.parquet", bytes, sizes[i], &object);
        free(path);
        free(bytes);
    }
    test_scratch_drop(folder);
}

static void test_a_source_file_that_is_missing_stores_nothing(void **state) {
    fdl_error error;
    fdl_source source = {.path = "/nonexistent/fdl/source"};
    fdl_code code = fdl_store_put(*state, "a", &source, always, NULL, &error);
    assert_int_not_equal(code, FDL_OK);
    assert_int_not_equal(code, FDL_UNCERTAIN);
    expect_said("/nonexistent/fdl/source", &error);
    expect_missing(*state, "a");
}

static void test_a_wrong_sha256_stores_nothing(void **state) {
    fdl_error error;
    fdl_source source = source_of("hello");
    char digest[65];
    if (!contract_current()->checks_sha256)
        return; /* this backend does not promise it */
    expect_ok(fdl_sha256_bytes("other", 5, digest, &error), &error);
    source.sha256 = digest;
    assert_int_not_equal(fdl_store_put(*state, "a", &source, always, NULL, &error), FDL_OK);
    expect_missing(*state, "a");
    put(*state, "b", "before");
    assert_int_not_equal(fdl_store_put(*state, "b", &source, always, NULL, &error), FDL_OK);
    expect_text(*state, "b", "before");
}

static void expect_part(fdl_store *store, const char *key, const char *whole, size_t whole_length, fdl_range range) {
    fdl_error error;
    fdl_object object;
    fdl_buf buf;
    size_t rest = whole_length - (size_t)range.offset_bytes;
    size_t length = range.length_bytes < rest ? (size_t)range.length_bytes : rest;
    fdl_buf_init(&buf, whole_length);
    expect_ok(fdl_store_get(store, key, &range, fdl_buf_sink, &buf, &object, &error), &error);
    assert_int_equal(buf.length, length);
    assert_memory_equal(buf.data, whole + range.offset_bytes, length);
    assert_int_equal(object.size_bytes, whole_length);
    fdl_buf_clear(&buf);
}

static void test_a_range_gives_that_part_and_the_whole_size(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    for (size_t i = 2; i < SIZE_COUNT; i++) {
        size_t length = sizes[i];
        char *bytes = pattern(length);
        fdl_source source = {.bytes = bytes, .length_bytes = length};
        expect_ok(fdl_store_put(store, "a", &source, always, NULL, &error), &error);
        expect_part(store, "a", bytes, length, (fdl_range){0, 1});
        expect_part(store, "a", bytes, length, (fdl_range){0, length});
        expect_part(store, "a", bytes, length, (fdl_range){1000, 1234});
        expect_part(store, "a", bytes, length, (fdl_range){length - 1, 1});
        expect_part(store, "a", bytes, length, (fdl_range){length - 8, 100});
        expect_part(store, "a", bytes, length, (fdl_range){length / 2, UINT64_MAX});
        free(bytes);
    }
}

static void test_a_range_behind_the_object_fails(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    fdl_buf buf;
    fdl_buf_init(&buf, 100);
    put(store, "a", "hello");
    put(store, "empty", "");
    fdl_range behind = {5, 1};
    fdl_range far = {UINT64_MAX / 4, 1};
    fdl_range first = {0, 1};
    fdl_range none = {0, 0};
    expect_code(FDL_FAILED, fdl_store_get(store, "a", &behind, fdl_buf_sink, &buf, NULL, &error), &error);
    expect_code(FDL_FAILED, fdl_store_get(store, "a", &far, fdl_buf_sink, &buf, NULL, &error), &error);
    expect_code(FDL_FAILED, fdl_store_get(store, "empty", &first, fdl_buf_sink, &buf, NULL, &error), &error);
    expect_code(FDL_USAGE, fdl_store_get(store, "a", &none, fdl_buf_sink, &buf, NULL, &error), &error);
    assert_int_equal(buf.length, 0);
}

static fdl_code refuse(void *calls, const void *bytes, size_t length, fdl_error *error) {
    (void)bytes;
    (void)length;
    ++*(int *)calls;
    return fdl_fail(error, FDL_EXPIRED, "x", "the sink has had enough");
}

static void test_a_missing_key_is_not_found_and_feeds_no_sink(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    fdl_object object;
    int calls = 0;
    put(store, "a/b", "x");
    expect_code(FDL_NOT_FOUND, fdl_store_get(store, "a/c", NULL, refuse, &calls, &object, &error), &error);
    expect_said("a/c", &error);
    expect_code(FDL_NOT_FOUND, fdl_store_head(store, "a/c", &object, &error), &error);
    expect_said("a/c", &error);
    expect_missing(store, "a"); /* a folder is no object */
    expect_missing(store, "a/b/c");
    assert_int_equal(calls, 0);
}

static void test_a_sink_that_fails_ends_the_get_with_its_error(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    for (size_t i = 1; i < SIZE_COUNT; i++) {
        int calls = 0;
        char *bytes = pattern(sizes[i]);
        fdl_source source = {.bytes = bytes, .length_bytes = sizes[i]};
        expect_ok(fdl_store_put(store, "a", &source, always, NULL, &error), &error);
        free(bytes);
        expect_code(FDL_EXPIRED, fdl_store_get(store, "a", NULL, refuse, &calls, NULL, &error), &error);
        expect_said("the sink has had enough", &error);
        assert_int_equal(calls, 1);
    }
}

static void test_read_takes_at_most_the_limit(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    char *bytes = NULL;
    size_t length;
    put(store, "a", "12345");
    expect_ok(fdl_store_read(store, "a", 5, &bytes, &length, NULL, &error), &error);
    assert_string_equal(bytes, "12345");
    free(bytes);
    expect_code(FDL_REFUSED, fdl_store_read(store, "a", 4, &bytes, &length, NULL, &error), &error);
    expect_said("'a'", &error);
}

static void test_download_makes_a_whole_file_or_none(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    char digest[65];
    char wanted[65];
    char *folder = test_scratch_make();
    char *path = test_path(folder, "copy");
    for (size_t i = 0; i < SIZE_COUNT; i++) {
        char *bytes = pattern(sizes[i]);
        char *read = NULL;
        size_t length;
        fdl_source source = {.bytes = bytes, .length_bytes = sizes[i]};
        expect_ok(fdl_store_put(store, "a", &source, always, NULL, &error), &error);
        expect_ok(fdl_store_download(store, "a", sizes[i], path, digest, NULL, NULL, NULL, &error), &error);
        expect_ok(fdl_sha256_bytes(bytes, sizes[i], wanted, &error), &error);
        assert_string_equal(digest, wanted);
        expect_ok(fdl_file_read(path, (size_t)64 << 20, &read, &length, &error), &error);
        assert_int_equal(length, sizes[i]);
        assert_memory_equal(read, bytes, length);
        assert_int_equal(count_names(folder), 1);
        free(read);
        free(bytes);
        expect_ok(fdl_file_remove(path, &error), &error);
        if (sizes[i] > 0)
            expect_code(FDL_FAILED, fdl_store_download(store, "a", sizes[i] - 1, path, digest, NULL, NULL, NULL, &error),
                        &error);
        assert_int_equal(count_names(folder), 0);
    }
    expect_code(FDL_NOT_FOUND, fdl_store_download(store, "none", UINT64_MAX, path, digest, NULL, NULL, NULL, &error), &error);
    assert_int_equal(count_names(folder), 0);
    free(path);
    test_scratch_drop(folder);
}

/* ---- conditions ---------------------------------------------------------- */

static void test_a_key_is_created_once(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    fdl_object object;
    fdl_source first = source_of("first");
    fdl_source second = source_of("second");
    expect_ok(fdl_store_put(store, "refs/tags/v1", &first, if_absent, &object, &error), &error);
    expect_code(FDL_CONFLICT, fdl_store_put(store, "refs/tags/v1", &second, if_absent, NULL, &error), &error);
    expect_said("refs/tags/v1", &error);
    expect_code(FDL_CONFLICT, fdl_store_put(store, "refs/tags/v1", &first, if_absent, NULL, &error), &error);
    expect_bytes(store, "refs/tags/v1", "first", 5, &object);
}

static void test_a_match_replaces_what_was_seen(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    fdl_object seen = put(store, "refs/heads/main", "one");
    fdl_source two = source_of("two");
    fdl_object now;
    expect_ok(fdl_store_put(store, "refs/heads/main", &two, if_match(seen.etag), &now, &error), &error);
    assert_string_not_equal(now.etag, seen.etag);
    expect_bytes(store, "refs/heads/main", "two", 3, &now);
}

static void test_a_stale_match_changes_nothing(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    fdl_object seen = put(store, "refs/heads/main", "one");
    fdl_object now = put(store, "refs/heads/main", "two");
    fdl_source three = source_of("three");
    expect_code(FDL_CONFLICT, fdl_store_put(store, "refs/heads/main", &three, if_match(seen.etag), NULL, &error),
                &error);
    expect_said("refs/heads/main", &error);
    expect_bytes(store, "refs/heads/main", "two", 3, &now);
}

static void test_a_match_on_a_missing_key_creates_nothing(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    fdl_object seen = put(store, "refs/heads/main", "one");
    fdl_source two = source_of("two");
    expect_ok(fdl_store_remove(store, "refs/heads/main", always, &error), &error);
    expect_code(FDL_CONFLICT, fdl_store_put(store, "refs/heads/main", &two, if_match(seen.etag), NULL, &error), &error);
    expect_code(FDL_CONFLICT, fdl_store_put(store, "never/there", &two, if_match(seen.etag), NULL, &error), &error);
    expect_missing(store, "refs/heads/main");
    expect_missing(store, "never/there");
}

static void test_no_two_contents_of_a_key_share_an_etag(void **state) {
    fdl_store *store = *state;
    enum { STATES = 40 };
    char etags[STATES][FDL_ETAG_LIMIT_BYTES];
    for (int i = 0; i < STATES; i++) {
        char text[16];
        snprintf(text, sizeof text, "%04d", i); /* all of one length, one right after the other */
        fdl_object object = put(store, "ref", text);
        memcpy(etags[i], object.etag, sizeof etags[i]);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(etags[k], etags[i]);
    }
}

static void test_a_condition_must_make_sense(void **state) {
    fdl_error error;
    fdl_source source = source_of("x");
    expect_code(FDL_USAGE, fdl_store_put(*state, "a", &source, if_match(NULL), NULL, &error), &error);
    expect_code(FDL_USAGE, fdl_store_put(*state, "a", &source, if_match(""), NULL, &error), &error);
    expect_code(FDL_USAGE, fdl_store_remove(*state, "a", if_match(NULL), &error), &error);
    expect_code(FDL_USAGE, fdl_store_remove(*state, "a", if_absent, &error), &error);
    expect_missing(*state, "a");
}

/* ---- removing ------------------------------------------------------------ */

static void test_what_is_removed_is_gone_and_can_be_made_again(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    fdl_source again = source_of("again");
    put(store, "a/b", "one");
    expect_ok(fdl_store_remove(store, "a/b", always, &error), &error);
    expect_missing(store, "a/b");
    expect_ok(fdl_store_remove(store, "a/b", always, &error), &error);
    expect_ok(fdl_store_remove(store, "never/there", always, &error), &error);
    expect_ok(fdl_store_put(store, "a/b", &again, if_absent, NULL, &error), &error);
    expect_text(store, "a/b", "again");
}

static void test_a_remove_with_a_match_takes_only_what_was_seen(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    fdl_object one = put(store, "a", "one");
    fdl_object two = put(store, "a", "two");
    expect_code(FDL_CONFLICT, fdl_store_remove(store, "a", if_match(one.etag), &error), &error);
    expect_text(store, "a", "two");
    expect_ok(fdl_store_remove(store, "a", if_match(two.etag), &error), &error);
    expect_missing(store, "a");
    expect_code(FDL_CONFLICT, fdl_store_remove(store, "a", if_match(two.etag), &error), &error);
    expect_code(FDL_CONFLICT, fdl_store_remove(store, "never/there", if_match(two.etag), &error), &error);
}

/* ---- listing ------------------------------------------------------------- */

#define LISTED_LIMIT 300

typedef struct listed {
    char keys[LISTED_LIMIT][64];
    fdl_object objects[LISTED_LIMIT];
    size_t count;
} listed;

static fdl_code collect(void *data, const fdl_entry *entry, fdl_error *error) {
    listed *list = data;
    size_t length = strlen(entry->key);
    if (list->count == LISTED_LIMIT || length >= sizeof list->keys[0] ||
        entry->folder != (entry->key[length - 1] == '/'))
        return fdl_fail(error, FDL_FAILED, entry->key, "'%s' is an entry too many, or no such folder", entry->key);
    memcpy(list->keys[list->count], entry->key, length + 1);
    list->objects[list->count++] = entry->object;
    return FDL_OK;
}

static int by_key(const void *a, const void *b) {
    return strcmp(a, b);
}

/* `wanted` is the keys in order, separated by blanks. */
static void expect_list(fdl_store *store, const char *prefix, fdl_depth depth, const char *wanted) {
    fdl_error error;
    listed *list = calloc(1, sizeof *list);
    fdl_buf got;
    assert_non_null(list);
    fdl_buf_init(&got, 1 << 16);
    expect_ok(fdl_store_list(store, prefix, depth, collect, list, &error), &error);
    qsort(list->keys, list->count, sizeof list->keys[0], by_key);
    for (size_t i = 0; i < list->count; i++)
        expect_ok(fdl_buf_add_format(&got, &error, "%s%s", i ? " " : "", list->keys[i]), &error);
    assert_string_equal(got.data ? got.data : "", wanted);
    fdl_buf_clear(&got);
    free(list);
}

static void put_tree(fdl_store *store) {
    const char *keys[] = {"HEAD", "lake/a", "lake/b/c", "lake/b/d", "lake2/x", "lake-3", "z/y/x/w"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        put(store, keys[i], keys[i]);
}

static void test_a_prefix_is_a_plain_beginning_of_keys(void **state) {
    put_tree(*state);
    expect_list(*state, "", FDL_ALL_LEVELS, "HEAD lake-3 lake/a lake/b/c lake/b/d lake2/x z/y/x/w");
    expect_list(*state, "", FDL_ALL_NAMES, "HEAD lake-3 lake/a lake/b/c lake/b/d lake2/x z/y/x/w");
    expect_list(*state, "lake/", FDL_ALL_NAMES, "lake/a lake/b/c lake/b/d");
    expect_list(*state, "lake", FDL_ALL_LEVELS, "lake-3 lake/a lake/b/c lake/b/d lake2/x");
    expect_list(*state, "lake/", FDL_ALL_LEVELS, "lake/a lake/b/c lake/b/d");
    expect_list(*state, "lake/b/d", FDL_ALL_LEVELS, "lake/b/d");
    expect_list(*state, "z/y/x", FDL_ALL_LEVELS, "z/y/x/w");
    expect_list(*state, "lake/b/d/", FDL_ALL_LEVELS, "");
    expect_list(*state, "nothing", FDL_ALL_LEVELS, "");
    expect_list(*state, "no/such/folder/", FDL_ALL_LEVELS, "");
}

static void test_one_level_shows_each_folder_once(void **state) {
    put_tree(*state);
    expect_list(*state, "", FDL_ONE_LEVEL, "HEAD lake-3 lake/ lake2/ z/");
    expect_list(*state, "", FDL_FOLDER_NAMES, "HEAD lake-3 lake/ lake2/ z/");
    expect_list(*state, "lake/", FDL_FOLDER_NAMES, "lake/a lake/b/");
    expect_list(*state, "lake", FDL_ONE_LEVEL, "lake-3 lake/ lake2/");
    expect_list(*state, "lake/", FDL_ONE_LEVEL, "lake/a lake/b/");
    expect_list(*state, "lake/b", FDL_ONE_LEVEL, "lake/b/");
    expect_list(*state, "z/y/", FDL_ONE_LEVEL, "z/y/x/");
    expect_list(*state, "none/", FDL_ONE_LEVEL, "");
}

static void test_a_listing_shows_what_was_put_and_not_what_was_removed(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    enum { KEYS = 120 };
    for (int i = 0; i < KEYS; i++) {
        char key[32];
        snprintf(key, sizeof key, "many/%03d", i);
        put(store, key, key);
    }
    for (int i = 0; i < KEYS; i += 2) {
        char key[32];
        snprintf(key, sizeof key, "many/%03d", i);
        expect_ok(fdl_store_remove(store, key, always, &error), &error);
    }
    listed *list = calloc(1, sizeof *list);
    assert_non_null(list);
    expect_ok(fdl_store_list(store, "many/", FDL_ALL_LEVELS, collect, list, &error), &error);
    assert_int_equal(list->count, KEYS / 2);
    for (size_t i = 0; i < list->count; i++) {
        assert_int_equal((list->keys[i][7] - '0') % 2, 1);
        assert_int_equal(list->objects[i].size_bytes, 8);
    }
    free(list);
}

static void test_a_folder_without_objects_is_not_listed(void **state) {
    fdl_error error;
    put(*state, "a/b/c", "x");
    put(*state, "a/d", "x");
    expect_ok(fdl_store_remove(*state, "a/b/c", always, &error), &error);
    expect_list(*state, "a/", FDL_ONE_LEVEL, "a/d");
    expect_ok(fdl_store_remove(*state, "a/d", always, &error), &error);
    expect_list(*state, "", FDL_ONE_LEVEL, "");
}

static fdl_code stop_at_second(void *data, const fdl_entry *entry, fdl_error *error) {
    return ++*(int *)data < 2 ? FDL_OK : fdl_fail(error, FDL_EXPIRED, entry->key, "that is enough");
}

static void test_a_callback_that_fails_ends_the_listing(void **state) {
    fdl_error error;
    int calls = 0;
    put_tree(*state);
    expect_code(FDL_EXPIRED, fdl_store_list(*state, "", FDL_ALL_LEVELS, stop_at_second, &calls, &error), &error);
    expect_said("that is enough", &error);
    assert_int_equal(calls, 2);
}

static fdl_code remove_it(void *store, const fdl_entry *entry, fdl_error *error) {
    return fdl_store_remove(store, entry->key, always, error);
}

static void test_a_callback_may_remove_what_it_is_told(void **state) {
    fdl_error error;
    put_tree(*state);
    expect_ok(fdl_store_list(*state, "lake/", FDL_ALL_LEVELS, remove_it, *state, &error), &error);
    expect_list(*state, "", FDL_ALL_LEVELS, "HEAD lake-3 lake2/x z/y/x/w");
}

/* ---- keys ---------------------------------------------------------------- */

static void test_keys_are_literal(void **state) {
    fdl_store *store = *state;
    static const char *const keys[] = {
        "a b+c", "100%",      "%20",     "%2e%2e/x", "q?a=b&c#d", "x'y\"z", "back\\slash", "日本語/郵便番号",
        "é",     "e\xcc\x81", "a:b;c,d", "*[x]{y}",  "~t",        "...",    ".hidden",     "UPPER/upper",
    };
    enum { COUNT = sizeof keys / sizeof *keys };
    for (int i = 0; i < COUNT; i++)
        put(store, keys[i], keys[i]);
    for (int i = 0; i < COUNT; i++)
        expect_text(store, keys[i], keys[i]);

    fdl_error error;
    listed *list = calloc(1, sizeof *list);
    assert_non_null(list);
    expect_ok(fdl_store_list(store, "", FDL_ALL_LEVELS, collect, list, &error), &error);
    assert_int_equal(list->count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        bool found = false;
        for (size_t k = 0; k < list->count; k++)
            found = found || strcmp(list->keys[k], keys[i]) == 0;
        if (!found)
            fail_msg("'%s' is not listed", keys[i]);
    }
    free(list);
}

static void expect_refused(fdl_store *store, const char *key) {
    fdl_error error;
    fdl_object object;
    fdl_buf buf;
    fdl_buf_init(&buf, 10);
    fdl_source source = source_of("x");
    expect_code(FDL_USAGE, fdl_key_check(key, &error), &error);
    expect_code(FDL_USAGE, fdl_store_get(store, key, NULL, fdl_buf_sink, &buf, NULL, &error), &error);
    expect_code(FDL_USAGE, fdl_store_head(store, key, &object, &error), &error);
    expect_code(FDL_USAGE, fdl_store_put(store, key, &source, always, NULL, &error), &error);
    expect_code(FDL_USAGE, fdl_store_remove(store, key, always, &error), &error);
    expect_code(FDL_USAGE, fdl_store_sync(store, key, &error), &error);
}

static void test_names_that_are_no_keys_are_refused_everywhere(void **state) {
    static const char *const keys[] = {
        "",
        "/",
        "/a",
        "a/",
        "a//b",
        ".",
        "..",
        "./a",
        "../a",
        "a/./b",
        "a/../b",
        "a/..",
        "a/.",
        "a\nb",
        "a\x7f"
        "b",
        "a\x1b[31m",
        "a\xc2\x9b"
        "31m",
        "\xff",
        "a\xc0\xaf"
        "b",
        "\xed\xa0\x80",
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        expect_refused(*state, keys[i]);
    char big[1026];
    memset(big, 'k', sizeof big - 1);
    for (size_t i = 100; i < sizeof big - 1; i += 100)
        big[i] = '/';
    big[1025] = '\0';
    expect_refused(*state, big);

    fdl_error error;
    static const char *const prefixes[] = {"/", "/a", "a//", "../", "a/../b", "a\n"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        expect_code(FDL_USAGE, fdl_store_list(*state, prefixes[i], FDL_ALL_LEVELS, stop_at_second, NULL, &error),
                    &error);
}

static void test_the_longest_key_works(void **state) {
    char key[1025];
    memset(key, 'k', 1024);
    for (size_t i = 100; i < 1024; i += 100)
        key[i] = '/';
    key[1024] = '\0';
    put(*state, key, "deep");
    expect_text(*state, key, "deep");
}

static void test_an_object_below_an_object(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    fdl_source source = source_of("new");
    if (contract_current()->nests_unsaid)
        return;
    put(store, "a", "top");
    put(store, "b/c", "below");
    if (contract_current()->nests) {
        put(store, "a/b", "below");
        put(store, "b", "top");
        expect_text(store, "a", "top");
        expect_text(store, "a/b", "below");
        return;
    }
    for (int i = 0; i < 2; i++) {
        fdl_condition condition = i ? always : if_absent;
        expect_code(FDL_CONFLICT, fdl_store_put(store, "a/b", &source, condition, NULL, &error), &error);
        expect_said("'a/b'", &error);
        expect_said("'a'", &error);
        expect_code(FDL_CONFLICT, fdl_store_put(store, "a/b/c/d", &source, condition, NULL, &error), &error);
        expect_code(FDL_CONFLICT, fdl_store_put(store, "b", &source, condition, NULL, &error), &error);
        expect_said("'b'", &error);
        expect_said("'b/'", &error);
    }
    expect_ok(fdl_store_remove(store, "a", always, &error), &error);
    expect_ok(fdl_store_remove(store, "b/c", always, &error), &error);
    expect_ok(fdl_store_put(store, "a/b", &source, if_absent, NULL, &error), &error);
    expect_ok(fdl_store_put(store, "b", &source, if_absent, NULL, &error), &error);
}

/* ---- the rest ------------------------------------------------------------ */

static void test_sync_of_an_object_works(void **state) {
    fdl_store *store = *state;
    fdl_error error;
    put(store, "data/main/t/x.parquet", "bytes");
    expect_ok(fdl_store_sync(store, "data/main/t/x.parquet", &error), &error);
    if (contract_current()->syncs)
        expect_code(FDL_NOT_FOUND, fdl_store_sync(store, "data/none", &error), &error);
}

static void test_a_second_store_sees_what_the_first_did(void **state) {
    fdl_store *first = *state;
    if (!contract_current()->open_again)
        return; /* a place with a single store */
    fdl_store *second = contract_current()->open_again(contract_current()->data);
    fdl_error error;
    fdl_source two = source_of("two");
    fdl_object one = put(first, "ref", "one");
    fdl_object seen;
    expect_ok(fdl_store_head(second, "ref", &seen, &error), &error);
    assert_string_equal(seen.etag, one.etag);
    expect_list(second, "", FDL_ALL_LEVELS, "ref");
    expect_ok(fdl_store_put(second, "ref", &two, if_match(seen.etag), NULL, &error), &error);
    expect_code(FDL_CONFLICT, fdl_store_put(first, "ref", &two, if_match(one.etag), NULL, &error), &error);
    expect_text(first, "ref", "two");
    fdl_store_free(second);
}

/* ---- the suite ----------------------------------------------------------- */

int contract_open(void **state) {
    *state = the_place->open(the_place->data);
    return *state ? 0 : -1;
}

int contract_close(void **state) {
    fdl_store_free(*state);
    if (the_place->close)
        the_place->close(the_place->data);
    return 0;
}

int contract_run(const contract_place *place) {
    the_place = place;
    const struct CMUnitTest tests[] = {
        contract_test(test_bytes_come_back_as_they_were_put),
        contract_test(test_a_file_is_put_as_its_bytes),
        contract_test(test_a_source_file_that_is_missing_stores_nothing),
        contract_test(test_a_wrong_sha256_stores_nothing),
        contract_test(test_a_range_gives_that_part_and_the_whole_size),
        contract_test(test_a_range_behind_the_object_fails),
        contract_test(test_a_missing_key_is_not_found_and_feeds_no_sink),
        contract_test(test_a_sink_that_fails_ends_the_get_with_its_error),
        contract_test(test_read_takes_at_most_the_limit),
        contract_test(test_download_makes_a_whole_file_or_none),
        contract_test(test_a_key_is_created_once),
        contract_test(test_a_match_replaces_what_was_seen),
        contract_test(test_a_stale_match_changes_nothing),
        contract_test(test_a_match_on_a_missing_key_creates_nothing),
        contract_test(test_no_two_contents_of_a_key_share_an_etag),
        contract_test(test_a_condition_must_make_sense),
        contract_test(test_what_is_removed_is_gone_and_can_be_made_again),
        contract_test(test_a_remove_with_a_match_takes_only_what_was_seen),
        contract_test(test_a_prefix_is_a_plain_beginning_of_keys),
        contract_test(test_one_level_shows_each_folder_once),
        contract_test(test_a_listing_shows_what_was_put_and_not_what_was_removed),
        contract_test(test_a_folder_without_objects_is_not_listed),
        contract_test(test_a_callback_that_fails_ends_the_listing),
        contract_test(test_a_callback_may_remove_what_it_is_told),
        contract_test(test_keys_are_literal),
        contract_test(test_names_that_are_no_keys_are_refused_everywhere),
        contract_test(test_the_longest_key_works),
        contract_test(test_an_object_below_an_object),
        contract_test(test_sync_of_an_object_works),
        contract_test(test_a_second_store_sees_what_the_first_did),
    };
    print_message("the contract of a store: %s\n", place->name);
    int failed = _cmocka_run_group_tests(place->name, tests, sizeof tests / sizeof *tests, NULL, NULL);
    return failed + contract_run_removes() + contract_run_races();
}
