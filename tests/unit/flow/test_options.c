/*
 * test_options.c - a caller who gives no options gets the defaults, or one line
 * that says what must be named.
 */
#include "history.h"

#include <dirent.h>

#include "fdl/host.h"
#include "util/file.h"

static fdl_error error;

/* So that none is forgotten below. */
static int functions_that_take_options(void) {
    int count = 0;
    char *folder = test_path(getenv("FDL_SOURCE"), "include/fdl");
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char *path = test_path(folder, entry->d_name), *text = NULL;
        size_t length = 0;
        if (strstr(entry->d_name, ".h") && fdl_file_read(path, 1 << 20, &text, &length, &error) == FDL_OK)
            for (const char *at = text; (at = strstr(at, "_options *options")); at++)
                count++;
        free(text);
        free(path);
    }
    closedir(dir);
    free(folder);
    return count;
}

static int those_with_defaults(history *h, const char *scratch) {
    fdl_context context = {0};
    fdl_repo *repo = NULL, *mirror = NULL;
    bool created = false;
    size_t size = 0;
    char *work = test_path(scratch, "work.sqlite"), *site = test_path(scratch, "site"), *page = NULL;
    char *place = test_path(scratch, "repo"), *copy = test_path(scratch, "copy");
    fdl_checkout_result checkout;
    fdl_push_result push;
    fdl_show_result show;
    fdl_clone_result clone;
    fdl_verify_result verify;
    fdl_gc_result gc;
    expect_ok(fdl_repo_open(&context, place, &repo, &error), &error);
    expect_ok(fdl_init(repo, NULL, &created, &error), &error);
    assert_true(created);
    expect_ok(fdl_checkout(repo, work, NULL, &checkout, &error), &error);
    assert_string_equal(checkout.branch, "refs/heads/main");
    expect_ok(fdl_push(&context, work, NULL, &push, &error), &error);
    assert_int_equal(push.pushed_count, 0);
    fdl_push_result_clear(&push);
    fdl_checkout_result_clear(&checkout);
    fdl_repo_free(repo);

    expect_ok(fdl_show(h->repo, NULL, NULL, &show, &error), &error);
    assert_string_equal(show.version.id, history_id(1));
    fdl_show_result_clear(&show);
    expect_ok(fdl_verify(h->repo, NULL, NULL, NULL, &verify, &error), &error);
    assert_int_equal(verify.versions, 1);
    expect_ok(fdl_repo_open(&context, copy, &mirror, &error), &error);
    expect_ok(fdl_clone(h->repo, mirror, NULL, &clone, &error), &error);
    assert_int_equal(clone.refs, 1);
    fdl_repo_free(mirror);
    expect_ok(fdl_page(h->repo, NULL, NULL, &page, &size, &error), &error);
    expect_ok(fdl_site(h->repo, site, NULL, &size, &error), &error);
    assert_int_equal(size, 2);
    history_put(h, "data/main/t/young.parquet", "x"); /* of somebody who is about to commit */
    expect_ok(fdl_gc(h->repo, NULL, &gc, &error), &error);
    assert_int_equal(gc.young_files, 1);
    assert_true(history_has_data(h, "young"));
    fdl_gc_result_clear(&gc);
    free(page);
    free(site);
    free(work);
    free(place);
    free(copy);
    return 9;
}

#define EXPECT_USAGE(part, call) (expect_code(FDL_USAGE, call, &error), expect_said(part, &error), 1)

static int those_where_something_must_be_named(history *h) {
    fdl_commit_result commit;
    fdl_run_result run;
    fdl_import_result import;
    fdl_expire_result expire;
    fdl_restore_result restore;
    fdl_withdraw_result withdraw;
    fdl_host *host = NULL;
    int64_t number;
    return EXPECT_USAGE("a message", fdl_commit(&h->context, "none.sqlite", NULL, &commit, &error)) +
           EXPECT_USAGE("the command", fdl_run(h->repo, NULL, &run, &error)) +
           EXPECT_USAGE("a branch", fdl_request_make(h->repo, NULL, &number, &error)) +
           EXPECT_USAGE("to import", fdl_import(h->repo, NULL, &import, &error)) +
           EXPECT_USAGE("how many", fdl_expire(h->repo, NULL, &expire, &error)) +
           EXPECT_USAGE("a message", fdl_restore(h->repo, NULL, &restore, &error)) +
           EXPECT_USAGE("the versions", fdl_withdraw(h->repo, NULL, &withdraw, &error)) +
           EXPECT_USAGE("a host needs a repository", fdl_host_start(&h->context, NULL, &host, &error));
}

static void every_function_takes_no_options(void **state) {
    (void)state;
    history h;
    char *scratch = test_scratch_make();
    history_open(&h);
    history_version(&h, 1, 0, "a");
    history_ref(&h, "heads/main", 1);
    int tried = those_with_defaults(&h, scratch) + those_where_something_must_be_named(&h);
    assert_int_equal(tried, functions_that_take_options());
    history_close(&h);
    test_scratch_drop(scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_takes_no_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
