/*
 * spawn.c - posix_spawn with both outputs collected.
 *
 * They are read side by side: a child that fills one pipe while we wait at the
 * other would wait for ever.
 */
#include "util/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/file.h"
#include "util/text.h"

extern char **environ;

/* One output: the end we read and what came so far. */
typedef struct stream {
    int fd;
    char *bytes;
    size_t length;
} stream;

static void stream_close(stream *s) {
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* ---- starting ----------------------------------------------------------------- */

static fdl_code open_stream(stream *s, int *write_end, fdl_error *error) {
    int ends[2];
    fdl_code code = fdl_alloc(&s->bytes, FDL_SPAWN_OUTPUT_LIMIT_BYTES + 1, 1, error);
    if (code == FDL_OK && pipe2(ends, O_CLOEXEC) != 0)
        code = fdl_fail(error, FDL_FAILED, NULL, "cannot make a pipe: %s", strerror(errno));
    if (code == FDL_OK) {
        s->fd = ends[0];
        *write_end = ends[1];
    }
    return code;
}

/* A child must not inherit what we ignore. */
static int set_attributes(posix_spawnattr_t *attributes) {
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    sigaddset(&defaults, SIGINT);
    sigaddset(&defaults, SIGQUIT);
    int failed = posix_spawnattr_setsigdefault(attributes, &defaults);
    return failed ? failed : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF);
}

/* A descriptor below 0 is left as ours is. */
static int spawn_child(const char *const *argv, char *const *variables, int input, const int *outputs, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    failed = posix_spawnattr_init(&attributes);
    if (failed) {
        posix_spawn_file_actions_destroy(&actions);
        return failed;
    }
    if (input >= 0)
        failed = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (!failed && outputs[0] >= 0)
        failed = posix_spawn_file_actions_adddup2(&actions, outputs[0], STDOUT_FILENO);
    if (!failed && outputs[1] >= 0)
        failed = posix_spawn_file_actions_adddup2(&actions, outputs[1], STDERR_FILENO);
    if (!failed)
        failed = set_attributes(&attributes);
    if (!failed)
        failed = posix_spawnp(child, argv[0], &actions, &attributes, (char *const *)argv, variables);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static fdl_code started(const char *name, int failed, fdl_error *error) {
    return failed ? fdl_fail(error, failed == ENOENT ? FDL_NOT_FOUND : FDL_FAILED, name, "cannot run '%s': %s", name,
                             strerror(failed))
                  : FDL_OK;
}

static fdl_code start(const char *const *argv, const char *input_path, stream streams[2], pid_t *child,
                      fdl_error *error) {
    int outputs[2] = {-1, -1};
    int input = input_path ? open(input_path, O_RDONLY | O_CLOEXEC) : -1;
    fdl_code code = input_path && input < 0 ? fdl_file_error(error, "read", input_path, errno) : FDL_OK;
    for (int i = 0; i < 2 && code == FDL_OK; i++)
        code = open_stream(&streams[i], &outputs[i], error);
    if (code == FDL_OK)
        code = started(argv[0], spawn_child(argv, environ, input, outputs, child), error);
    for (int i = 0; i < 2; i++)
        if (outputs[i] >= 0)
            close(outputs[i]);
    if (input >= 0)
        close(input);
    return code;
}

/* ---- listening ---------------------------------------------------------------- */

static void take(stream *s) {
    char dropped[4096];
    size_t room = FDL_SPAWN_OUTPUT_LIMIT_BYTES - s->length;
    ssize_t n = room > 0 ? read(s->fd, s->bytes + s->length, room) : read(s->fd, dropped, sizeof dropped);
    if (n > 0 && room > 0)
        s->length += (size_t)n;
    if (n == 0 || (n < 0 && errno != EINTR))
        stream_close(s);
}

static void listen_to(stream streams[2]) {
    while (streams[0].fd >= 0 || streams[1].fd >= 0) {
        struct pollfd ready[2] = {{.fd = streams[0].fd, .events = POLLIN}, {.fd = streams[1].fd, .events = POLLIN}};
        if (poll(ready, 2, -1) < 0 && errno != EINTR)
            return; /* what came so far is all; the child is waited for all the same */
        for (int i = 0; i < 2; i++)
            if (streams[i].fd >= 0 && ready[i].revents != 0)
                take(&streams[i]);
    }
}

static int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return 128;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

fdl_code fdl_spawn(const char *const *argv, const char *input_path, fdl_spawned *out, fdl_error *error) {
    stream streams[2] = {{.fd = -1}, {.fd = -1}};
    pid_t child = 0;
    memset(out, 0, sizeof *out);
    fdl_code code = start(argv, input_path, streams, &child, error);
    if (code == FDL_OK) {
        listen_to(streams);
        stream_close(&streams[0]);
        stream_close(&streams[1]);
        out->status = wait_for(child);
        out->output = streams[0].bytes;
        out->message = streams[1].bytes;
        for (size_t end = streams[1].length; end > 0 && strchr("\r\n", out->message[end - 1]); end--)
            out->message[end - 1] = '\0';
        return FDL_OK;
    }
    for (int i = 0; i < 2; i++) {
        stream_close(&streams[i]);
        free(streams[i].bytes);
    }
    return code;
}

/* Ours with those added; one of the same name is left out, for programs take the first or the last. */
static fdl_code environment_with(char *const *variables, char ***out, fdl_error *error) {
    size_t count = 0, n = 0;
    for (char *const *v = environ; *v; v++)
        count++;
    for (char *const *v = variables; *v; v++)
        count++;
    fdl_code code = fdl_alloc(out, count + 1, sizeof **out, error);
    for (char *const *v = variables; code == FDL_OK && *v; v++)
        (*out)[n++] = *v;
    for (char *const *old = environ; code == FDL_OK && *old; old++) {
        bool replaced = false;
        for (char *const *v = variables; *v && !replaced; v++)
            replaced = strncmp(*v, *old, strcspn(*v, "=") + 1) == 0;
        if (!replaced)
            (*out)[n++] = *old;
    }
    return code;
}

fdl_code fdl_spawn_attached(const char *const *argv, char *const *variables, int output_to, int *status,
                            fdl_error *error) {
    struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit;
    int outputs[2] = {output_to == STDOUT_FILENO ? -1 : output_to, -1};
    char **environment = NULL;
    pid_t child = 0;
    fdl_code code = environment_with(variables, &environment, error);
    if (code != FDL_OK)
        return code;
    sigaction(SIGINT, &ignore, &interrupt);
    sigaction(SIGQUIT, &ignore, &quit);
    code = started(argv[0], spawn_child(argv, environment, -1, outputs, &child), error);
    if (code == FDL_OK)
        *status = wait_for(child);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGQUIT, &quit, NULL);
    free(environment);
    return code;
}

void fdl_spawned_clear(fdl_spawned *spawned) {
    free(spawned->output);
    free(spawned->message);
    memset(spawned, 0, sizeof *spawned);
}

const char *fdl_spawned_reason(fdl_spawned *spawned) {
    char *last = strrchr(spawned->message, '\n');
    const char *reason = last ? last + 1 : spawned->message;
    for (char *c = spawned->message; *c; c++)
        if (*c == '\r')
            *c = ' ';
    return reason;
}
