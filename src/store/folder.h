/*
 * folder.h - what the halves of the folder store share: folder.c reads,
 * folder_write.c writes.
 *
 *   <root>/<key>                the object, always whole
 *   <root>/.fdl/tmp/put.*.tmp   an object on its way, nobody's key
 *   <root>/.fdl/lock            held while a condition is checked and acted on
 */
#ifndef FDL_STORE_FOLDER_H
#define FDL_STORE_FOLDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "fdl/store.h"
#include "util/buf.h"

#define FDL_SCRATCH_NAME ".fdl"

/* One folder for as long as it exists: another of the same name, or with the same number, was born later. */
typedef struct fdl_folder_id {
    uint64_t device;
    uint64_t inode;
    int64_t born_s;
    uint32_t born_ns;
} fdl_folder_id;

#define FDL_FOLDERS_KEPT 8

typedef struct fdl_folder_store {
    fdl_store store;   /* its address is the root's path with a final '/' */
    atomic_bool swept; /* old temporary files were looked for */
    atomic_bool entered; /* there is a root: what is missing is not looked into again */
    /* Folders known to outlive a crash, with all above them; the oldest is replaced. */
    pthread_mutex_t kept_lock;
    fdl_folder_id kept[FDL_FOLDERS_KEPT];
    unsigned kept_next;
} fdl_folder_store;

/* "<root>/<key>", released with free().  FDL_USAGE for keys in the scratch folder. */
fdl_code fdl_folder_path(const fdl_store *store, const char *key, char **path, fdl_error *error);

/* Opens an object to read, and looks at it; the caller closes `*fd`.  FDL_NOT_FOUND: no such object, or no such root. */
fdl_code fdl_folder_open(const fdl_store *store, const char *key, int *fd, struct stat *info, fdl_error *error);

/*
 * Size, time and ETag of the open file that fstat(2) has just told `info` of, all of one state.  The ETag of a small
 * one needs its bytes, so `small` (NULL: not wanted) gets them; a large one
 * leaves it empty.
 */
fdl_code fdl_folder_describe(int fd, const struct stat *info, const char *key, fdl_object *object, fdl_buf *small,
                             fdl_error *error);

/*
 * Takes the lock under which objects are replaced and deleted, each kind of them;
 * fdl_lock_release ends it.  Waits a bounded time, then FDL_BUSY.
 */
fdl_code fdl_folder_lock(fdl_store *store, int *lock, fdl_error *error);

/* The writing half. */
fdl_code fdl_folder_place(fdl_store *store, char **folder, fdl_error *error);
fdl_code fdl_folder_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                        fdl_object *object, fdl_error *error);
fdl_code fdl_folder_delete(fdl_store *store, const char *key, fdl_condition condition, fdl_error *error);
fdl_code fdl_folder_remove_many(fdl_store *store, const char *const *keys, size_t count, fdl_error *error);
fdl_code fdl_folder_sync_key(fdl_store *store, const char *key, fdl_error *error);

#endif
