/*
 * other_format.h - the same frozen catalog in another DuckLake format, for
 * readers whose DuckDB knows no newer one.
 *
 *   other_format.c   the story: may it be written, write, look at the result
 *   other_tables.c   how the formats differ, table by table
 *   other_limits.c   what an older format cannot say
 *   other_views.c    views, which older formats name their catalog in differently
 *
 * What a reader gets from such a file equals what the main catalog gives: what
 * cannot be said is not said differently, the whole file is left out then.
 */
#ifndef FDL_CATALOG_OTHER_FORMAT_H
#define FDL_CATALOG_OTHER_FORMAT_H

#include <stdbool.h>

#include "catalog/ducklake_schema.h"
#include "catalog/duck.h"

/* The DuckDB storage that catalogs of a DuckLake format are written in ("v1.0.0"); NULL: fdl writes no such format. */
const char *fdl_other_storage(const char *format);

/*
 * Writes the frozen catalog in another format as a new file at `path`.  When
 * the format cannot say something of it, nothing is written and `*obstacle`
 * (released with free()) names it: "the macro 'main.plus'".
 */
fdl_code fdl_other_write(const fdl_context *context, const char *frozen, const char *format, const char *path,
                         char **obstacle, fdl_error *error);

/*
 * Whether `other` is a catalog of that format which names the same schemas,
 * tables, columns, views and files.  When not, `*difference` (released with
 * free()) says what is wrong.
 */
fdl_code fdl_other_check(const fdl_context *context, const char *frozen, const char *other, const char *format,
                         char **difference, fdl_error *error);

/* ---- other_tables.c -------------------------------------------------------------- */

enum { FDL_OTHER_03 = 1, FDL_OTHER_04 = 2, FDL_OTHER_10 = 4 };

typedef struct fdl_other {
    const char *format;
    const char *storage;
    unsigned bit;            /* one of the above */
    bool names_own_catalog;  /* views may say {DUCKLAKE_CATALOG} */
} fdl_other;

/* NULL for a format that fdl does not write. */
const fdl_other *fdl_other_find(const char *format);

/* One of the tables of ducklake_schema.h as the format has it; NULL: it has none. */
const fdl_lake_table *fdl_other_table(const fdl_other *other, size_t index);

/* "INSERT INTO other.main.<table> ... SELECT ... FROM frozen.main.<table>", with what differs converted. */
fdl_code fdl_other_copy_sql(fdl_buf *sql, const fdl_other *other, const fdl_lake_table *table, fdl_error *error);

/* Rows that older readers miss although newer ones do without, as SQL; NULL: none. */
const char *fdl_other_additions(const fdl_other *other);

/* ---- other_limits.c -------------------------------------------------------------- */

/* The first thing in the catalog attached as "frozen" that the format cannot say; NULL: it can say everything. */
fdl_code fdl_other_obstacle(fdl_duck *duck, const fdl_other *other, char **obstacle, fdl_error *error);

/* ---- other_views.c --------------------------------------------------------------- */

/*
 * Gives each view in the catalog attached as "other" words that the format
 * knows; `*obstacle` names one for which there are none.
 */
fdl_code fdl_other_views(fdl_duck *duck, char **obstacle, fdl_error *error);

#endif
