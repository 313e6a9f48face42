/*
 * parallel.c - a bounded number of threads take item after item from one counter.
 */
#define _GNU_SOURCE 1 /* sched_getaffinity */

#include "util/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

#include "util/text.h"

#define DEFAULT_JOBS 8

typedef struct crew {
    pthread_mutex_t mutex; /* guards what follows */
    size_t next;
    size_t count;
    fdl_code code;
    fdl_error *error;

    fdl_task task;
    void *data;
} crew;

static bool take(crew *c, size_t *index) {
    pthread_mutex_lock(&c->mutex);
    bool more = c->code == FDL_OK && c->next < c->count;
    *index = more ? c->next++ : 0;
    pthread_mutex_unlock(&c->mutex);
    return more;
}

static void report(crew *c, fdl_code code, const fdl_error *error) {
    pthread_mutex_lock(&c->mutex);
    if (c->code == FDL_OK) {
        c->code = code;
        *c->error = *error;
    }
    pthread_mutex_unlock(&c->mutex);
}

static void *work(void *data) {
    crew *c = data;
    for (size_t index; take(c, &index);) {
        fdl_error error;
        fdl_code code = c->task(c->data, index, &error);
        if (code != FDL_OK)
            report(c, code, &error);
    }
    return NULL;
}

fdl_code fdl_parallel(size_t count, int jobs, fdl_task task, void *data, fdl_error *error) {
    crew c = {.count = count, .error = error, .task = task, .data = data};
    size_t wanted = jobs > 0 ? (size_t)jobs : DEFAULT_JOBS;
    size_t thread_count = wanted < count ? wanted : count;
    size_t started = 0;
    pthread_t *threads = NULL;
    if (pthread_mutex_init(&c.mutex, NULL) != 0)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    fdl_code code = thread_count > 1 ? fdl_alloc(&threads, thread_count - 1, sizeof *threads, error) : FDL_OK;
    if (code == FDL_OK) {
        /* Fewer threads than asked for are slower, not wrong: the caller works too. */
        while (started + 1 < thread_count && pthread_create(&threads[started], NULL, work, &c) == 0)
            started++;
        work(&c);
        for (size_t i = 0; i < started; i++)
            pthread_join(threads[i], NULL);
        code = c.code;
    }
    free(threads);
    pthread_mutex_destroy(&c.mutex);
    return code;
}

int fdl_processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1; /* more than 1,024 do not fit */
}
