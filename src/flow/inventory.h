/*
 * inventory.h - every version of a repository, as one listing of versions/ shows
 * them, and what their records and markers say.
 *
 * For the commands that look after history: they must see what no ref reaches
 * too.  Only a store that lists can be looked at so.
 */
#ifndef FDL_FLOW_INVENTORY_H
#define FDL_FLOW_INVENTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "fdl/repo.h"
#include "util/map.h"

/* A file of a version's folder. */
typedef struct fdl_stored_file {
    char *name; /* "ducklake.duckdb", "catalogs/0.3.duckdb" */
    uint64_t bytes;
} fdl_stored_file;

typedef struct fdl_stored {
    char id[FDL_ID_BYTES];
    fdl_stored_file *files;
    size_t file_count;
    int64_t newest_ms;     /* when the youngest of them was written */
    int64_t record_ms;     /* when version.json was; 0: it is not there */
    bool marked;           /* expired.json is there */
    bool has_catalog;      /* ducklake.duckdb, or something in catalogs/ */
    bool bare;             /* fdl_inventory_bare: a record alone, of a version that was not copied to this mirror */
    fdl_version version;   /* fdl_inventory_records; no id before, and where there is no record */
    fdl_expiry expiry;     /* fdl_inventory_markers */
    unsigned flags;        /* for whoever walks: what it found out */
} fdl_stored;

typedef struct fdl_inventory {
    fdl_repo *repo;
    fdl_stored *items;
    size_t count;
    fdl_map places; /* of each id in items */
} fdl_inventory;

fdl_code fdl_inventory_read(fdl_repo *repo, fdl_inventory *out, fdl_error *error);
void fdl_inventory_clear(fdl_inventory *inventory);

/* NULL when there is no such folder. */
fdl_stored *fdl_inventory_find(const fdl_inventory *inventory, const char *id);
const fdl_stored_file *fdl_stored_find(const fdl_stored *stored, const char *name);

/*
 * The place in `items` of a version with its record, read now if need be, even
 * where the listing did not show it yet; -1 when there is no such version.
 */
fdl_code fdl_inventory_record(fdl_inventory *inventory, const char *id, int64_t *place, fdl_error *error);

/* Reads the version.json of every version, several at once. */
fdl_code fdl_inventory_records(fdl_inventory *inventory, fdl_error *error);

/* The same for the markers. */
fdl_code fdl_inventory_markers(fdl_inventory *inventory, fdl_error *error);

/*
 * Finds the records that a mirror holds of versions which were not copied to it:
 * nothing but the record and its signature lies there, no marker, and no ref or
 * waiting push points to it.  A version that was damaged down to that, and that
 * refs reach only through its children, looks the same.  Then gc does not keep
 * its files, which nobody can read or name any more: its catalog and both
 * descriptions are lost, and whoever brings those back by a clone brings the data
 * with them.  While any other file is left, it counts as damaged and stops gc.
 */
fdl_code fdl_inventory_bare(fdl_inventory *inventory, fdl_error *error);

/*
 * Has files that it needs: not gone and told so, and not bare.  A marked version
 * whose catalog is still there is not over yet: its marker may be taken back, so
 * its files count until an expire or withdraw has finished with it.
 */
bool fdl_stored_is_live(const fdl_stored *stored);

#endif
