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

/* What the version's record says of one of its files; NULL: it does not name it. */
const fdl_file_record *fdl_host_record_of(const fdl_version *version, const char *file);

/* The record of the key's version; one without id when the version is not complete yet. */
fdl_code fdl_host_read_whole(fdl_repo *repo, const char *key, fdl_version *out, fdl_error *error);

/* FDL_REFUSED: a complete version does not get this file. */
fdl_code fdl_host_not_named(const char *key, fdl_error *error);

#endif
