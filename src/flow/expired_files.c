/*
 * expired_files.c - the files of a version that expired, from its files.json.
 *
 * Where version.json records the list, the list is proved against it.  One that
 * it does not record was left by expire, when it deleted the catalog.
 */
#include "flow/expired_files.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "repo/layout.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/text.h"

#define FILES_LIMIT_BYTES ((size_t)1 << 30)

typedef struct listing {
    const char *data_dir;
    fdl_path_callback callback;
    void *data;
} listing;

/* Files elsewhere are none that we could delete. */
static fdl_code tell_path(const listing *l, const json_t *file, fdl_error *error) {
    const char *path = json_string_value(json_object_get(file, "path"));
    if (!path || !fdl_str_starts(path, l->data_dir))
        return FDL_OK;
    return l->callback(l->data, path + strlen(l->data_dir), error);
}

static fdl_code tell_table(const listing *l, const json_t *table, fdl_error *error) {
    size_t i = 0;
    json_t *file = NULL;
    fdl_code code = FDL_OK;
    json_array_foreach(json_object_get(table, "files"), i, file) {
        if (code == FDL_OK)
            code = tell_path(l, file, error);
        if (code == FDL_OK)
            code = tell_path(l, json_object_get(file, "delete"), error);
    }
    return code;
}

static bool is_as_recorded(const fdl_version *version, const char *bytes, size_t length) {
    char sha256[FDL_SHA256_BYTES];
    fdl_error ignored;
    return !version->files.path || (fdl_sha256_bytes(bytes, length, sha256, &ignored) == FDL_OK &&
                                    strcmp(sha256, version->files.sha256) == 0);
}

fdl_code fdl_expired_files(fdl_repo *repo, const fdl_version *version, fdl_path_callback callback, void *data,
                           bool *known, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *bytes = NULL;
    size_t length = 0, i = 0;
    const fdl_config *config = NULL;
    json_t *document = NULL, *tables = NULL, *table = NULL;
    fdl_error broken;
    *known = false;
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        code = fdl_key_version(key, version->id, version->files.path ? version->files.path : FDL_FILE_FILES, error);
    if (code == FDL_OK)
        code = fdl_store_read(fdl_repo_store(repo), key, FILES_LIMIT_BYTES, &bytes, &length, NULL, error);
    if (code == FDL_NOT_FOUND || code == FDL_REFUSED)
        return FDL_OK;
    if (code != FDL_OK)
        return code;
    listing l = {.data_dir = config->data_dir, .callback = callback, .data = data};
    *known = is_as_recorded(version, bytes, length) &&
             fdl_json_parse(bytes, length, key, &document, &broken) == FDL_OK &&
             json_is_array(tables = json_object_get(document, "tables"));
    json_array_foreach(tables, i, table) {
        if (code == FDL_OK && *known)
            code = tell_table(&l, table, error);
    }
    json_decref(document);
    free(bytes);
    return code;
}
