/*
 * fault.c - a store that fails where it is told to: the Nth call of a kind does
 * not happen, or happens with its answer lost, or something else happens just
 * before or after it (another writer, the end of this process).
 */
#include <signal.h>
#include <stdlib.h>

#include "store/wrap.h"
#include "util/text.h"

void fdl_fault_kill(void *unused) {
    (void)unused;
    raise(SIGKILL);
}

static fdl_store *inner_of(fdl_store *store) {
    return ((fdl_wrapper *)store)->inner;
}

/* The fault if this call is one to be hit, else NULL. */
static const fdl_fault *hit(fdl_store *store, fdl_op op, const char *key) {
    fdl_wrapper *wrapper = (fdl_wrapper *)store;
    fdl_fault *fault = wrapper->data;
    if (!(fault->ops & (1u << op)) || (fault->prefix && !fdl_str_starts(key, fault->prefix)))
        return NULL;
    pthread_mutex_lock(&wrapper->lock);
    fault->seen++;
    bool now = fault->at > 0 && fault->seen >= fault->at && fault->seen - fault->at <= fault->more;
    pthread_mutex_unlock(&wrapper->lock);
    return now ? fault : NULL;
}

/* Before the call: anything but FDL_OK is its result. */
static fdl_code before(const fdl_fault *fault, fdl_op op, const char *key, fdl_error *error) {
    if (fault && fault->kind == FDL_FAULT_HOOK_BEFORE)
        fault->hook(fault->hook_data);
    if (fault && fault->kind == FDL_FAULT_FAIL)
        return fdl_fail(error, fault->code, key, "cannot %s '%s': told to fail", fdl_op_name(op), key);
    return FDL_OK;
}

/* After it: the result, or what became of it. */
static fdl_code after(const fdl_fault *fault, fdl_op op, const char *key, fdl_code code, fdl_error *error) {
    if (fault && fault->kind == FDL_FAULT_HOOK_AFTER)
        fault->hook(fault->hook_data);
    if (fault && fault->kind == FDL_FAULT_LOSE_ANSWER)
        return fdl_fail(error, FDL_UNCERTAIN, key, "the answer to %s '%s' was lost", fdl_op_name(op), key);
    return code;
}

static fdl_code fault_get(fdl_store *store, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                          fdl_object *object, fdl_error *error) {
    const fdl_fault *fault = hit(store, FDL_OP_GET, key);
    fdl_code code = before(fault, FDL_OP_GET, key, error);
    if (code != FDL_OK)
        return code;
    code = fdl_store_get(inner_of(store), key, range, sink, sink_data, object, error);
    return after(fault, FDL_OP_GET, key, code, error);
}

static fdl_code fault_head(fdl_store *store, const char *key, fdl_object *object, fdl_error *error) {
    const fdl_fault *fault = hit(store, FDL_OP_HEAD, key);
    fdl_code code = before(fault, FDL_OP_HEAD, key, error);
    if (code != FDL_OK)
        return code;
    return after(fault, FDL_OP_HEAD, key, fdl_store_head(inner_of(store), key, object, error), error);
}

static fdl_code fault_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                          fdl_object *object, fdl_error *error) {
    const fdl_fault *fault = hit(store, FDL_OP_PUT, key);
    fdl_code code = before(fault, FDL_OP_PUT, key, error);
    if (code != FDL_OK)
        return code;
    code = fdl_store_put(inner_of(store), key, source, condition, object, error);
    return after(fault, FDL_OP_PUT, key, code, error);
}

static fdl_code fault_remove(fdl_store *store, const char *key, fdl_condition condition, fdl_error *error) {
    const fdl_fault *fault = hit(store, FDL_OP_REMOVE, key);
    fdl_code code = before(fault, FDL_OP_REMOVE, key, error);
    if (code != FDL_OK)
        return code;
    return after(fault, FDL_OP_REMOVE, key, fdl_store_remove(inner_of(store), key, condition, error), error);
}

static fdl_code fault_list(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback,
                           void *data, fdl_error *error) {
    const fdl_fault *fault = hit(store, FDL_OP_LIST, prefix);
    fdl_code code = before(fault, FDL_OP_LIST, prefix, error);
    if (code != FDL_OK)
        return code;
    code = fdl_store_list(inner_of(store), prefix, depth, callback, data, error);
    return after(fault, FDL_OP_LIST, prefix, code, error);
}

static fdl_code fault_sync(fdl_store *store, const char *key, fdl_error *error) {
    const fdl_fault *fault = hit(store, FDL_OP_SYNC, key);
    fdl_code code = before(fault, FDL_OP_SYNC, key, error);
    if (code != FDL_OK)
        return code;
    return after(fault, FDL_OP_SYNC, key, fdl_store_sync(inner_of(store), key, error), error);
}

static fdl_code fault_purge(fdl_store *store, const char *key, fdl_error *error) {
    const fdl_fault *fault = hit(store, FDL_OP_PURGE, key);
    fdl_code code = before(fault, FDL_OP_PURGE, key, error);
    if (code != FDL_OK)
        return code;
    return after(fault, FDL_OP_PURGE, key, fdl_store_purge(inner_of(store), key, error), error);
}

static const fdl_store_ops fault_ops = {
    .kind = "fault",
    .get = fault_get,
    .head = fault_head,
    .put = fault_put,
    .remove = fault_remove,
    .list = fault_list,
    .sync = fault_sync,
    .purge = fault_purge,
    .announce = fdl_wrapper_announce,
    .vouched = fdl_wrapper_vouched,
    .clock = fdl_wrapper_clock,
    .free = fdl_wrapper_free,
};

fdl_code fdl_store_open_fault(fdl_store *inner, fdl_fault *fault, fdl_store **out, fdl_error *error) {
    return fdl_wrapper_open(&fault_ops, inner, fault, out, error);
}
