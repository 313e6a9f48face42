/*
 * parallel.h - the same work on many items, a bounded number at once.
 */
#ifndef FDL_UTIL_PARALLEL_H
#define FDL_UTIL_PARALLEL_H

#include <stddef.h>

#include "fdl/error.h"

typedef fdl_code (*fdl_task)(void *data, size_t index, fdl_error *error);

/*
 * Calls task(data, 0) to task(data, count - 1), each once, on at most `jobs`
 * threads (0: 8), and waits for all.  The first failure is returned; no further
 * task is begun after it.  With one job, or one item, no thread is made.
 */
fdl_code fdl_parallel(size_t count, int jobs, fdl_task task, void *data, fdl_error *error);

/* How many processors this process may use. */
int fdl_processors(void);

#endif
