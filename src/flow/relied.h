/*
 * relied.h - files that a command sent, or found where they should be, and which
 * must still be there when a ref moves to what needs them.
 *
 * A gc or withdraw beside it has either seen the version.json that names them, or
 * may have taken what was there by then.  So they are looked at once more, after
 * version.json and before the ref.
 */
#ifndef FDL_FLOW_RELIED_H
#define FDL_FLOW_RELIED_H

#include <stddef.h>
#include <stdint.h>

#include "fdl/repo.h"

typedef struct fdl_relied_file {
    char *key;
    uint64_t size_bytes;
} fdl_relied_file;

/* Zeroed is empty.  For one thread at a time. */
typedef struct fdl_relied {
    fdl_relied_file *items;
    size_t count;
} fdl_relied;

/* The object "<folder><name>". */
fdl_code fdl_relied_add(fdl_relied *relied, const char *folder, const char *name, uint64_t size_bytes, fdl_error *error);

/* Looks, and keeps those in the list that are gone or of another size. */
fdl_code fdl_relied_look(fdl_repo *repo, fdl_relied *relied, fdl_error *error);

void fdl_relied_clear(fdl_relied *relied);

#endif
