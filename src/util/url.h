/*
 * url.h - http(s) addresses taken apart, and literal names written into them.
 *
 * This is the one place that percent-encodes.  A key is bytes; in a URL every
 * byte but RFC 3986's unreserved ones stands as %XX, so that `a b+c`, `100%`
 * and `%20` are the same key wherever they appear, and what is signed is
 * exactly what is sent.
 */
#ifndef FDL_UTIL_URL_H
#define FDL_UTIL_URL_H

#include <stdbool.h>

#include "fdl/error.h"
#include "util/buf.h"

typedef struct fdl_url {
    bool tls;        /* https */
    char *authority; /* "host" or "host:port", lower case, IPv6 in brackets, the scheme's own port left out: a Host
                        header */
    char *path;      /* percent-encoded as given, starts with '/' */
} fdl_url;

/*
 * FDL_USAGE, naming `text`, for anything that is not http(s)://host[:port][/path];
 * user names, passwords, queries and fragments are refused, since the address is
 * printed and stored.
 */
fdl_code fdl_url_parse(const char *text, fdl_url *out, fdl_error *error);
void fdl_url_clear(fdl_url *url);

/* Encodes all but A-Z a-z 0-9 - . _ ~; the path form leaves '/' too. */
fdl_code fdl_url_add_path(fdl_buf *out, const char *key, fdl_error *error);
fdl_code fdl_url_add_value(fdl_buf *out, const char *value, fdl_error *error);

#endif
