/*
 * foreign.h - a DuckLake catalog that somebody else made, in a file.
 */
#ifndef FDL_CATALOG_FOREIGN_H
#define FDL_CATALOG_FOREIGN_H

#include <stdbool.h>

#include "fdl/context.h"
#include "fdl/error.h"

/*
 * Where its data files lie, as the catalog has it: often relative, with a final
 * '/'; released with free().  `*is_sqlite` tells what kind of file it is.
 * FDL_REFUSED: neither SQLite nor DuckDB, or no DuckLake catalog.
 */
fdl_code fdl_foreign_data_path(const fdl_context *context, const char *path, bool *is_sqlite, char **out,
                               fdl_error *error);

#endif
