/*
 * layout.c - keys made of ids.
 */
#include "repo/layout.h"

#include <stdio.h>
#include <string.h>

#include "util/ident.h"

fdl_code fdl_key_version(char out[FDL_KEY_BYTES], const char *id, const char *file, fdl_error *error) {
    if (!fdl_uuid_valid(id))
        return fdl_fail(error, FDL_USAGE, id, "'%s' is not a version id", id);
    int length = snprintf(out, FDL_KEY_BYTES, FDL_KEY_VERSIONS "%s/%s", id, file);
    if (length < 0 || length >= FDL_KEY_BYTES)
        return fdl_fail(error, FDL_USAGE, id, "the name of a file in version '%s' is too long", id);
    return FDL_OK;
}

bool fdl_key_version_folder(const char *key, char id[FDL_ID_BYTES]) {
    const size_t prefix = sizeof FDL_KEY_VERSIONS - 1;
    if (strncmp(key, FDL_KEY_VERSIONS, prefix) != 0 || strlen(key) != prefix + FDL_ID_BYTES || key[prefix + FDL_ID_BYTES - 1] != '/')
        return false;
    memcpy(id, key + prefix, FDL_ID_BYTES - 1);
    id[FDL_ID_BYTES - 1] = '\0';
    return fdl_uuid_valid(id);
}
