/*
 * verify.h - what the parts of verify share.
 *
 *   verify.c           the verb: which versions, their records, files, refs
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
    fdl_map files;    /* data files and originals looked at, as keys */
    char *scratch;
    bool told_unsigned; /* that nobody can judge signatures here */
} verify;

void fdl_verify_finding(verify *v, const char *key, const char *format, ...) FDL_PRINTF(3, 4);

/* Faults of the content are findings; anything else ends the look. */
fdl_code fdl_verify_judge(verify *v, fdl_code code, const char *key, const fdl_error *error);

/* Compares an object with the size and sha256 that something claims of it, called `claim` in findings. */
fdl_code fdl_verify_object(verify *v, const char *key, uint64_t bytes, const char *sha256, const char *claim,
                           fdl_error *error);

/* The same of a file of a version; `sound`: it is there and as the record says. */
fdl_code fdl_verify_record(verify *v, const char *id, const fdl_file_record *record, bool *sound, fdl_error *error);

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

/* Whether the catalogs in other formats name the same; `catalog` is the main one on this machine. */
fdl_code fdl_verify_others(verify *v, const fdl_version *version, const char *catalog, fdl_error *error);

#endif
