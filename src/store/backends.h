/*
 * backends.h - what the backends share with store.c: the doors that
 * fdl_store_open chooses from by address (the public ones are in fdl/store.h),
 * and the rules that all of them apply alike.
 */
#ifndef FDL_STORE_BACKENDS_H
#define FDL_STORE_BACKENDS_H

#include "fdl/store.h"

/* s3://bucket[/prefix][/].  Nothing is sent yet.  FDL_USAGE: not such an address. */
fdl_code fdl_store_open_s3(const fdl_context *context, const char *address, fdl_store **out, fdl_error *error);

/* http://host/path[/] or https://.  Nothing is sent yet.  FDL_USAGE: not such an address. */
fdl_code fdl_store_open_http(const fdl_context *context, const char *address, fdl_store **out, fdl_error *error);

/*
 * Where a range (NULL: everything) begins in an object of `size_bytes`, and how
 * long it is once cut at the end.  FDL_FAILED: it starts behind the object.
 */
fdl_code fdl_range_cut(const fdl_range *range, const char *key, uint64_t size_bytes, uint64_t *offset_bytes,
                       uint64_t *length_bytes, fdl_error *error);

#endif
