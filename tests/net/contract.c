/*
 * contract.c - the contract of a store against a real S3 server, which pytest
 * has started (tests/net/test_contract.py).
 *
 * FDL_TEST_BUCKET is a bucket; each test gets a prefix of its own in it.
 * FDL_TEST_ATOMIC is "1" for a server that keeps conditional writes atomic,
 * FDL_TEST_NESTS for one where "a" and "a/b" may both be objects, and
 * FDL_TEST_CHECKS for one that compares checksums.  With
 * FDL_TEST_MULTIPART_FROM and FDL_TEST_PART most objects go up in parts.
 *
 * With FDL_TEST_URL, the address of that bucket for anybody, the store under
 * test is the one for plain HTTP: all that it cannot do, list, is done by S3.
 */
#include "store/contract.h"
#include "store/s3.h"

static int number;
static char address[300];

static uint64_t measure(const char *name) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : 0;
}

/* ---- over plain HTTP, with a second pair of eyes -------------------------- */

typedef struct pair {
    fdl_store store;
    fdl_store *http, *s3;
} pair;

static fdl_code pair_get(fdl_store *store, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                         fdl_object *object, fdl_error *error) {
    return fdl_store_get(((pair *)store)->http, key, range, sink, sink_data, object, error);
}

static fdl_code pair_head(fdl_store *store, const char *key, fdl_object *object, fdl_error *error) {
    return fdl_store_head(((pair *)store)->http, key, object, error);
}

static fdl_code pair_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                         fdl_object *object, fdl_error *error) {
    return fdl_store_put(((pair *)store)->http, key, source, condition, object, error);
}

static fdl_code pair_remove(fdl_store *store, const char *key, fdl_condition condition, fdl_error *error) {
    return fdl_store_remove(((pair *)store)->http, key, condition, error);
}

static fdl_code pair_list(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback,
                          void *data, fdl_error *error) {
    return fdl_store_list(((pair *)store)->s3, prefix, depth, callback, data, error);
}

static void pair_free(fdl_store *store) {
    fdl_store_free(((pair *)store)->http);
    fdl_store_free(((pair *)store)->s3);
    free(store);
}

static fdl_store *open_pair(fdl_store *s3) {
    static const fdl_store_ops ops = {.kind = "http",
                                      .get = pair_get,
                                      .head = pair_head,
                                      .put = pair_put,
                                      .remove = pair_remove,
                                      .list = pair_list,
                                      .free = pair_free};
    fdl_error error;
    char url[400];
    pair *made = calloc(1, sizeof *made);
    assert_non_null(made);
    snprintf(url, sizeof url, "%s/test%%20%d", getenv("FDL_TEST_URL"), number);
    made->s3 = s3;
    expect_ok(fdl_store_open(NULL, url, &made->http, &error), &error);
    assert_false(made->http->can_list);
    made->store = (fdl_store){.ops = &ops, .address = made->http->address, .can_list = true};
    return &made->store;
}

/* ---- the place -------------------------------------------------------------- */

static fdl_store *open_again(void *data) {
    (void)data;
    fdl_error error;
    fdl_store *store = NULL;
    fdl_s3_options options = {.multipart_from_bytes = measure("FDL_TEST_MULTIPART_FROM"),
                              .part_bytes = measure("FDL_TEST_PART"),
                              .page_entries = (unsigned)measure("FDL_TEST_PAGE")};
    expect_ok(fdl_store_open_s3_with(NULL, address, &options, &store, &error), &error);
    return getenv("FDL_TEST_URL") ? open_pair(store) : store;
}

static fdl_store *open_fresh(void *data) {
    snprintf(address, sizeof address, "s3://%s/test %d", getenv("FDL_TEST_BUCKET"), ++number);
    return open_again(data);
}

static bool is_set(const char *name) {
    const char *text = getenv(name);
    return text && strcmp(text, "1") == 0;
}

int main(void) {
    if (!getenv("FDL_TEST_BUCKET")) {
        print_error("FDL_TEST_BUCKET is not set: run this by tests/net/test_contract.py\n");
        return 1;
    }
    contract_place place = {
        .name = getenv("FDL_TEST_URL") ? "http" : "s3",
        .open = open_fresh,
        .open_again = is_set("FDL_TEST_ATOMIC") ? open_again : NULL,
        .lets_two_win = !is_set("FDL_TEST_ATOMIC"), /* moto: measured, one swap of 41 lost on a busy machine */
        .nests = is_set("FDL_TEST_NESTS"),
        .nests_unsaid = getenv("FDL_TEST_URL") != NULL,
        .checks_sha256 = is_set("FDL_TEST_CHECKS"),
        .race_rounds = 20,
    };
    return contract_run(&place);
}
