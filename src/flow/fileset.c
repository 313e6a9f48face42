/*
 * fileset.c - names as 64-bit fingerprints (FNV-1a, then mixed so that every bit
 * of the name reaches every bit of the print).
 */
#include "flow/fileset.h"

static int64_t print_of(const char *name) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (int64_t)(hash ^ hash >> 33);
}

fdl_code fdl_fileset_add(fdl_fileset *set, const char *name, fdl_error *error) {
    return fdl_idset_add(&set->prints, print_of(name), NULL, error);
}

bool fdl_fileset_has(fdl_fileset *set, const char *name) {
    return fdl_idset_has(&set->prints, print_of(name));
}

void fdl_fileset_clear(fdl_fileset *set) {
    fdl_idset_clear(&set->prints);
}
