/*
 * suggest.c - the word that somebody meant who typed another: for commands and
 * options, as git does it.
 */
#include <string.h>

#include "cli/cli.h"
#include "util/text.h"

#define WORD_LIMIT 32

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Letters to add, drop, change or swap with their neighbour; SIZE_MAX for words too long to be ours. */
static size_t distance(const char *a, size_t a_length, const char *b) {
    size_t rows[3][WORD_LIMIT + 1], b_length = strlen(b);
    if (a_length > WORD_LIMIT || b_length > WORD_LIMIT)
        return SIZE_MAX;
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

typedef struct guess {
    const char *word;
    size_t length;
    const char *best; /* NULL: nothing is near */
    size_t distance;
} guess;

/* One letter of three may be wrong; the beginning of a word is as good. */
static void consider(guess *g, const char *name) {
    bool begins = g->length >= 3 && strncmp(name, g->word, g->length) == 0;
    size_t found = begins ? 1 : distance(g->word, g->length, name);
    if (found <= g->length / 3 && (!g->best || found < g->distance)) {
        g->best = name;
        g->distance = found;
    }
}

fdl_code cli_no_command(const char *word, fdl_error *error) {
    guess g = {.word = word, .length = strlen(word)};
    for (size_t i = 0; cli_commands[i]; i++)
        consider(&g, cli_commands[i]->name);
    return fdl_fail(error, FDL_USAGE, word, "no command '%s'; %s%s%ssee 'fdl --help'", word, g.best ? "did you mean '" : "",
                    g.best ? g.best : "", g.best ? "'? " : "");
}

fdl_code cli_no_option(const cli_command *command, const char *word, fdl_error *error) {
    const cli_option *tables[] = {command->options, cli_common_options};
    guess g = {.word = word + strspn(word, "-")};
    g.length = strcspn(g.word, "=");
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const cli_option *option = tables[t]; option && option->name; option++)
            consider(&g, option->name);
    return fdl_fail(error, FDL_USAGE, word, "no such option '%s'; %s%s%ssee 'fdl %s --help'", word,
                    g.best ? "did you mean '--" : "", g.best ? g.best : "", g.best ? "'? " : "", command->name);
}
