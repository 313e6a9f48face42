/*
 * s3.c - a repository in a bucket.
 */
#include "store/backends.h"

fdl_code fdl_store_open_s3(const fdl_context *context, const char *address, fdl_store **out, fdl_error *error) {
    (void)context;
    (void)out;
    return fdl_fail(error, FDL_UNSUPPORTED, NULL, "cannot open '%s': not built yet", address);
}
