/*
 * connections.h - the open connections, and the clock that ends those that take
 * too long to ask.
 *
 * libmicrohttpd's own limit is for connections without a byte; one that drips a
 * header, or never sends one, would live for ever.
 */
#ifndef FDL_HOST_CONNECTIONS_H
#define FDL_HOST_CONNECTIONS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fdl/error.h"
#include "host/microhttpd.h"

typedef struct fdl_host_connection {
    struct fdl_host_connection *next;
    struct fdl_host_connection *previous;
    int fd;
    unsigned char address[16];
    int64_t waiting_since_ms; /* for the end of a request's header; 0: one is being answered */
} fdl_host_connection;

typedef struct fdl_host_connections {
    size_t limit_per_address;
    pthread_mutex_t mutex; /* guards what follows */
    fdl_host_connection *first;
    size_t count;
} fdl_host_connections;

void fdl_host_connections_init(fdl_host_connections *connections);
void fdl_host_connections_clear(fdl_host_connections *connections);

/* The daemons' callback; `connections` is its first argument.  One more than an address may have ends at once. */
void fdl_host_on_connection(void *connections, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode what);

/* A request's header is here, or its answer has been sent. */
void fdl_host_connection_busy(fdl_host_connections *connections, struct MHD_Connection *connection, bool busy);

/* Ends those that have waited since before `since_ms`, and those whose client is gone; returns how many of the first. */
size_t fdl_host_connections_sweep(fdl_host_connections *connections, int64_t since_ms);

size_t fdl_host_connections_count(fdl_host_connections *connections);

#endif
