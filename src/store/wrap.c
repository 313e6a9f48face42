/*
 * wrap.c - what the wrapping stores have in common: they look like the store
 * inside.
 */
#include <stdlib.h>

#include "store/wrap.h"
#include "util/text.h"

const char *fdl_op_name(fdl_op op) {
    static const char *const names[FDL_OP_COUNT] = {"get", "head", "put", "remove", "list", "sync", "purge"};
    return names[op];
}

fdl_code fdl_wrapper_open(const fdl_store_ops *ops, fdl_store *inner, void *data, fdl_store **out, fdl_error *error) {
    fdl_wrapper *wrapper = NULL;
    char *address = NULL;
    fdl_code code = fdl_str_copy(&address, inner->address, error);
    if (code == FDL_OK)
        code = fdl_alloc(&wrapper, 1, sizeof *wrapper, error);
    if (code != FDL_OK) {
        free(address);
        fdl_store_free(inner);
        return code;
    }
    *wrapper = (fdl_wrapper){.store = *inner, .inner = inner, .data = data};
    wrapper->store.ops = ops;
    wrapper->store.address = address;
    pthread_mutex_init(&wrapper->lock, NULL);
    *out = &wrapper->store;
    return FDL_OK;
}

fdl_code fdl_wrapper_announce(fdl_store *store, fdl_announced *files, size_t count, fdl_error *error) {
    return fdl_store_announce(((fdl_wrapper *)store)->inner, files, count, error);
}

fdl_code fdl_wrapper_vouched(fdl_store *store, bool *out, fdl_error *error) {
    return fdl_store_vouched(((fdl_wrapper *)store)->inner, out, error);
}

fdl_code fdl_wrapper_clock(fdl_store *store, int64_t *now_ms, fdl_error *error) {
    return fdl_store_clock(((fdl_wrapper *)store)->inner, now_ms, error);
}

void fdl_wrapper_free(fdl_store *store) {
    fdl_wrapper *wrapper = (fdl_wrapper *)store;
    fdl_store_free(wrapper->inner);
    pthread_mutex_destroy(&wrapper->lock);
    free(store->address);
    free(wrapper);
}
