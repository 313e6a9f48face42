/*
 * folder_write.c - a store in a folder of this machine: writing.
 *
 *   stage     the bytes under <root>/.fdl/tmp/, on the disk; a file that is given
 *             lies there, or elsewhere on this file system, already
 *   publish   IF_ABSENT: take the name unless it is taken, in one step
 *             others:    under the lock: look, compare, take the name
 *   sync      the folder and those above it
 *
 * Why IF_ABSENT needs no lock, and ALWAYS does: whoever holds the lock looks
 * first and acts on what he saw.  If he saw an object, no creation can come
 * between, since a creation never touches what exists; if he saw none, he does
 * nothing.  An unconditional put or delete, however, would be undone unseen.
 *
 * The lock is flock(2)'s: it dies with its holder.  So a process killed at any
 * line here leaves the old object or the new one, and at worst a temporary file
 * that a later writer removes when it is a day old.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "store/folder.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

#define LOCK_WAIT_MS 10000
#define TRIES_LIMIT 100
#define OLD_TEMP_SECONDS (24 * 60 * 60)

/* ---- staging ------------------------------------------------------------ */

/* An object on its way. */
typedef struct staged {
    char *target; /* the path it shall have */
    char *temp;   /* the one it has; NULL once published */
    int fd;
} staged;

static void unstage(staged *s) {
    if (s->temp)
        unlink(s->temp);
    if (s->fd >= 0)
        close(s->fd);
    free(s->temp);
    free(s->target);
}

fdl_code fdl_folder_place(fdl_store *store, char **folder, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_str_format(&path, error, "%s" FDL_SCRATCH_NAME "/tmp", store->address);
    if (code == FDL_OK)
        code = fdl_folder_make(path, error);
    if (code == FDL_OK)
        *folder = path;
    else
        free(path);
    return code;
}

static fdl_code create_temp(fdl_store *store, staged *s, fdl_error *error) {
    char *folder = NULL;
    char *near = NULL;
    fdl_code code = fdl_folder_place(store, &folder, error);
    if (code == FDL_OK)
        code = fdl_str_format(&near, error, "%s/put", folder);
    if (code == FDL_OK)
        code = fdl_temp_create(near, &s->temp, &s->fd, error);
    free(folder);
    free(near);
    return code;
}

