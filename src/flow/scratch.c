/*
 * scratch.c - objects as local files.
 */
#include "flow/scratch.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

fdl_code fdl_scratch_make(char **folder, fdl_error *error) {
    const char *base = getenv("TMPDIR");
    char *path = NULL;
    fdl_code code = fdl_str_format(&path, error, "%s/fdl-XXXXXX", base && *base ? base : "/tmp");
    if (code == FDL_OK && !mkdtemp(path)) {
        code = fdl_fail(error, FDL_FAILED, path, "cannot make a temporary folder '%s'; set TMPDIR", path);
        free(path);
        return code;
    }
    if (code == FDL_OK)
        *folder = path;
    return code;
}

void fdl_scratch_remove(char *folder) {
    fdl_error ignored;
    if (folder)
        fdl_folder_remove(folder, &ignored);
    free(folder);
}

/* Not opened before it is known to be a file: in a stranger's folder a pipe may lie there, or what never ends. */
static fdl_code find_in_place(fdl_store *store, const char *key, uint64_t limit_bytes, char **path, fdl_error *error) {
    uint64_t size = 0;
    fdl_code code = fdl_store_size(store, key, &size, error);
    if (code == FDL_OK && size > limit_bytes)
        code = fdl_fail(error, FDL_FAILED, key, "'%s' is larger than the %llu bytes that its record says", key,
                        (unsigned long long)limit_bytes);
    return code == FDL_OK ? fdl_str_format(path, error, "%s%s", store->address, key) : code;
}

fdl_code fdl_local_file_get(fdl_store *store, const char *scratch, const char *key, uint64_t limit_bytes,
                            fdl_local_file *out, fdl_error *error) {
    fdl_local_file file = {.temporary = strcmp(store->ops->kind, "folder") != 0};
    char name[37];
    if (!file.temporary)
        return find_in_place(store, key, limit_bytes, &out->path, error);
    fdl_code code = fdl_uuid_v4(name, error);
    if (code == FDL_OK)
        code = fdl_str_format(&file.path, error, "%s/%s.tmp", scratch, name);
    if (code == FDL_OK)
        code = fdl_store_fetch(store, key, limit_bytes, file.path, error);
    if (code == FDL_OK)
        *out = file;
    else
        fdl_local_file_clear(&file);
    return code;
}

void fdl_local_file_clear(fdl_local_file *file) {
    if (file->path && file->temporary)
        unlink(file->path);
    free(file->path);
    *file = (fdl_local_file){0};
}
