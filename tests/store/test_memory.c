/*
 * test_memory.c - the store in memory keeps the contract.
 */
#include "store/contract.h"

static fdl_store *open_fresh(void *data) {
    (void)data;
    fdl_store *store = NULL;
    fdl_error error;
    expect_ok(fdl_store_open_memory(NULL, &store, &error), &error);
    return store;
}

int main(void) {
    const contract_place place = {.name = "memory", .open = open_fresh, .nests = true, .checks_sha256 = true};
    return contract_run(&place);
}
