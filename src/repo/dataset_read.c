/*
 * dataset_read.c - dataset.json as a version has it.
 */
#include <stdlib.h>
#include <string.h>

#include "repo/dataset.h"
#include "repo/layout.h"
#include "util/ident.h"

fdl_code fdl_dataset_read(fdl_repo *repo, const fdl_version *version, char **out, fdl_error *error) {
    char key[FDL_KEY_BYTES], sha256[FDL_SHA256_BYTES];
    const fdl_file_record *record = &version->dataset;
    char *bytes = NULL;
    size_t length = 0;
    *out = NULL;
    fdl_code code = fdl_key_version(key, version->id, record->path, error);
    if (code == FDL_OK)
        code = fdl_store_read(fdl_repo_store(repo), key, FDL_LIMIT_DATASET_BYTES, &bytes, &length, NULL, error);
    if (code == FDL_NOT_FOUND)
        return FDL_OK;
    if (code == FDL_OK)
        code = fdl_sha256_bytes(bytes, length, sha256, error);
    if (code == FDL_OK && strcmp(sha256, record->sha256) != 0)
        code = fdl_fail(error, FDL_FAILED, key, "'%s' is damaged: its sha256 is %s, version.json says %s", key, sha256,
                        record->sha256);
    if (code == FDL_OK)
        *out = bytes;
    else
        free(bytes);
    return code;
}
