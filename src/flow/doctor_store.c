/*
 * doctor_store.c - what readers and writers rely on below a repository: exact
 * parts over HTTP, clocks that agree, room and permission in a folder, and a
 * store that keeps its promises.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "flow/doctor.h"
#include "store/http.h"
#include "store/promises.h"
#include "store/s3.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

#define CLOCK_LIMIT_MS (INT64_C(60) * 1000) /* answers take their time, and tell whole seconds */
#define ROOM_LIMIT_BYTES (UINT64_C(1) << 30)

/* ---- clocks ------------------------------------------------------------------------- */

static void tell_clock(const doctor *d, const char *whose, int64_t ahead_ms) {
    long long seconds = (long long)((ahead_ms < 0 ? -ahead_ms : ahead_ms) / 1000);
    if (ahead_ms < CLOCK_LIMIT_MS && ahead_ms > -CLOCK_LIMIT_MS)
        fdl_doctor_tell(d, "clock", FDL_HEALTH_OK, "agrees with that of %s", whose);
    else
        fdl_doctor_tell(d, "clock", FDL_HEALTH_WARNING,
                        "%lld seconds %s that of %s: versions get wrong times, gc's grace may be cut, and requests may be "
                        "refused; set it, by NTP for one",
                        seconds, ahead_ms > 0 ? "behind" : "ahead of", whose);
}

/* ---- a web server ------------------------------------------------------------------- */

void fdl_doctor_web_server(const doctor *d, const char *name, fdl_store *store, const char *key, bool with_clock) {
    fdl_http_manners manners;
    fdl_error error;
    fdl_code code = fdl_http_look(store, key, &manners, &error);
    if (code == FDL_UNSUPPORTED)
        return;
    if (code != FDL_OK)
        fdl_doctor_tell(d, name, FDL_HEALTH_BROKEN, "%s", error.message);
    else if (!manners.parts)
        fdl_doctor_tell(d, name, FDL_HEALTH_WARNING,
                        "'%s' sends all of a file where a part is asked for, so readers fetch whole files for a few rows: "
                        "turn range requests on",
                        store->address);
    else if (!manners.strong_etag)
        fdl_doctor_tell(d, name, FDL_HEALTH_WARNING,
                        "'%s' sends no strong ETag, so a read that breaks off cannot go on: turn ETags on", store->address);
    else
        fdl_doctor_tell(d, name, FDL_HEALTH_OK, "exact parts of files, with an ETag, not compressed");
    if (code == FDL_OK && with_clock && manners.tells_time)
        tell_clock(d, store->address, manners.ahead_ms);
}

/* ---- a folder ------------------------------------------------------------------------ */

static void look_at_room(const doctor *d, const char *folder) {
    struct statvfs disk;
    char left[32];
    if (statvfs(folder, &disk) != 0)
        return;
    uint64_t bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    fdl_size_text(bytes, left);
    if (bytes < ROOM_LIMIT_BYTES)
        fdl_doctor_tell(d, "room", FDL_HEALTH_WARNING,
                        "%s left on the disk of '%s': make room; 'fdl gc' deletes what no version needs", left, folder);
    else
        fdl_doctor_tell(d, "room", FDL_HEALTH_OK, "%s left on the disk of '%s'", left, folder);
}

/* Somebody who ran fdl as root once leaves folders that others cannot write to. */
static bool may_write(const doctor *d, const char *root, const char *below) {
    char *path = NULL;
    fdl_error error;
    bool may = fdl_str_format(&path, &error, "%s%s", root, below) != FDL_OK || access(path, F_OK) != 0 ||
               access(path, W_OK | X_OK) == 0;
    if (!may)
        fdl_doctor_tell(d, "permissions", FDL_HEALTH_MISSING,
                        "cannot write to '%s' (%s), so nothing can be published from here: have its owner allow it", path,
                        errno == EROFS ? "read-only file system" : "no permission");
    free(path);
    return may;
}

