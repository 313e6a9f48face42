/*
 * ahead.h - the records of a history, read ahead of who walks it: where each costs a round trip, and in a folder, where
 * each costs work that several processors can share.
 *
 * A version names its parent and nobody beyond, so a history is read one record after the other.  But ids are UUIDs of
 * version 7: where the store lists, the listing of versions/ is in the order of time, and those before a version are most
 * likely its ancestors.  They are read many at once, and kept until the walk comes by; what belongs to another branch was
 * read for nothing.  From afar the listing also tells who has no expired.json.  Where the store does not list, records that name
 * more of their ancestors than the parent lead (ahead_hints.h); of others, a version's two files are read side by side.
 */
#ifndef FDL_FLOW_AHEAD_H
#define FDL_FLOW_AHEAD_H

#include "fdl/repo.h"

typedef struct fdl_ahead fdl_ahead;

/* `count` is how many versions will be asked for at most, 0 all there are: for a few, nothing is listed. */
fdl_code fdl_ahead_open(fdl_repo *repo, size_t count, fdl_ahead **out, fdl_error *error);
void fdl_ahead_free(fdl_ahead *ahead);

/* Tells of one that will be taken first, so that several are read at once. */
void fdl_ahead_start(fdl_ahead *ahead, const char *id);

/*
 * As fdl_version_read and fdl_expiry_read together; both are cleared by the caller, also on failure.  `seq` is what its child
 * says; 0 for one that the walk begins at.  After those it never rises.
 */
fdl_code fdl_ahead_take(fdl_ahead *ahead, const char *id, int64_t seq, fdl_version *version, fdl_expiry *expiry,
                        fdl_error *error);

#endif
