/*
 * plan.h - what a command deletes, and the one way in which flows delete.
 *
 * A command says first which kinds of things it may delete, then adds them one by
 * one; what is no thing of that kind is refused (a data file lies in the data
 * folder, a catalog in its version's, version.json is never among them).  Only
 * what was added can be deleted, by fdl_plan_run.  A dry run stops before that,
 * and so shows exactly what would have happened.
 *
 * The list lies in a temporary file, so a million deletions take no memory.
 */
#ifndef FDL_FLOW_PLAN_H
#define FDL_FLOW_PLAN_H

#include <stdbool.h>

#include "fdl/flow.h"

/* Kinds, as bits. */
enum {
    FDL_DELETE_TAG = 1 << 0,      /* "tag": a ref that points to `version` */
    FDL_DELETE_DATA = 1 << 1,     /* "data": *.parquet or *.puffin in the data folder */
    FDL_DELETE_NAMED = 1 << 2,    /* "data": a file of the data folder that a catalog names, whatever it is called */
    FDL_DELETE_CONTENT = 1 << 3,  /* "content": a file of a version that shows what was in it, such as its catalog */
    FDL_DELETE_RECORD = 1 << 4,   /* "leftover": the version.json of a version that is to be forgotten */
    FDL_DELETE_LEFTOVER = 1 << 5, /* "leftover": anything else in the folder of a version that is none */
    FDL_DELETE_SOURCE = 1 << 6,   /* "source": an original file */
    FDL_DELETE_CATALOG = 1 << 7,  /* "content": the same as above, for the last of them */
    FDL_DELETE_NOTHING = 1 << 8   /* "left": found and left alone; never deleted */
};

/* Of a version's files, those that tell that it was: record, signature, description, marker.  They stay. */
bool fdl_is_memory_of_version(const char *name);

/* `kinds` is all that will ever be added. */
fdl_code fdl_plan_open(fdl_repo *repo, unsigned kinds, fdl_plan **out, fdl_error *error);

/* FDL_REFUSED: not a thing of this kind, or not a kind of this plan. */
fdl_code fdl_plan_add(fdl_plan *plan, unsigned kind, const fdl_deletion *deletion, fdl_error *error);

/* Asked about each deletion right before it happens; false leaves the thing alone and out of the plan. */
typedef bool (*fdl_plan_confirm)(void *data, const fdl_deletion *deletion);

typedef struct fdl_plan_options {
    unsigned kinds;           /* only these, of all that was added */
    bool purge;               /* no earlier state may stay in the store either */
    fdl_plan_confirm confirm; /* may be NULL */
    void *data;               /* for it */
} fdl_plan_options;

/* Deletes.  Run again after a failure it deletes what is left: what is gone counts as deleted. */
fdl_code fdl_plan_run(fdl_plan *plan, const fdl_plan_options *options, fdl_error *error);

#endif
