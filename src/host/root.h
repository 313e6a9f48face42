/*
 * root.h - files of a repository in a folder, opened without ever leaving it.
 *
 * No symlink is followed, with one exception that only who runs the host can
 * make: the data folder may be one, to another disk, when the host starts.
 */
#ifndef FDL_HOST_ROOT_H
#define FDL_HOST_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "fdl/store.h"

typedef struct fdl_host_root {
    int fd;               /* of the root; -1: the repository is not in a folder */
    int data_fd;          /* of the data folder, where it leads out of the root; else -1 */
    const char *data_dir; /* the host's */
} fdl_host_root;

fdl_code fdl_host_root_open(fdl_host_root *root, const fdl_store *store, const char *data_dir, fdl_error *error);
void fdl_host_root_close(fdl_host_root *root);

/* Opens the object to read, and looks at it; the caller closes `*fd`.  FDL_NOT_FOUND: no such file, or a symlink on the way. */
fdl_code fdl_host_root_file(const fdl_host_root *root, const char *key, int *fd, struct stat *info, fdl_error *error);

/*
 * What lies at the key at this moment, a symlink as itself; those on the way are followed.  A network's file system is
 * asked anew, as when a file is opened, and not what it remembers for up to a minute.  Device, number, mode, links, size
 * and times are told.
 */
bool fdl_host_root_look(const fdl_host_root *root, const char *key, struct stat *info);

/* For those who write through the store: FDL_REFUSED when a symlink on the way to the key leads elsewhere. */
fdl_code fdl_host_root_check(const fdl_host_root *root, const char *key, fdl_error *error);

#endif
