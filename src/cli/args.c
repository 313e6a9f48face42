/*
 * args.c - options before or after operands, from the command's table, by
 * getopt_long.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "util/text.h"

/* Numbers getopt_long hands back: where an option stands, in the command's table or behind it in the common one. */
#define FIRST_CODE 256
#define FIRST_COMMON_CODE (FIRST_CODE + CLI_OPTIONS_LIMIT)
#define JSON_CODE FIRST_COMMON_CODE /* --json is the first of the common options */

const cli_option cli_common_options[] = {
    {"json", 0, NULL, "one JSON document on standard output, errors too"},
    {"quiet", 'q', NULL, "say nothing but results and errors"},
    {"verbose", 'v', NULL, "say more of what is done"},
    {"jobs", 'j', "N", "transfers at once (8)"},
    {"libduckdb", 0, "PATH", "the libduckdb to use, instead of $FDL_LIBDUCKDB and the usual places"},
    {"help", 'h', NULL, "show this and do nothing"},
    {0},
};

typedef struct getopt_table {
    struct option longs[2 * CLI_OPTIONS_LIMIT + 1];
    char shorts[4 * CLI_OPTIONS_LIMIT + 2];
    size_t long_count;
    size_t short_length;
} getopt_table;

static void add_options(getopt_table *table, const cli_option *options, int first_code) {
    for (int i = 0; options && options[i].name; i++) {
        int takes = options[i].value ? required_argument : no_argument;
        table->longs[table->long_count++] = (struct option){options[i].name, takes, NULL, first_code + i};
        if (!options[i].letter)
            continue;
        table->shorts[table->short_length++] = options[i].letter;
        if (options[i].value)
            table->shorts[table->short_length++] = ':';
    }
}

static int code_of_letter(const cli *c, int letter) {
    const cli_option *own = c->command->options;
    for (int i = 0; own && own[i].name; i++)
        if (own[i].letter == letter)
            return FIRST_CODE + i;
    for (int i = 0; cli_common_options[i].name; i++)
        if (cli_common_options[i].letter == letter)
            return FIRST_COMMON_CODE + i;
    return -1;
}

static fdl_code usage(cli *c, const char *what, const char *word) {
    return fdl_fail(&c->error, FDL_USAGE, word, "%s '%s'; see 'fdl %s --help'", what, word, c->command->name);
}

static fdl_code set_jobs(cli *c, const char *text) {
    char *end = NULL;
    errno = 0;
    long jobs = strtol(text, &end, 10);
    if (errno || end == text || *end || jobs < 1 || jobs > 256)
        return usage(c, "--jobs takes a number from 1 to 256, not", text);
    c->context.jobs = (int)jobs;
    return FDL_OK;
}

static fdl_code set_common(cli *c, const char *name, const char *value) {
    if (strcmp(name, "json") == 0)
        c->json = true;
    else if (strcmp(name, "quiet") == 0)
        c->quiet = true;
    else if (strcmp(name, "verbose") == 0)
        c->verbose = true;
    else if (strcmp(name, "help") == 0)
        c->help = true;
    else if (strcmp(name, "libduckdb") == 0)
        c->context.libduckdb = value;
    else if (strcmp(name, "jobs") == 0)
        return set_jobs(c, value);
    return FDL_OK;
}

static fdl_code set_option(cli *c, int code, const char *value) {
    if (code >= FIRST_COMMON_CODE)
        return set_common(c, cli_common_options[code - FIRST_COMMON_CODE].name, value);
    const cli_option *option = &c->command->options[code - FIRST_CODE];
    bool repeats = value && fdl_str_ends(option->value, "...");
    c->values[code - FIRST_CODE] = value ? value : "";
    if (repeats && c->repeated_count == CLI_REPEATS_LIMIT)
        return usage(c, "too many of option", option->name);
    if (repeats)
        c->repeated[c->repeated_count++] = value;
    return FDL_OK;
}

static fdl_code take_operands(cli *c, int argc, char **argv) {
    for (int i = optind; i < argc; i++) {
        if (c->operand_count == c->command->max_operands || c->operand_count == CLI_OPERANDS_LIMIT)
            return usage(c, "unexpected argument", argv[i]);
        c->operands[c->operand_count++] = argv[i];
    }
    if (c->operand_count < c->command->min_operands && !c->help)
        return fdl_fail(&c->error, FDL_USAGE, NULL, "usage: fdl %s %s; see 'fdl %s --help'", c->command->name,
                        c->command->operands, c->command->name);
    for (int i = 0; i < c->operand_count; i++)
        if (!*c->operands[i])
            return fdl_fail(&c->error, FDL_USAGE, NULL, "argument %d is empty; see 'fdl %s --help'", i + 1,
                            c->command->name);
    return FDL_OK;
}

fdl_code cli_parse(cli *c, int argc, char **argv) {
    getopt_table table = {0};
    /* ':' first tells a missing value from an unknown option. */
    table.shorts[table.short_length++] = ':';
    add_options(&table, c->command->options, FIRST_CODE);
    add_options(&table, cli_common_options, FIRST_COMMON_CODE);
    opterr = 0;
    optind = 1;
    fdl_code code = FDL_OK;
    for (int found; (found = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1;) {
        char letter[3] = {'-', (char)optopt, 0};
        const char *word = optopt > 0 && optopt < FIRST_CODE ? letter : argv[optind - 1];
        if (code != FDL_OK) /* the first mistake is the one told; --json behind it still says how */
            c->json = c->json || found == JSON_CODE;
        else if (found == ':')
            code = usage(c, "a value is missing after", word);
        else if (found == '?')
            code = cli_no_option(c->command, word, &c->error);
        else
            code = set_option(c, found < FIRST_CODE ? code_of_letter(c, found) : found, optarg);
    }
    return code == FDL_OK ? take_operands(c, argc, argv) : code;
}

static int place_of(const cli *c, const char *name) {
    for (int i = 0; c->command->options && c->command->options[i].name; i++)
        if (strcmp(c->command->options[i].name, name) == 0)
            return i;
    return -1;
}

const char *cli_value(const cli *c, const char *name) {
    int place = place_of(c, name);
    return place < 0 ? NULL : c->values[place];
}

bool cli_flag(const cli *c, const char *name) {
    return cli_value(c, name) != NULL;
}

fdl_code cli_number(cli *c, const char *name, long unset, long min, long max, long *out) {
    const char *text = cli_value(c, name);
    char *end = NULL;
    *out = unset;
    if (!text)
        return FDL_OK;
    errno = 0;
    *out = strtol(text, &end, 10);
    if (errno || end == text || *end || *out < min || *out > max)
        return fdl_fail(&c->error, FDL_USAGE, text, "--%s takes a number from %ld to %ld, not '%s'", name, min, max,
                        text);
    return FDL_OK;
}
