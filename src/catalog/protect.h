/*
 * protect.h - what keeps DuckLake's own clean-up away from files that other
 * versions need.
 */
#ifndef FDL_CATALOG_PROTECT_H
#define FDL_CATALOG_PROTECT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

#include "fdl/error.h"

/* Puts the protection into a working catalog; harmless when it is there. */
fdl_code fdl_lake_protect(sqlite3 *db, fdl_error *error);

/* Whether a global option of this name is part of the protection, which is never published. */
bool fdl_lake_is_protection(const char *key, size_t length);

#endif
