/*
 * test_promises.c - stores that keep their promises are found to, and careless
 * ones are found out: a store in memory whose puts forget their conditions, one
 * way or another.
 */
#include "store/backends.h"
#include "store/promises.h"
#include "support/support.h"

static fdl_error error;

/* ---- a careless store --------------------------------------------------------- */

typedef enum carelessness {
    IGNORES_ABSENT,
    IGNORES_MATCH,
    CREATES_ON_MATCH,
    REFUSES_AND_WRITES,
    KNOWS_NO_CONDITIONS,
    LISTS_NOTHING,
    GIVES_OTHER_PARTS,
    DELETES_ANYTHING,
    DELETES_NOTHING
} carelessness;

typedef struct careless {
    fdl_store base;
    fdl_store *inner;
    carelessness how;
} careless;

static fdl_code careless_get(fdl_store *store, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                             fdl_object *object, fdl_error *problem) {
    careless *c = (careless *)store;
    fdl_range shifted = {1, 1};
    bool shift = range && c->how == GIVES_OTHER_PARTS;
    return fdl_store_get(c->inner, key, shift ? &shifted : range, sink, sink_data, object, problem);
}

static fdl_code careless_head(fdl_store *store, const char *key, fdl_object *object, fdl_error *problem) {
    return fdl_store_head(((careless *)store)->inner, key, object, problem);
}

static fdl_code careless_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                             fdl_object *object, fdl_error *problem) {
    careless *c = (careless *)store;
    fdl_object there;
    fdl_error ignored;
    if (c->how == KNOWS_NO_CONDITIONS && condition.kind != FDL_ALWAYS)
        return fdl_fail(problem, FDL_UNSUPPORTED, key, "not implemented");
    bool missing = fdl_store_head(c->inner, key, &there, &ignored) == FDL_NOT_FOUND;
    bool forget = (c->how == IGNORES_ABSENT && condition.kind == FDL_IF_ABSENT) ||
                  (c->how == IGNORES_MATCH && condition.kind == FDL_IF_MATCH) ||
                  (c->how == CREATES_ON_MATCH && condition.kind == FDL_IF_MATCH && missing);
    if (forget)
        condition.kind = FDL_ALWAYS;
    fdl_code code = fdl_store_put(c->inner, key, source, condition, object, problem);
    if (code == FDL_CONFLICT && c->how == REFUSES_AND_WRITES)
        fdl_store_put(c->inner, key, source, (fdl_condition){.kind = FDL_ALWAYS}, NULL, &ignored);
    return code;
}

static fdl_code careless_remove(fdl_store *store, const char *key, fdl_condition condition, fdl_error *problem) {
    careless *c = (careless *)store;
    if (c->how == DELETES_NOTHING && strstr(key, "stays") && condition.kind == FDL_ALWAYS)
        return FDL_OK;
    if (c->how == DELETES_ANYTHING)
        condition.kind = FDL_ALWAYS;
    return fdl_store_remove(c->inner, key, condition, problem);
}

static fdl_code careless_list(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback,
                              void *data, fdl_error *problem) {
    careless *c = (careless *)store;
    return c->how == LISTS_NOTHING ? FDL_OK : fdl_store_list(c->inner, prefix, depth, callback, data, problem);
}

static void careless_free(fdl_store *store) {
    fdl_store_free(((careless *)store)->inner);
}

static const fdl_store_ops careless_ops = {
    .kind = "careless",
    .get = careless_get,
    .head = careless_head,
    .put = careless_put,
    .remove = careless_remove,
    .list = careless_list,
    .free = careless_free,
};

static careless make_careless(carelessness how) {
    careless made = {.base = {.ops = &careless_ops, .address = "careless:", .can_list = true},
                     .how = how};
    expect_ok(fdl_store_open_memory(NULL, &made.inner, &error), &error);
    return made;
}

/* ---- tests -------------------------------------------------------------------- */

static fdl_code count_entry(void *count, const fdl_entry *entry, fdl_error *problem) {
    (void)entry;
    (void)problem;
    ++*(int *)count;
    return FDL_OK;
}

static void expect_empty(fdl_store *store) {
    int count = 0;
    expect_ok(fdl_store_list(store, "", FDL_ALL_LEVELS, count_entry, &count, &error), &error);
    assert_int_equal(count, 0);
}

static void expect_all_kept(fdl_store *store) {
    fdl_promises promises;
    expect_ok(fdl_store_check_promises(store, &promises, &error), &error);
    for (int i = 0; i < FDL_PROMISE_COUNT; i++) {
        if (!promises.items[i].kept)
            fail_msg("'%s' is not kept: %s", promises.items[i].name, promises.items[i].detail);
    }
    assert_true(promises.all_kept);
    expect_ok(fdl_store_check_conditions(store, &error), &error);
    expect_empty(store);
}

static void a_folder_keeps_its_promises_and_is_left_clean(void **state) {
    (void)state;
    fdl_store *store = NULL;
    char *root = test_scratch_make();
    expect_ok(fdl_store_open_folder(NULL, root, &store, &error), &error);
    fdl_source source = {.bytes = "x", .length_bytes = 1};
    fdl_condition always = {.kind = FDL_ALWAYS};
    expect_ok(fdl_store_put(store, "a", &source, always, NULL, &error), &error); /* so that .fdl is there */
    expect_ok(fdl_store_remove(store, "a", always, &error), &error);
    expect_all_kept(store);
    fdl_store_free(store);
    test_scratch_drop(root);
}

static void a_careless_store_is_found_out(void **state) {
    (void)state;
    static const struct {
        carelessness how;
        fdl_promise_kind broken;
        bool unsafe; /* the cheap form refuses it too */
    } cases[] = {
        {IGNORES_ABSENT, FDL_PROMISE_CREATE_ONLY, true},      {IGNORES_MATCH, FDL_PROMISE_IF_MATCH, true},
        {CREATES_ON_MATCH, FDL_PROMISE_IF_MATCH, true},       {REFUSES_AND_WRITES, FDL_PROMISE_CREATE_ONLY, false},
        {KNOWS_NO_CONDITIONS, FDL_PROMISE_CREATE_ONLY, true}, {LISTS_NOTHING, FDL_PROMISE_LIST, false},
        {GIVES_OTHER_PARTS, FDL_PROMISE_RANGE, false},        {DELETES_ANYTHING, FDL_PROMISE_DELETE, false},
        {DELETES_NOTHING, FDL_PROMISE_DELETE, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fdl_promises promises;
        careless c = make_careless(cases[i].how);
        if (cases[i].unsafe) {
            expect_code(FDL_REFUSED, fdl_store_check_conditions(&c.base, &error), &error);
            expect_said("--unsafe-no-conditions", &error);
            expect_empty(c.inner);
        }
        expect_ok(fdl_store_check_promises(&c.base, &promises, &error), &error);
        assert_false(promises.items[cases[i].broken].kept);
        assert_true(promises.items[cases[i].broken].detail[0] != '\0');
        assert_false(promises.all_kept);
        careless_free(&c.base);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_keeps_its_promises_and_is_left_clean),
        cmocka_unit_test(a_careless_store_is_found_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
