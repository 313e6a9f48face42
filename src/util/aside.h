/*
 * aside.h - work that is done on a thread of its own while the caller goes on.
 */
#ifndef FDL_UTIL_ASIDE_H
#define FDL_UTIL_ASIDE_H

#include <pthread.h>
#include <stdbool.h>

#include "fdl/error.h"

/* Zeroed: none. */
typedef struct fdl_aside {
    fdl_code (*work)(void *data, fdl_error *error);
    void *data;
    pthread_t thread;
    bool has_thread;
    fdl_code code;
    fdl_error error;
} fdl_aside;

/* `aside`, and what `data` points to, stay where they are until the end.  Where no thread is to be had, it is done at once. */
void fdl_aside_start(fdl_aside *aside, fdl_code (*work)(void *data, fdl_error *error), void *data);

/* Waits for it; what it returned, once, and FDL_OK where none was started. */
fdl_code fdl_aside_end(fdl_aside *aside, fdl_error *error);

#endif
