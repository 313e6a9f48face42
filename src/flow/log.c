/*
 * log.c - walks the history from a revision to the first version.
 *
 * Costs two small reads a version shown, and none for the rest of the history.
 */
#include <string.h>

#include "fdl.h"
#include "util/text.h"

/* seq falls by one a step, so a cycle in a stranger's parents cannot hold us. */
static fdl_code check_step(const fdl_version *version, int64_t child_seq, fdl_error *error) {
    if (child_seq == 0 || version->seq == child_seq - 1)
        return FDL_OK;
    return fdl_fail(error, FDL_FAILED, version->id, "version '%s' has seq %lld, but its child says it must be %lld",
                    version->id, (long long)version->seq, (long long)child_seq - 1);
}

fdl_code fdl_log(fdl_repo *repo, const char *revision, size_t limit, fdl_log_callback callback, void *data,
                 fdl_error *error) {
    fdl_target target = {0};
    fdl_code code = fdl_resolve(repo, revision, &target, error);
    char id[FDL_ID_BYTES] = "";
    int64_t child_seq = 0;
    if (code == FDL_OK)
        memcpy(id, target.id, sizeof id);
    for (size_t count = 0; code == FDL_OK && id[0] && (limit == 0 || count < limit); count++) {
        fdl_version version = {0};
        fdl_expiry expiry = {0};
        code = fdl_version_read(repo, id, &version, error);
        if (code == FDL_OK)
            code = check_step(&version, child_seq, error);
        if (code == FDL_OK)
            code = fdl_expiry_read(repo, id, &expiry, error);
        if (code == FDL_OK)
            code = callback(data, &version, &expiry, error);
        memcpy(id, version.parent, sizeof id);
        child_seq = version.seq;
        fdl_expiry_clear(&expiry);
        fdl_version_clear(&version);
    }
    return code;
}
