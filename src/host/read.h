/*
 * read.h - GET and HEAD of what the store holds.
 */
#ifndef FDL_HOST_READ_H
#define FDL_HOST_READ_H

#include "host/request.h"

fdl_code fdl_host_read_key(fdl_host_request *request, fdl_error *error);
/* /ducklake.duckdb: the catalog of HEAD's version. */
fdl_code fdl_host_read_current(fdl_host_request *request, fdl_error *error);

#endif
