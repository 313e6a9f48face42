/*
 * folder_remove_many.c - deleting many objects of a folder, under one lock, and
 * each folder synced once instead of once an object.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/folder.h"
#include "util/file.h"

static fdl_code remove_key(const fdl_store *store, const char *key, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_folder_path(store, key, &path, error);
    if (code == FDL_OK && unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR && errno != EISDIR &&
        errno != ENAMETOOLONG)
        code = fdl_file_error(error, "delete", path, errno);
    free(path);
    return code;
}

/* One that is gone by now needs no sync. */
static fdl_code sync_folder(const char *folder, fdl_error *error) {
    fdl_code code = fdl_folder_sync(folder, error);
    return code == FDL_NOT_FOUND ? FDL_OK : code;
}

static fdl_code folder_of(const fdl_store *store, const char *key, char **folder, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_folder_path(store, key, &path, error);
    if (code == FDL_OK)
        code = fdl_path_folder(path, folder, error);
    free(path);
    return code;
}

/* Keys come sorted more often than not, so the folder of one is mostly that of the one before. */
static fdl_code sync_folders(const fdl_store *store, const char *const *keys, size_t count, fdl_error *error) {
    char *last = NULL;
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < count && code == FDL_OK; i++) {
        char *folder = NULL;
        code = folder_of(store, keys[i], &folder, error);
        if (code == FDL_OK && (!last || strcmp(folder, last) != 0))
            code = sync_folder(folder, error);
        free(last);
        last = folder;
    }
    free(last);
    return code;
}

fdl_code fdl_folder_remove_many(fdl_store *store, const char *const *keys, size_t count, fdl_error *error) {
    int lock;
    if (!fdl_file_exists(store->address))
        return FDL_OK; /* no root is no object, and no place for a lock */
    fdl_code code = fdl_folder_lock(store, &lock, error);
    if (code != FDL_OK)
        return code;
    for (size_t i = 0; i < count && code == FDL_OK; i++)
        code = remove_key(store, keys[i], error);
    fdl_lock_release(lock);
    return code == FDL_OK ? sync_folders(store, keys, count, error) : code;
}
