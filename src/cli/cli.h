/*
 * cli.h - what the commands of the program share.
 *
 * A command is one file, cmd_<name>.c: a cli_command that says what it takes,
 * and a run function that parses nothing itself, calls one flow, and prints.
 * --help, the man pages and the parsing all come from that one table.
 */
#ifndef FDL_CLI_H
#define FDL_CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "fdl.h"

#define CLI_OPERANDS_LIMIT 64
#define CLI_OPTIONS_LIMIT 32
#define CLI_REPEATS_LIMIT 1000

typedef struct cli_option {
    const char *name;  /* "message" for --message */
    char letter;       /* 'm' for -m, or 0 */
    const char *value; /* what --help calls its value, "FILE..." when it may be given again and again; NULL for a flag */
    const char *help;
} cli_option;

typedef struct cli cli;

typedef struct cli_command {
    const char *name;
    const char *operands; /* "<repo> [<rev>]", as --help shows them */
    int min_operands;
    int max_operands;
    const char *summary;       /* one line, without a full stop */
    const char *details;       /* paragraphs for --help */
    const cli_option *options; /* ends with a zeroed one; NULL for none */
    fdl_code (*run)(cli *c);   /* fills c->error when it fails */
} cli_command;

struct cli {
    const cli_command *command;
    fdl_context context;
    const char *operands[CLI_OPERANDS_LIMIT + 1]; /* NULL behind the last */
    int operand_count;
    const char *values[CLI_OPTIONS_LIMIT]; /* by the option's place in the table; "" for a flag that is set */
    const char *repeated[CLI_REPEATS_LIMIT]; /* every value of the one option that may be given again, in order */
    size_t repeated_count;
    bool json;
    bool quiet;
    bool verbose;
    bool help;
    char *author_name, *author_email; /* see cli_commit_options */
    struct {
        bool shown;          /* a line stands on the terminal, to be written over */
        int64_t started_ms;  /* 0: no transfer is going on */
        int64_t next_ms;
    } progress;
    bool told; /* the failure has been printed as a result: say nothing more */
    fdl_error error;
};

/* All commands, in the order of --help; ends with NULL.  The options every command takes. */
extern const cli_command *const cli_commands[];
extern const cli_option cli_common_options[];
const cli_command *cli_find(const char *name); /* NULL: no such command */

/* args.c: fills operands, values and the common options.  FDL_USAGE with c->error. */
fdl_code cli_parse(cli *c, int argc, char **argv);
/* The value of an option of this command, or NULL. */
const char *cli_value(const cli *c, const char *name);
bool cli_flag(const cli *c, const char *name);
/* A whole number, `unset` when the option is not given. */
fdl_code cli_number(cli *c, const char *name, long unset, long min, long max, long *out);

/* help.c: texts that --help and the manual share. */
extern const char cli_about[];
extern const char cli_exit_codes[];
/* What stands behind "fdl <command>", options where they belong. */
void cli_synopsis(const cli_command *command);
void cli_help(const cli_command *command);
void cli_help_all(void);
void cli_usage(const cli_command *command);

/* suggest.c: FDL_USAGE for a word that is none of ours, with the one that was likely meant. */
fdl_code cli_no_command(const char *word, fdl_error *error);
fdl_code cli_no_option(const cli_command *command, const char *word, fdl_error *error);

/* out.c: stdout carries results, stderr carries everything said on the way. */
void cli_print(const char *format, ...) FDL_PRINTF(1, 2);
/*
 * Text from a repository: what steers a terminal is shown as '?'.  Newlines stay and are followed by `indent`;
 * without one ("") they are such too, so that a name is one line.
 */
void cli_print_text(const char *text, const char *indent);
/* Progress and hints on stderr, not with -q. */
void cli_say(const cli *c, const char *format, ...) FDL_PRINTF(2, 3);
/* A piece of a document as jansson wrote it, with what steers a terminal escaped. */
void cli_print_json(const char *text);
/* Takes `document` over; NULL (out of memory) fails. */
fdl_code cli_json(cli *c, json_t *document);
void cli_error(const cli *c);
void cli_note(void *c, fdl_note_level level, const char *line);
/* "1 file", "3 files"; the buffer is the caller's. */
const char *cli_count(unsigned long long count, const char *one, char out[64]);
/* "main" of "refs/heads/main", "v1" of "refs/tags/v1". */
const char *cli_short_ref(const char *full);
/* What a version waits for, in a line; the buffer is the caller's. */
const char *cli_request(const fdl_request *request, char out[96]);
/* The line for a version that is uploaded and not on its branch; the full name of the branch. */
void cli_print_waiting(const char *branch, const char *id, const fdl_request *request);
/* {"number", "state", "reason"?}, or null when nothing was asked. */
json_t *cli_json_request(const fdl_request *request);
json_t *cli_json_version(const fdl_version *version, const fdl_expiry *expiry);

/* deletions.c: what was deleted, or would be; a million of them take no memory. */

/* One JSON document: the fields of `head` (taken over; NULL fails), then "deletions", "count" and "bytes". */
fdl_code cli_json_deletions(cli *c, json_t *head, fdl_plan *plan);
/* A line each. */
fdl_code cli_print_deletions(cli *c, fdl_plan *plan);

/* progress.c: an fdl_context's progress, its data being the cli. */
void cli_progress(void *c, const fdl_progress *now);
/* Takes the line away, before another one is printed. */
void cli_progress_clear(cli *c);

/* open.c: the repository named by the first operand. */
fdl_code cli_open(cli *c, fdl_repo **repo);

/* author.c: --author, the environment, git's configuration, or the login name. */
fdl_code cli_author(cli *c, const char *given, char **name, char **email);
/* Who it is when --author does not say, and what says so. */
fdl_code cli_author_found(cli *c, char **name, char **email, const char **from);

/* commit_options.c: what every command takes that makes a version of a working catalog. */
#define CLI_COMMIT_OPTIONS                                                                                              \
    {"message", 'm', "MSG", "what this version is"},                                                                    \
        {"author", 0, "AUTHOR", "'Name <email>', instead of FDL_AUTHOR_NAME and _EMAIL or git's configuration"},        \
        {"dataset", 0, "FILE", "a dataset.json that describes the tables"},                                             \
        {"dbt", 0, "DIR", "take descriptions from dbt's manifest.json in this folder, usually target"},                 \
        {"source", 0, "FILE...", "keep an original file that the tables came from; may be given again for another"},    \
        {"sign", 0, "KEY", "sign with this SSH key: its file, or its .pub when the SSH agent has it"},                  \
        {"allow-empty", 0, NULL, "make a version although nothing changed"},                                            \
        {"keep-snapshots", 0, NULL, "keep the snapshots since the parent, not only the last"},                          \
        {"flush-inlined", 0, NULL, "first write rows inlined in the catalog to data files"},                            \
        {"allow-encrypted", 0, NULL, "publish an encrypted catalog, its keys included"}

/* What `out` points to lives as long as `c`. */
fdl_code cli_commit_options(cli *c, fdl_commit_options *out);

#endif
