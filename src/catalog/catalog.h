/*
 * catalog.h - DuckLake catalogs: the SQLite one that is worked in, the DuckDB
 * one that is published, the way between them, and what a published one says.
 *
 *   create   nothing      -> SQLite     the start in an empty repository
 *   thaw     DuckDB file  -> SQLite     checkout
 *   freeze   SQLite       -> DuckDB file, the last snapshot's state    commit
 *   frozen   DuckDB file  -> lists: data files, tables; equality of two
 *
 * Only this folder touches DuckDB and SQLite.  It knows no repository: data
 * files are paths under a data folder, wherever that is.
 */
#ifndef FDL_CATALOG_H
#define FDL_CATALOG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/idset.h"
#include "fdl/context.h"
#include "fdl/error.h"

/* The DuckLake format and the DuckDB storage we write. */
#define FDL_DUCKLAKE_FORMAT "1.0"
#define FDL_DUCKDB_STORAGE "v1.5.0"

/* ---- the working catalog (SQLite) -------------------------------------- */

typedef struct fdl_thaw_options {
    const char *data_path; /* where DuckDB will write new files; ends with '/' */
    /*
     * NULL where the published files lie under data_path too (folder, S3).
     * Otherwise their URL prefix, ending with '/': published files are then
     * named by absolute URL, since data_path is a folder of this machine (HTTP).
     */
    const char *published_prefix;
    int64_t stamp; /* see fdl_catalog_stamp; 0: none yet */
} fdl_thaw_options;

/*
 * Writes a new SQLite catalog at `path`, which must not exist.  Both protect
 * other versions' files from DuckLake's own clean-up (see protect.c).
 */
fdl_code fdl_catalog_create(const fdl_context *context, const char *path, const fdl_thaw_options *options,
                            fdl_error *error);
fdl_code fdl_catalog_thaw(const fdl_context *context, const char *frozen, const char *path,
                          const fdl_thaw_options *options, fdl_error *error);

/*
 * A random number in the SQLite header (user_version, 1 to 2^31-1) pairs a
 * working catalog with its state folder.  Both wait a bounded time for a lock
 * (FDL_BUSY).  A file that is no DuckLake catalog is FDL_REFUSED.
 */
fdl_code fdl_catalog_stamp(const char *path, int64_t stamp, fdl_error *error);

typedef struct fdl_working_state {
    int64_t stamp;
    int64_t snapshot_id; /* the last one */
} fdl_working_state;

fdl_code fdl_catalog_state(const char *path, fdl_working_state *out, fdl_error *error);

/*
 * Brings the WAL home and proves that nobody has the catalog open, so that the
 * file can be renamed.  FDL_BUSY when somebody has.
 */
fdl_code fdl_catalog_settle(const char *path, fdl_error *error);

/* The statement to write to a working catalog with, its absolute path given; ends with ';', released with free(). */
fdl_code fdl_catalog_attach_statement(const char *path, const char *data_path, char **out, fdl_error *error);

/*
 * Runs ducklake_flush_inlined_data on the working catalog with DuckDB and its
 * ducklake extension.
 */
fdl_code fdl_catalog_flush_inlined(const fdl_context *context, const char *path, const char *data_path,
                                   fdl_error *error);

/*
 * Makes a working catalog that was thawed from an older version give out no id
 * again that `frozen` has given out: of rows and columns, table by table, and for
 * the tip of a branch also of snapshots, schema versions, tables and files; it
 * then gets a new snapshot, above both.
 *
 * `seen` collects the tables found in any of the catalogs given so far, `*unseen`
 * counts those that none of them has: dropped since, and still to be asked for in
 * versions between.
 */
fdl_code fdl_catalog_follow(const fdl_context *context, const char *path, const char *frozen, bool is_tip,
                            fdl_idset *seen, size_t *unseen, fdl_error *error);

/* ---- freeze ------------------------------------------------------------ */

typedef struct fdl_freeze_options {
    const char *data_path; /* stored in the frozen catalog; ends with '/' */
    /*
     * Absolute prefixes that all mean the data folder: as given, its real path,
     * its URL, the local folder of new files.  A file named absolutely below one
     * becomes relative; one elsewhere is FDL_REFUSED with the list.
     */
    const char *const *roots;
    size_t root_count;
    int64_t keep_from; /* the first snapshot to keep; -1: the last alone */
    bool allow_encrypted;
} fdl_freeze_options;

typedef struct fdl_freeze_result {
    int64_t snapshot_id;
    uint64_t size_bytes;
} fdl_freeze_result;

/*
 * Reads the working catalog as one consistent snapshot, WAL included, without
 * changing it, and writes the published form to `frozen` (temporary name, then
 * rename), which is opened and counted once before this returns.  FDL_REFUSED,
 * naming the thing, for what must not be published: inlined rows, files outside
 * the data folder, encryption, an unknown format or table, dangling references.
 */
fdl_code fdl_catalog_freeze(const fdl_context *context, const char *path, const char *frozen,
                            const fdl_freeze_options *options, fdl_freeze_result *out, fdl_error *error);

/* ---- a frozen catalog --------------------------------------------------- */

typedef struct fdl_frozen fdl_frozen;

/* Opens a DuckDB file read-only, in a session that can touch nothing else. */
fdl_code fdl_frozen_open(const fdl_context *context, const char *path, fdl_frozen **out, fdl_error *error);
void fdl_frozen_free(fdl_frozen *frozen);

/* Its last snapshot, and its DuckLake format, "1.0". */
int64_t fdl_frozen_snapshot(const fdl_frozen *frozen);
const char *fdl_frozen_format(const fdl_frozen *frozen);

