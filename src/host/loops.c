/* loops.c - see loops.h. */
#include "host/loops.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "host/host.h"
#include "util/file.h"
#include "util/parallel.h"

#define HEADER_LIMIT_BYTES (32u << 10) /* what a connection may keep in memory: its header and a piece of its body */

__attribute__((format(printf, 2, 0))) static void note_line(void *data, const char *format, va_list arguments) {
    const fdl_host *host = data;
    char line[512];
    if (vsnprintf(line, sizeof line, format, arguments) < 0)
        return;
    line[strcspn(line, "\n")] = '\0';
    fdl_note(host->context, FDL_NOTE_DETAIL, "%s", line);
}

/* ---- a daemon ------------------------------------------------------------------------ */

/* `listener` is the daemon's from here on: a daemon that cannot start has closed it. */
static struct MHD_Daemon *make_daemon(fdl_host *host, int listener, const char *key, const char *certificate) {
    const fdl_host_limits *limits = &host->options.limits;
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    unsigned connections = (unsigned)((limits->connections + host->loops.count - 1) / host->loops.count);
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)key},
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)"NORMAL:-VERS-TLS1.0:-VERS-TLS1.1"},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    return fdl_mhd.start_daemon(
        flags | (key ? MHD_USE_TLS : 0), 0, NULL, NULL, fdl_host_on_request, host,
        MHD_OPTION_EXTERNAL_LOGGER, note_line, host,
        MHD_OPTION_LISTEN_SOCKET, listener,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_LIMIT_BYTES,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_TIMEOUT, limits->idle_s,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, /* or it would not use sendfile */
        MHD_OPTION_URI_LOG_CALLBACK, fdl_host_on_target, host,
        MHD_OPTION_NOTIFY_COMPLETED, fdl_host_on_end, host,
        MHD_OPTION_NOTIFY_CONNECTION, fdl_host_on_connection, &host->connections,
        MHD_OPTION_ARRAY, key ? tls : none, MHD_OPTION_END);
}

static fdl_code cannot_serve(const fdl_host *host, bool tls, fdl_error *error) {
    if (tls)
        return fdl_fail(error, FDL_FAILED, host->options.tls_key,
                        "cannot serve with the certificate '%s' and the key '%s': are they PEM, and a pair?",
                        host->options.tls_certificate, host->options.tls_key);
    return fdl_fail(error, FDL_FAILED, NULL, "cannot start to serve at '%s'", host->url);
}

/* ---- its thread ------------------------------------------------------------------------ */

