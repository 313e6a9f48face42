/*
 * contract.c - the contract of a store against a real S3 server, which pytest
 * has started (tests/net/test_contract.py).
 *
 * FDL_TEST_BUCKET is a bucket; each test gets a prefix of its own in it.
 * FDL_TEST_ATOMIC is "1" for a server that keeps conditional writes atomic,
 * FDL_TEST_NESTS for one where "a" and "a/b" may both be objects, and
 * FDL_TEST_CHECKS for one that compares checksums.  With
 * FDL_TEST_MULTIPART_FROM and FDL_TEST_PART most objects go up in parts.
 */
#include "store/contract.h"
#include "store/s3.h"

static int number;
static char address[300];

static uint64_t measure(const char *name) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : 0;
}

static fdl_store *open_again(void *data) {
    (void)data;
    fdl_error error;
    fdl_store *store = NULL;
    fdl_s3_options options = {.multipart_from_bytes = measure("FDL_TEST_MULTIPART_FROM"),
                              .part_bytes = measure("FDL_TEST_PART"),
                              .page_entries = (unsigned)measure("FDL_TEST_PAGE")};
    expect_ok(fdl_store_open_s3_with(NULL, address, &options, &store, &error), &error);
    return store;
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
        .name = "s3",
        .open = open_fresh,
        .open_again = is_set("FDL_TEST_ATOMIC") ? open_again : NULL,
        .nests = is_set("FDL_TEST_NESTS"),
        .checks_sha256 = is_set("FDL_TEST_CHECKS"),
        .race_rounds = 20,
    };
    return contract_run(&place);
}
