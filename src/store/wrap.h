/*
 * wrap.h - stores around any other store: one that writes down what is asked of
 * it, and one that fails where it is told to.
 *
 * Both take the inner store over, also when opening fails; freeing the wrapper
 * frees it.  The fdl_trace or fdl_fault is the caller's, must outlive the store,
 * and may be read and changed while no call is going on.
 */
#ifndef FDL_STORE_WRAP_H
#define FDL_STORE_WRAP_H

#include <pthread.h>

#include "fdl/store.h"

/* Many removals at once come as one each; announcements and the clock are not counted. */
typedef enum fdl_op {
    FDL_OP_GET,
    FDL_OP_HEAD,
    FDL_OP_PUT,
    FDL_OP_REMOVE,
    FDL_OP_LIST,
    FDL_OP_SYNC,
    FDL_OP_PURGE
} fdl_op;

#define FDL_OP_COUNT 7

/* "get", "head", "put", "remove", "list", "sync", "purge" */
const char *fdl_op_name(fdl_op op);

/* ---- trace: what is asked ------------------------------------------------ */

#define FDL_TRACE_LINE_LIMIT 4096

/* Zeroed is ready. */
typedef struct fdl_trace {
    size_t calls[FDL_OP_COUNT];
    uint64_t bytes_in;  /* given to the sinks of gets */
    uint64_t bytes_out; /* of the sources of puts, successful or not */
    char **lines;       /* "put refs/heads/main", in the order of the calls */
    size_t line_count;
    size_t lost_count; /* calls behind the limit, counted but not written down */
} fdl_trace;

void fdl_trace_clear(fdl_trace *trace);

fdl_code fdl_store_open_trace(fdl_store *inner, fdl_trace *trace, fdl_store **out, fdl_error *error);

/* ---- fault: what goes wrong ---------------------------------------------- */

typedef enum fdl_fault_kind {
    FDL_FAULT_FAIL,        /* the call does not happen and returns `code` */
    FDL_FAULT_LOSE_ANSWER, /* the call happens and returns FDL_UNCERTAIN */
    FDL_FAULT_HOOK_BEFORE, /* `hook` is called, then the call happens */
    FDL_FAULT_HOOK_AFTER   /* the call happens, then `hook` is called */
} fdl_fault_kind;

/* Zeroed does nothing. */
typedef struct fdl_fault {
    unsigned ops;       /* which operations count: 1u << FDL_OP_PUT | ... */
    const char *prefix; /* only keys that start so; NULL: all */
    size_t at;          /* the first of them to be hit, from 1 on; 0: none */
    size_t more;        /* how many behind it are hit too */
    fdl_fault_kind kind;
    fdl_code code;
    void (*hook)(void *hook_data);
    void *hook_data;
    size_t seen; /* calls that counted so far */
} fdl_fault;

/* A hook: ends this process as a power cut would. */
void fdl_fault_kill(void *unused);

fdl_code fdl_store_open_fault(fdl_store *inner, fdl_fault *fault, fdl_store **out, fdl_error *error);

/* ---- for the wrappers themselves ----------------------------------------- */

typedef struct fdl_wrapper {
    fdl_store store;
    fdl_store *inner;
    void *data;           /* the fdl_trace or fdl_fault */
    pthread_mutex_t lock; /* of what `data` counts */
} fdl_wrapper;

fdl_code fdl_wrapper_open(const fdl_store_ops *ops, fdl_store *inner, void *data, fdl_store **out, fdl_error *error);
fdl_code fdl_wrapper_announce(fdl_store *store, fdl_announced *files, size_t count, fdl_error *error);
fdl_code fdl_wrapper_vouched(fdl_store *store, bool *out, fdl_error *error);
fdl_code fdl_wrapper_clock(fdl_store *store, int64_t *now_ms, fdl_error *error);
void fdl_wrapper_free(fdl_store *store);

#endif
