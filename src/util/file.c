/*
 * file.c - files and folders of this machine.
 *
 * A file that others may read is never written in place: it grows under a
 * temporary name beside its own, goes to the disk, and takes its name in one
 * step, so that a reader, a crash or a full disk meets the old bytes or the new
 * ones.  The folder is synced after, since the name lives there.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/buf.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

/* ---- open files --------------------------------------------------------- */

/* open(2), again when a signal came first. */
static int open_file(const char *path, int flags) {
    int fd;
    do {
        fd = open(path, flags | O_CLOEXEC, 0666);
    } while (fd < 0 && errno == EINTR);
    return fd;
}

fdl_code fdl_fd_write(int fd, const char *path, const void *bytes, size_t length, fdl_error *error) {
    const char *at = bytes;
    while (length > 0) {
        ssize_t done = write(fd, at, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fdl_file_error(error, "write", path, errno);
        at += done;
        length -= (size_t)done;
    }
    return FDL_OK;
}

/* The way that always works: through our own memory. */
static fdl_code copy_by_hand(int from, const char *from_path, int to, const char *to_path, fdl_error *error) {
    char piece[65536];
    for (;;) {
        ssize_t got = read(from, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fdl_file_error(error, "read", from_path, errno);
        if (got == 0)
            return FDL_OK;
        fdl_code code = fdl_fd_write(to, to_path, piece, (size_t)got, error);
        if (code != FDL_OK)
            return code;
    }
}

fdl_code fdl_fd_copy(int from, const char *from_path, int to, const char *to_path, fdl_error *error) {
    enum { PIECE_BYTES = 1 << 30 };
    for (;;) {
        ssize_t done = copy_file_range(from, NULL, to, NULL, PIECE_BYTES, 0);
        if (done > 0 || (done < 0 && errno == EINTR))
            continue;
        if (done < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
            return fdl_file_error(error, "write", to_path, errno);
        /*
         * Any other refusal (other file systems, pipes, old kernels), and the 0
         * that /proc files answer, is left to plain reads, which go on from
         * here: at the end of the file they find nothing.
         */
        return copy_by_hand(from, from_path, to, to_path, error);
    }
}

fdl_code fdl_fd_sync(int fd, const char *path, fdl_error *error) {
    int done;
    do {
        done = fsync(fd);
    } while (done != 0 && errno == EINTR);
    /* EINVAL: a file system that cannot sync this kind of file (some folders). */
    if (done != 0 && errno != EINVAL)
        return fdl_file_error(error, "write", path, errno);
    return FDL_OK;
}

bool fdl_file_time_tells(int64_t seconds, int64_t nanoseconds) {
    enum { YOUNG_MS = 50 };
    return seconds * 1000 + nanoseconds / 1000000 < fdl_now_ms() - YOUNG_MS;
}

void fdl_fd_sync_begin(int fd, uint64_t offset_bytes, uint64_t length_bytes) {
    (void)sync_file_range(fd, (off_t)offset_bytes, (off_t)length_bytes, SYNC_FILE_RANGE_WRITE);
}

fdl_code fdl_fd_finish(int fd, const char *path, fdl_error *error) {
    fdl_code code = fdl_fd_sync(fd, path, error);
    if (close(fd) != 0 && errno != EINTR && code == FDL_OK)
        code = fdl_file_error(error, "write", path, errno);
    return code;
}

fdl_code fdl_temp_create(const char *near, char **path, int *fd, fdl_error *error) {
    char random[37];
    char *name = NULL;
    fdl_code code = fdl_uuid_v4(random, error);
    if (code == FDL_OK)
        code = fdl_str_format(&name, error, "%s.%.8s.tmp", near, random);
    if (code != FDL_OK)
        return code;
    *fd = open_file(name, O_RDWR | O_CREAT | O_EXCL);
    if (*fd < 0) {
        code = fdl_file_error(error, "create", name, errno);
        free(name);
        return code;
    }
    *path = name;
    return FDL_OK;
}

/* ---- whole files -------------------------------------------------------- */

fdl_code fdl_file_read(const char *path, size_t limit_bytes, char **out, size_t *length, fdl_error *error) {
    fdl_buf buf;
    fdl_buf_init(&buf, limit_bytes);
    fdl_code code = FDL_OK;
    int fd = open_file(path, O_RDONLY);
    if (fd < 0)
        return fdl_file_error(error, "read", path, errno);
    char piece[65536];
    for (;;) {
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            code = fdl_file_error(error, "read", path, errno);
        if (got <= 0)
            break;
        if ((size_t)got > limit_bytes - buf.length)
            code = fdl_fail(error, FDL_REFUSED, path, "'%s' is larger than %zu bytes", path, limit_bytes);
        else
            code = fdl_buf_add(&buf, piece, (size_t)got, error);
        if (code != FDL_OK)
            break;
    }
    close(fd);
    if (code == FDL_OK) {
        char *bytes = fdl_buf_detach(&buf, length);
        if (bytes)
            *out = bytes;
        else
            code = fdl_fail(error, FDL_FAILED, path, "out of memory");
    }
    fdl_buf_clear(&buf);
    return code;
}

fdl_code fdl_file_write(const char *path, const void *bytes, size_t length, fdl_error *error) {
    char *temp;
    int fd;
    fdl_code code = fdl_temp_create(path, &temp, &fd, error);
    if (code != FDL_OK)
        return code;
    code = fdl_fd_write(fd, path, bytes, length, error);
    if (code == FDL_OK)
        code = fdl_fd_finish(fd, path, error);
    else
        close(fd);
    if (code == FDL_OK)
        code = fdl_file_rename(temp, path, error);
    if (code != FDL_OK)
        unlink(temp); /* gone already when only the folder's sync failed */
    free(temp);
    return code;
}

static fdl_code sync_folder_of(const char *path, fdl_error *error) {
    char *folder;
    fdl_code code = fdl_path_folder(path, &folder, error);
    if (code != FDL_OK)
        return code;
    code = fdl_folder_sync(folder, error);
    free(folder);
    return code;
}

fdl_code fdl_file_copy(const char *from, const char *to, fdl_error *error) {
    char *temp = NULL;
    int target;
    int source = open_file(from, O_RDONLY);
    if (source < 0)
        return fdl_file_error(error, "read", from, errno);
    fdl_code code = fdl_temp_create(to, &temp, &target, error);
    if (code != FDL_OK)
        goto done;
    code = fdl_fd_copy(source, from, target, to, error);
    if (code == FDL_OK)
        code = fdl_fd_finish(target, to, error);
    else
        close(target);
    if (code == FDL_OK && fdl_rename_new(temp, to) != 0)
        code = errno == EEXIST ? fdl_fail(error, FDL_CONFLICT, to, "'%s' exists already; choose another name", to)
                               : fdl_file_error(error, "write", to, errno);
    if (code == FDL_OK)
        code = sync_folder_of(to, error);
    else
        unlink(temp);
done:
    free(temp);
    close(source);
    return code;
}

fdl_code fdl_file_rename(const char *from, const char *to, fdl_error *error) {
    if (rename(from, to) != 0)
        return fdl_file_error(error, "write", to, errno);
    return sync_folder_of(to, error);
}

/*
 * link(2) is the older way and does the same where renameat2(2) is not known
 * (NFS); killed between its two steps it leaves a second name, never a gap.
 */
int fdl_rename_new(const char *from, const char *to) {
    int done = renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
    if (done == 0 || (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP))
        return done;
    done = link(from, to);
    if (done == 0)
        unlink(from);
    return done;
}

bool fdl_file_exists(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

fdl_code fdl_file_size(const char *path, uint64_t *size_bytes, fdl_error *error) {
    struct stat info;
    if (stat(path, &info) != 0)
        return fdl_file_error(error, "read", path, errno);
    *size_bytes = (uint64_t)info.st_size;
    return FDL_OK;
}

fdl_code fdl_file_remove(const char *path, fdl_error *error) {
    if (unlink(path) != 0 && errno != ENOENT && errno != ENOTDIR)
        return fdl_file_error(error, "remove", path, errno);
    return FDL_OK;
}

static fdl_code sync_path(const char *path, int flags, fdl_error *error) {
    int fd = open_file(path, O_RDONLY | flags);
    if (fd < 0)
        return fdl_file_error(error, "open", path, errno);
    fdl_code code = fdl_fd_sync(fd, path, error);
    close(fd);
    return code;
}

fdl_code fdl_file_sync(const char *path, fdl_error *error) {
    return sync_path(path, 0, error);
}

/* ---- folders ------------------------------------------------------------ */

fdl_code fdl_folder_sync(const char *path, fdl_error *error) {
    return sync_path(path, O_DIRECTORY, error);
}

fdl_code fdl_folder_make(const char *path, fdl_error *error) {
    if (mkdir(path, 0777) == 0)
        return sync_folder_of(path, error);
    int why = errno;
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return FDL_OK;
    if (why != ENOENT)
        return fdl_file_error(error, "create the folder", path, why == EEXIST ? ENOTDIR : why);

    /* The parent is missing: it first, then once more. */
    char *parent;
    fdl_code code = fdl_path_folder(path, &parent, error);
    if (code != FDL_OK)
        return code;
    if (strcmp(parent, path) == 0 || strcmp(parent, ".") == 0)
        code = fdl_file_error(error, "create the folder", path, why);
    else
        code = fdl_folder_make(parent, error);
    free(parent);
    if (code != FDL_OK)
        return code;
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return fdl_file_error(error, "create the folder", path, errno);
    return sync_folder_of(path, error);
}

static bool is_dots(const char *name) {
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Empties the folder open as `fd`, which is closed in every case. */
static int empty_folder(int fd) {
    DIR *folder = fdopendir(fd);
    if (!folder) {
        close(fd);
        return -1;
    }
    int result = 0;
    struct dirent *entry;
    while (result == 0 && (errno = 0, entry = readdir(folder)) != NULL) {
        if (is_dots(entry->d_name))
            continue;
        if (unlinkat(fd, entry->d_name, 0) == 0 || errno == ENOENT)
            continue;
        if (errno != EISDIR && errno != EPERM) {
            result = -1;
            break;
        }
        int child = openat(fd, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (child < 0 || empty_folder(child) != 0 || unlinkat(fd, entry->d_name, AT_REMOVEDIR) != 0)
            result = errno == ENOENT ? 0 : -1;
    }
    if (errno != 0 && result == 0 && entry == NULL)
        result = -1;
    int why = errno;
    closedir(folder);
    errno = why;
    return result;
}

fdl_code fdl_folder_remove(const char *path, fdl_error *error) {
    int fd = open_file(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (fd < 0 && errno == ENOENT)
        return FDL_OK;
    if (fd < 0 || empty_folder(fd) != 0 || (rmdir(path) != 0 && errno != ENOENT))
        return fdl_file_error(error, "remove the folder", path, errno);
    return FDL_OK;
}

/* ---- paths -------------------------------------------------------------- */

/* Adds the parts of `path` to `out`, "." and empty ones skipped, ".." taking the last one away. */
static fdl_code add_parts(fdl_buf *out, const char *path, fdl_error *error) {
    fdl_code code = FDL_OK;
    while (code == FDL_OK && *path) {
        size_t length = strcspn(path, "/");
        if (length == 2 && memcmp(path, "..", 2) == 0) {
            while (out->length > 0 && out->data[--out->length] != '/')
                ;
            if (out->data)
                out->data[out->length] = '\0';
        } else if (length > 0 && !(length == 1 && path[0] == '.')) {
            code = fdl_buf_add_str(out, "/", error);
            if (code == FDL_OK)
                code = fdl_buf_add(out, path, length, error);
        }
        path += length + (path[length] == '/');
    }
    return code;
}

fdl_code fdl_path_absolute(const char *path, char **out, fdl_error *error) {
    enum { PATH_LIMIT_BYTES = 65536 };
    if (!path[0])
        return fdl_fail(error, FDL_USAGE, NULL, "a path is empty; name a file or folder");
    fdl_buf buf;
    fdl_buf_init(&buf, PATH_LIMIT_BYTES);
    fdl_code code = FDL_OK;
    if (path[0] != '/') {
        char *here = getcwd(NULL, 0);
        if (!here)
            return fdl_file_error(error, "find the current folder for", path, errno);
        code = add_parts(&buf, here, error);
        free(here);
    }
    if (code == FDL_OK)
        code = add_parts(&buf, path, error);
    if (code == FDL_OK && buf.length == 0)
        code = fdl_buf_add_str(&buf, "/", error);
    if (code == FDL_OK)
        *out = fdl_buf_detach(&buf, NULL);
    fdl_buf_clear(&buf);
    return code;
}

fdl_code fdl_path_folder(const char *path, char **out, fdl_error *error) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        return fdl_str_copy(out, ".", error);
    return fdl_str_copy_n(out, path, slash == path ? 1 : (size_t)(slash - path), error);
}

/* ---- locks -------------------------------------------------------------- */

/* Opens the lock file; one that only its owner may write can still be locked by reading. */
static int open_lock(const char *path) {
    int fd = open_file(path, O_RDWR | O_CREAT);
    if (fd < 0 && (errno == EACCES || errno == EROFS)) {
        fd = open_file(path, O_RDONLY);
        if (fd < 0)
            errno = EACCES;
    }
    return fd;
}

/* Whether `path` still names the open file: somebody may have removed it, and others lock a new one. */
static bool still_named(int fd, const char *path) {
    struct stat opened;
    struct stat named;
    return fstat(fd, &opened) == 0 && stat(path, &named) == 0 && opened.st_ino == named.st_ino &&
           opened.st_dev == named.st_dev;
}

fdl_code fdl_lock_take(const char *path, int wait_ms, int *fd, fdl_error *error) {
    int64_t give_up = fdl_steady_ms() + wait_ms;
    long pause_ms = 1;
    for (;;) {
        int lock = open_lock(path);
        if (lock < 0)
            return fdl_file_error(error, "lock", path, errno);
        int done;
        while ((done = flock(lock, LOCK_EX | LOCK_NB)) != 0 && (errno == EINTR || errno == EWOULDBLOCK)) {
            if (errno == EINTR)
                continue;
            if (fdl_steady_ms() >= give_up)
                break;
            nanosleep(&(struct timespec){.tv_nsec = pause_ms * 1000000}, NULL);
            pause_ms = pause_ms < 16 ? pause_ms * 2 : 16;
        }
        if (done == 0 && still_named(lock, path)) {
            *fd = lock;
            return FDL_OK;
        }
        int why = errno;
        close(lock);
        if (done == 0 && fdl_steady_ms() < give_up)
            continue;
        if (done != 0 && why != EWOULDBLOCK)
            return fdl_file_error(error, "lock", path, why);
        return fdl_fail(error, FDL_BUSY, path, "'%s' is locked by another process; try again when it is done", path);
    }
}

void fdl_lock_release(int fd) {
    close(fd);
}
