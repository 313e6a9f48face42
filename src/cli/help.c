/*
 * help.c - --help, from the commands' tables.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

const char cli_about[] = "Versions of a DuckLake catalog on object storage, kept the way Git keeps commits.\n"
                         "<repo> is a folder, s3://bucket/prefix/ or http(s)://host/path/; <work> is a SQLite\n"
                         "working catalog; <rev> is a branch, a tag, HEAD, a version id or the start of one,\n"
                         "each with ~N for its Nth ancestor.\n";
const char cli_exit_codes[] = "0 done, 1 failure, 2 usage, 3 conflict, 4 expired or withdrawn, 5 not found,\n"
                              "6 busy or locked, 7 refused because the content breaks a rule\n";

void cli_synopsis(const cli_command *command) {
    /* What stands behind "--" is another program's. */
    const char *rest = strstr(command->operands, " -- ");
    int length = rest ? (int)(rest - command->operands) : (int)strlen(command->operands);
    printf("%.*s%s%s\n", length, command->operands, command->options ? " [options]" : "", rest ? rest : "");
}

void cli_usage(const cli_command *command) {
    printf("usage: fdl %s ", command->name);
    cli_synopsis(command);
}

static void print_options(const cli_option *options) {
    for (; options && options->name; options++) {
        char left[64];
        int n = options->letter ? snprintf(left, sizeof left, "  -%c, --%s", options->letter, options->name)
                                : snprintf(left, sizeof left, "      --%s", options->name);
        if (options->value && n > 0 && (size_t)n < sizeof left)
            snprintf(left + n, sizeof left - (size_t)n, " %s", options->value);
        printf("%-30s  %s\n", left, options->help);
    }
}

void cli_help(const cli_command *command) {
    cli_usage(command);
    printf("\n%s.\n", command->summary);
    if (command->details)
        printf("\n%s\n", command->details);
    if (command->options) {
        printf("\noptions:\n");
        print_options(command->options);
    }
    printf("\nfor every command:\n");
    print_options(cli_common_options);
}

void cli_help_all(void) {
    printf("usage: fdl <command> [arguments] [options]\n\n%s\ncommands:\n", cli_about);
    for (size_t i = 0; cli_commands[i]; i++)
        printf("  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    printf("\n'fdl help <command>' tells more of each.\n\nexit codes: %s", cli_exit_codes);
}