static bool look_at_folder(const doctor *d, fdl_repo *repo) {
    const fdl_config *config = NULL;
    const char *root = fdl_repo_address(repo);
    fdl_error ignored;
    bool known = fdl_repo_config(repo, &config, &ignored) == FDL_OK;
    const char *const folders[] = {"", ".fdl", "versions", "refs", "refs/heads", "refs/tags", known ? config->data_dir : ""};
    bool may = true;
    look_at_room(d, root);
    for (size_t i = 0; i < sizeof folders / sizeof *folders && may; i++)
        may = may_write(d, root, folders[i]);
    return may;
}

/* ---- what every store promises --------------------------------------------------------- */

/* Who may not write finds a repository to read; that is what most people come for. */
static void tell_unwritable(const doctor *d, fdl_store *store, const fdl_error *error) {
    if (error->code == FDL_UNSUPPORTED)
        fdl_doctor_tell(d, "store", FDL_HEALTH_OK, "to read: a plain web server takes no writes");
    else if (error->code == FDL_DENIED)
        fdl_doctor_tell(d, "store", FDL_HEALTH_MISSING, "to read only: %s", error->message);
    else
        fdl_doctor_tell(d, "store", FDL_HEALTH_BROKEN, "'%s': %s", store->address, error->message);
}

static void look_at_promises(const doctor *d, fdl_store *store) {
    fdl_promises promises;
    fdl_error error;
    bool vouched = false;
    fdl_code code = fdl_store_vouched(store, &vouched, &error);
    if (code == FDL_OK && vouched) {
        fdl_doctor_tell(d, "store", FDL_HEALTH_OK, "a host, which takes pushes and vouches for conditional writes");
        return;
    }
    if (code == FDL_OK)
        code = fdl_store_check_promises(store, &promises, &error);
    if (code != FDL_OK) {
        tell_unwritable(d, store, &error);
        return;
    }
    for (size_t i = 0; i < FDL_PROMISE_COUNT; i++)
        fdl_doctor_tell(d, promises.items[i].name, promises.items[i].kept ? FDL_HEALTH_OK : FDL_HEALTH_BROKEN, "%s",
                        promises.items[i].kept ? "kept" : promises.items[i].detail);
}

static void look_at_old_states(const doctor *d, fdl_store *store) {
    bool keeps = false;
    fdl_error error;
    if (fdl_s3_keeps_versions(store, &keeps, &error) != FDL_OK)
        fdl_doctor_tell(d, "old states", FDL_HEALTH_WARNING, "%s", error.message);
    else
        fdl_doctor_tell(d, "old states", FDL_HEALTH_OK,
                        keeps ? "the bucket keeps old versions of objects: 'withdraw' deletes them one by one, and needs the "
                                "right to"
                              : "the bucket keeps none: what is deleted is gone");
}

/* Where nobody made a repository, the place of the scratch key is ours; rmdir takes it only when nothing is in it. */
static void leave_nothing(const char *root) {
    char *path = NULL;
    if (fdl_str_format(&path, NULL, "%s.fdl", root) == FDL_OK)
        rmdir(path);
    free(path);
}

void fdl_doctor_store(const doctor *d, fdl_repo *repo) {
    const fdl_config *config = NULL;
    fdl_store *store = fdl_repo_store(repo);
    fdl_s3_place place;
    int64_t now_ms = 0;
    fdl_error ignored;
    bool folder = strcmp(store->ops->kind, "folder") == 0;
    if (folder && (access(store->address, F_OK) != 0 || !look_at_folder(d, repo)))
        return; /* the promises need a place to try them */
    if (fdl_s3_describe(store, &place)) {
        look_at_old_states(d, store);
        if (fdl_store_clock(store, &now_ms, &ignored) == FDL_OK)
            tell_clock(d, store->address, now_ms - fdl_now_ms());
    }
    look_at_promises(d, store);
    if (folder && fdl_repo_config(repo, &config, &ignored) == FDL_NOT_FOUND)
        leave_nothing(store->address);
}
