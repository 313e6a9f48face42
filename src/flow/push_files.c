/*
 * push_files.c - steps 1 to 4 of a push.
 *
 *   1 data files, originals     several at once
 *   2 catalogs                  one by one from here on
 *   3 dataset.json, files.json
 *   4 version.json.sig, version.json
 *
 * and then another look at what is there, right before the ref moves.
 *
 * All of them are known beforehand.  Group by group they are announced to the
 * store, which may know that some are there already, and then sent; a group has
 * so few files that the addresses a host gives out last until they are used.
 */
#include "flow/push_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flow/meter.h"
#include "flow/pending.h"
#include "flow/relied.h"
#include "flow/sources.h"
#include "flow/upload.h"
#include "repo/layout.h"
#include "util/file.h"
#include "util/parallel.h"
#include "util/text.h"

#define GROUP 250

typedef struct item {
    char *key;
    char *path; /* NULL: DuckDB wrote it into the repository itself, and it only has to be made durable */
    char sha256[FDL_SHA256_BYTES]; /* "": not known */
    uint64_t size_bytes;
    bool often_there; /* looked for before it is sent */
    bool spare;       /* readers do without it */
    bool there;
    bool sent; /* by this very run */
} item;

typedef struct upload {
    const fdl_push_from *from;
    const fdl_version *version;
    fdl_store *store;
    item *items; /* in the order of the steps */
    size_t count;
    size_t unordered; /* so many of them, the first ones, are of step 1 */
    fdl_needed needed; /* the data files that it names */
    fdl_sent *sent;
    fdl_meter *meter;
} upload;

static void upload_clear(upload *u) {
    for (size_t i = 0; i < u->count; i++) {
        free(u->items[i].key);
        free(u->items[i].path);
    }
    free(u->items);
    fdl_needed_clear(&u->needed);
}

/* ---- what there is to send ------------------------------------------------------ */

/* Takes `path` over, and may be given NULL for it. */
static fdl_code add(upload *u, const char *key, char *path, const char *sha256, item **out, fdl_error *error) {
    fdl_code code = fdl_grow(&u->items, u->count, sizeof *u->items, error);
    if (code != FDL_OK) {
        free(path);
        return code;
    }
    item *made = &u->items[u->count++];
    *made = (item){.path = path};
    code = fdl_str_copy(&made->key, key, error);
    if (sha256)
        fdl_str_fit(made->sha256, sizeof made->sha256, sha256);
    if (code == FDL_OK && path)
        code = fdl_file_size(path, &made->size_bytes, error);
    if (out)
        *out = made;
    return code;
}

static fdl_code add_data_file(upload *u, const fdl_needed_file *file, fdl_error *error) {
    char *key = NULL, *local = NULL;
    fdl_code code = fdl_str_format(&key, error, "%s%s", u->from->config->data_dir, file->path);
    if (code == FDL_OK && u->from->local_data)
        code = fdl_str_format(&local, error, "%s%s", u->from->local_data, file->path);
    if (local && !fdl_file_exists(local)) {
        free(local);
        local = NULL;
    }
    if (code == FDL_OK)
        code = add(u, key, local, NULL, NULL, error);
    else
        free(local);
    free(key);
    return code;
}

static fdl_code add_data(upload *u, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_pending_file(u->from->work, u->version->id, "files.txt", &path, error);
    if (code == FDL_OK)
        code = fdl_needed_read(path, &u->needed, error);
    if (code == FDL_OK)
        code = fdl_needed_check(u->from->repo, u->from->local_data, &u->needed, error);
    for (size_t i = 0; code == FDL_OK && i < u->needed.count; i++) {
        if (u->needed.items[i].is_new)
            code = add_data_file(u, &u->needed.items[i], error);
    }
    free(path);
    return code;
}

/* The same bytes are often there already, from the version before: large ones are not sent to find that out. */
static fdl_code add_source(upload *u, const char *folder, const char *sha256, fdl_error *error) {
    char key[FDL_SOURCE_KEY_BYTES];
    char *path = NULL;
    item *made = NULL;
    fdl_source_key(key, sha256);
    fdl_code code = fdl_str_format(&path, error, "%s/%s", folder, sha256);
    if (code == FDL_OK)
        code = add(u, key, path, sha256, &made, error);
    if (code == FDL_OK)
        made->often_there = true;
    return code;
}

