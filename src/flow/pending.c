/*
 * pending.c - versions committed and not pushed, and the data files they need.
 */
#include "flow/pending.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "repo/layout.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

#define PENDING_LIMIT 100000
#define FILES_LIMIT_BYTES ((size_t)4 << 30)

/* ---- the list ------------------------------------------------------------- */

fdl_code fdl_pending_file(const fdl_work *work, const char *id, const char *name, char **out, fdl_error *error) {
    return fdl_str_format(out, error, "%s/pending/%s%s%s", work->folder, id, *name ? "/" : "", name);
}

static fdl_code read_version(const fdl_work *work, const char *id, fdl_version *out, fdl_error *error) {
    char *path = NULL, *bytes = NULL;
    size_t length = 0;
    fdl_code code = fdl_pending_file(work, id, FDL_FILE_VERSION, &path, error);
    if (code == FDL_OK)
        code = fdl_file_read(path, FDL_LIMIT_VERSION_BYTES, &bytes, &length, error);
    if (code == FDL_OK)
        code = fdl_version_parse(bytes, length, id, out, error);
    free(bytes);
    free(path);
    return code;
}

static int by_seq(const void *a, const void *b) {
    const fdl_version *left = a, *right = b;
    return left->seq < right->seq ? -1 : left->seq > right->seq;
}

/* A version that was pushed just before a crash is still there: it is the base itself. */
static fdl_code check_chain(const fdl_work *work, const fdl_pending *pending, fdl_error *error) {
    const char *parent = work->base.id;
    for (size_t i = 0; i < pending->count; i++) {
        const fdl_version *version = &pending->items[i];
        if (strcmp(version->parent, parent) != 0)
            return fdl_fail(error, FDL_FAILED, work->path,
                            "pending version '%s' in '%s' does not follow from '%s'; move its folder away and commit "
                            "again",
                            version->id, work->folder, *parent ? parent : "an empty repository");
        parent = version->id;
    }
    return FDL_OK;
}

static fdl_code add_version(const fdl_work *work, const char *id, fdl_pending *pending, fdl_error *error) {
    if (pending->count == PENDING_LIMIT)
        return fdl_fail(error, FDL_FAILED, work->path, "more than %d versions are pending; push them", PENDING_LIMIT);
    fdl_code code = fdl_grow(&pending->items, pending->count, sizeof *pending->items, error);
    if (code != FDL_OK)
        return code;
    fdl_version *version = &pending->items[pending->count];
    memset(version, 0, sizeof *version);
    code = read_version(work, id, version, error);
    pending->count++;
    return code;
}

fdl_code fdl_pending_read(const fdl_work *work, fdl_pending *out, fdl_error *error) {
    fdl_pending pending = {0};
    char *folder = NULL;
    DIR *dir = NULL;
    fdl_code code = fdl_work_file(work, "pending", &folder, error);
    if (code == FDL_OK && !(dir = opendir(folder)) && errno != ENOENT)
        code = fdl_file_error(error, "list", folder, errno);
    for (struct dirent *entry; code == FDL_OK && dir && (entry = readdir(dir));)
        if (fdl_uuid_valid(entry->d_name) && strcmp(entry->d_name, work->base.id) != 0)
            code = add_version(work, entry->d_name, &pending, error);
    if (dir)
        closedir(dir);
    if (code == FDL_OK && pending.count > 1)
        qsort(pending.items, pending.count, sizeof *pending.items, by_seq);
    if (code == FDL_OK)
        code = check_chain(work, &pending, error);
    if (code == FDL_OK)
        *out = pending;
    else
        fdl_pending_clear(&pending);
    free(folder);
    return code;
}

void fdl_pending_clear(fdl_pending *pending) {
    for (size_t i = 0; i < pending->count; i++)
        fdl_version_clear(&pending->items[i]);
    free(pending->items);
    *pending = (fdl_pending){0};
}

/* ---- files.txt --------------------------------------------------------------- */

void fdl_needed_clear(fdl_needed *needed) {
    for (size_t i = 0; i < needed->count; i++)
        free(needed->items[i].path);
    free(needed->items);
    *needed = (fdl_needed){0};
}

static fdl_code add_line(const char *path, char *line, fdl_needed *needed, fdl_error *error) {
    char *end = NULL;
    errno = 0;
    uint64_t size = (line[0] == '+' || line[0] == '=') && line[1] == ' ' ? strtoull(line + 2, &end, 10) : 0;
    if (!end || end == line + 2 || *end != ' ' || end[1] == '\0' || errno != 0)
        return fdl_fail(error, FDL_FAILED, path, "'%s' is broken: line %zu is no data file", path, needed->count + 1);
    fdl_code code = fdl_grow(&needed->items, needed->count, sizeof *needed->items, error);
    if (code != FDL_OK)
        return code;
    fdl_needed_file *file = &needed->items[needed->count];
    *file = (fdl_needed_file){.size_bytes = size, .is_new = line[0] == '+'};
    code = fdl_str_copy(&file->path, end + 1, error);
    if (code == FDL_OK)
        needed->count++;
    return code;
}

