/*
 * server.c - the host comes up, watches its connections, and goes down.
 *
 * Loops talk to the clients; workers talk to the store; one thread ends
 * connections that take too long to ask.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host/host.h"
#include "host/listen.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

#define DEFAULT_CONNECTIONS 4096
#define DEFAULT_CONNECTIONS_PER_ADDRESS 256
#define DEFAULT_IDLE_S 60
#define DEFAULT_UPLOAD_BYTES ((uint64_t)5 << 30)
#define DEFAULT_READERS 8
#define WRITERS 4
#define KEY_FILE_LIMIT_BYTES (1u << 20)
#define SPARE_FILES (64 + FDL_HOST_HOT_FILES)
#define FEWEST_FILES (2 * SPARE_FILES)

/* ---- options ---------------------------------------------------------------------- */

static fdl_code check_options(const fdl_host_options *options, fdl_error *error) {
    if (!options || !options->repo)
        return fdl_fail(error, FDL_USAGE, NULL, "a host needs a repository");
    if (options->reading_needs_token && !options->tokens)
        return fdl_fail(error, FDL_USAGE, NULL, "--private needs --tokens: nobody could read otherwise");
    if (options->approve_count > 0 && !options->tokens)
        return fdl_fail(error, FDL_USAGE, NULL, "--approve needs --tokens: nothing can be written otherwise");
    if (!options->tls_certificate != !options->tls_key)
        return fdl_fail(error, FDL_USAGE, NULL, "--tls-cert and --tls-key go together");
    return FDL_OK;
}

static fdl_code copy_patterns(fdl_host_options *own, const fdl_host_options *given, fdl_error *error) {
    char **patterns = NULL;
    if (given->approve_count == 0)
        return FDL_OK;
    fdl_code code = fdl_alloc(&patterns, given->approve_count, sizeof *patterns, error);
    own->approve = (const char *const *)patterns;
    for (size_t i = 0; code == FDL_OK && i < given->approve_count; i++) {
        code = fdl_str_copy(&patterns[i], given->approve[i], error);
        own->approve_count = i + 1;
    }
    return code;
}

static fdl_code copy_options(fdl_host *host, const fdl_host_options *given, fdl_error *error) {
    fdl_host_options *own = &host->options;
    const char *const from[] = {given->repo, given->listen, given->tokens, given->tls_certificate, given->tls_key};
    const char **const to[] = {&own->repo, &own->listen, &own->tokens, &own->tls_certificate, &own->tls_key};
    *own = *given;
    for (size_t i = 0; i < sizeof to / sizeof *to; i++)
        *to[i] = NULL;
    own->approve = NULL;
    own->approve_count = 0;
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < sizeof to / sizeof *to; i++)
        code = fdl_str_copy((char **)to[i], from[i], error);
    fdl_host_limits *limits = &own->limits;
    limits->connections = limits->connections ? limits->connections : DEFAULT_CONNECTIONS;
    if (!limits->connections_per_address)
        limits->connections_per_address = DEFAULT_CONNECTIONS_PER_ADDRESS;
    limits->idle_s = limits->idle_s ? limits->idle_s : DEFAULT_IDLE_S;
    limits->upload_bytes = limits->upload_bytes ? limits->upload_bytes : DEFAULT_UPLOAD_BYTES;
    return code == FDL_OK ? copy_patterns(own, given, error) : code;
}

static void free_options(fdl_host_options *own) {
    for (size_t i = 0; i < own->approve_count; i++)
        free((char *)(uintptr_t)own->approve[i]);
    free((void *)(uintptr_t)own->approve);
    free((char *)(uintptr_t)own->repo);
    free((char *)(uintptr_t)own->listen);
    free((char *)(uintptr_t)own->tokens);
    free((char *)(uintptr_t)own->tls_certificate);
    free((char *)(uintptr_t)own->tls_key);
}

/* Each connection may need a file beside its socket; running out of them would stop everybody. */
static fdl_code fit_connections(fdl_host *host, fdl_error *error) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY)
        return FDL_OK;
    if (files.rlim_cur < FEWEST_FILES)
        return fdl_fail(error, FDL_FAILED, NULL, "this process may open %llu files, and a host needs %d: 'ulimit -n' sets it",
                        (unsigned long long)files.rlim_cur, FEWEST_FILES);
    unsigned fit = (unsigned)((files.rlim_cur - SPARE_FILES) / 2 < UINT32_MAX ? (files.rlim_cur - SPARE_FILES) / 2
                                                                                 : UINT32_MAX);
    if (fit >= host->options.limits.connections)
        return FDL_OK;
    fdl_note(host->context, FDL_NOTE_INFO, "at most %u connections: this process may open %llu files", fit,
             (unsigned long long)files.rlim_cur);
    host->options.limits.connections = fit;
    return FDL_OK;
}

/* ---- the sweeper -------------------------------------------------------------------- */

static void *sweep(void *data) {
    fdl_host *host = data;
    while (!atomic_load(&host->stopping)) {
        (void)poll(NULL, 0, 500);
        int64_t since_ms = fdl_now_ms() - (int64_t)host->options.limits.idle_s * 1000;
        atomic_fetch_add(&host->metrics.swept, fdl_host_connections_sweep(&host->connections, since_ms));
    }
    return NULL;
}