/* Milliseconds until a connection has been silent for too long, or something is to be done at once; -1: nothing is. */
static int rest_ms(struct MHD_Daemon *daemon) {
    MHD_UNSIGNED_LONG_LONG ms;
    if (fdl_mhd.get_timeout(daemon, &ms) != MHD_YES)
        return -1;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

static unsigned connections_of(const fdl_host_loop *loop) {
    const union MHD_DaemonInfo *info = fdl_mhd.get_daemon_info(loop->daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info ? info->num_connections : 0;
}

/* In the loop's own thread: a daemon that is full takes its listener away too, and aborts if that was done meanwhile. */
static void stop_listening(fdl_host_loop *loop) {
    int listener = fdl_mhd.quiesce_daemon(loop->daemon);
    if (listener >= 0)
        close(listener);
}

/* After how many rounds that no event came before there is a rest: a body that is sent takes many of them. */
static unsigned rounds_in_vain(fdl_host *host) {
    return atomic_load(&host->in_flight) > 0 ? 1024 : 16;
}

/*
 * A daemon that was full listens again when its next round begins: behind one that ended connections comes another at
 * once.  And it wants round after round while a client is silent in the middle of its TLS handshake: without rests, a
 * processor would be lost to it.
 */
static void *go_round(void *data) {
    fdl_host_loop *loop = data;
    bool listens = true;
    unsigned before = 0, now = 0, in_vain = 0;
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, NULL);
    struct pollfd wanted[] = {{.fd = loop->events, .events = POLLIN}, {.fd = loop->nudge, .events = POLLIN}};
    while (!atomic_load(&loop->ending)) {
        eventfd_t ignored;
        int ms = now < before ? 0 : rest_ms(loop->daemon);
        bool rests = ms == 0 && in_vain >= rounds_in_vain(loop->host);
        bool none = poll(wanted, 2, rests ? 1 : ms) == 0;
        in_vain = none && ms == 0 && !rests ? in_vain + 1 : 0;
        if (wanted[1].revents)
            (void)eventfd_read(loop->nudge, &ignored); /* before what it tells of is looked for in the round */
        if (listens && atomic_load(&loop->closing)) {
            stop_listening(loop);
            listens = false;
        }
        before = now;
        fdl_mhd.run(loop->daemon);
        now = connections_of(loop);
    }
    return NULL;
}

static void nudge(const fdl_host_loop *loop) {
    (void)eventfd_write(loop->nudge, 1);
}

/* A daemon whose thread is not its own is not woken by this. */
void fdl_host_resume(fdl_host *host, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = fdl_mhd.get_connection_info(connection, MHD_CONNECTION_INFO_DAEMON);
    const struct MHD_Daemon *daemon = info ? info->daemon : NULL;
    fdl_mhd.resume_connection(connection);
    for (size_t i = 0; i < host->loops.count; i++)
        if (host->loops.items[i].daemon == daemon)
            nudge(&host->loops.items[i]);
}

static fdl_code prepare(fdl_host *host, fdl_host_loop *loop, const char *key, const char *certificate,
                        fdl_error *error) {
    int listener = fcntl(host->listener, F_DUPFD_CLOEXEC, 0); /* each daemon closes its own */
    loop->host = host;
    loop->nudge = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (listener < 0 || loop->nudge < 0) {
        int why = errno;
        if (listener >= 0)
            close(listener);
        return fdl_file_error(error, "serve at", host->url, why);
    }
    loop->daemon = make_daemon(host, listener, key, certificate);
    if (!loop->daemon)
        return cannot_serve(host, key != NULL, error);
    const union MHD_DaemonInfo *info = fdl_mhd.get_daemon_info(loop->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info)
        return cannot_serve(host, false, error);
    loop->events = info->epoll_fd;
    return FDL_OK;
}

static fdl_code start(fdl_host_loop *loop, fdl_error *error) {
    loop->has_thread = pthread_create(&loop->thread, NULL, go_round, loop) == 0;
    return loop->has_thread ? FDL_OK : fdl_fail(error, FDL_FAILED, NULL, "cannot start a thread");
}

/* ---- all of them ------------------------------------------------------------------------- */

fdl_code fdl_host_loops_start(fdl_host *host, const char *key, const char *certificate, fdl_error *error) {
    fdl_host_loops *loops = &host->loops;
    int processors = fdl_processors();
    fdl_code code = fdl_mhd_open(error);
    loops->count = processors < FDL_HOST_LOOPS ? (size_t)processors : FDL_HOST_LOOPS;
    for (size_t i = 0; i < loops->count; i++)
        loops->items[i].nudge = -1;
    for (size_t i = 0; i < loops->count && code == FDL_OK; i++)
        code = prepare(host, &loops->items[i], key, certificate, error);
    for (size_t i = 0; i < loops->count && code == FDL_OK; i++)
        code = start(&loops->items[i], error);
    return code;
}

void fdl_host_loops_close(fdl_host_loops *loops) {
    for (size_t i = 0; i < loops->count; i++) {
        atomic_store(&loops->items[i].closing, true);
        nudge(&loops->items[i]);
    }
}

void fdl_host_loops_end(fdl_host_loops *loops) {
    for (size_t i = 0; i < loops->count; i++) {
        fdl_host_loop *loop = &loops->items[i];
        atomic_store(&loop->ending, true);
        nudge(loop);
        if (loop->has_thread)
            pthread_join(loop->thread, NULL);
        if (loop->daemon)
            fdl_mhd.stop_daemon(loop->daemon);
        if (loop->nudge >= 0)
            close(loop->nudge);
    }
    loops->count = 0;
}
