/*
 * verify.h - what the parts of verify share.
 *
 *   verify.c           the verb: versions, their records and files
 *   verify_refs.c      which versions there are, and what names them
 *   verify_carries.c   what a version carries beside: does it fit the catalog?
 *
 * A fault is a finding and the look goes on; only what keeps us from looking (no
 * permission, no connection, not a repository) is an error.
 */
#ifndef FDL_FLOW_VERIFY_H
#define FDL_FLOW_VERIFY_H

#include "catalog/catalog.h"
#include "fdl/flow.h"
#include "flow/keyset.h"
#include "flow/scratch.h"

typedef struct verify {
    fdl_repo *repo;
    fdl_store *store;
    const fdl_config *config;
    const fdl_verify_options *options;
    fdl_finding_callback callback;
    void *data;
    fdl_data_file_callback look; /* at each data file, with `data`; NULL: whether it is there, and what is in it */
    fdl_verify_result *result;
    fdl_ref_list refs;

    char **ids; /* versions to look at or looked at; each once */
    size_t id_count;
    fdl_map known;    /* the same, to find one */
    fdl_keyset there; /* all keys, where the store lists; else looked at one by one */
    fdl_map files;    /* data files that a catalog names, as keys */
    fdl_map claims;   /* what was looked at already: what is said of a data file, the keys of originals */
    char *scratch;
    bool told_unsigned; /* that nobody can judge signatures here */
} verify;

void fdl_verify_finding(verify *v, const char *key, const char *format, ...) FDL_PRINTF(3, 4);

/* Faults of the content are findings; anything else ends the look. */
fdl_code fdl_verify_judge(verify *v, fdl_code code, const char *key, const fdl_error *error);

/* Compares an object with the size and sha256 that something claims of it, called `claim` in findings. */
fdl_code fdl_verify_object(verify *v, const char *key, uint64_t bytes, const char *sha256, const char *claim,
                           fdl_error *error);

/* The same of a file of a version, which is then at hand; `out->path` stays NULL when it is not as the record says. */
fdl_code fdl_verify_fetch(verify *v, const char *id, const fdl_file_record *record, fdl_local_file *out,
                          fdl_error *error);

/* To the versions to be looked at, if it is not one of them. */
fdl_code fdl_verify_add(verify *v, const char *id, fdl_error *error);

/* ---- verify_refs.c ----------------------------------------------------------------- */

/* Reads the refs that can be read; the others are findings. */
fdl_code fdl_verify_refs(verify *v, fdl_error *error);

/* Which versions to look at; with --all also whether HEAD and refs.json are right. */
fdl_code fdl_verify_choose(verify *v, fdl_error *error);

/* A version that is not there, with the key of its record: said of the refs that point to it. */
fdl_code fdl_verify_dangling(verify *v, const char *id, const char *key);

/* Counts the data files that no version named. */
fdl_code fdl_verify_orphans(verify *v, fdl_error *error);

/* One version and all it carries; `refs` are those that point to it. */
fdl_code fdl_verify_version(verify *v, const char *id, fdl_error *error);
void fdl_verify_clear(verify *v);

/* ---- verify_carries.c ------------------------------------------------------------ */

/* `bytes` are the version's version.json. */
fdl_code fdl_verify_signature(verify *v, const fdl_version *version, const char *bytes, size_t length,
                              fdl_error *error);

/* Whether dataset.json and files.json say what the catalog holds; of those that are as the record says. */
fdl_code fdl_verify_dataset(verify *v, const fdl_version *version, fdl_frozen *frozen, fdl_error *error);
fdl_code fdl_verify_index(verify *v, const fdl_version *version, fdl_frozen *frozen, fdl_error *error);

/* Whether the packed catalog is the main one, packed; FDL_OK where there is none. */
fdl_code fdl_verify_packed(verify *v, const fdl_version *version, fdl_error *error);

/* Whether the catalogs in other formats name the same as `catalog`, the main one; NULL when that cannot be read. */
fdl_code fdl_verify_others(verify *v, const fdl_version *version, const char *catalog, fdl_error *error);

#endif
