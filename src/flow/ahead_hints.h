/*
 * ahead_hints.h - the records of a history read ahead by what each says of its ancestors, where nothing lists them.
 *
 * A record names its parent and, in `ancestors`, the last ones whose number 16 and 256 divide: from a few records on there
 * are many lines to go down side by side.  Reading goes in rounds: when the walk comes to a record that was not read, that
 * one is, and with it the highest numbers that were named and not read yet, as many as wait side by side.
 *
 * A small server, Python's for one, queues six connections and lets what comes beyond wait for a second: rounds get narrower there.
 *
 * What is named may be a lie.  It is read in vain then, within the window; the walk asks for parents alone, and each round
 * reads the one it asks for, so there are never more rounds than versions.
 */
#ifndef FDL_FLOW_AHEAD_HINTS_H
#define FDL_FLOW_AHEAD_HINTS_H

#include "fdl/repo.h"

/* A version's two files, read or to be read. */
typedef struct fdl_ahead_slot {
    char id[FDL_ID_BYTES];
    int64_t seq; /* as named; as the record has it, once read */
    bool asked;  /* is read, or could not be */
    bool may_be_marked; /* for who knows better than to ask */
    bool has_version, has_expiry; /* were read without a failure, and not taken yet */
    fdl_version version;
    fdl_expiry expiry;
} fdl_ahead_slot;

/* Reads one of the two; may go on for both side by side.  A failure is met again, and told, when the walk comes by: it may never. */
#define FDL_AHEAD_FILES 2
void fdl_ahead_slot_read(fdl_repo *repo, fdl_ahead_slot *slot, size_t file);
void fdl_ahead_slot_clear(fdl_ahead_slot *slot);

typedef struct fdl_ahead_hints fdl_ahead_hints;

/* `count` versions will be asked for at most, 0: all there are; `jobs` files are read side by side. */
fdl_code fdl_ahead_hints_open(fdl_repo *repo, size_t count, int jobs, fdl_ahead_hints **out, fdl_error *error);
void fdl_ahead_hints_free(fdl_ahead_hints *hints);

/* The walk will begin at this version, among others. */
void fdl_ahead_hints_start(fdl_ahead_hints *hints, const char id[FDL_ID_BYTES]);

/*
 * What was read of the version, now or before; it stays with the hints.  NULL: nothing.  `seq` is its number, 0 for one that
 * the walk begins at; after those it never rises, and what is above it is forgotten.
 */
fdl_code fdl_ahead_hints_find(fdl_ahead_hints *hints, const char id[FDL_ID_BYTES], int64_t seq, fdl_ahead_slot **out,
                              fdl_error *error);

#endif
