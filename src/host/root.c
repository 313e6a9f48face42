/*
 * root.c - down from the root without leaving it, symlinks refused.
 */
#include "host/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/file.h"
#include "util/text.h"

#define OPEN_FOLDER (O_PATH | O_DIRECTORY | O_CLOEXEC)
#define OPEN_FILE (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) /* never hang on a pipe */

/* Whether the data folder lies elsewhere: its real path is not the root's with the name behind it. */
static bool leads_out(const char *root, const char *data_dir, char **path, fdl_error *error) {
    char *real_root = realpath(root, NULL);
    char *wanted = NULL;
    bool out = false;
    if (real_root && fdl_str_format(path, error, "%s%s", root, data_dir) == FDL_OK &&
        fdl_str_format(&wanted, error, "%s/%s", strcmp(real_root, "/") == 0 ? "" : real_root, data_dir) == FDL_OK) {
        char *real = realpath(*path, NULL);
        wanted[strlen(wanted) - 1] = '\0'; /* the final '/' */
        out = real && strcmp(real, wanted) != 0;
        free(real);
    }
    free(wanted);
    free(real_root);
    return out;
}

fdl_code fdl_host_root_open(fdl_host_root *root, const fdl_store *store, const char *data_dir, fdl_error *error) {
    *root = (fdl_host_root){.fd = -1, .data_fd = -1, .data_dir = data_dir};
    if (strcmp(store->ops->kind, "folder") != 0)
        return FDL_OK;
    root->fd = open(store->address, OPEN_FOLDER);
    if (root->fd < 0)
        return fdl_file_error(error, "read", store->address, errno);
    char *path = NULL;
    fdl_code code = FDL_OK;
    if (leads_out(store->address, data_dir, &path, error)) {
        root->data_fd = open(path, OPEN_FOLDER);
        if (root->data_fd < 0)
            code = fdl_file_error(error, "read", path, errno);
    }
    free(path);
    if (code != FDL_OK)
        fdl_host_root_close(root);
    return code;
}

void fdl_host_root_close(fdl_host_root *root) {
    if (root->fd >= 0)
        close(root->fd);
    if (root->data_fd >= 0)
        close(root->data_fd);
    root->fd = root->data_fd = -1;
}

static int open_once(int folder, const char *name, int flags) {
    int fd;
    do {
        fd = openat(folder, name, flags | O_NOFOLLOW);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

/* Part by part, for kernels and sandboxes without openat2, or when folders are renamed meanwhile. */
static int open_stepwise(int start, const char *path, int flags) {
    char part[NAME_MAX + 1];
    int folder = start;
    int fd = -1;
    for (;;) {
        size_t length = strcspn(path, "/");
        bool last = path[length] == '\0';
        errno = ENAMETOOLONG;
        if (length < sizeof part) {
            memcpy(part, path, length);
            part[length] = '\0';
            fd = open_once(folder, part, last ? flags : OPEN_FOLDER);
        }
        int why = errno;
        if (folder != start)
            close(folder);
        errno = why;
        if (last || fd < 0)
            return fd;
        folder = fd;
        fd = -1;
        path += length + 1;
    }
}

/* Opens `path` below `start`, as a file or with other flags; errno tells why not. */
static int open_below(int start, const char *path, int flags) {
    struct open_how how = {.flags = (unsigned)(flags | O_NOFOLLOW), .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    int fd;
    do {
        fd = (int)syscall(SYS_openat2, start, path, &how, sizeof how);
    } while (fd < 0 && errno == EINTR);
    bool cannot_tell = fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN);
    return cannot_tell ? open_stepwise(start, path, flags) : fd;
}

/* The folder that the key is opened from; `*path` is the rest of it. */
static int start_of(const fdl_host_root *root, const char *key, const char **path) {
    bool elsewhere = root->data_fd >= 0 && fdl_str_starts(key, root->data_dir);
    *path = elsewhere ? key + strlen(root->data_dir) : key;
    return elsewhere ? root->data_fd : root->fd;
}

static int open_key(const fdl_host_root *root, const char *key, int flags) {
    const char *path;
    int start = start_of(root, key, &path);
    return open_below(start, path, flags);
}

fdl_code fdl_host_root_file(const fdl_host_root *root, const char *key, int *fd, struct stat *info, fdl_error *error) {
    int opened = open_key(root, key, OPEN_FILE);
    if (opened >= 0 && fstat(opened, info) == 0 && S_ISREG(info->st_mode)) {
        *fd = opened;
        return FDL_OK;
    }
    int why = errno;
    if (opened >= 0)
        close(opened);
    if (opened >= 0 || why == ENOENT || why == ENOTDIR || why == ELOOP || why == ENAMETOOLONG || why == ENXIO)
        return fdl_fail(error, FDL_NOT_FOUND, key, "no object '%s'", key);
    return fdl_file_error(error, "read", key, why);
}

static struct timespec time_of(struct statx_timestamp at) {
    return (struct timespec){.tv_sec = at.tv_sec, .tv_nsec = at.tv_nsec};
}

bool fdl_host_root_look(const fdl_host_root *root, const char *key, struct stat *info) {
    const char *path;
    struct statx now;
    int start = start_of(root, key, &path);
    if (statx(start, path, AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &now) != 0)
        return false;
    *info = (struct stat){.st_dev = makedev(now.stx_dev_major, now.stx_dev_minor),
                          .st_ino = now.stx_ino,
                          .st_mode = now.stx_mode,
                          .st_nlink = now.stx_nlink,
                          .st_size = (off_t)now.stx_size,
                          .st_mtim = time_of(now.stx_mtime),
                          .st_ctim = time_of(now.stx_ctime)};
    return true;
}

fdl_code fdl_host_root_check(const fdl_host_root *root, const char *key, fdl_error *error) {
    struct stat info;
    if (root->fd < 0)
        return FDL_OK;
    int opened = open_key(root, key, O_PATH | O_CLOEXEC);
    int why = errno;
    bool link = opened >= 0 && fstat(opened, &info) == 0 && S_ISLNK(info.st_mode);
    if (opened >= 0)
        close(opened);
    if (!link && (opened >= 0 || why == ENOENT))
        return FDL_OK;
    return fdl_fail(error, FDL_REFUSED, key, "'%s' cannot be written here: something else is in the way", key);
}
