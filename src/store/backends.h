/*
 * backends.h - the doors of the backends that fdl_store_open chooses from by
 * address.  The others (folder, memory) are public, in fdl/store.h.
 */
#ifndef FDL_STORE_BACKENDS_H
#define FDL_STORE_BACKENDS_H

#include "fdl/store.h"

/* s3://bucket[/prefix][/].  Nothing is sent yet.  FDL_USAGE: not such an address. */
fdl_code fdl_store_open_s3(const fdl_context *context, const char *address, fdl_store **out, fdl_error *error);

/* http://host/path[/] or https://.  Nothing is sent yet.  FDL_USAGE: not such an address. */
fdl_code fdl_store_open_http(const fdl_context *context, const char *address, fdl_store **out, fdl_error *error);

#endif