fdl_code fdl_needed_read(const char *path, fdl_needed *out, fdl_error *error) {
    fdl_needed needed = {0};
    char *bytes = NULL, *rest = NULL;
    size_t length = 0;
    fdl_code code = fdl_file_read(path, FILES_LIMIT_BYTES, &bytes, &length, error);
    for (char *line = bytes; code == FDL_OK && line && *line; line = rest) {
        rest = strchr(line, '\n');
        if (rest)
            *rest++ = '\0';
        code = add_line(path, line, &needed, error);
    }
    if (code == FDL_OK)
        *out = needed;
    else
        fdl_needed_clear(&needed);
    free(bytes);
    return code;
}

fdl_code fdl_needed_write(const char *path, const fdl_needed *needed, fdl_error *error) {
    fdl_buf text;
    fdl_buf_init(&text, FILES_LIMIT_BYTES);
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < needed->count && code == FDL_OK; i++) {
        const fdl_needed_file *file = &needed->items[i];
        code = fdl_buf_add_format(&text, error, "%c %" PRIu64 " %s\n", file->is_new ? '+' : '=', file->size_bytes,
                                  file->path);
    }
    if (code == FDL_OK)
        code = fdl_file_write(path, text.data ? text.data : "", text.length, error);
    fdl_buf_clear(&text);
    return code;
}

/* ---- are they there? ----------------------------------------------------------- */

#define NAMED_LIMIT 3

typedef struct missing_list {
    size_t count;
    fdl_buf text; /* the first few, for the message */
} missing_list;

static fdl_code missing_add(missing_list *missing, const fdl_needed_file *file, const char *found, fdl_error *error) {
    if (missing->count++ >= NAMED_LIMIT)
        return FDL_OK;
    return fdl_buf_add_format(&missing->text, error, "%s'%s' (%s)", missing->count > 1 ? ", " : "", file->path, found);
}

/* `*there` when the file lies in the folder of new files with the right size. */
static fdl_code look_local(const char *local_folder, const fdl_needed_file *file, bool *there, fdl_error *error) {
    char *path = NULL;
    uint64_t size = 0;
    fdl_code code = fdl_str_format(&path, error, "%s%s", local_folder, file->path);
    *there = code == FDL_OK && fdl_file_exists(path) && fdl_file_size(path, &size, error) == FDL_OK &&
             size == file->size_bytes;
    free(path);
    return code;
}

static fdl_code look(fdl_repo *repo, const char *data_dir, const fdl_needed_file *file, missing_list *missing,
                     fdl_error *error) {
    char *key = NULL;
    fdl_object object = {0};
    fdl_code code = fdl_str_format(&key, error, "%s%s", data_dir, file->path);
    if (code == FDL_OK)
        code = fdl_store_head(fdl_repo_store(repo), key, &object, error);
    if (code == FDL_NOT_FOUND) {
        code = missing_add(missing, file, "missing", error);
    } else if (code == FDL_OK && object.size_bytes != file->size_bytes) {
        char found[96];
        snprintf(found, sizeof found, "%" PRIu64 " bytes, the catalog says %" PRIu64, object.size_bytes,
                 file->size_bytes);
        code = missing_add(missing, file, found, error);
    }
    free(key);
    return code;
}

fdl_code fdl_needed_check(fdl_repo *repo, const char *local_folder, const fdl_needed *needed, fdl_error *error) {
    const fdl_config *config = NULL;
    missing_list missing = {0};
    fdl_buf_init(&missing.text, FDL_MESSAGE_LIMIT_BYTES * 4);
    bool look_at_all = fdl_repo_store(repo)->local;
    fdl_code code = fdl_repo_config(repo, &config, error);
    for (size_t i = 0; i < needed->count && code == FDL_OK; i++) {
        const fdl_needed_file *file = &needed->items[i];
        bool there = false;
        if (!file->is_new && !look_at_all)
            continue;
        if (local_folder)
            code = look_local(local_folder, file, &there, error);
        if (code == FDL_OK && !there)
            code = look(repo, config->data_dir, file, &missing, error);
    }
    if (code == FDL_OK && missing.count > 0)
        code = fdl_fail(error, FDL_REFUSED, missing.text.data,
                        "%zu data file%s that the catalog names %s not there as written: %s%s", missing.count,
                        missing.count == 1 ? "" : "s", missing.count == 1 ? "is" : "are", missing.text.data,
                        missing.count > NAMED_LIMIT ? ", ..." : "");
    fdl_buf_clear(&missing.text);
    return code;
}
