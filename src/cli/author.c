/*
 * author.c - who commits: --author, FDL_AUTHOR_NAME and FDL_AUTHOR_EMAIL, git's
 * configuration, or the login name.
 */
#include <fcntl.h>
#include <pwd.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "util/text.h"

extern char **environ;

#define ANSWER_LIMIT_BYTES 1000

/* "Name <email>", or just a name. */
static fdl_code split(cli *c, const char *given, char **name, char **email) {
    const char *open = strchr(given, '<');
    const char *close = open ? strchr(open, '>') : NULL;
    size_t length = open ? (size_t)(open - given) : strlen(given);
    while (length > 0 && given[length - 1] == ' ')
        length--;
    if (length == 0 || (open && (!close || close[1] != '\0' || close == open + 1)))
        return fdl_fail(&c->error, FDL_USAGE, given, "'%s' is not an author; write it as 'Name <email>'", given);
    fdl_code code = fdl_str_copy_n(name, given, length, &c->error);
    if (code == FDL_OK && open)
        code = fdl_str_copy_n(email, open + 1, (size_t)(close - open - 1), &c->error);
    return code;
}

/* One line of "git config <key>"; NULL without git or without that key. */
static char *ask_git(const char *key) {
    int ends[2];
    pid_t child = 0;
    posix_spawn_file_actions_t actions;
    char *const argv[] = {"git", "config", "--get", (char *)key, NULL};
    char answer[ANSWER_LIMIT_BYTES + 1];
    size_t length = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return NULL;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&child, "git", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    for (ssize_t n = 1; !failed && n > 0 && length < ANSWER_LIMIT_BYTES; length += n > 0 ? (size_t)n : 0)
        n = read(ends[0], answer + length, ANSWER_LIMIT_BYTES - length);
    close(ends[0]);
    if (!failed)
        waitpid(child, NULL, 0);
    answer[length] = '\0';
    answer[strcspn(answer, "\n")] = '\0';
    return answer[0] ? strdup(answer) : NULL;
}

fdl_code cli_author(cli *c, const char *given, char **name, char **email) {
    if (given)
        return split(c, given, name, email);
    const char *set_name = getenv("FDL_AUTHOR_NAME");
    const char *set_email = getenv("FDL_AUTHOR_EMAIL");
    fdl_code code = FDL_OK;
    if (set_name && *set_name)
        code = fdl_str_copy(name, set_name, &c->error);
    if (code == FDL_OK && set_email && *set_email)
        code = fdl_str_copy(email, set_email, &c->error);
    if (code == FDL_OK && !*name)
        *name = ask_git("user.name");
    if (code == FDL_OK && !*email)
        *email = ask_git("user.email");
    if (code == FDL_OK && !*name) {
        struct passwd *login = getpwuid(getuid());
        code = fdl_str_copy(name, login && login->pw_name[0] ? login->pw_name : "unknown", &c->error);
    }
    return code;
}
