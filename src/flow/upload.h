/* upload.h - creates an object from a file of this machine, once. */
#ifndef FDL_FLOW_UPLOAD_H
#define FDL_FLOW_UPLOAD_H

#include "fdl/flow.h"
#include "flow/meter.h"

/*
 * A key is never used for other bytes, so an object that is there already is
 * what an earlier, stopped run left: it must have the same size (FDL_FAILED),
 * and be there when the store says so.  `sha256` may be NULL.  A file
 * that is `given` may be gone after.  Several threads may add to one `sent` and
 * one `meter`.
 */
fdl_code fdl_upload(fdl_store *store, const char *key, const char *path, bool given, const char *sha256,
                    fdl_sent *sent, fdl_meter *meter, fdl_error *error);

#endif
