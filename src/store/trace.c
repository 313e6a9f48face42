/*
 * trace.c - a store that writes down what is asked of the store inside: how many
 * calls of which kind, how many bytes, and which keys in which order.
 *
 * Promises like "nothing a file points to is written after it" and "one request"
 * are tested with it.
 */
#include <stdlib.h>

#include "store/wrap.h"
#include "util/file.h"
#include "util/text.h"

void fdl_trace_clear(fdl_trace *trace) {
    for (size_t i = 0; i < trace->line_count; i++)
        free(trace->lines[i]);
    free(trace->lines);
    *trace = (fdl_trace){0};
}

static fdl_trace *lock(fdl_store *store) {
    fdl_wrapper *wrapper = (fdl_wrapper *)store;
    pthread_mutex_lock(&wrapper->lock);
    return wrapper->data;
}

static void unlock(fdl_store *store) {
    pthread_mutex_unlock(&((fdl_wrapper *)store)->lock);
}

static fdl_store *inner_of(fdl_store *store) {
    return ((fdl_wrapper *)store)->inner;
}

static fdl_code add_line(fdl_trace *trace, fdl_op op, const char *key, fdl_error *error) {
    if (trace->line_count == FDL_TRACE_LINE_LIMIT) {
        trace->lost_count++;
        return FDL_OK;
    }
    fdl_code code = fdl_grow(&trace->lines, trace->line_count, sizeof *trace->lines, error);
    if (code == FDL_OK)
        code = fdl_str_format(&trace->lines[trace->line_count], error, "%s %s", fdl_op_name(op), key);
    if (code == FDL_OK)
        trace->line_count++;
    return code;
}

static fdl_code write_down(fdl_store *store, fdl_op op, const char *key, fdl_error *error) {
    fdl_trace *trace = lock(store);
    trace->calls[op]++;
    fdl_code code = add_line(trace, op, key, error);
    unlock(store);
    return code;
}

/* Counts what passes on its way to the caller's sink. */
typedef struct counting {
    fdl_store *store;
    fdl_sink sink;
    void *sink_data;
} counting;

static fdl_code count_piece(void *data, const void *bytes, size_t length, fdl_error *error) {
    counting *c = data;
    lock(c->store)->bytes_in += length;
    unlock(c->store);
    return c->sink(c->sink_data, bytes, length, error);
}

static fdl_code trace_get(fdl_store *store, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                          fdl_object *object, fdl_error *error) {
    counting c = {.store = store, .sink = sink, .sink_data = sink_data};
    fdl_code code = write_down(store, FDL_OP_GET, key, error);
    return code == FDL_OK ? fdl_store_get(inner_of(store), key, range, count_piece, &c, object, error) : code;
}

static fdl_code trace_head(fdl_store *store, const char *key, fdl_object *object, fdl_error *error) {
    fdl_code code = write_down(store, FDL_OP_HEAD, key, error);
    return code == FDL_OK ? fdl_store_head(inner_of(store), key, object, error) : code;
}

static fdl_code trace_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                          fdl_object *object, fdl_error *error) {
    uint64_t size = source->length_bytes;
    fdl_code code = source->path ? fdl_file_size(source->path, &size, error) : FDL_OK;
    if (code == FDL_OK)
        code = write_down(store, FDL_OP_PUT, key, error);
    if (code != FDL_OK)
        return code;
    lock(store)->bytes_out += size;
    unlock(store);
    return fdl_store_put(inner_of(store), key, source, condition, object, error);
}

static fdl_code trace_remove(fdl_store *store, const char *key, fdl_condition condition, fdl_error *error) {
    fdl_code code = write_down(store, FDL_OP_REMOVE, key, error);
    return code == FDL_OK ? fdl_store_remove(inner_of(store), key, condition, error) : code;
}

static fdl_code trace_list(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback,
                           void *data, fdl_error *error) {
    fdl_code code = write_down(store, FDL_OP_LIST, prefix, error);
    return code == FDL_OK ? fdl_store_list(inner_of(store), prefix, depth, callback, data, error) : code;
}

static fdl_code trace_sync(fdl_store *store, const char *key, fdl_error *error) {
    fdl_code code = write_down(store, FDL_OP_SYNC, key, error);
    return code == FDL_OK ? fdl_store_sync(inner_of(store), key, error) : code;
}

static fdl_code trace_purge(fdl_store *store, const char *key, fdl_error *error) {
    fdl_code code = write_down(store, FDL_OP_PURGE, key, error);
    return code == FDL_OK ? fdl_store_purge(inner_of(store), key, error) : code;
}

static const fdl_store_ops trace_ops = {
    .kind = "trace",
    .get = trace_get,
    .head = trace_head,
    .put = trace_put,
    .remove = trace_remove,
    .list = trace_list,
    .sync = trace_sync,
    .purge = trace_purge,
    .announce = fdl_wrapper_announce,
    .vouched = fdl_wrapper_vouched,
    .clock = fdl_wrapper_clock,
    .free = fdl_wrapper_free,
};

fdl_code fdl_store_open_trace(fdl_store *inner, fdl_trace *trace, fdl_store **out, fdl_error *error) {
    return fdl_wrapper_open(&trace_ops, inner, trace, out, error);
}
