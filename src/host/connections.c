/*
 * connections.c - a list of sockets.  A socket is shut down here, and closed by
 * its daemon alone, so its number cannot be another's by then.
 */
#include "host/connections.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "util/ident.h"
#include "util/text.h"

void fdl_host_connections_init(fdl_host_connections *connections) {
    *connections = (fdl_host_connections){0};
    pthread_mutex_init(&connections->mutex, NULL);
}

void fdl_host_connections_clear(fdl_host_connections *connections) {
    pthread_mutex_destroy(&connections->mutex);
}

static void write_address(const struct sockaddr *address, unsigned char out[16]) {
    memset(out, 0, 16);
    if (address && address->sa_family == AF_INET6)
        memcpy(out, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    else if (address && address->sa_family == AF_INET)
        memcpy(out, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
}

/* Under the lock. */
static bool has_enough(const fdl_host_connections *list, const unsigned char address[16]) {
    size_t found = 0;
    for (const fdl_host_connection *one = list->first; one; one = one->next)
        found += memcmp(one->address, address, sizeof one->address) == 0;
    return found >= list->limit_per_address;
}

static void add(fdl_host_connections *list, struct MHD_Connection *connection, void **socket_context) {
    fdl_host_connection *one;
    const union MHD_ConnectionInfo *info = fdl_mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!info || fdl_alloc(&one, 1, sizeof *one, NULL) != FDL_OK)
        return; /* it lives without a clock, but for the daemon's */
    one->fd = info->connect_fd;
    info = fdl_mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    write_address(info ? info->client_addr : NULL, one->address);
    one->waiting_since_ms = fdl_now_ms();
    pthread_mutex_lock(&list->mutex);
    if (has_enough(list, one->address))
        (void)shutdown(one->fd, SHUT_RDWR);
    one->next = list->first;
    if (list->first)
        list->first->previous = one;
    list->first = one;
    list->count++;
    pthread_mutex_unlock(&list->mutex);
    *socket_context = one;
}

static void drop(fdl_host_connections *list, fdl_host_connection *one) {
    pthread_mutex_lock(&list->mutex);
    if (one->next)
        one->next->previous = one->previous;
    if (one->previous)
        one->previous->next = one->next;
    else
        list->first = one->next;
    list->count--;
    pthread_mutex_unlock(&list->mutex);
    free(one);
}

void fdl_host_on_connection(void *connections, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode what) {
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        add(connections, connection, socket_context);
    else if (*socket_context)
        drop(connections, *socket_context);
}

void fdl_host_connection_busy(fdl_host_connections *connections, struct MHD_Connection *connection, bool busy) {
    const union MHD_ConnectionInfo *info = fdl_mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    fdl_host_connection *one = info ? info->socket_context : NULL;
    if (!one)
        return;
    pthread_mutex_lock(&connections->mutex);
    one->waiting_since_ms = busy ? 0 : fdl_now_ms();
    pthread_mutex_unlock(&connections->mutex);
}

/*
 * The daemon misses the end of a connection at times, when it comes right behind
 * bytes that it has just read.  Told once more, it looks; nothing else changes.
 */
static void wake_if_ended(const fdl_host_connection *one) {
    char byte;
    if (recv(one->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        (void)shutdown(one->fd, SHUT_RD);
}

size_t fdl_host_connections_sweep(fdl_host_connections *connections, int64_t since_ms) {
    size_t swept = 0;
    pthread_mutex_lock(&connections->mutex);
    for (fdl_host_connection *one = connections->first; one; one = one->next) {
        wake_if_ended(one);
        if (one->waiting_since_ms == 0 || one->waiting_since_ms > since_ms)
            continue;
        (void)shutdown(one->fd, SHUT_RDWR);
        one->waiting_since_ms = INT64_MAX; /* once is enough */
        swept++;
    }
    pthread_mutex_unlock(&connections->mutex);
    return swept;
}

size_t fdl_host_connections_count(fdl_host_connections *connections) {
    pthread_mutex_lock(&connections->mutex);
    size_t count = connections->count;
    pthread_mutex_unlock(&connections->mutex);
    return count;
}
