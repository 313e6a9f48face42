/*
 * test_race.c - several writers on one folder, each a process of its own: every
 * move is won by exactly one, nothing is lost, and refs.json ends up true.
 */
#include "lake.h"

#include <sys/wait.h>
#include <unistd.h>

#include "util/file.h"
#include "util/ident.h"

#define WRITERS 4
#define MOVES 12 /* of each writer */
#define MAIN "refs/heads/main"

static void open_folder(lake *l, const char *path) {
    fdl_store *store = NULL;
    memset(l, 0, sizeof *l);
    expect(l, FDL_OK, fdl_store_open_folder(NULL, path, &store, &l->error));
    lake_open_store(l, store);
}

/* A version on top of what the branch holds, pushed; redone on the new one when refused. */
static fdl_code push_once(lake *l) {
    for (;;) {
        fdl_ref ref = {0};
        fdl_version parent = {0};
        char id[FDL_ID_BYTES];
        fdl_code code = fdl_ref_read(l->repo, MAIN, &ref, &l->error);
        if (code != FDL_OK && code != FDL_NOT_FOUND)
            return code;
        if (code == FDL_OK)
            code = fdl_version_read(l->repo, ref.id, &parent, &l->error);
        else
            code = FDL_OK;
        if (code == FDL_OK)
            code = fdl_uuid_v7(id, &l->error);
        if (code != FDL_OK)
            return code;
        lake_put_version(l, id, ref.id[0] ? ref.id : NULL, parent.seq + 1);
        fdl_version_clear(&parent);
        code = fdl_ref_write(l->repo, MAIN, id, ref.id[0] ? &ref : NULL, &l->error);
        if (code != FDL_CONFLICT)
            return code;
    }
}

static int writer(const char *path) {
    lake l;
    open_folder(&l, path);
    fdl_code code = FDL_OK;
    for (int i = 0; i < MOVES && code == FDL_OK; i++)
        code = push_once(&l);
    /* A lost race for refs.json is repaired by whoever won it. */
    fdl_code updated = code == FDL_OK ? fdl_refs_json_update(l.repo, &l.error) : FDL_OK;
    if (code != FDL_OK || (updated != FDL_OK && updated != FDL_CONFLICT)) {
        fprintf(stderr, "a writer failed: %s\n", l.error.message);
        return 1;
    }
    lake_close(&l);
    return 0;
}

static void every_version_that_was_told_done_is_in_the_history(void **state) {
    (void)state;
    char path[] = "/tmp/fdl-race-XXXXXX";
    assert_non_null(mkdtemp(path));
    lake l;
    open_folder(&l, path);
    lake_put(&l, "HEAD", "ref: " MAIN "\n");
    pid_t children[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0)
            _exit(writer(path));
    }
    for (int i = 0; i < WRITERS; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }

    fdl_target first, tip;
    char revision[32];
    snprintf(revision, sizeof revision, "main~%d", WRITERS * MOVES - 1);
    expect(&l, FDL_OK, fdl_resolve(l.repo, revision, &first, &l.error));
    snprintf(revision, sizeof revision, "main~%d", WRITERS * MOVES);
    expect(&l, FDL_NOT_FOUND, fdl_resolve(l.repo, revision, &first, &l.error));
    expect(&l, FDL_OK, fdl_resolve(l.repo, "main", &tip, &l.error));

    expect(&l, FDL_OK, fdl_refs_json_update(l.repo, &l.error));
    char *text = lake_get(&l, "refs.json");
    assert_non_null(strstr(text, tip.id));
    free(text);
    lake_close(&l);
    expect(&l, FDL_OK, fdl_folder_remove(path, &l.error));
}

static void one_of_many_creators_of_a_tag_wins(void **state) {
    (void)state;
    char path[] = "/tmp/fdl-race-XXXXXX";
    assert_non_null(mkdtemp(path));
    static const char *const ids[WRITERS] = {ID_A, ID_B, ID_C, ID_D};
    pid_t children[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            lake l;
            open_folder(&l, path);
            fdl_code code = fdl_ref_write(l.repo, "refs/tags/v1", ids[i], NULL, &l.error);
            lake_close(&l);
            _exit((int)code);
        }
    }
    int winner = -1;
    for (int i = 0; i < WRITERS; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == FDL_OK) {
            assert_int_equal(winner, -1);
            winner = i;
        } else {
            assert_int_equal(WEXITSTATUS(status), FDL_CONFLICT);
        }
    }
    assert_true(winner >= 0);
    lake l;
    fdl_ref ref;
    open_folder(&l, path);
    expect(&l, FDL_OK, fdl_ref_read(l.repo, "refs/tags/v1", &ref, &l.error));
    assert_string_equal(ref.id, ids[winner]);
    lake_close(&l);
    expect(&l, FDL_OK, fdl_folder_remove(path, &l.error));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_version_that_was_told_done_is_in_the_history),
        cmocka_unit_test(one_of_many_creators_of_a_tag_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
