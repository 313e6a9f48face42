/* record.c - see record.h. */
#include "repo/record.h"

#include <stdlib.h>
#include <string.h>

#include "util/ident.h"

fdl_code fdl_record_judge(const fdl_file_record *record, const char *key, const char *sha256, fdl_error *error) {
    if (strcmp(sha256, record->sha256) == 0)
        return FDL_OK;
    return fdl_fail(error, FDL_FAILED, key, "'%s' is damaged: its sha256 is %s, version.json says %s", key, sha256,
                    record->sha256);
}

fdl_code fdl_record_read(fdl_repo *repo, const fdl_version *version, const fdl_file_record *record, size_t limit_bytes,
                         char key[FDL_KEY_BYTES], char **bytes, size_t *length, fdl_error *error) {
    char sha256[FDL_SHA256_BYTES];
    *bytes = NULL;
    *length = 0;
    fdl_code code = fdl_key_version(key, version->id, record->path, error);
    if (code == FDL_OK)
        code = fdl_store_read(fdl_repo_store(repo), key, limit_bytes, bytes, length, NULL, error);
    if (code == FDL_OK)
        code = fdl_sha256_bytes(*bytes, *length, sha256, error);
    if (code == FDL_OK)
        code = fdl_record_judge(record, key, sha256, error);
    if (code != FDL_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return code;
}
