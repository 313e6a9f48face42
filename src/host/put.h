/*
 * put.h - files sent through the host: data files, files of versions, originals.
 */
#ifndef FDL_HOST_PUT_H
#define FDL_HOST_PUT_H

#include "host/request.h"

fdl_code fdl_host_put_begin(fdl_host_request *request, fdl_error *error);
fdl_code fdl_host_put_piece(fdl_host_request *request, const char *bytes, size_t length_bytes, fdl_error *error);
fdl_code fdl_host_put_answer(fdl_host_request *request, fdl_error *error);
void fdl_host_put_end(fdl_host_request *request);

/* Whether a writer may create the key at all; also for uploads past the host. */
fdl_code fdl_host_may_create(const char *key, fdl_key_kind kind, fdl_error *error);

/* FDL_EXPIRED when the key belongs to a version that is gone. */
fdl_code fdl_host_check_gone(fdl_repo *repo, const char *key, fdl_key_kind kind, fdl_error *error);

#endif