static fdl_code add_sources(upload *u, fdl_error *error) {
    char *folder = NULL;
    DIR *dir = NULL;
    fdl_code code = fdl_pending_file(u->from->work, u->version->id, FDL_FOLDER_SOURCES, &folder, error);
    if (code == FDL_OK && !(dir = opendir(folder)) && errno != ENOENT)
        code = fdl_file_error(error, "list", folder, errno);
    for (struct dirent *entry; code == FDL_OK && dir && (entry = readdir(dir));)
        if (strlen(entry->d_name) == FDL_SHA256_BYTES - 1)
            code = add_source(u, folder, entry->d_name, error);
    if (dir)
        closedir(dir);
    free(folder);
    return code;
}

static fdl_code add_version_file(upload *u, const char *name, const char *sha256, bool optional, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *path = NULL;
    fdl_code code = fdl_key_version(key, u->version->id, name, error);
    if (code == FDL_OK)
        code = fdl_pending_file(u->from->work, u->version->id, name, &path, error);
    if (code == FDL_OK && (!optional || fdl_file_exists(path)))
        return add(u, key, path, sha256, NULL, error);
    free(path);
    return code;
}

static fdl_code add_record(upload *u, const fdl_file_record *record, fdl_error *error) {
    return record->path ? add_version_file(u, record->path, record->sha256, false, error) : FDL_OK;
}

static fdl_code add_packed(upload *u, fdl_error *error) {
    size_t place = u->count;
    fdl_code code = add_record(u, &u->version->packed, error);
    if (u->count > place)
        u->items[place].spare = true;
    return code;
}

static fdl_code add_all(upload *u, fdl_error *error) {
    fdl_code code = add_data(u, error);
    if (code == FDL_OK)
        code = add_sources(u, error);
    u->unordered = u->count;
    if (code == FDL_OK)
        code = add_record(u, &u->version->catalog.file, error);
    for (size_t i = 0; i < u->version->other_count && code == FDL_OK; i++)
        code = add_record(u, &u->version->others[i].file, error);
    if (code == FDL_OK)
        code = add_packed(u, error);
    if (code == FDL_OK)
        code = add_record(u, &u->version->dataset, error);
    if (code == FDL_OK)
        code = add_record(u, &u->version->files, error);
    if (code == FDL_OK) /* before the record that it is about, so that no reader finds a signed version unsigned */
        code = add_version_file(u, FDL_FILE_SIGNATURE, NULL, true, error);
    if (code == FDL_OK)
        code = add_version_file(u, FDL_FILE_VERSION, NULL, false, error);
    for (size_t i = 0; i < u->count; i++)
        fdl_meter_expect(u->meter, u->items[i].path ? 1 : 0, u->items[i].size_bytes);
    return code;
}

/* ---- sending ------------------------------------------------------------------------ */

static fdl_code announce(upload *u, size_t start, size_t end, fdl_error *error) {
    fdl_announced files[GROUP];
    size_t places[GROUP];
    size_t count = 0;
    for (size_t i = start; i < end; i++) {
        const item *one = &u->items[i];
        if (!one->path)
            continue;
        places[count] = i;
        files[count++] = (fdl_announced){.key = one->key,
                                         .path = one->path,
                                         .size_bytes = one->size_bytes,
                                         .sha256 = one->sha256[0] ? one->sha256 : NULL};
    }
    fdl_code code = fdl_store_announce(u->store, files, count, error);
    for (size_t i = 0; code == FDL_OK && i < count; i++)
        u->items[places[i]].there = files[i].there;
    return code;
}

static fdl_code upload_one(upload *u, item *one, fdl_error *error) {
    fdl_sent mine = {0};
    fdl_code code =
        fdl_upload(u->store, one->key, one->path, false, one->sha256[0] ? one->sha256 : NULL, &mine, u->meter, error);
    one->sent = mine.files > 0;
    __atomic_add_fetch(&u->sent->files, mine.files, __ATOMIC_RELAXED);
    __atomic_add_fetch(&u->sent->bytes, mine.bytes, __ATOMIC_RELAXED);
    return code;
}

