/*
 * ident.h - what names and proves things: UUIDs, SHA-256, instants.
 */
#ifndef FDL_UTIL_IDENT_H
#define FDL_UTIL_IDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fdl/error.h"

/* Lower-case text, 37 bytes with the NUL.  v7 (RFC 9562) rises within a process. */
fdl_code fdl_uuid_v4(char out[37], fdl_error *error);
fdl_code fdl_uuid_v7(char out[37], fdl_error *error);
/* 8-4-4-4-12 lower-case hex, any version. */
bool fdl_uuid_valid(const char *text);

/* `count` random bytes (at most 32) as hex with a NUL: what nobody can guess. */
fdl_code fdl_random_hex(size_t count, char *out, fdl_error *error);

/* Two lower-case digits a byte, and a NUL. */
void fdl_hex_write(const unsigned char *bytes, size_t length, char *out);

typedef struct fdl_sha256 {
    void *state; /* libcrypto's */
} fdl_sha256;

fdl_code fdl_sha256_start(fdl_sha256 *hash, fdl_error *error);
fdl_code fdl_sha256_add(fdl_sha256 *hash, const void *bytes, size_t length, fdl_error *error);
/* Hex, 65 bytes with the NUL; ends the hash in every case. */
fdl_code fdl_sha256_finish(fdl_sha256 *hash, char out[65], fdl_error *error);
void fdl_sha256_drop(fdl_sha256 *hash);
fdl_code fdl_sha256_bytes(const void *bytes, size_t length, char out[65], fdl_error *error);
fdl_code fdl_sha256_file(const char *path, char out[65], uint64_t *size_bytes, fdl_error *error);

/* Milliseconds and microseconds since 1970, UTC, by this machine's clock. */
int64_t fdl_now_ms(void);
int64_t fdl_now_us(void);
/* Milliseconds by a clock that nobody sets: for how long something takes. */
int64_t fdl_steady_ms(void);
/* "2026-10-15T09:00:00Z", with ".123" when the milliseconds are not 0; `out` has 32 bytes. */
void fdl_time_write(int64_t ms, char out[32]);
/* RFC 3339 with Z or offset, fractions allowed, from year 0 to 9999 in UTC; false when it is not one. */
bool fdl_time_parse(const char *text, int64_t *ms);

#endif
