/*
 * listen.h - the socket that a host listens on.
 */
#ifndef FDL_HOST_LISTEN_H
#define FDL_HOST_LISTEN_H

#include <stdbool.h>

#include "fdl/error.h"

/*
 * `text` is "127.0.0.1:8080", "[::1]:8080", ":8080" (every address) or "name:8080"; NULL
 * is 127.0.0.1:8080.  `*url` names the address and the real port; released with
 * free().  FDL_USAGE: no address; FDL_BUSY: somebody listens there already.
 */
fdl_code fdl_host_listen(const char *text, bool tls, int *listener, int *port, char **url, fdl_error *error);

#endif
