/*
 * author.c - who commits: --author, FDL_AUTHOR_NAME and FDL_AUTHOR_EMAIL, git's
 * configuration, or the login name.
 */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "util/spawn.h"
#include "util/text.h"

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
    const char *const argv[] = {"git", "config", "--get", key, NULL};
    fdl_spawned git = {0};
    fdl_error ignored;
    char *answer = NULL;
    if (fdl_spawn(argv, NULL, &git, &ignored) == FDL_OK && git.status == 0)
        answer = strndup(git.output, strcspn(git.output, "\n"));
    fdl_spawned_clear(&git);
    if (answer && *answer)
        return answer;
    free(answer);
    return NULL;
}

fdl_code cli_author_found(cli *c, char **name, char **email, const char **from) {
    const char *set_name = getenv("FDL_AUTHOR_NAME");
    const char *set_email = getenv("FDL_AUTHOR_EMAIL");
    fdl_code code = FDL_OK;
    *from = "FDL_AUTHOR_NAME";
    if (set_name && *set_name)
        code = fdl_str_copy(name, set_name, &c->error);
    if (code == FDL_OK && set_email && *set_email)
        code = fdl_str_copy(email, set_email, &c->error);
    if (code == FDL_OK && !*name) {
        *name = ask_git("user.name");
        *from = "git's configuration";
    }
    if (code == FDL_OK && !*email)
        *email = ask_git("user.email");
    if (code == FDL_OK && !*name) {
        struct passwd *login = getpwuid(getuid());
        code = fdl_str_copy(name, login && login->pw_name[0] ? login->pw_name : "unknown", &c->error);
        *from = "the login name";
    }
    return code;
}

fdl_code cli_author(cli *c, const char *given, char **name, char **email) {
    const char *from;
    return given ? split(c, given, name, email) : cli_author_found(c, name, email, &from);
}
