/*
 * test_allocation.c - memory runs out at each of our allocations in turn: the
 * flow ends with an error, one line, nothing leaked and nothing lost, and the same
 * flow again ends well.
 *
 * The linker leads every allocation of the library through here (tests.cmake), and
 * jansson has functions to set.  What DuckDB, curl and SQLite take for themselves
 * is theirs.  One allocation fails alone, or it and all behind it; `make soak`
 * fails each in both ways (every seventh where DuckDB is opened at each step),
 * `make check` some, spread over the flow.
 */
#include "history.h"

#include <jansson.h>
#include <stdatomic.h>

#include "util/file.h"
#include "util/spawn.h"
#include "util/text.h"

#define STEPS 40u     /* of a flow, in make check */
#define DEAR_STEPS 3u /* of one that opens DuckDB at every step */
#define COUNT_LIMIT 1000000u

/* ---- the allocations ------------------------------------------------------------ */

static atomic_uint seen;    /* since the start of the flow */
static unsigned failing_at; /* 0: none fails */
static bool all_behind;     /* those behind it fail too */

static bool fails(void) {
    unsigned number = ++seen;
    return failing_at > 0 && (number == failing_at || (all_behind && number > failing_at));
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
char *__real_strdup(const char *text);
int __real_vasprintf(char **out, const char *format, va_list arguments);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
int __wrap_vasprintf(char **out, const char *format, va_list arguments);

void *__wrap_malloc(size_t size) {
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
    return fails() ? NULL : __real_realloc(memory, size);
}

char *__wrap_strdup(const char *text) {
    return fails() ? NULL : __real_strdup(text);
}

int __wrap_vasprintf(char **out, const char *format, va_list arguments) {
    return fails() ? -1 : __real_vasprintf(out, format, arguments);
}

/* ---- a flow, failing at one after the other ---------------------------------------- */

typedef struct flow {
    const char *name;
    fdl_code (*work)(history *h);
    void (*rewind)(history *h);
    void (*check)(history *h); /* after the run that came through */
    bool dear;
} flow;

static fdl_code run(const flow *f, history *h, unsigned at, bool behind) {
    f->rewind(h);
    seen = 0;
    failing_at = at;
    all_behind = behind;
    fdl_code code = f->work(h);
    failing_at = 0;
    return code;
}

static void fail_once(const flow *f, history *h, unsigned at, bool behind) {
    fdl_code code = run(f, h, at, behind);
    if (code != FDL_OK) { /* what is only told, such as progress, may be left out */
        const char *said = h->error.message;
        if (h->error.code != code || !said[0] || strchr(said, '\n') || strstr(said, "(null)"))
            fail_msg("%s, allocation %u: %d '%s'", f->name, at, code, said);
    }
    code = f->work(h);
    if (code != FDL_OK)
        fail_msg("%s after allocation %u failed: %s", f->name, at, h->error.message);
    f->check(h);
}

static void sweep(const flow *f, history *h) {
    const char *every = getenv("FDL_TEST_SWEEP");
    bool all = every && strcmp(every, "every") == 0;
    expect(h, FDL_OK, run(f, h, 0, false));
    unsigned count = seen, steps = f->dear ? DEAR_STEPS : STEPS, failed = 0;
    unsigned stride = all ? (f->dear ? 7 : 1) : count <= steps ? 1 : count / steps;
    assert_true(count > 0 && count < COUNT_LIMIT);
    for (unsigned at = 1 + count % stride; at <= count; at += stride) {
        for (int behind = all ? 0 : (int)(at / stride % 2); behind < (all ? 2 : (int)(at / stride % 2) + 1); behind++) {
            fail_once(f, h, at, behind);
            failed++;
        }
    }
    print_message("%s: %u of %u allocations failed\n", f->name, failed, count);
}

/* ---- flows on a repository in memory -------------------------------------------------- */

static void open_lake(history *h) {
    history_open(h);
    h->context.jobs = 1; /* so that the Nth allocation is always the same */
    for (int number = 1; number <= 4; number++)
        history_version(h, number, number - 1, number == 1 ? "a" : "a b");
    for (int number = 1; number <= 4; number++) {
        char key[200];
        snprintf(key, sizeof key, "versions/%s/files.json", history_id(number));
        history_put(h, key,
                    "{\"tables\":[{\"schema\":\"main\",\"name\":\"t\",\"files\":["
                    "{\"path\":\"data/main/t/a.parquet\",\"bytes\":1,\"rows\":1}]}]}");
    }
    history_ref(h, "heads/main", 4);
    history_ref(h, "tags/v1", 2);
    history_save(h);
}

static void nothing(history *h) {
    (void)h;
}

static fdl_code do_init(history *h) {
    bool created = false;
    fdl_store *store = NULL;
    fdl_repo *repo = NULL;
    fdl_code code = fdl_store_open_memory(NULL, &store, &h->error);
    if (code == FDL_OK)
        code = fdl_repo_open_store(&h->context, store, &repo, &h->error);
    if (code == FDL_OK)
        code = fdl_init(repo, &(fdl_init_options){0}, &created, &h->error);
    fdl_repo_free(repo);
    return code;
}

static fdl_code count_entry(void *data, const fdl_version *version, const fdl_expiry *expiry, fdl_error *error) {
    (void)version, (void)expiry, (void)error;
    ++*(int *)data;
    return FDL_OK;
}

static fdl_code do_log(history *h) {
    int count = 0;
    fdl_code code = fdl_log(h->repo, NULL, 0, count_entry, &count, &h->error);
    if (code == FDL_OK)
        assert_int_equal(count, 4);
    return code;
}

static fdl_code do_show(history *h) {
    fdl_show_result result = {0};
    fdl_code code = fdl_show(h->repo, "main~1", &(fdl_show_options){0}, &result, &h->error);
    fdl_show_result_clear(&result);
    return code;
}

static fdl_code do_tag(history *h) {
    fdl_ref made;
    fdl_code code = fdl_ref_create(h->repo, "refs/tags/", "v2", "main", &made, &h->error);
    return code == FDL_CONFLICT ? FDL_OK : code; /* it had come so far */
}

static void tag_is_there(history *h) {
    char *line = history_get(h, "refs/tags/v2");
    assert_memory_equal(line, history_id(4), strlen(history_id(4)));
    free(line);
}

static fdl_code do_expire(history *h) {
    fdl_expire_result result = {0};
    fdl_code code = fdl_expire(h->repo, &(fdl_expire_options){.keep = 1}, &result, &h->error);
    fdl_expire_result_clear(&result);
    return code;
}

static void old_ones_expired(history *h) {
    assert_true(history_has_catalog(h, 4) && history_has_catalog(h, 2));
    assert_false(history_has_catalog(h, 1) || history_has_catalog(h, 3));
}

static fdl_code do_gc(history *h) {
    fdl_gc_result result = {0};
    fdl_code code = fdl_gc(h->repo, &(fdl_gc_options){.grace_ms = 0}, &result, &h->error);
    fdl_gc_result_clear(&result);
    return code;
}

static void needed_data_is_there(history *h) {
    assert_true(history_has_data(h, "a"));
}

static void first_finding(void *data, const char *key, const char *line) {
    (void)key;
    if (!*(char *)data)
        snprintf(data, 200, "%s", line);
}

static char *mirror;

static void mirror_rewind(history *h) {
    history_rewind(h);
    expect(h, FDL_OK, fdl_folder_remove(mirror, &h->error));
}

static fdl_code do_clone(history *h) {
    fdl_repo *to = NULL;
    fdl_clone_result result = {0};
    fdl_code code = fdl_repo_open(&h->context, mirror, &to, &h->error);
    if (code == FDL_OK)
        code = fdl_clone(h->repo, to, &(fdl_clone_options){.all = true}, &result, &h->error);
    fdl_repo_free(to);
    return code;
}

static void mirror_is_whole(history *h) {
    fdl_verify_result result = {0};
    char finding[200] = "";
    fdl_repo *repo = NULL;
    expect(h, FDL_OK, fdl_repo_open(&h->context, mirror, &repo, &h->error));
    expect(h, FDL_OK, fdl_verify(repo, &(fdl_verify_options){.all = true}, first_finding, finding, &result, &h->error));
    assert_string_equal(finding, "");
    assert_int_equal(result.versions, 4);
    fdl_repo_free(repo);
}

static fdl_code do_restore(history *h) {
    fdl_restore_result result = {0};
    fdl_restore_options options = {.revision = "v1", .message = "back", .author_name = "ada"};
    return fdl_restore(h->repo, &options, &result, &h->error);
}

static fdl_code do_verify(history *h) {
    char finding[200] = "";
    fdl_verify_result result = {0};
    fdl_code code =
        fdl_verify(h->repo, &(fdl_verify_options){.revision = "main"}, first_finding, finding, &result, &h->error);
    if (code == FDL_OK && finding[0]) /* memory that runs out says nothing of the repository */
        return fdl_fail(&h->error, FDL_FAILED, NULL, "verify found: %.150s", finding);
    return code;
}

static void flows_on_a_repository(void **state) {
    (void)state;
    static const flow flows[] = {
        {"init", do_init, history_rewind, nothing, false},
        {"log", do_log, history_rewind, nothing, false},
        {"show", do_show, history_rewind, nothing, false},
        {"tag", do_tag, history_rewind, tag_is_there, false},
        {"expire", do_expire, history_rewind, old_ones_expired, false},
        {"gc", do_gc, history_rewind, needed_data_is_there, true},
        {"clone", do_clone, mirror_rewind, mirror_is_whole, true},
        {"restore", do_restore, history_rewind, nothing, true},
        {"verify", do_verify, history_rewind, nothing, true},
    };
    history h;
    open_lake(&h);
    mirror = test_path(h.folder, "mirror");
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
        sweep(&flows[i], &h);
    free(mirror);
    history_close(&h);
}

/* ---- flows on a working catalog, from a repository in a folder ------------------------------ */

static char *lake, *kept; /* "<folder>/lake" and a copy of it */

static char *in_lake(const char *name) {
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", lake, name);
    return path;
}

static void copy_folder(const char *from, const char *to) {
    fdl_error error;
    fdl_spawned done = {0};
    expect_ok(fdl_folder_remove(to, &error), &error);
    expect_ok(fdl_spawn((const char *const[]){"cp", "-a", from, to, NULL}, "/dev/null", &done, &error), &error);
    assert_int_equal(done.status, 0);
    fdl_spawned_clear(&done);
}

static void lake_rewind(history *h) {
    (void)h;
    copy_folder(kept, lake);
}

static fdl_code do_checkout(history *h) {
    fdl_repo *repo = NULL;
    fdl_checkout_result result = {0};
    fdl_code code = fdl_repo_open(&h->context, in_lake("repo"), &repo, &h->error);
    if (code == FDL_OK)
        code = fdl_checkout(repo, in_lake("work.sqlite"), &(fdl_checkout_options){.force = true}, &result, &h->error);
    fdl_checkout_result_clear(&result);
    fdl_repo_free(repo);
    return code;
}

static fdl_code do_commit(history *h) {
    fdl_commit_result result = {0};
    fdl_commit_options options = {.message = "a step", .author_name = "ada", .allow_empty = true};
    return fdl_commit(&h->context, in_lake("work.sqlite"), &options, &result, &h->error);
}

static fdl_code do_push(history *h) {
    fdl_push_result result = {0};
    fdl_code code = fdl_push(&h->context, in_lake("work.sqlite"), &(fdl_push_options){0}, &result, &h->error);
    fdl_push_result_clear(&result);
    return code;
}

static void is_pushed(history *h) {
    fdl_error error;
    fdl_status_result result = {0};
    expect_ok(fdl_status(&h->context, in_lake("work.sqlite"), &result, &error), &error);
    fdl_status_result_clear(&result);
    assert_true(fdl_file_exists(in_lake("repo/refs/heads/main")));
}

static void flows_on_a_working_catalog(void **state) {
    (void)state;
    static const flow checkout = {"checkout", do_checkout, lake_rewind, nothing, true},
                      commit = {"commit", do_commit, lake_rewind, nothing, true},
                      push = {"push", do_push, lake_rewind, is_pushed, false};
    history h;
    bool created = false;
    fdl_repo *repo = NULL;
    history_open(&h);
    h.context.jobs = 1;
    lake = test_path(h.folder, "lake");
    kept = test_path(h.folder, "kept");
    expect(&h, FDL_OK, fdl_folder_make(lake, &h.error));
    expect(&h, FDL_OK, fdl_repo_open(&h.context, in_lake("repo"), &repo, &h.error));
    expect(&h, FDL_OK, fdl_init(repo, &(fdl_init_options){0}, &created, &h.error));
    fdl_repo_free(repo);
    expect(&h, FDL_OK, do_checkout(&h));
    expect(&h, FDL_OK, do_commit(&h));
    copy_folder(lake, kept);
    sweep(&push, &h);
    expect(&h, FDL_OK, do_push(&h));
    copy_folder(lake, kept);
    sweep(&commit, &h);
    sweep(&checkout, &h);
    free(lake);
    free(kept);
    history_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_on_a_repository),
        cmocka_unit_test(flows_on_a_working_catalog),
    };
    json_set_alloc_funcs(__wrap_malloc, free);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