static fdl_code start_serving(fdl_host *host, fdl_error *error) {
    char *key = NULL, *certificate = NULL;
    size_t length;
    fdl_code code = FDL_OK;
    if (host->options.tls_key) {
        code = fdl_file_read(host->options.tls_key, KEY_FILE_LIMIT_BYTES, &key, &length, error);
        if (code == FDL_OK)
            code = fdl_file_read(host->options.tls_certificate, KEY_FILE_LIMIT_BYTES, &certificate, &length, error);
    }
    if (code == FDL_OK)
        code = fdl_host_loops_start(host, key, certificate, error);
    if (code == FDL_OK) {
        close(host->listener); /* each loop has its own */
        host->listener = -1;
        host->sweeping = pthread_create(&host->sweeper, NULL, sweep, host) == 0;
        code = host->sweeping ? FDL_OK : fdl_fail(error, FDL_FAILED, NULL, "cannot start a thread");
    }
    free(key);
    free(certificate);
    return code;
}

/* ---- up ------------------------------------------------------------------------------ */

static fdl_code open_repository(fdl_host *host, fdl_error *error) {
    const fdl_config *config;
    size_t readers = host->context->jobs > 0 ? (size_t)host->context->jobs : DEFAULT_READERS;
    fdl_code code = fdl_repo_open(host->context, host->options.repo, &host->repo, error);
    if (code == FDL_OK)
        code = fdl_repo_config(host->repo, &config, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&host->data_dir, config->data_dir, error);
    if (code != FDL_OK)
        return code;
    host->store = fdl_repo_store(host->repo);
    code = fdl_host_root_open(&host->root, host->store, host->data_dir, error);
    if (code == FDL_OK)
        code = fdl_host_pool_start(host->context, host->options.repo, readers, &host->readers, error);
    if (code == FDL_OK)
        code = fdl_host_pool_start(host->context, host->options.repo, WRITERS, &host->writers, error);
    return code;
}

fdl_code fdl_host_start(const fdl_context *context, const fdl_host_options *options, fdl_host **out,
                        fdl_error *error) {
    fdl_host *host = NULL;
    fdl_code code = check_options(options, error);
    if (code == FDL_OK)
        code = fdl_alloc(&host, 1, sizeof *host, error);
    if (code != FDL_OK)
        return code;
    host->context = context;
    host->listener = host->root.fd = host->root.data_fd = -1;
    fdl_host_connections_init(&host->connections);
    fdl_host_hot_init(&host->hot);
    code = copy_options(host, options, error);
    host->connections.limit_per_address = host->options.limits.connections_per_address;
    if (code == FDL_OK)
        code = fit_connections(host, error);
    if (code == FDL_OK)
        code = fdl_host_tokens_open(&host->tokens, context, host->options.tokens, error);
    if (code == FDL_OK)
        code = open_repository(host, error);
    if (code == FDL_OK)
        code = fdl_host_listen(host->options.listen, host->options.tls_key != NULL, &host->listener, &host->port,
                               &host->url, error);
    if (code == FDL_OK)
        code = start_serving(host, error);
    if (code == FDL_OK) {
        *out = host;
        return FDL_OK;
    }
    fdl_error ignored;
    if (fdl_host_stop(host, 1000, &ignored) == FDL_OK)
        fdl_host_free(host);
    return code;
}

const char *fdl_host_url(const fdl_host *host) {
    return host->url;
}

int fdl_host_port(const fdl_host *host) {
    return host->port;
}

/* ---- down ---------------------------------------------------------------------------- */

static void stop_asking(fdl_host *host) {
    atomic_store(&host->stopping, true);
    if (host->sweeping)
        pthread_join(host->sweeper, NULL);
    host->sweeping = false;
    fdl_host_loops_close(&host->loops);
}

fdl_code fdl_host_stop(fdl_host *host, int wait_ms, fdl_error *error) {
    int64_t until_ms = fdl_now_ms() + wait_ms;
    stop_asking(host);
    while (atomic_load(&host->in_flight) > 0 && fdl_now_ms() < until_ms) {
        (void)fdl_host_connections_sweep(&host->connections, fdl_now_ms());
        (void)poll(NULL, 0, 20);
    }
    int64_t rest_ms = until_ms - fdl_now_ms();
    int rest = rest_ms > 0 ? (int)rest_ms : 0;
    bool idle = !host->readers || fdl_host_pool_end(host->readers, rest);
    idle = (!host->writers || fdl_host_pool_end(host->writers, rest)) && idle;
    if (!idle)
        return fdl_fail(error, FDL_BUSY, NULL, "work in the store did not end in time and was left");
    fdl_host_loops_end(&host->loops);
    return FDL_OK;
}

void fdl_host_free(fdl_host *host) {
    if (!host)
        return;
    fdl_host_pool_free(host->readers);
    fdl_host_pool_free(host->writers);
    if (host->listener >= 0)
        close(host->listener);
    fdl_host_hot_clear(&host->hot);
    fdl_host_root_close(&host->root);
    fdl_host_tokens_close(&host->tokens);
    fdl_host_connections_clear(&host->connections);
    fdl_repo_free(host->repo);
    free_options(&host->options);
    free(host->data_dir);
    free(host->url);
    free(host);
}
