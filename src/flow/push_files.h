/* push_files.h - steps 1 to 4 of a push: the files of a version go up, in the order that protects readers. */
#ifndef FDL_FLOW_PUSH_FILES_H
#define FDL_FLOW_PUSH_FILES_H

#include "flow/work.h"
#include "fdl/flow.h"

typedef struct fdl_push_from {
    const fdl_work *work;
    fdl_repo *repo;
    const fdl_config *config;
    const char *local_data; /* the folder of new data files over HTTP, else NULL */
    bool parent_is_held;    /* by the branch, so that what its parent names cannot go */
} fdl_push_from;

/*
 * Stopped anywhere it can be run again, and sends only what is missing.
 * FDL_REFUSED: somebody deleted files of the version meanwhile; it must not be published so.
 */
fdl_code fdl_push_files(const fdl_push_from *from, const fdl_version *version, fdl_sent *sent, fdl_error *error);

#endif
