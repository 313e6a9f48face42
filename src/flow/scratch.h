/*
 * scratch.h - a folder of this machine for objects that are only passing
 * through, and objects as local files.
 */
#ifndef FDL_FLOW_SCRATCH_H
#define FDL_FLOW_SCRATCH_H

#include <stdbool.h>

#include "fdl/store.h"

/* A new folder in $TMPDIR or /tmp, removed with all in it by fdl_scratch_remove, which also frees the string. */
fdl_code fdl_scratch_make(char **folder, fdl_error *error);
void fdl_scratch_remove(char *folder);

typedef struct fdl_local_file {
    char *path;
    bool temporary; /* in the scratch folder; else it is the object itself, not to be touched */
} fdl_local_file;

/* The object as a file of this machine: where it lies if the store is a folder, else downloaded, up to the limit (UINT64_MAX: none). */
fdl_code fdl_local_file_get(fdl_store *store, const char *scratch, const char *key, uint64_t limit_bytes,
                            fdl_local_file *out, fdl_error *error);
void fdl_local_file_clear(fdl_local_file *file);

#endif