static fdl_code send_one(void *data, size_t index, fdl_error *error) {
    upload *u = data;
    item *one = &u->items[index];
    uint64_t size = 0;
    fdl_error unseen;
    if (!one->path)
        return fdl_store_sync(u->store, one->key, error);
    if (one->often_there && !one->there)
        one->there = fdl_store_size(u->store, one->key, &size, &unseen) == FDL_OK && size == one->size_bytes;
    if (!one->there)
        return upload_one(u, one, error);
    fdl_meter_moved(u->meter, (int64_t)one->size_bytes);
    fdl_meter_file(u->meter);
    return FDL_OK;
}

typedef struct group {
    upload *u;
    size_t start;
} group;

static fdl_code send_of_group(void *data, size_t index, fdl_error *error) {
    const group *g = data;
    return send_one(g->u, g->start + index, error);
}

static fdl_code send_group(upload *u, size_t start, size_t end, fdl_error *error) {
    group g = {.u = u, .start = start};
    size_t border = end < u->unordered ? end : u->unordered > start ? u->unordered : start;
    fdl_code code = announce(u, start, end, error);
    if (code == FDL_OK)
        code = fdl_parallel(border - start, fdl_repo_context(u->from->repo)->jobs, send_of_group, &g, error);
    for (size_t i = border; code == FDL_OK && i < end; i++)
        code = send_one(u, i, error);
    return code;
}

/* ---- looking again ------------------------------------------------------------------- */

/*
 * Where a listing tells, we look at everything; else only at what somebody had
 * sent before us, unless that was said by a host, who looks itself before it
 * moves a ref.  What the parent names too is safe while the branch holds that;
 * originals are not ours to miss.
 */
static bool is_relied_on(const upload *u, const item *one) {
    return !one->spare && (u->store->can_list || (!one->sent && !one->there));
}

static fdl_code collect(const upload *u, fdl_relied *relied, fdl_error *error) {
    size_t place = 0; /* new data files are the first items, in the same order */
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < u->needed.count; i++) {
        const fdl_needed_file *file = &u->needed.items[i];
        if (file->is_new ? is_relied_on(u, &u->items[place++]) : !u->from->parent_is_held)
            code = fdl_relied_add(relied, u->from->config->data_dir, file->path, file->size_bytes, error);
    }
    for (size_t i = u->unordered; code == FDL_OK && i < u->count; i++)
        if (is_relied_on(u, &u->items[i]))
            code = fdl_relied_add(relied, "", u->items[i].key, u->items[i].size_bytes, error);
    return code;
}

static fdl_code look_again(const upload *u, fdl_error *error) {
    fdl_relied relied = {0};
    fdl_code code = collect(u, &relied, error);
    if (code == FDL_OK)
        code = fdl_relied_look(u->from->repo, &relied, error);
    if (code == FDL_OK && relied.count > 0)
        code = fdl_fail(error, FDL_REFUSED, relied.items[0].key,
                        "'%s' was deleted while the version was on its way, so the branch was not moved; push again, "
                        "and if the file is missing still, redo the work on a new checkout",
                        relied.items[0].key);
    fdl_relied_clear(&relied);
    return code;
}

fdl_code fdl_push_files(const fdl_push_from *from, const fdl_version *version, fdl_sent *sent, fdl_error *error) {
    upload u = {.from = from, .version = version, .store = fdl_repo_store(from->repo), .sent = sent};
    u.meter = fdl_meter_start(fdl_repo_context(from->repo), "uploading");
    fdl_code code = add_all(&u, error);
    for (size_t start = 0; code == FDL_OK && start < u.count; start += GROUP)
        code = send_group(&u, start, start + GROUP < u.count ? start + GROUP : u.count, error);
    if (code == FDL_OK)
        code = look_again(&u, error);
    fdl_meter_end(u.meter);
    upload_clear(&u);
    return code;
}
