/*
 * pending.h - versions committed and not pushed, in "<work>.fdl/pending/<id>/".
 *
 * Each folder holds the version as it will stand in the repository, and
 * "files.txt", which stays on this machine: the data files the version needs, a
 * line each, so that push need not open the catalog:
 *
 *   + 1113 main/t/ducklake-01a2....parquet      new in this version
 *   = 80211 main/t/ducklake-019f....parquet     its parent needs it too
 */
#ifndef FDL_FLOW_PENDING_H
#define FDL_FLOW_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flow/work.h"

typedef struct fdl_pending {
    fdl_version *items; /* oldest first; each one's parent is the one before, the first one's is the base */
    size_t count;
} fdl_pending;

/* FDL_FAILED when a pending version does not follow from the base. */
fdl_code fdl_pending_read(const fdl_work *work, fdl_pending *out, fdl_error *error);
void fdl_pending_clear(fdl_pending *pending);

/* "<folder>/pending/<id>" or a file in it ("" for the folder), released with free(). */
fdl_code fdl_pending_file(const fdl_work *work, const char *id, const char *name, char **out, fdl_error *error);

typedef struct fdl_needed_file {
    char *path; /* under the data folder */
    uint64_t size_bytes;
    bool is_new;
} fdl_needed_file;

typedef struct fdl_needed {
    fdl_needed_file *items;
    size_t count;
} fdl_needed;

/* Adds a file as a new one: a fdl_data_file_callback whose `data` is the fdl_needed. */
fdl_code fdl_needed_add(void *data, const fdl_data_file *file, fdl_error *error);

fdl_code fdl_needed_read(const char *path, fdl_needed *out, fdl_error *error);
fdl_code fdl_needed_write(const char *path, const fdl_needed *needed, fdl_error *error);
void fdl_needed_clear(fdl_needed *needed);

/*
 * Proves that the data files are there with the size the catalog records, in
 * the repository or, when `local_folder` is not NULL, in that folder of new
 * files.  Old files are looked at only where that costs no request.
 * FDL_REFUSED names the first few that are missing or short.
 */
fdl_code fdl_needed_check(fdl_repo *repo, const char *local_folder, const fdl_needed *needed, fdl_error *error);

#endif
