/*
 * loops.h - the threads that talk to the clients, one a processor, each with connections of its own.
 *
 * A daemon of libmicrohttpd does the talking; the waiting is done here.  Left to itself it takes up to 128 events at a
 * time, and behind exactly as many it waits for one more before it answers any of them: for ever, when as many clients
 * wait for their answers.
 */
#ifndef FDL_HOST_LOOPS_H
#define FDL_HOST_LOOPS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "host/microhttpd.h"

#define FDL_HOST_LOOPS 8 /* at most */

struct fdl_host;

typedef struct fdl_host_loop {
    struct fdl_host *host;
    struct MHD_Daemon *daemon;
    int events; /* the daemon's, to wait for */
    int nudge;  /* an eventfd: something is to be done that is no event; -1: none */
    atomic_bool closing; /* no new connections */
    atomic_bool ending;
    pthread_t thread;
    bool has_thread;
} fdl_host_loop;

typedef struct fdl_host_loops {
    fdl_host_loop items[FDL_HOST_LOOPS];
    size_t count; /* 0: none has been started */
} fdl_host_loops;

/* All listen on the host's listener.  `key` and `certificate` are PEM, or both NULL.  What was started on failure, fdl_host_loops_end ends. */
fdl_code fdl_host_loops_start(struct fdl_host *host, const char *key, const char *certificate, fdl_error *error);

/* From any thread: a connection that was suspended is taken up again. */
void fdl_host_resume(struct fdl_host *host, struct MHD_Connection *connection);

/* No new connections; those that are there go on. */
void fdl_host_loops_close(fdl_host_loops *loops);

/* Ends connections and threads. */
void fdl_host_loops_end(fdl_host_loops *loops);

#endif
