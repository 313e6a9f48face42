/*
 * withdraw.h - what the parts of withdraw share.
 *
 *   withdraw_reads.c      what every version reads, from its catalog
 *   withdraw_survey.c     which versions and files are concerned
 *   withdraw_obstacles.c  what is in the way
 *   withdraw.c            the verb: plans and acts
 */
#ifndef FDL_FLOW_WITHDRAW_H
#define FDL_FLOW_WITHDRAW_H

#include "fdl/flow.h"
#include "flow/inventory.h"
#include "flow/keyset.h"
#include "flow/plan.h"

/* What is known of a version, in fdl_stored.flags. */
enum {
    FDL_WD_GIVEN = 1 << 0,    /* named by the caller, or found by the table */
    FDL_WD_AFFECTED = 1 << 1, /* to be withdrawn: given, or names a file that goes */
    FDL_WD_FINISH = 1 << 2,   /* marked by a run that was stopped; affected too */
    FDL_WD_TIP = 1 << 3,      /* a branch, or a push that waits, points to it */
    FDL_WD_UNKNOWN = 1 << 4   /* nobody knows any more which files it named */
};

/* A data file or delete file that some version names. */
typedef struct fdl_wd_file {
    char *path; /* under the data folder */
    uint64_t bytes;
    bool given;    /* what this is about: a given version reads it as data */
    bool in_table; /* it is of the table asked for */
    bool in_tip;   /* a tip reads it */
    bool gone;     /* in a mirror: its source has deleted it */
    bool affected; /* an affected version names it */
    bool kept;     /* a version that stays names it */
} fdl_wd_file;

typedef struct fdl_wd_table {
    char *schema;
    char *name;
    char *uuid;  /* "" in a list of files, which has none */
    bool wanted; /* what the caller asks for, under this name or another */
    bool going;  /* a given version has files of it that no tip reads, under this name or another */
} fdl_wd_table;

#define FDL_WD_NONE UINT32_MAX

/* A version reads a file, through deletes or not; places in the lists of files and tables. */
typedef struct fdl_wd_read {
    uint32_t file;
    uint32_t deletes; /* FDL_WD_NONE: all rows */
    uint32_t table;
} fdl_wd_read;

typedef struct fdl_wd_reads {
    fdl_wd_read *items;
    size_t count;
} fdl_wd_reads;

typedef struct fdl_wd {
    fdl_repo *repo;
    fdl_store *store;
    const fdl_config *config;
    const fdl_withdraw_options *options;
    fdl_withdraw_result *result;
    fdl_inventory inventory;
    fdl_ref_list pointers;
    char *scratch;
    fdl_keyset there; /* the data folder; opened when first asked */
    bool there_open;
    fdl_store *source; /* of a mirror that withdraws what was withdrawn there; else NULL */
    fdl_keyset at_source; /* its data folder; opened when first asked */
    bool at_source_open;

    fdl_wd_reads *reads; /* of each version in the inventory, by its place */
    fdl_wd_file *files;
    size_t file_count;
    fdl_map file_places;
    fdl_wd_table *tables;
    size_t table_count;
} fdl_wd;

/* ---- withdraw_reads.c --------------------------------------------------------- */

/*
 * Reads the catalog of every live version, and the list of files that expired
 * ones left.  FDL_FAILED, FDL_REFUSED: one cannot be read.
 */
fdl_code fdl_wd_read_all(fdl_wd *w, fdl_error *error);

/* Without versions named, the table finds them. */
bool fdl_wd_by_table(const fdl_wd *w);

/* Whether a file is in the data folder. */
fdl_code fdl_wd_is_there(fdl_wd *w, const char *path, bool *there, fdl_error *error);

/* Whether this is a mirror, and its source has not the file any more. */
fdl_code fdl_wd_is_gone_at_source(fdl_wd *w, const char *path, bool *gone, fdl_error *error);

/* Whether the store may have kept old versions of objects that were deleted; a purge takes them too. */
bool fdl_wd_may_keep_old(const fdl_wd *w);

/* NULL when no version names it. */
const fdl_wd_file *fdl_wd_file_find(const fdl_wd *w, const char *path);

void fdl_wd_clear(fdl_wd *w);

/* ---- withdraw_survey.c --------------------------------------------------------- */

/*
 * Fills the flags of versions and files.  FDL_REFUSED, saying who and what to do,
 * when a branch still points to a version concerned, or still reads a file that
 * holds what is to go.
 */
fdl_code fdl_wd_survey(fdl_wd *w, fdl_error *error);

/* The branch, or push that waits, that points to a version; NULL: none. */
const fdl_ref *fdl_wd_branch_of(const fdl_wd *w, const char *id);

/* Whether its folder still shows what was in it. */
bool fdl_wd_has_content(const fdl_stored *stored);

/* ---- withdraw_obstacles.c ------------------------------------------------------- */

/* FDL_REFUSED, naming version, table and file and how to rewrite it; further ones are noted. */
fdl_code fdl_wd_refuse_obstacles(const fdl_wd *w, fdl_error *error);

/* Notes tables of which a version that stays may hold rows of withdrawn ones, deleted in a newer file. */
void fdl_wd_note_hidden(fdl_wd *w);

/* ---- withdraw.c ------------------------------------------------------------------ */

/*
 * Finishes in a mirror what its source has withdrawn, as the markers there say by
 * now.  A version that the source does not know, and that names a file which it
 * has deleted, goes too.  FDL_REFUSED as in fdl_withdraw.
 */
fdl_code fdl_withdraw_mirrored(fdl_repo *mirror, fdl_repo *source, fdl_error *error);

#endif
