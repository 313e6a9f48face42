/*
 * cmd_serve.c - fdl serve
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"
#include "fdl/host.h"

#define STOP_WAIT_MS 30000

static const cli_option options[] = {
    {"listen", 'l', "ADDRESS:PORT", "where to listen (127.0.0.1:8080); ':8080' is every address, port 0 any free one"},
    {"tokens", 't', "FILE", "who may do what; without it reading is open and nothing can be written"},
    {"add-token", 0, "NAME:ROLE", "make a token, add its hash to the file of --tokens, print it, and end"},
    {"private", 0, NULL, "reading needs a token too"},
    {"public-sources", 0, NULL, "everybody may read sources/; else only tokens of role write"},
    {"approve", 'a', "PATTERN...", "moves of branches of this name wait for approval; '*' is all; may be repeated"},
    {"tls-cert", 0, "FILE", "serve HTTPS with this certificate (PEM, chain included)"},
    {"tls-key", 0, "FILE", "the certificate's key"},
    {"direct-above", 0, "BYTES", "smaller files are sent through the host, not straight to the bucket (0)"},
    {"max-upload", 0, "BYTES", "largest file sent through the host (5368709120)"},
    {"max-connections", 0, "N", "connections at once (4096)"},
    {"max-per-address", 0, "N", "connections at once from one address (256)"},
    {"idle", 0, "SECONDS", "end connections that are silent, or do not ask, for so long (60)"},
    {"log", 0, "FORMAT", "a line a request on standard output: text, json or off (text; json with --json)"},
    {0},
};

static fdl_code read_limits(cli *c, fdl_host_options *out) {
    long direct, upload, connections, per_address, idle;
    fdl_code code = cli_number(c, "direct-above", 0, 0, 5L << 30, &direct);
    if (code == FDL_OK)
        code = cli_number(c, "max-upload", 0, 1, 1L << 50, &upload);
    if (code == FDL_OK)
        code = cli_number(c, "max-connections", 0, 8, 1000000, &connections);
    if (code == FDL_OK)
        code = cli_number(c, "max-per-address", 0, 1, 1000000, &per_address);
    if (code == FDL_OK)
        code = cli_number(c, "idle", 0, 1, 86400, &idle);
    if (code == FDL_OK) {
        out->direct_bytes = (uint64_t)direct;
        out->limits.upload_bytes = (uint64_t)upload;
        out->limits.connections = (unsigned)connections;
        out->limits.connections_per_address = (unsigned)per_address;
        out->limits.idle_s = (unsigned)idle;
    }
    return code;
}

static fdl_code read_log(cli *c, fdl_host_log *out) {
    const char *word = cli_value(c, "log");
    *out = c->json ? FDL_HOST_LOG_JSON : FDL_HOST_LOG_TEXT;
    if (!word)
        return FDL_OK;
    if (strcmp(word, "text") == 0)
        *out = FDL_HOST_LOG_TEXT;
    else if (strcmp(word, "json") == 0)
        *out = FDL_HOST_LOG_JSON;
    else if (strcmp(word, "off") == 0)
        *out = FDL_HOST_LOG_OFF;
    else
        return fdl_fail(&c->error, FDL_USAGE, word, "--log takes text, json or off, not '%s'", word);
    return FDL_OK;
}

/* One write a line: lines of several threads never mix. */
static void print_line(void *data, const char *line) {
    (void)data;
    flockfile(stdout);
    fputs(line, stdout);
    putc_unlocked('\n', stdout);
    fflush(stdout);
    funlockfile(stdout);
}

static fdl_code add_token(cli *c, const char *name_and_role) {
    char name[128], token[FDL_HOST_TOKEN_BYTES];
    const char *file = cli_value(c, "tokens");
    const char *colon = strrchr(name_and_role, ':');
    if (!file || !colon || (size_t)(colon - name_and_role) >= sizeof name)
        return fdl_fail(&c->error, FDL_USAGE, name_and_role,
                        "write --tokens FILE --add-token NAME:ROLE, with role read, write or approve");
    memcpy(name, name_and_role, (size_t)(colon - name_and_role));
    name[colon - name_and_role] = '\0';
    fdl_code code = fdl_host_token_add(file, name, colon + 1, token, &c->error);
    if (code == FDL_OK && c->json)
        return cli_json(c, json_pack("{s:s, s:s, s:s}", "name", name, "role", colon + 1, "token", token));
    if (code == FDL_OK)
        cli_print("%s\n", token);
    if (code == FDL_OK)
        cli_say(c, "the token stands nowhere else: keep it, for example in FDL_TOKEN");
    return code;
}

/* Before any thread is made: they all inherit it, and the signals wait for sigwait. */
static void hold_signals(sigset_t *signals) {
    sigemptyset(signals);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, signals, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void raise_file_limit(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

static fdl_code serve(cli *c, const fdl_host_options *wanted) {
    sigset_t signals;
    fdl_host *host = NULL;
    int which = 0;
    hold_signals(&signals);
    raise_file_limit();
    if (geteuid() == 0)
        cli_note(c, FDL_NOTE_WARNING, "serving as root: a user that may do no more than it must is safer");
    c->context.checker = "/proc/self/exe";
    fdl_code code = fdl_host_start(&c->context, wanted, &host, &c->error);
    if (code != FDL_OK)
        return code;
    cli_say(c, "serving '%s' at %s", wanted->repo, fdl_host_url(host));
    while (sigwait(&signals, &which) != 0)
        continue;
    cli_say(c, "stopping: what is being answered may end; once more ends it at once");
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL); /* the second one kills */
    code = fdl_host_stop(host, STOP_WAIT_MS, &c->error);
    if (code == FDL_OK)
        fdl_host_free(host);
    return code;
}

static fdl_code run(cli *c) {
    fdl_host_options wanted = {.repo = c->operands[0],
                               .listen = cli_value(c, "listen"),
                               .tokens = cli_value(c, "tokens"),
                               .reading_needs_token = cli_flag(c, "private"),
                               .public_sources = cli_flag(c, "public-sources"),
                               .approve = c->repeated,
                               .approve_count = c->repeated_count,
                               .tls_certificate = cli_value(c, "tls-cert"),
                               .tls_key = cli_value(c, "tls-key"),
                               .log = print_line};
    if (cli_value(c, "add-token"))
        return add_token(c, cli_value(c, "add-token"));
    fdl_code code = read_limits(c, &wanted);
    if (code == FDL_OK)
        code = read_log(c, &wanted.log_format);
    return code == FDL_OK ? serve(c, &wanted) : code;
}

const cli_command cli_cmd_serve = {
    .name = "serve",
    .operands = "<repo>",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Serve a repository over HTTP",
    .details = "Readers get it under the address it prints, with ranges; with --tokens, writers push there\n"
               "too: their data goes straight to the bucket, and branches move only to what was checked.\n"
               "The host keeps nothing of its own: several may serve one bucket.  SIGTERM or Ctrl-C ends\n"
               "it once what is being answered is sent, within 30 seconds.",
    .options = options,
    .run = run,
};