/* One file that live rows need; strings live until the callback returns. */
typedef struct fdl_data_file {
    const char *path; /* under the data folder: "main/t/ducklake-....parquet" */
    bool is_delete;
    int64_t size_bytes; /* as the catalog records it */
    int64_t rows;       /* records, or deletes */
    const char *schema_name;
    const char *table_name;
} fdl_data_file;

typedef fdl_code (*fdl_data_file_callback)(void *data, const fdl_data_file *file, fdl_error *error);

/* Every data and delete file the catalog names, each path once, in the order of path. */
fdl_code fdl_frozen_files(fdl_frozen *frozen, fdl_data_file_callback callback, void *data, fdl_error *error);

/*
 * What in the catalog is no plain table, as "the view 'x'"; NULL: nothing.  Its SQL would run at readers.
 * Some 20 ms, which is why opening does not ask; `*found` is the caller's.
 */
fdl_code fdl_frozen_find_sql(fdl_frozen *frozen, char **found, fdl_error *error);

/* A data file and the deletes it is read through; strings live until the callback returns. */
typedef struct fdl_lake_read {
    const char *path; /* under the data folder */
    int64_t size_bytes;
    const char *delete_path; /* NULL: all its rows are read */
    int64_t delete_size_bytes;
    int64_t deleted; /* rows */
    const char *schema_name;
    const char *table_name;
    const char *table_uuid; /* stays the same when the table is renamed; "" if the catalog has none */
} fdl_lake_read;

typedef fdl_code (*fdl_lake_read_callback)(void *data, const fdl_lake_read *read, fdl_error *error);

/* Every way in which any snapshot of the catalog reads a data file, in the order of path. */
fdl_code fdl_frozen_reads(fdl_frozen *frozen, fdl_lake_read_callback callback, void *data, fdl_error *error);

/*
 * The `tables` of dataset.json as the catalog has them, sorted by schema and
 * name: schema, name, kind, comment?, rows, bytes, files, columns[name, type,
 * nullable, comment?].  A view has no figures, and as columns the names alone
 * that its definition lists, often none: what it yields shows only in running it.
 * FDL_REFUSED for a catalog with inlined rows, which no list of files counts.
 */
fdl_code fdl_frozen_describe(fdl_frozen *frozen, json_t **out, fdl_error *error);

/* Something in which two catalogs differ.  Names live until the callback returns; NULL where there is none. */
typedef struct fdl_difference {
    const char *kind; /* "table", "column", "data_file", ...: see compare.c */
    const char *schema_name;
    const char *name; /* of the table, view or macro */
    const char *item; /* of the column, parameter or option */
    int64_t removed;  /* how many only the first has, and only the second; both for what changed */
    int64_t added;
    char text[FDL_MESSAGE_LIMIT_BYTES]; /* for people: "table 'main.t': column 'b' differs" */
} fdl_difference;

typedef fdl_code (*fdl_difference_callback)(void *data, const fdl_difference *difference, fdl_error *error);

/* Every difference, by kind and name.  An added or removed table comes as such, and its columns and files too. */
fdl_code fdl_frozen_compare(const fdl_context *context, const char *frozen_a, const char *frozen_b,
                            fdl_difference_callback callback, void *data, fdl_error *error);

/*
 * Whether both say the same: schemas, tables, columns, defaults, comments,
 * views, macros, partition and sort keys, options, and the same files with the
 * same deletes.  When not, `difference` (released with free()) says the first
 * thing that differs, for people.
 */
fdl_code fdl_frozen_same(const fdl_context *context, const char *frozen_a, const char *frozen_b, bool *same,
                         char **difference, fdl_error *error);

/* Where rows are compared. */
typedef struct fdl_rows_place {
    const char *scratch; /* an empty folder of this machine, absolute; the caller removes it with all in it */
    const char *const *folders; /* further ones that links in it may lead to; all else is closed to DuckDB */
    size_t folder_count;
    int jobs; /* files brought at once; 0: as many as usual */
    /* Puts a data or delete file, named under the data folder, at `target`: a link or a copy.  Several threads call it. */
    fdl_code (*bring)(void *data, const char *path, const char *target, fdl_error *error);
    void *data;
} fdl_rows_place;

/*
 * Whether two catalogs that fdl_frozen_same finds different differ in nothing
 * but how the same rows lie in files: every table holds the same rows as often,
 * in any order.  Reads only files that not both have.  When not, `difference` is
 * as above.  An error means that this cannot be told, and why.
 */
fdl_code fdl_frozen_same_rows(const fdl_context *context, const char *frozen_a, const char *frozen_b,
                              const fdl_rows_place *place, bool *same, char **difference, fdl_error *error);

/* A row that one of two catalogs has more often than the other.  The strings live until the callback returns. */
typedef struct fdl_row_change {
    const char *schema_name;
    const char *table_name;
    const char *values; /* a JSON array with the text of each column, or null; NULL: the columns differ, no row is told */
    int64_t more;       /* how often more the second has it; negative: the first */
} fdl_row_change;

typedef fdl_code (*fdl_row_change_callback)(void *data, const fdl_row_change *change, fdl_error *error);

/* At most `limit` such rows of each table, in no order, tables by name.  Reads only files that not both have. */
fdl_code fdl_frozen_row_changes(const fdl_context *context, const char *frozen_a, const char *frozen_b,
                                const fdl_rows_place *place, int64_t limit, fdl_row_change_callback callback,
                                void *data, fdl_error *error);

/* ---- data files ----------------------------------------------------------- */

/* The rows a Parquet file on this machine says it holds.  FDL_FAILED when it is none. */
fdl_code fdl_parquet_rows(const fdl_context *context, const char *path, int64_t *rows, fdl_error *error);

#endif
