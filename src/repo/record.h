/*
 * record.h - what a version's record says of its files, held against what is there.
 */
#ifndef FDL_REPO_RECORD_H
#define FDL_REPO_RECORD_H

#include "fdl/repo.h"
#include "repo/layout.h"

/* FDL_FAILED "... is damaged": the object `key` has another sha256 than its record says. */
fdl_code fdl_record_judge(const fdl_file_record *record, const char *key, const char *sha256, fdl_error *error);

/*
 * A small file of a version, proved; `key` gets its key, and the bytes, with a
 * NUL behind them, are released with free().  FDL_NOT_FOUND: it is missing.
 */
fdl_code fdl_record_read(fdl_repo *repo, const fdl_version *version, const fdl_file_record *record, size_t limit_bytes,
                         char key[FDL_KEY_BYTES], char **bytes, size_t *length, fdl_error *error);

#endif
