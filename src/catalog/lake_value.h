/*
 * lake_value.h - instants and UUIDs: text in a SQLite catalog, numbers in a
 * DuckDB one.
 */
#ifndef FDL_CATALOG_LAKE_VALUE_H
#define FDL_CATALOG_LAKE_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/duck_api.h"

/*
 * Microseconds since 1970, UTC.  Takes what DuckDB prints under any time zone:
 * "2026-11-30 01:22:42.70317+00", with T, Z, +09, +0900, +09:00, no offset
 * (UTC), any number of fraction digits (those beyond six are cut off), " (BC)",
 * and infinity, which are the largest and smallest numbers but one.
 */
bool fdl_lake_time_parse(const char *text, size_t length, int64_t *out);

#define FDL_LAKE_TIME_BYTES 80
/* As DuckLake writes it: "2026-11-30 01:22:42.70317+00". */
void fdl_lake_time_write(int64_t microseconds, char out[FDL_LAKE_TIME_BYTES]);

/* 32 hex digits of any case, hyphens anywhere between them, as DuckDB takes them. */
bool fdl_lake_uuid_parse(const char *text, size_t length, fdl_duck_hugeint *out);
void fdl_lake_uuid_write(const fdl_duck_hugeint *uuid, char out[37]);

#endif
