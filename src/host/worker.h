/*
 * worker.h - threads for what waits: the store, and checks of catalogs.
 *
 * Reading and writing have a pool each, so that a long check never keeps a
 * reader waiting.
 */
#ifndef FDL_HOST_WORKER_H
#define FDL_HOST_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#include "fdl/repo.h"

/* Lies in what it works for; given back before `run` is called. */
typedef struct fdl_host_task {
    struct fdl_host_task *next;
    void (*run)(struct fdl_host_task *task, fdl_repo *repo); /* the repo is the worker's own */
} fdl_host_task;

typedef struct fdl_host_pool fdl_host_pool;

/* Every worker opens the repository for itself. */
fdl_code fdl_host_pool_start(const fdl_context *context, const char *repo, size_t workers, fdl_host_pool **out,
                             fdl_error *error);

/* false: too many wait already, or the pool is ending. */
bool fdl_host_pool_add(fdl_host_pool *pool, fdl_host_task *task);

/* Tasks that wait. */
size_t fdl_host_pool_waiting(fdl_host_pool *pool);

/* Takes no more tasks; true once those given have run, false when that takes longer than `wait_ms`. */
bool fdl_host_pool_end(fdl_host_pool *pool, int wait_ms);

/* Waits for every task given. */
void fdl_host_pool_free(fdl_host_pool *pool);

#endif
