/*
 * refs.h - branches and tags moved, made and deleted through the host.
 */
#ifndef FDL_HOST_REFS_H
#define FDL_HOST_REFS_H

#include "host/request.h"

fdl_code fdl_host_branch_put(fdl_host_request *request, fdl_error *error);
fdl_code fdl_host_tag_put(fdl_host_request *request, fdl_error *error);
fdl_code fdl_host_ref_delete(fdl_host_request *request, fdl_error *error);

/* The documents that only the host writes: 403. */
fdl_code fdl_host_own_document(fdl_host_request *request, fdl_error *error);

#endif