static fdl_code fill_temp(const staged *s, const fdl_source *source, fdl_error *error) {
    if (!source->path)
        return fdl_fd_write(s->fd, s->target, source->bytes, source->length_bytes, error);
    int from = open(source->path, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return fdl_file_error(error, "read", source->path, errno);
    fdl_code code = fdl_fd_copy(from, source->path, s->fd, s->target, error);
    close(from);
    return code;
}

/* A file that is given needs no copy, if it lies where it can be renamed from; else `s->temp` stays NULL. */
static fdl_code take_given(const fdl_store *store, const fdl_source *source, staged *s, fdl_error *error) {
    struct stat root, file;
    int fd = open(source->path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return fdl_file_error(error, "read", source->path, errno);
    if (fstat(fd, &file) != 0 || stat(store->address, &root) != 0 || root.st_dev != file.st_dev) {
        close(fd);
        return FDL_OK;
    }
    s->fd = fd;
    return fdl_str_copy(&s->temp, source->path, error);
}

static fdl_code check_sha256(const staged *s, const char *key, const char *expected, fdl_error *error) {
    char digest[65];
    uint64_t size;
    fdl_code code = fdl_sha256_file(s->temp, digest, &size, error);
    if (code == FDL_OK && strcmp(digest, expected) != 0)
        code = fdl_fail(error, FDL_REFUSED, key, "the bytes for '%s' do not have the sha256 they should have", key);
    return code;
}

/* ---- the lock ----------------------------------------------------------- */

/* Removes what writers that died left behind; a failure here is nobody's concern. */
static void sweep(const fdl_store *store) {
    char *path;
    if (fdl_str_format(&path, NULL, "%s" FDL_SCRATCH_NAME "/tmp", store->address) != FDL_OK)
        return;
    DIR *folder = opendir(path);
    free(path);
    if (!folder)
        return;
    struct dirent *entry;
    struct stat info;
    time_t now = time(NULL);
    while ((entry = readdir(folder)) != NULL) {
        if (fdl_str_ends(entry->d_name, ".tmp") &&
            fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            info.st_mtime < now - OLD_TEMP_SECONDS)
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
    closedir(folder);
}

fdl_code fdl_folder_lock(fdl_store *store, int *lock, fdl_error *error) {
    fdl_folder_store *folder = (fdl_folder_store *)store;
    char *scratch = NULL;
    char *path = NULL;
    fdl_code code = fdl_str_format(&scratch, error, "%s" FDL_SCRATCH_NAME, store->address);
    if (code == FDL_OK)
        code = fdl_folder_make(scratch, error);
    if (code == FDL_OK)
        code = fdl_str_format(&path, error, "%s/lock", scratch);
    if (code == FDL_OK)
        code = fdl_lock_take(path, LOCK_WAIT_MS, lock, error);
    free(scratch);
    free(path);
    if (code == FDL_OK && !atomic_exchange(&folder->swept, true))
        sweep(store);
    return code;
}

/* Under the lock: whether the key holds what the caller saw. */
static fdl_code check_match(const fdl_store *store, const char *key, const char *etag, fdl_error *error) {
    int fd;
    struct stat info;
    fdl_object now;
    fdl_code code = fdl_folder_open(store, key, &fd, &info, error);
    if (code == FDL_NOT_FOUND)
        return fdl_fail(error, FDL_CONFLICT, key, "'%s' was deleted meanwhile", key);
    if (code != FDL_OK)
        return code;
    code = fdl_folder_describe(fd, &info, key, &now, NULL, error);
    close(fd);
    if (code == FDL_OK && strcmp(now.etag, etag) != 0)
        code = fdl_fail(error, FDL_CONFLICT, key, "'%s' was changed meanwhile", key);
    return code;
}

/* ---- taking a name ------------------------------------------------------ */

static fdl_code exists_already(const char *key, fdl_error *error) {
    return fdl_fail(error, FDL_CONFLICT, key, "'%s' exists already", key);
}

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Removes a tree of empty folders; false when there is anything else in it. */
static bool clear_empty(const char *path) {
    if (rmdir(path) == 0 || errno == ENOENT)
        return true;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return false;
    DIR *folder = opendir(path);
    if (!folder)
        return errno == ENOENT;
    bool empty = true;
    struct dirent *entry;
    while (empty && (entry = readdir(folder)) != NULL) {
        char *child;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        empty = fdl_str_format(&child, NULL, "%s/%s", path, entry->d_name) == FDL_OK;
        if (empty) {
            empty = clear_empty(child);
            free(child);
        }
    }
    closedir(folder);
    return empty && (rmdir(path) == 0 || errno == ENOENT);
}

/* A folder stands where the object shall be: gone when nothing lies in it. */
static fdl_code make_way(const char *key, const char *target, fdl_error *error) {
    if (clear_empty(target))
        return FDL_OK;
    return fdl_fail(error, FDL_CONFLICT, key, "'%s' cannot be stored: there are objects below '%s/'", key, key);
}

/* Whether an object stands at `folder` or above, below the root; then `folder` is cut there. */
static bool find_blocker(char *folder, size_t root_length) {
    if (strlen(folder) < root_length)
        return false;
    for (char *slash = strchr(folder + root_length, '/');; slash = strchr(slash + 1, '/')) {
        struct stat info;
        if (slash)
            *slash = '\0';
        if (stat(folder, &info) == 0 && !S_ISDIR(info.st_mode))
            return true;
        if (!slash)
            return false;
        *slash = '/';
    }
}

/*
 * Makes the folders above the object.  An object in their place is told; what
 * somebody else changes at this moment is left to the next try.
 */
static fdl_code make_folders(const fdl_store *store, const char *key, const char *target, fdl_error *error) {
    char *folder;
    size_t root_length = strlen(store->address);
    fdl_code code = fdl_path_folder(target, &folder, error);
    if (code != FDL_OK)
        return code;
    code = fdl_folder_make(folder, error);
    if (code == FDL_NOT_FOUND && !find_blocker(folder, root_length))
        code = FDL_OK;
    else if (code == FDL_NOT_FOUND)
        code = fdl_fail(error, FDL_CONFLICT, key, "'%s' cannot be stored: '%s' is an object, not a folder", key,
                        folder + root_length);
    free(folder);
    return code;
}

/*
 * The target's folder lies on another file system (a symlinked data folder), so
 * the staged file cannot just take the name.  A copy without any name can be
 * made there, and link(2)ed: temporary names stay out of folders that others
 * read.  Only a new object can be made so; a name in use gives EEXIST.
 */
static fdl_code name_across(staged *s, int *why, fdl_error *error) {
    char *folder;
    char self[32];
    *why = 0;
    fdl_code code = fdl_path_folder(s->target, &folder, error);
    if (code != FDL_OK)
        return code;
    int there = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    free(folder);
    if (there < 0)
        return fdl_file_error(error, "write", s->target, errno);
    code = lseek(s->fd, 0, SEEK_SET) == 0 ? FDL_OK : fdl_file_error(error, "read", s->temp, errno);
    if (code == FDL_OK)
        code = fdl_fd_copy(s->fd, s->temp, there, s->target, error);
    if (code == FDL_OK)
        code = fdl_fd_sync(there, s->target, error);
    snprintf(self, sizeof self, "/proc/self/fd/%d", there);
    if (code == FDL_OK && linkat(AT_FDCWD, self, AT_FDCWD, s->target, AT_SYMLINK_FOLLOW) != 0)
        *why = errno;
    if (code == FDL_OK && *why == 0) {
        close(s->fd);
        s->fd = there;
        unlink(s->temp);
        return FDL_OK;
    }
    close(there);
    return code;
}

/* One step of take_name: FDL_OK with *why 0 when the name is taken, with an errno when it is to be looked into. */
static fdl_code try_name(staged *s, bool create_only, int *why, fdl_error *error) {
    if (!create_only && is_folder(s->target)) { /* rename(2) would replace a symlink to a folder */
        *why = EISDIR;
        return FDL_OK;
    }
    int done = create_only ? fdl_rename_new(s->temp, s->target) : rename(s->temp, s->target);
    *why = done == 0 ? 0 : errno;
    return *why == EXDEV ? name_across(s, why, error) : FDL_OK;
}

/* Gives the staged file its name; tries again while others make and remove folders around it. */
static fdl_code take_name(const fdl_store *store, const char *key, staged *s, bool create_only, fdl_error *error) {
    for (int tries = 0; tries < TRIES_LIMIT; tries++) {
        int why;
        fdl_code code = try_name(s, create_only, &why, error);
        if (code == FDL_OK && why == 0) {
            free(s->temp);
            s->temp = NULL;
            return FDL_OK;
        }
        if (code == FDL_OK && (why == ENOENT || why == ENOTDIR))
            code = make_folders(store, key, s->target, error);
        else if (code == FDL_OK && (why == EEXIST || why == EISDIR || why == ENOTEMPTY) && is_folder(s->target))
            code = make_way(key, s->target, error);
        else if (code == FDL_OK && why == EEXIST && create_only)
            code = exists_already(key, error);
        else if (code == FDL_OK && why == EEXIST)
            code = fdl_fail(error, FDL_UNSUPPORTED, key,
                            "'%s' lies on another file system than '%s' and cannot be replaced there", key,
                            store->address);
        else if (code == FDL_OK && why != EISDIR && why != ENOTEMPTY)
            code = fdl_file_error(error, "write", s->target, why);
        if (code != FDL_OK)
            return code;
    }
    return fdl_fail(error, FDL_BUSY, key, "'%s' cannot be stored: others keep changing the folders above it", key);
}

/* ---- durability --------------------------------------------------------- */

/*
 * False where the file system does not tell when a folder was born, and for one
 * so young that another could have taken its place, its number and its time.
 */
static bool identify(const char *path, fdl_folder_id *id) {
    struct statx info;
    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &info) != 0 || !(info.stx_mask & STATX_BTIME) ||
        !fdl_file_time_tells(info.stx_btime.tv_sec, info.stx_btime.tv_nsec))
        return false;
    *id = (fdl_folder_id){.device = (uint64_t)info.stx_dev_major << 32 | info.stx_dev_minor,
                          .inode = info.stx_ino,
                          .born_s = info.stx_btime.tv_sec,
                          .born_ns = info.stx_btime.tv_nsec};
    return true;
}

static bool is_kept(fdl_folder_store *folder, const fdl_folder_id *id) {
    bool found = false;
    pthread_mutex_lock(&folder->kept_lock);
    for (size_t i = 0; i < FDL_FOLDERS_KEPT && !found; i++) {
        const fdl_folder_id *k = &folder->kept[i];
        found =
            k->inode == id->inode && k->device == id->device && k->born_s == id->born_s && k->born_ns == id->born_ns;
    }
    pthread_mutex_unlock(&folder->kept_lock);
    return found;
}

static void keep(fdl_folder_store *folder, const fdl_folder_id *id) {
    pthread_mutex_lock(&folder->kept_lock);
    folder->kept[folder->kept_next++ % FDL_FOLDERS_KEPT] = *id;
    pthread_mutex_unlock(&folder->kept_lock);
}

/*
 * Syncs the object's folder, and every one above it to the root: somebody else
 * may have made one of them and not have come to its sync yet.  Those above are
 * done once for each folder, since each sync is a wait for the disk.
 */
static fdl_code sync_folders(fdl_store *store, const char *target, fdl_error *error) {
    fdl_folder_store *folder = (fdl_folder_store *)store;
    size_t root_length = strlen(store->address);
    fdl_folder_id id;
    char *path;
    fdl_code code = fdl_str_copy(&path, target, error);
    if (code != FDL_OK)
        return code;
    strrchr(path, '/')[1] = '\0';
    bool known = identify(path, &id); /* before the syncs: they hold for this folder, not for a later one */
    bool kept = known && is_kept(folder, &id);
    for (size_t end = strlen(path); end >= root_length && code == FDL_OK; end--) {
        if (path[end - 1] != '/')
            continue;
        path[end] = '\0';
        code = fdl_folder_sync(path, error);
        if (code == FDL_NOT_FOUND)
            code = FDL_OK; /* deleted meanwhile, object and folder */
        if (kept)
            break;
    }
    if (code == FDL_OK && known && !kept)
        keep(folder, &id);
    free(path);
    return code;
}

fdl_code fdl_folder_sync_key(fdl_store *store, const char *key, fdl_error *error) {
    char *path = NULL;
    struct stat info;
    int fd;
    fdl_code code = fdl_folder_open(store, key, &fd, &info, error);
    if (code != FDL_OK)
        return code;
    code = fdl_folder_path(store, key, &path, error);
    if (code == FDL_OK)
        code = fdl_fd_sync(fd, path, error);
    if (code == FDL_OK)
        code = sync_folders(store, path, error);
    close(fd);
    free(path);
    return code;
}

/* The change is made, and all who look see it; what failed after it leaves open whether it outlives a crash. */
static fdl_code uncertain(const char *key, const fdl_error *cause, fdl_error *error) {
    return fdl_fail(error, FDL_UNCERTAIN, key, "the change of '%s' may not outlive a crash: %s", key, cause->message);
}

/* ---- put ---------------------------------------------------------------- */

/* What can be told without the lock and before any byte is copied.  What it lets pass is checked again later. */
static fdl_code check_early(const fdl_store *store, const char *key, const char *target, fdl_condition condition,
                            fdl_error *error) {
    struct stat info;
    if (condition.kind == FDL_IF_MATCH)
        return check_match(store, key, condition.etag, error);
    if (condition.kind == FDL_IF_ABSENT && stat(target, &info) == 0 && !S_ISDIR(info.st_mode))
        return exists_already(key, error);
    return FDL_OK;
}

static fdl_code stage(fdl_store *store, const char *key, const fdl_source *source, staged *s, fdl_error *error) {
    fdl_code code = source->path && source->given ? take_given(store, source, s, error) : FDL_OK;
    bool copied = code == FDL_OK && !s->temp;
    if (copied)
        code = create_temp(store, s, error);
    if (copied && code == FDL_OK)
        code = fill_temp(s, source, error);
    if (code == FDL_OK)
        code = fdl_fd_sync(s->fd, s->target, error);
    if (code == FDL_OK && source->sha256)
        code = check_sha256(s, key, source->sha256, error);
    return code;
}

static fdl_code publish(fdl_store *store, const char *key, staged *s, fdl_condition condition, fdl_error *error) {
    if (condition.kind == FDL_IF_ABSENT)
        return take_name(store, key, s, true, error);
    int lock;
    fdl_code code = fdl_folder_lock(store, &lock, error);
    if (code != FDL_OK)
        return code;
    if (condition.kind == FDL_IF_MATCH)
        code = check_match(store, key, condition.etag, error);
    if (code == FDL_OK)
        code = take_name(store, key, s, false, error);
    fdl_lock_release(lock);
    return code;
}

/* Makes the published object durable and describes it; only now, since taking a name changes the ctime. */
static fdl_code settle(fdl_store *store, const char *key, const staged *s, fdl_object *object, fdl_error *error) {
    fdl_error cause;
    fdl_object made;
    struct stat info;
    fdl_code code = sync_folders(store, s->target, &cause);
    if (code == FDL_OK && object && fstat(s->fd, &info) != 0)
        code = fdl_file_error(&cause, "read", key, errno);
    if (code == FDL_OK && object)
        code = fdl_folder_describe(s->fd, &info, key, &made, NULL, &cause);
    if (code != FDL_OK)
        return uncertain(key, &cause, error);
    if (object)
        *object = made;
    return FDL_OK;
}

fdl_code fdl_folder_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                        fdl_object *object, fdl_error *error) {
    staged s = {.fd = -1};
    fdl_code code = fdl_folder_path(store, key, &s.target, error);
    if (code == FDL_OK)
        code = check_early(store, key, s.target, condition, error);
    if (code == FDL_OK)
        code = stage(store, key, source, &s, error);
    if (code == FDL_OK)
        code = publish(store, key, &s, condition, error);
    if (code == FDL_OK)
        code = settle(store, key, &s, object, error);
    unstage(&s);
    return code;
}

