/*
 * http.c - a repository behind any web server, to read from.
 */
#include "store/backends.h"

fdl_code fdl_store_open_http(const fdl_context *context, const char *address, fdl_store **out, fdl_error *error) {
    (void)context;
    (void)out;
    return fdl_fail(error, FDL_UNSUPPORTED, NULL, "cannot open '%s': not built yet", address);
}
