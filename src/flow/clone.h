/*
 * clone.h - what the parts of clone share.
 *
 *   clone.c          the verb: settings, and versions with all they carry
 *   clone_refs.c     branches and tags, once the versions are there
 *   clone_ended.c    versions that have ended at the source
 */
#ifndef FDL_FLOW_CLONE_H
#define FDL_FLOW_CLONE_H

#include "fdl/flow.h"
#include "flow/fileset.h"
#include "flow/keyset.h"
#include "flow/meter.h"
#include "flow/refs.h"
#include "flow/relied.h"

#define FDL_CLONE_SMALL_LIMIT_BYTES FDL_LIMIT_VERSION_BYTES /* of settings, records, markers and signatures */

/* A version on the way from a ref back to the first one. */
typedef struct clone_step {
    fdl_version version;
    bool named;  /* by a ref */
    bool wanted; /* with its catalog and data */
    bool whole;  /* and they are in the target */
    bool held;   /* a ref of the target leads to it, so that gc there keeps what it needs */
    bool ended;  /* in the target, and not in the source */
} clone_step;

typedef struct cloning {
    fdl_repo *from, *to;
    fdl_store *source, *target;
    const fdl_clone_options *options;
    fdl_clone_result *result;
    const fdl_config *config;
    fdl_ref_list refs;       /* to carry over */
    clone_step *steps;
    size_t step_count;
    fdl_map places;          /* of a version, by id, in steps */
    fdl_keyset there;        /* versions/ of the target */
    fdl_keyset offered;      /* versions/ of the source */
    fdl_keyset data;         /* the data folder of the target; opened when first needed */
    bool data_open;
    fdl_keyset kept;         /* sources/ of the target; the same */
    bool kept_open;
    char (*withdrawn)[FDL_ID_BYTES]; /* versions of which the mirror still has something */
    size_t withdrawn_count;
    bool relying;            /* on what is in the target of the version at hand */
    fdl_relied relied;       /* that, to be looked at again */
    fdl_fileset looked;      /* data files that were, for an earlier version */
    fdl_map asked;           /* originals looked at, which many versions may list */
    char *scratch;           /* a folder of this machine */
    char *place;             /* the same, where the target takes files without a copy; NULL: any */
    fdl_meter *meter;
} cloning;

/* NULL when none of the refs asked for leads to it. */
clone_step *fdl_clone_find(const cloning *c, const char *id);

/* Whether a file of a version is in a set; false for one that it has not, whose name is NULL. */
fdl_code fdl_clone_holds(const fdl_keyset *set, const fdl_version *version, const char *name, bool *there,
                         fdl_error *error);

/* Takes an object over as it is; no more than the limit, UINT64_MAX being none. */
fdl_code fdl_clone_copy(cloning *c, const char *key, uint64_t limit_bytes, fdl_error *error);

/* ---- clone_refs.c ------------------------------------------------------------------ */

/* Makes them, or moves them forward, and then refs.json.  FDL_CONFLICT: one cannot move there. */
fdl_code fdl_clone_refs(cloning *c, fdl_error *error);

/* ---- clone_ended.c ----------------------------------------------------------------- */

/*
 * Carries the marker of a version over, where it has one: `expired` says so, and
 * `withdrawn` that there is something to delete, which fdl_clone_withdraw does.
 */
fdl_code fdl_clone_marker(cloning *c, const fdl_version *version, bool *expired, bool *withdrawn, fdl_error *error);

/* FDL_REFUSED: a branch of the mirror still shows what was withdrawn. */
fdl_code fdl_clone_withdraw(cloning *c, fdl_error *error);

#endif
