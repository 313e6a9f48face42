/*
 * cmd_admit.c - fdl admit: what a host runs to look at a stranger's version in a
 * process that may hang, grow or die.  No command for people, so --help does not
 * list it.
 */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/cli.h"

#define CPU_LIMIT_S 60 /* a catalog of a million files takes some ten */

/* Ends with the host, after a time, and first of all when memory runs out. */
static void limit_myself(void) {
    static const char first_to_go[] = "1000";
    const struct rlimit time = {CPU_LIMIT_S, CPU_LIMIT_S}, none = {0, 0};
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)setrlimit(RLIMIT_CPU, &time);
    (void)setrlimit(RLIMIT_CORE, &none);
    if (fd >= 0) {
        ssize_t written = write(fd, first_to_go, sizeof first_to_go - 1);
        (void)written; /* without it the kernel chooses */
        close(fd);
    }
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    const char *expected = strcmp(c->operands[2], "-") == 0 ? "" : c->operands[2];
    limit_myself();
    fdl_code code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_admit(repo, c->operands[1], expected, c->operands[3], &c->error);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_admit = {
    .name = "admit",
    .operands = "<repo> <branch> <expected>|- <id>",
    .min_operands = 4,
    .max_operands = 4,
    .summary = "Look whether a branch may move to a version",
    .details = "Run by fdl serve. <branch> is a full name, <expected> the version it holds.",
    .run = run,
};
