/*
 * opened.c - a version's catalog, proved and opened.
 */
#include "flow/opened.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/catalog_get.h"
#include "flow/scratch.h"
#include "repo/record.h"
#include "util/ident.h"
#include "util/text.h"

/* Where the store is a folder there is nothing to fetch. */
static fdl_code prove_in_place(fdl_repo *repo, const fdl_version *version, char **path, fdl_error *error) {
    char key[FDL_KEY_BYTES], sha256[FDL_SHA256_BYTES];
    uint64_t size = 0;
    fdl_local_file file = {0};
    fdl_code code = fdl_key_version(key, version->id, version->catalog.file.path, error);
    if (code == FDL_OK)
        code = fdl_local_file_get(fdl_repo_store(repo), "", key, (uint64_t)version->catalog.file.bytes, &file, error);
    *path = file.path;
    if (code == FDL_OK)
        code = fdl_sha256_file(*path, sha256, &size, error);
    if (code == FDL_NOT_FOUND)
        return fdl_fail(error, FDL_NOT_FOUND, key, "version '%s' has no catalog: '%s' is missing in '%s'", version->id,
                        key, fdl_repo_address(repo));
    return code == FDL_OK ? fdl_record_judge(&version->catalog.file, key, sha256, error) : code;
}

fdl_code fdl_opened_get(fdl_repo *repo, const char *scratch, const fdl_version *version, fdl_opened *out,
                        fdl_error *error) {
    fdl_opened opened = {.temporary = strcmp(fdl_repo_store(repo)->ops->kind, "folder") != 0};
    fdl_code code;
    if (!opened.temporary) {
        code = prove_in_place(repo, version, &opened.path, error);
    } else {
        code = fdl_str_format(&opened.path, error, "%s/%s.duckdb", scratch, version->id);
        if (code == FDL_OK)
            code = fdl_catalog_download(repo, version, opened.path, error);
    }
    if (code == FDL_OK)
        code = fdl_frozen_open(fdl_repo_context(repo), opened.path, &opened.frozen, error);
    if (code == FDL_OK)
        *out = opened;
    else
        fdl_opened_clear(&opened);
    return code;
}

void fdl_opened_clear(fdl_opened *opened) {
    fdl_frozen_free(opened->frozen);
    if (opened->path && opened->temporary)
        unlink(opened->path);
    free(opened->path);
    *opened = (fdl_opened){0};
}

fdl_code fdl_version_files(fdl_repo *repo, const char *scratch, const fdl_version *version,
                           fdl_data_file_callback callback, void *data, fdl_error *error) {
    fdl_opened opened = {0};
    fdl_code code = fdl_opened_get(repo, scratch, version, &opened, error);
    if (code == FDL_OK)
        code = fdl_frozen_files(opened.frozen, callback, data, error);
    fdl_opened_clear(&opened);
    return code;
}