/* ---- remove ------------------------------------------------------------- */

/* Whether there may be something to delete; what cannot be looked at, unlink(2) will explain. */
static bool may_exist(const char *path) {
    struct stat info;
    if (stat(path, &info) == 0)
        return S_ISREG(info.st_mode);
    return errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG;
}

/* Under the lock, where no object vanishes or becomes a folder unless we do it. */
static fdl_code unlink_if(const fdl_store *store, const char *key, const char *path, fdl_condition condition,
                          fdl_error *error) {
    if (condition.kind == FDL_IF_MATCH) {
        fdl_code code = check_match(store, key, condition.etag, error);
        if (code != FDL_OK)
            return code;
    }
    return may_exist(path) ? fdl_file_remove(path, error) : FDL_OK;
}

fdl_code fdl_folder_delete(fdl_store *store, const char *key, fdl_condition condition, fdl_error *error) {
    char *path;
    int lock;
    fdl_error cause;
    fdl_code code = fdl_folder_path(store, key, &path, error);
    if (code != FDL_OK)
        return code;
    if (condition.kind == FDL_IF_MATCH)
        code = check_match(store, key, condition.etag, error);
    else if (!may_exist(path))
        goto done; /* no need for the lock, nor for the folder it lies in */
    if (code == FDL_OK)
        code = fdl_folder_lock(store, &lock, error);
    if (code != FDL_OK)
        goto done;
    code = unlink_if(store, key, path, condition, error);
    fdl_lock_release(lock);
    if (code == FDL_OK && sync_folders(store, path, &cause) != FDL_OK)
        code = uncertain(key, &cause, error);
done:
    free(path);
    return code;
}
