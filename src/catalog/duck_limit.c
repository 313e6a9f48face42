/*
 * duck_limit.c - a statement that has an end.
 *
 * A file with a free list that runs in a circle keeps DuckDB busy for ever while
 * it is attached, and duckdb_interrupt is not heard there.  So a thread of its own
 * runs the statement, and is given up when it has used its time: the caller gets
 * an error like any other, and cleans up as usual.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_timedjoin_np */
#endif

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "catalog/duck_api.h"
#include "util/text.h"

#define LIMIT_MS 60000 /* a catalog of a million files is attached within one second */
#define LOOK_MS 200    /* how often to look when the time should be over */

/* All that the thread touches: it may go on when nobody waits any more. */
typedef struct task {
    const fdl_duck_api *api;
    fdl_duck_connection connection;
    char *sql;
    fdl_duck_result result;
    bool done;
} task;

static void *work(void *data) {
    task *t = data;
    t->done = t->api->query(t->connection, t->sql, &t->result) == FDL_DUCK_SUCCESS;
    return NULL;
}

/* Signals are for the threads of the program. */
static int start(pthread_t *thread, task *t) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(thread, NULL, work, t);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

/* Half of what the process may use, so that it lives to say what happened. */
static int64_t limit_ms(void) {
    struct rlimit own;
    bool less = getrlimit(RLIMIT_CPU, &own) == 0 && own.rlim_cur < 2 * LIMIT_MS / 1000;
    return less ? (int64_t)own.rlim_cur * 500 : LIMIT_MS;
}

/* Processor time, since a busy machine is nobody's fault. */
static int64_t used_ms(pthread_t thread) {
    clockid_t clock;
    struct timespec used = {0};
    if (pthread_getcpuclockid(thread, &clock) == 0)
        clock_gettime(clock, &used);
    return (int64_t)used.tv_sec * 1000 + used.tv_nsec / 1000000;
}

static bool joined_within(pthread_t thread, int64_t ms) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    int64_t ns = until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + ns / 1000000000;
    until.tv_nsec = ns % 1000000000;
    return pthread_timedjoin_np(thread, NULL, &until) == 0;
}

static bool ended(pthread_t thread, int64_t limit) {
    for (int64_t left = limit; left > 0; left = limit - used_ms(thread))
        if (joined_within(thread, left > LOOK_MS ? left : LOOK_MS))
            return true;
    pthread_detach(thread);
    return false;
}

static fdl_code judge(task *t, fdl_error *error) {
    fdl_code code = t->done ? FDL_OK : fdl_duck_fail(error, t->api->result_error(&t->result));
    t->api->destroy_result(&t->result);
    return code;
}

fdl_code fdl_duck_exec_limited(fdl_duck *duck, const char *sql, fdl_error *error) {
    pthread_t thread;
    task *t = NULL;
    int64_t limit = limit_ms();
    fdl_code code = fdl_alloc(&t, 1, sizeof *t, error);
    if (code != FDL_OK)
        return code;
    *t = (task){.api = duck->api, .connection = duck->connection};
    code = fdl_str_copy(&t->sql, sql, error);
    int failed = code == FDL_OK ? start(&thread, t) : 0;
    if (failed != 0)
        code = fdl_fail(error, FDL_FAILED, NULL, "cannot start a thread: %s", strerror(failed));
    if (code == FDL_OK && !ended(thread, limit)) {
        duck->lost = true;
        return fdl_fail(error, FDL_FAILED, NULL, "duckdb: still busy after %lld s of processor time, given up",
                        (long long)(limit / 1000));
    }
    if (code == FDL_OK)
        code = judge(t, error);
    free(t->sql);
    free(t);
    return code;
}
