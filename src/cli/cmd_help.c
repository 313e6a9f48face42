/*
 * cmd_help.c - fdl help
 */
#include "cli/cli.h"

static fdl_code run(cli *c) {
    const cli_command *command = c->operand_count > 0 ? cli_find(c->operands[0]) : NULL;
    if (c->operand_count > 0 && !command)
        return cli_no_command(c->operands[0], &c->error);
    if (command)
        cli_help(command);
    else
        cli_help_all();
    return FDL_OK;
}

const cli_command cli_cmd_help = {
    .name = "help",
    .operands = "[<command>]",
    .max_operands = 1,
    .summary = "List the commands, or tell what one takes",
    .details = "'fdl help push' says the same as 'fdl push --help'; 'fdl man push' prints the manual page.",
    .run = run,
};
