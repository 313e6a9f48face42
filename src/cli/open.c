/*
 * open.c - the repository a command names.
 */
#include "cli/cli.h"

fdl_code cli_open(cli *c, fdl_repo **repo) {
    return fdl_repo_open(&c->context, c->operands[0], repo, &c->error);
}
