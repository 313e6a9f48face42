/*
 * cmd_completion.c - fdl completion: what a shell needs to complete fdl's words,
 * from the same tables as --help.
 *
 * Each shell gets the tables in its own words and a function that walks them.
 * Names of versions are asked of the repository, through --revs.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static const cli_option options[] = {
    {"revs", 0, "REPO", "print the branches and tags of a repository instead, for the scripts to offer"},
    {0},
};

/* ---- words of the tables ---------------------------------------------------------- */

static void option_words(const cli_option *table, bool only_with_value) {
    for (; table && table->name; table++) {
        if (only_with_value && !table->value)
            continue;
        cli_print("--%s ", table->name);
        if (table->letter)
            cli_print("-%c ", table->letter);
    }
}

/* "repo rev rev" of "<repo> <rev> <rev>": what stands at each place; "..." repeats the last. */
static void operand_kinds(const char *operands) {
    for (const char *at = strchr(operands, '<'); at; at = strchr(at + 1, '<')) {
        size_t length = strcspn(at + 1, ">");
        cli_print("%.*s ", (int)length, at + 1);
    }
}

/* ---- bash, and zsh by its bashcompinit ---------------------------------------------- */

static const char bash_function[] =
    "    case $valued in *\" $previous \"*) _fdl_files; return;; esac\n"
    "    case $current in -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")); return;; esac\n"
    "    local word repo= skip= i\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        [[ $word == -- ]] && { _fdl_files; return; }\n"
    "        [[ $skip ]] && { skip=; continue; }\n"
    "        [[ $word == -* ]] && { [[ $valued == *\" $word \"* ]] && skip=1; continue; }\n"
    "        repo=${repo:-$word}\n"
    "        [[ $operands == *' '*' '* ]] && operands=${operands#* }\n"
    "    done\n"
    "    case ${operands%% *} in\n"
    "        command) COMPREPLY=($(compgen -W \"$commands\" -- \"$current\"));;\n"
    "        rev|name) COMPREPLY=($(compgen -W \"$(fdl completion --revs \"$repo\" 2>/dev/null)\" -- \"$current\"));;\n"
    "        *) _fdl_files;;\n"
    "    esac\n"
    "}\n"
    "_fdl_files() {\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
    "}\n"
    "complete -F _fdl fdl\n";

static void bash(void) {
    cli_print("_fdl() {\n    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
              "    local options= valued= operands= commands=\"");
    for (size_t i = 0; cli_commands[i]; i++)
        cli_print("%s ", cli_commands[i]->name);
    cli_print("\"\n    if ((COMP_CWORD == 1)); then\n        COMPREPLY=($(compgen -W \"$commands\" -- \"$current\"))\n"
              "        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        cli_print("        %s) options=\"", cli_commands[i]->name);
        option_words(cli_commands[i]->options, false);
        option_words(cli_common_options, false);
        cli_print("\" valued=\" ");
        option_words(cli_commands[i]->options, true);
        option_words(cli_common_options, true);
        cli_print("\" operands=\"");
        operand_kinds(cli_commands[i]->operands);
        cli_print("\";;\n");
    }
    cli_print("    esac\n%s", bash_function);
}

static void zsh(void) {
    cli_print("#compdef fdl\nautoload -U +X bashcompinit && bashcompinit\n");
    bash();
}

/* ---- fish ----------------------------------------------------------------------------- */

static void quoted(const char *text) {
    cli_print("'");
    for (; *text; text++)
        cli_print(*text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
    cli_print("'");
}

static void fish_options(const char *condition, const cli_option *table) {
    for (; table && table->name; table++) {
        cli_print("complete -c fdl %s -l %s", condition, table->name);
        if (table->letter)
            cli_print(" -s %c", table->letter);
        cli_print("%s -d ", table->value ? " -r" : "");
        quoted(table->help);
        cli_print("\n");
    }
}

static void fish(void) {
    cli_print("function __fdl_revs\n"
              "    set -l words (commandline -opc)\n"
              "    for word in $words[3..-1]\n"
              "        string match -q -- '-*' $word; or begin\n"
              "            fdl completion --revs $word 2>/dev/null\n"
              "            return\n"
              "        end\n"
              "    end\n"
              "end\n");
    fish_options("", cli_common_options);
    for (size_t i = 0; cli_commands[i]; i++) {
        const cli_command *command = cli_commands[i];
        char condition[80];
        snprintf(condition, sizeof condition, "-n '__fish_seen_subcommand_from %s'", command->name);
        cli_print("complete -c fdl -n __fish_use_subcommand -f -a %s -d ", command->name);
        quoted(command->summary);
        cli_print("\n");
        fish_options(condition, command->options);
        if (strstr(command->operands, "<command>"))
            for (size_t j = 0; cli_commands[j]; j++)
                cli_print("complete -c fdl %s -f -a %s\n", condition, cli_commands[j]->name);
        if (strstr(command->operands, "<rev>"))
            cli_print("complete -c fdl %s -a '(__fdl_revs)'\n", condition);
    }
}

/* ---- the verb --------------------------------------------------------------------------- */

static fdl_code print_revs(cli *c, const char *address) {
    fdl_repo *repo = NULL;
    fdl_ref_list refs = {0};
    fdl_code code = fdl_repo_open(&c->context, address, &repo, &c->error);
    if (code == FDL_OK)
        code = fdl_ref_list_read(repo, &refs, &c->error);
    if (code == FDL_OK)
        cli_print("HEAD\n");
    for (size_t i = 0; code == FDL_OK && i < refs.count; i++)
        cli_print("%s\n", cli_short_ref(refs.items[i].name));
    fdl_ref_list_clear(&refs);
    fdl_repo_free(repo);
    return code;
}

static fdl_code run(cli *c) {
    static const struct {
        const char *name;
        void (*print)(void);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    if (cli_flag(c, "revs"))
        return print_revs(c, cli_value(c, "revs"));
    for (size_t i = 0; c->operand_count > 0 && i < sizeof shells / sizeof *shells; i++)
        if (strcmp(c->operands[0], shells[i].name) == 0) {
            shells[i].print();
            return FDL_OK;
        }
    return fdl_fail(&c->error, FDL_USAGE, NULL, "name a shell: bash, zsh or fish");
}

const cli_command cli_cmd_completion = {
    .name = "completion",
    .operands = "<shell>",
    .max_operands = 1,
    .summary = "Print what bash, zsh or fish need to complete fdl's words",
    .details = "Installed, it works by itself. Else, in a shell's startup file:\n\n"
               "  bash  source <(fdl completion bash)\n"
               "  zsh   source <(fdl completion zsh)\n"
               "  fish  fdl completion fish | source",
    .options = options,
    .run = run,
};
