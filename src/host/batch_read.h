/*
 * batch_read.h - the list of files that a batch asks about.
 */
#ifndef FDL_HOST_BATCH_READ_H
#define FDL_HOST_BATCH_READ_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "fdl/error.h"

#define FDL_BATCH_LIMIT 1000

/* Keys and checksums belong to the document. */
typedef struct fdl_batch_files {
    json_t *document;
    size_t count;
    const char **keys;
    uint64_t *bytes;
    const char **sha256; /* NULL where none was given */
} fdl_batch_files;

/* FDL_USAGE: it is no batch.  FDL_REFUSED: more than FDL_BATCH_LIMIT files. */
fdl_code fdl_batch_read(const char *text, size_t length, fdl_batch_files *out, fdl_error *error);
void fdl_batch_clear(fdl_batch_files *files);

#endif
