/* graph.h - see graph.c. */
#ifndef FDL_CLI_GRAPH_H
#define FDL_CLI_GRAPH_H

#include <stdint.h>

#include "fdl.h"

/* Zeroed is empty; `lines` is released with free(). */
typedef struct graph {
    char (*lines)[FDL_ID_BYTES]; /* from left to right: the version that each comes to next */
    size_t count;
    size_t current; /* of the version being shown */
} graph;

/* What stands before the one line about a version, and, below it, where its line goes on ("": it ends). */
fdl_code cli_graph_before(graph *g, const char *id, fdl_error *error);
void cli_graph_after(graph *g, const char *parent);

#endif
