/*
 * host.h - the host itself, as its files share it.
 */
#ifndef FDL_HOST_INTERNAL_H
#define FDL_HOST_INTERNAL_H

#include <stdatomic.h>

#include "fdl/host.h"
#include "host/connections.h"
#include "host/hot.h"
#include "host/loops.h"
#include "host/metrics.h"
#include "host/request.h"
#include "host/root.h"
#include "host/tokens.h"
#include "host/worker.h"

struct fdl_host {
    const fdl_context *context;
    fdl_host_options options; /* strings are ours; limits have their values */
    char *url;
    int port;
    char *data_dir;      /* of the repository, ends with '/' */
    fdl_repo *repo;      /* its store may be used by every thread; nothing else of it */
    fdl_store *store;    /* the repo's */
    fdl_host_root root;  /* of a folder: files opened without leaving it */
    fdl_host_hot hot;    /* some of them, kept */
    fdl_host_tokens tokens;
    fdl_host_metrics metrics;
    fdl_host_connections connections;
    fdl_host_pool *readers;
    fdl_host_pool *writers;
    fdl_host_loops loops;
    int listener;        /* until the loops have theirs; then -1 */
    pthread_t sweeper;
    bool sweeping;
    atomic_size_t in_flight; /* requests whose headers are here and whose answer is not sent yet */
    atomic_size_t streams;   /* bodies made of parts */
    atomic_bool stopping;    /* connections end with the answer they wait for */
};

#endif
