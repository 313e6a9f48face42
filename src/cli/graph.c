/*
 * graph.c - lines of history beside a list of versions, newest first, as git log
 * --graph draws them.  A version has one parent, so lines only ever meet.
 *
 *   * 5        a version of the first line
 *   | * 4      one of another branch
 *   | * 3
 *   |/         which was made from
 *   * 2        this one
 */
#include "cli/graph.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "util/text.h"

/* Line `from` runs into `to`, left of it, or just ends when they are the same; those right of it move up. */
static void close_line(graph *g, size_t to, size_t from) {
    if (to < from || from + 1 < g->count) {
        for (size_t i = 0; i < from; i++)
            cli_print("|%c", i < to || to == from ? ' ' : i + 1 == from ? '/' : '_');
        for (size_t i = from + 1; i < g->count; i++)
            cli_print(" /");
        cli_print("\n");
    }
    memmove(&g->lines[from], &g->lines[from + 1], (g->count - from - 1) * sizeof *g->lines);
    g->count--;
}

static size_t line_at(const graph *g, const char *id, size_t but) {
    for (size_t i = 0; i < g->count; i++)
        if (i != but && strcmp(g->lines[i], id) == 0)
            return i;
    return g->count;
}

fdl_code cli_graph_before(graph *g, const char *id, fdl_error *error) {
    g->current = line_at(g, id, SIZE_MAX);
    if (g->current == g->count) {
        fdl_code code = fdl_grow(&g->lines, g->count, sizeof *g->lines, error);
        if (code != FDL_OK)
            return code;
        fdl_str_fit(g->lines[g->count++], sizeof *g->lines, id);
    }
    for (size_t i = 0; i < g->count; i++)
        cli_print(i == g->current ? "* " : "| ");
    return FDL_OK;
}

void cli_graph_after(graph *g, const char *parent) {
    size_t here = g->current, other = line_at(g, parent, here);
    fdl_str_fit(g->lines[here], sizeof *g->lines, parent);
    if (!*parent)
        close_line(g, here, here);
    else if (other < g->count)
        close_line(g, here < other ? here : other, here < other ? other : here);
}
