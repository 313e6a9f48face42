/*
 * cmd_man.c - fdl man: the manual pages, from the same tables as --help.
 *
 * What is printed is roff, for `man -l -` and for the files that are installed.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "util/text.h"

/* Words of ours, so that no sign of them means something to roff; hyphens stay what people type. */
static void text(const char *s, size_t length) {
    for (size_t i = 0; i < length; i++) {
        bool line_starts = i == 0 || s[i - 1] == '\n';
        if (line_starts && (s[i] == '.' || s[i] == '\''))
            cli_print("\\&");
        if (s[i] == '\\')
            cli_print("\\e");
        else if (s[i] == '-')
            cli_print("\\-");
        else
            cli_print("%c", s[i]);
    }
}

static void line(const char *before, const char *s, const char *after) {
    cli_print("%s", before);
    text(s, strlen(s));
    cli_print("%s\n", after);
}

/* Lines are filled, a blank one starts a paragraph, indented ones stay as they are. */
static void paragraphs(const char *s) {
    bool as_is = false;
    while (*s) {
        size_t length = strcspn(s, "\n");
        bool indented = *s == ' ';
        if (indented != as_is)
            cli_print(indented ? ".nf\n" : ".fi\n");
        as_is = indented;
        if (length == 0)
            cli_print(".PP");
        text(s, length);
        cli_print("\n");
        s += length + (s[length] == '\n');
    }
    if (as_is)
        cli_print(".fi\n");
}

static void options_of(const cli_option *options) {
    for (; options && options->name; options++) {
        cli_print(".TP\n");
        if (options->letter)
            cli_print("\\fB\\-%c\\fR, ", options->letter);
        cli_print("\\fB\\-\\-");
        text(options->name, strlen(options->name));
        cli_print("\\fR");
        if (options->value)
            cli_print(" \\fI%s\\fR", options->value);
        cli_print("\n");
        line("", options->help, "");
    }
}

static void header(const char *name, const char *summary) {
    cli_print(".TH \"");
    for (const char *c = name; *c; c++)
        cli_print("%c", *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    cli_print("\" 1 \"\" \"fdl %s\" \"FDL manual\"\n", fdl_version_string());
    cli_print(".SH NAME\n");
    text(name, strlen(name));
    line(" \\- ", summary, "");
    cli_print(".SH SYNOPSIS\n");
}

static void page_of(const cli_command *command) {
    char name[64];
    snprintf(name, sizeof name, "fdl-%s", command->name);
    header(name, command->summary);
    cli_print(".B fdl %s\n", command->name);
    cli_synopsis(command);
    cli_print(".SH DESCRIPTION\n");
    if (command->details)
        paragraphs(command->details);
    else
        line("", command->summary, ".");
    if (command->options) {
        cli_print(".SH OPTIONS\n");
        options_of(command->options);
    }
    cli_print(".SH \"OPTIONS OF EVERY COMMAND\"\n");
    options_of(cli_common_options);
    cli_print(".SH \"EXIT STATUS\"\n%s", cli_exit_codes);
    cli_print(".SH \"SEE ALSO\"\n.BR fdl (1)\n");
}

static void page_of_all(void) {
    header("fdl", "versions of a DuckLake catalog on object storage");
    cli_print(".B fdl\n\\fIcommand\\fR [arguments] [options]\n.SH DESCRIPTION\n");
    paragraphs(cli_about);
    cli_print(".SH COMMANDS\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        cli_print(".TP\n.BR fdl\\-%s (1)\n", cli_commands[i]->name);
        line("", cli_commands[i]->summary, "");
    }
    cli_print(".SH \"OPTIONS OF EVERY COMMAND\"\n");
    options_of(cli_common_options);
    cli_print(".SH \"EXIT STATUS\"\n%s", cli_exit_codes);
}

/* Pages go by "push" and, as man calls them, "fdl-push". */
static fdl_code run(cli *c) {
    const char *word = c->operands[0];
    if (!word || strcmp(word, "fdl") == 0) {
        page_of_all();
        return FDL_OK;
    }
    const cli_command *command = cli_find(fdl_str_starts(word, "fdl-") ? word + strlen("fdl-") : word);
    if (!command)
        return cli_no_command(word, &c->error);
    page_of(command);
    return FDL_OK;
}

const cli_command cli_cmd_man = {
    .name = "man",
    .operands = "[<command>]",
    .max_operands = 1,
    .summary = "Print a manual page",
    .details = "For 'fdl man push | man -l -'; 'fdl man' and 'fdl man fdl' are the page about all of it.\n"
               "Installed, the pages are found by 'man fdl-push' and 'man fdl'.",
    .run = run,
};
