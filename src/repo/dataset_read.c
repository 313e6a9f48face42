/*
 * dataset_read.c - dataset.json as a version has it.
 */
#include "repo/dataset.h"
#include "repo/record.h"

fdl_code fdl_dataset_read(fdl_repo *repo, const fdl_version *version, char **out, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    size_t length = 0;
    fdl_code code =
        fdl_record_read(repo, version, &version->dataset, FDL_LIMIT_DATASET_BYTES, key, out, &length, error);
    return code == FDL_NOT_FOUND ? FDL_OK : code;
}
