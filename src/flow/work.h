/*
 * work.h - the state beside a working catalog, the folder "<work>.fdl/":
 *
 *   origin.json     where the catalog came from (struct fdl_work)
 *   base.duckdb     the frozen catalog it was made from
 *   pending/<id>/   versions committed and not pushed, as they will stand in
 *                   the repository, with files.txt (see pending.h) beside them
 *   data/           new data files, where DuckDB cannot write into the repository
 *   lock            held while a command changes any of this
 *   new/            what a command is building; nothing in it counts
 */
#ifndef FDL_FLOW_WORK_H
#define FDL_FLOW_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "catalog/catalog.h"
#include "fdl/repo.h"

typedef struct fdl_base {
    char id[FDL_ID_BYTES]; /* "" when the repository had no version yet */
    int64_t seq;           /* 0 then */
    int64_t snapshot_id;   /* -1 then */
    char sha256[FDL_SHA256_BYTES];
    fdl_ancestors ancestors; /* none when an older program wrote the state */
} fdl_base;

fdl_base fdl_base_of(const fdl_version *version);

typedef struct fdl_work {
    char *path;   /* of the working catalog, absolute */
    char *folder; /* "<path>.fdl" */
    int lock;     /* -1 when not held */

    /* origin.json */
    char *repo;                 /* canonical address */
    char *repo_id;              /* NULL for a repository without one */
    char branch[FDL_REF_BYTES]; /* full; "" when the revision checked out is no branch */
    fdl_base base;
    int64_t same_snapshot; /* of the working catalog, when commit found it no different from its newest version; else -1 */
    int64_t stamp; /* the working catalog carries the same number, see fdl_catalog_stamp */
} fdl_work;

/* Paths only: nothing is read or made.  What follows fills the rest. */
fdl_code fdl_work_init(const char *path, fdl_work *work, fdl_error *error);
void fdl_work_clear(fdl_work *work);

/* Waits a bounded time for other commands on this working catalog (FDL_BUSY), and makes the folder if need be. */
fdl_code fdl_work_lock(fdl_work *work, fdl_error *error);

/* FDL_NOT_FOUND when `path` has no state: it was never checked out. */
fdl_code fdl_work_load(fdl_work *work, fdl_error *error);
fdl_code fdl_work_save(const fdl_work *work, fdl_error *error);

/* init, lock and load, and the repository it came from opened; `repo` may be NULL. */
fdl_code fdl_work_open(const fdl_context *context, const char *path, fdl_work *work, fdl_repo **repo, fdl_error *error);

/* The working catalog's last snapshot; FDL_FAILED when it and its state do not belong together. */
fdl_code fdl_work_snapshot(const fdl_work *work, int64_t *snapshot_id, fdl_error *error);

/* The snapshot up to which nothing is left to commit, after a last version with this one (-1: no version). */
int64_t fdl_work_committed(const fdl_work *work, int64_t last_version_snapshot);

/* "<folder>/<name>", released with free(). */
fdl_code fdl_work_file(const fdl_work *work, const char *name, char **out, fdl_error *error);

/* An empty "<folder>/new", for building in. */
fdl_code fdl_work_new_folder(const fdl_work *work, char **out, fdl_error *error);

/*
 * Where DuckDB writes new data files: the repository's data folder, or
 * "<folder>/data/" when the repository is reached over HTTP.
 */
fdl_code fdl_work_data_path(const fdl_work *work, fdl_repo *repo, char **out, fdl_error *error);
bool fdl_repo_is_http(fdl_repo *repo);

/* The ATTACH statement to write with. */
fdl_code fdl_work_attach_statement(const fdl_work *work, fdl_repo *repo, char **out, fdl_error *error);

/* The base's frozen catalog on this machine: base.duckdb if it is sound, else fetched again.  Released with free(). */
fdl_code fdl_work_base_catalog(const fdl_work *work, fdl_repo *repo, char **out, fdl_error *error);

#endif
