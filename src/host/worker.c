/*
 * worker.c - a queue and the threads that empty it.
 */
#include "host/worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "util/text.h"

#define WAITING_LIMIT 1024 /* behind so many nobody would wait: better to say so at once */

typedef struct worker {
    struct fdl_host_pool *pool;
    fdl_repo *repo;
    pthread_t thread;
    bool started;
} worker;

struct fdl_host_pool {
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    fdl_host_task *first;
    fdl_host_task *last;
    size_t waiting;
    size_t running;
    bool ending;

    size_t count;
    worker workers[];
};

static fdl_host_task *take(fdl_host_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    while (!pool->first && !pool->ending)
        pthread_cond_wait(&pool->changed, &pool->mutex);
    fdl_host_task *task = pool->first;
    if (task) {
        pool->first = task->next;
        pool->last = pool->first ? pool->last : NULL;
        pool->waiting--;
        pool->running++;
        task->next = NULL;
    }
    pthread_mutex_unlock(&pool->mutex);
    return task;
}

static void *work(void *data) {
    worker *w = data;
    for (fdl_host_task *task; (task = take(w->pool));) {
        task->run(task, w->repo);
        pthread_mutex_lock(&w->pool->mutex);
        w->pool->running--;
        pthread_cond_broadcast(&w->pool->changed);
        pthread_mutex_unlock(&w->pool->mutex);
    }
    return NULL;
}

fdl_code fdl_host_pool_start(const fdl_context *context, const char *repo, size_t workers, fdl_host_pool **out,
                             fdl_error *error) {
    fdl_host_pool *pool;
    fdl_code code = fdl_alloc(&pool, 1, sizeof *pool + workers * sizeof(worker), error);
    if (code != FDL_OK)
        return code;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    pool->count = workers;
    for (size_t i = 0; code == FDL_OK && i < workers; i++) {
        worker *w = &pool->workers[i];
        w->pool = pool;
        code = fdl_repo_open(context, repo, &w->repo, error);
        if (code == FDL_OK) {
            w->started = pthread_create(&w->thread, NULL, work, w) == 0;
            code = w->started ? FDL_OK : fdl_fail(error, FDL_FAILED, NULL, "cannot start a thread");
        }
    }
    if (code == FDL_OK)
        *out = pool;
    else
        fdl_host_pool_free(pool);
    return code;
}

bool fdl_host_pool_add(fdl_host_pool *pool, fdl_host_task *task) {
    pthread_mutex_lock(&pool->mutex);
    bool taken = !pool->ending && pool->waiting < WAITING_LIMIT;
    if (taken) {
        task->next = NULL;
        if (pool->last)
            pool->last->next = task;
        else
            pool->first = task;
        pool->last = task;
        pool->waiting++;
        pthread_cond_signal(&pool->changed);
    }
    pthread_mutex_unlock(&pool->mutex);
    return taken;
}

size_t fdl_host_pool_waiting(fdl_host_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    size_t waiting = pool->waiting;
    pthread_mutex_unlock(&pool->mutex);
    return waiting;
}

bool fdl_host_pool_end(fdl_host_pool *pool, int wait_ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += wait_ms / 1000;
    until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->ending = true;
    pthread_cond_broadcast(&pool->changed);
    int waited = 0;
    while (waited == 0 && (pool->first || pool->running > 0))
        waited = pthread_cond_timedwait(&pool->changed, &pool->mutex, &until);
    bool idle = !pool->first && pool->running == 0;
    pthread_mutex_unlock(&pool->mutex);
    return idle;
}

void fdl_host_pool_free(fdl_host_pool *pool) {
    if (!pool)
        return;
    pthread_mutex_lock(&pool->mutex);
    pool->ending = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->count; i++) {
        if (pool->workers[i].started)
            pthread_join(pool->workers[i].thread, NULL);
        fdl_repo_free(pool->workers[i].repo);
    }
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}
