/*
 * attach_local.c - catalogs kept on this machine, so that DuckDB reads them from
 * disk and only the data from afar.
 *
 *   $XDG_CACHE_HOME/fdl/catalogs/<sha256>.duckdb
 *
 * The name is what the file must hold, and it is looked at each time: damage is
 * only fetched again.  Who takes a file marks it as used first, under the lock
 * that whoever clears up holds, so nothing is deleted that was just handed out.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fdl.h"
#include "flow/catalog_get.h"
#include "flow/kept.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

#define LOCK_WAIT_MS 10000
#define UNUSED_LIMIT_S (30LL * 24 * 3600)

static fdl_code find_folder(char **out, fdl_error *error) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/') /* a relative one is to be ignored, says its specification */
        return fdl_str_format(out, error, "%s/fdl/catalogs", cache);
    if (home && *home == '/')
        return fdl_str_format(out, error, "%s/.cache/fdl/catalogs", home);
    return fdl_fail(error, FDL_USAGE, NULL, "there is no place to keep a catalog; set XDG_CACHE_HOME to a folder");
}

static fdl_code lock(const char *folder, int *fd, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_str_format(&path, error, "%s/lock", folder);
    if (code == FDL_OK)
        code = fdl_lock_take(path, LOCK_WAIT_MS, fd, error);
    free(path);
    return code;
}

/* ---- using ----------------------------------------------------------------------- */

/* A cache that we may only read is cleared up by whoever keeps it, and needs no mark of ours. */
static bool may_only_read(int why) {
    return why == EACCES || why == EPERM || why == EROFS;
}

/* One that was never attached to write has no .wal beside it, and DuckDB would read on in that. */
static fdl_code mark_as_used(const char *folder, const char *path, fdl_error *error) {
    char *wal = NULL;
    int fd = -1;
    fdl_code code = fdl_str_format(&wal, error, "%s.wal", path);
    if (code == FDL_OK)
        code = lock(folder, &fd, error);
    if (code == FDL_DENIED) /* nor is there a lock in it */
        code = FDL_OK;
    if (code == FDL_OK && utimensat(AT_FDCWD, path, NULL, 0) != 0 && errno != ENOENT && !may_only_read(errno))
        code = fdl_file_error(error, "mark", path, errno);
    if (code == FDL_OK && fdl_file_exists(wal))
        code = fdl_file_remove(wal, error);
    fdl_lock_release(fd);
    free(wal);
    return code;
}

static bool is_sound(const char *path, const fdl_file_record *file) {
    char sha256[FDL_SHA256_BYTES];
    uint64_t size = 0;
    fdl_error unseen;
    return fdl_sha256_file(path, sha256, &size, &unseen) == FDL_OK && strcmp(sha256, file->sha256) == 0;
}

/* ---- clearing up ------------------------------------------------------------------- */

static void remove_unused(const char *folder) {
    int fd = -1;
    fdl_error unseen;
    if (lock(folder, &fd, &unseen) != FDL_OK)
        return; /* the next one will */
    DIR *dir = opendir(folder);
    int64_t now = fdl_now_ms() / 1000;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        struct stat about;
        if (strcmp(entry->d_name, "lock") != 0 && fstatat(dirfd(dir), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(about.st_mode) && now - about.st_mtime > UNUSED_LIMIT_S)
            unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir)
        closedir(dir);
    fdl_lock_release(fd);
}

static void drop(const char *folder, const fdl_file_record *file) {
    char *path = NULL;
    if (file->sha256[0] && fdl_str_format(&path, NULL, "%s/%s.duckdb", folder, file->sha256) == FDL_OK)
        unlink(path);
    free(path);
}

void fdl_kept_drop(const fdl_version *version) {
    char *folder = NULL;
    if (find_folder(&folder, NULL) == FDL_OK) {
        drop(folder, &version->catalog.file);
        for (size_t i = 0; i < version->other_count; i++)
            drop(folder, &version->others[i].file);
    }
    free(folder);
}

/* ---- fetching ------------------------------------------------------------------------ */

/* Proved under a name of its own, then renamed: two at once do not meet. */
static fdl_code fetch(fdl_repo *repo, const fdl_location *location, const fdl_file_record *file, const char *path,
                      fdl_error *error) {
    char name[FDL_ID_BYTES];
    char *fresh = NULL;
    fdl_code code = fdl_uuid_v4(name, error);
    if (code == FDL_OK)
        code = fdl_str_format(&fresh, error, "%s.%s.new", path, name);
    if (code == FDL_OK && file == &location->version.catalog.file)
        code = fdl_catalog_download_watched(repo, &location->version, fresh, error);
    else if (code == FDL_OK)
        code = fdl_catalog_download_other(repo, &location->version, file, fresh, error);
    if (code == FDL_OK)
        code = fdl_file_rename(fresh, path, error);
    if (code != FDL_OK && fresh)
        unlink(fresh);
    free(fresh);
    return code;
}

static const fdl_file_record *chosen_file(const fdl_location *location) {
    const fdl_version *version = &location->version;
    for (size_t i = 0; i < version->other_count; i++)
        if (version->others[i].file.path == location->catalog_path)
            return &version->others[i].file;
    return &version->catalog.file;
}

fdl_code fdl_location_keep(fdl_repo *repo, fdl_location *location, fdl_error *error) {
    const fdl_file_record *file = chosen_file(location);
    char *folder = NULL, *path = NULL;
    fdl_code code = find_folder(&folder, error);
    if (code == FDL_OK)
        code = fdl_folder_make(folder, error);
    if (code == FDL_OK)
        code = fdl_str_format(&path, error, "%s/%s.duckdb", folder, file->sha256);
    if (code == FDL_OK)
        code = mark_as_used(folder, path, error);
    if (code == FDL_OK && !is_sound(path, file)) {
        code = access(folder, W_OK) == 0
                   ? fetch(repo, location, file, path, error)
                   : fdl_fail(error, FDL_DENIED, folder,
                              "'%s' has no catalog of that version and cannot be written to; set XDG_CACHE_HOME to a "
                              "folder of yours",
                              folder);
        if (code == FDL_OK)
            remove_unused(folder);
    }
    if (code == FDL_OK) {
        free(location->local_path);
        location->local_path = path;
        path = NULL;
    }
    free(path);
    free(folder);
    return code;
}
