/*
 * zstd.h - files packed with zstd, and unpacked as their bytes come.
 */
#ifndef FDL_UTIL_ZSTD_H
#define FDL_UTIL_ZSTD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fdl/error.h"

/* Packs a file into a new one, durable when this returns; on failure no file is left. */
fdl_code fdl_zstd_file(const char *from, const char *to, fdl_error *error);

/* How much may come out of so many packed bytes: far more than comes out of a DuckDB file, far less than out of a bomb. */
uint64_t fdl_unzstd_limit(uint64_t packed_bytes);

/* One unpacking.  Zeroed is none. */
typedef struct fdl_unzstd {
    void *state;
    bool damaged; /* it failed because of what came, and not of where it goes */
} fdl_unzstd;

/*
 * `name` is what the packed bytes are called in errors, and `path` the new file
 * that gets the unpacked ones, NULL if only their hash is wanted; both stay the
 * caller's, until the end.  More than `limit_bytes` of them are FDL_FAILED, more
 * than fdl_unzstd_limit of what came so far too, and so is what is no whole zstd.
 */
fdl_code fdl_unzstd_start(fdl_unzstd *unzstd, const char *name, const char *path, uint64_t limit_bytes,
                          fdl_error *error);
fdl_code fdl_unzstd_add(fdl_unzstd *unzstd, const void *bytes, size_t length, fdl_error *error);
/* The sha256 of what came out, hex, 65 bytes with the NUL; the file is durable.  Ends it in every case. */
fdl_code fdl_unzstd_finish(fdl_unzstd *unzstd, char sha256_out[65], fdl_error *error);
/* Ends it without a result: no file is left. */
void fdl_unzstd_drop(fdl_unzstd *unzstd);

#endif
