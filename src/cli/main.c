/*
 * main.c - the program: finds the command, parses, runs it, and turns what it
 * returned into an exit code.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* In the order of --help. */
#define COMMANDS(X) \
    X(init)         \
    X(checkout)     \
    X(status)       \
    X(commit)       \
    X(push)         \
    X(run)          \
    X(url)          \
    X(attach)       \
    X(log)          \
    X(show)         \
    X(diff)         \
    X(branch)       \
    X(tag)          \
    X(restore)      \
    X(expire)       \
    X(gc)           \
    X(withdraw)     \
    X(clone)        \
    X(serve)        \
    X(requests)     \
    X(verify)       \
    X(site)         \
    X(doctor)       \
    X(completion)   \
    X(help)         \
    X(man)

#define DECLARE(name) extern const cli_command cli_cmd_##name;
COMMANDS(DECLARE)
#undef DECLARE

#define POINT(name) &cli_cmd_##name,
const cli_command *const cli_commands[] = {COMMANDS(POINT) NULL};
#undef POINT

/* Run by fdl serve and by nobody else; not among the commands of --help. */
extern const cli_command cli_cmd_admit;

const cli_command *cli_find(const char *name) {
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

/* What was printed must have arrived: a full disk behind stdout is a failure too. */
static int finish(int status) {
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("fdl: cannot write to standard output\n", stderr);
        return status ? status : fdl_exit_status(FDL_FAILED);
    }
    return status;
}

static int run(const cli_command *command, int argc, char **argv) {
    cli c = {.command = command};
    c.context.note = cli_note;
    c.context.note_data = &c;
    c.context.progress = cli_progress;
    c.context.progress_data = &c;
    fdl_code code = cli_parse(&c, argc, argv);
    if (code == FDL_OK && c.help) {
        cli_help(command);
        return finish(0);
    }
    if (code == FDL_OK)
        code = command->run(&c);
    if (code != FDL_OK && !c.told)
        cli_error(&c);
    free(c.author_name);
    free(c.author_email);
    return finish(fdl_exit_status(code));
}

/*
 * A file that we open must not become standard output or error because who
 * started us closed it: it would take in what is said.  What stands there
 * instead fails as a closed one does.
 */
static bool hold_places(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        /* cppcheck-suppress leakReturnValNotUsed ; what is opened is to stay */
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
            return false;
    return true;
}

int main(int argc, char **argv) {
    if (!hold_places()) {
        fputs("fdl: standard input, output or error is closed, and '/dev/null' cannot be opened in its place\n", stderr);
        return fdl_exit_status(FDL_FAILED);
    }
    signal(SIGXFSZ, SIG_IGN); /* a file that may grow no further is an error as a full disk is */
    if (argc < 2) {
        fputs("fdl: name a command; see 'fdl --help'\n", stderr);
        return fdl_exit_status(FDL_USAGE);
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) {
        cli_print("fdl %s\n", fdl_version_string());
        return finish(0);
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        cli_help_all();
        return finish(0);
    }
    const cli_command *command = strcmp(word, cli_cmd_admit.name) == 0 ? &cli_cmd_admit : cli_find(word);
    if (!command) {
        fdl_error error;
        cli_no_command(word, &error);
        fprintf(stderr, "fdl: %s\n", error.message);
        return fdl_exit_status(error.code);
    }
    return run(command, argc - 1, argv + 1);
}
