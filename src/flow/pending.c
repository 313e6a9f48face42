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
#include "util/parallel.h"
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
#define MISSING UINT64_MAX

typedef struct check {
    fdl_repo *repo;
    const char *data_dir;
    const char *local_folder;
    const fdl_needed *needed;
    uint64_t *found; /* the size of each file, or MISSING */
} check;

/* The size in the folder of new files; MISSING when it is not there. */
static fdl_code look_local(const check *c, const char *file, uint64_t *found, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_str_format(&path, error, "%s%s", c->local_folder, file);
    if (code == FDL_OK && fdl_file_exists(path))
        code = fdl_file_size(path, found, error);
    free(path);
    return code;
}

static fdl_code look_stored(const check *c, const char *file, uint64_t *found, fdl_error *error) {
    char *key = NULL;
    fdl_object object = {0};
    fdl_code code = fdl_str_format(&key, error, "%s%s", c->data_dir, file);
    if (code == FDL_OK)
        code = fdl_store_head(fdl_repo_store(c->repo), key, &object, error);
    if (code == FDL_OK)
        *found = object.size_bytes;
    free(key);
    return code == FDL_NOT_FOUND ? FDL_OK : code;
}

static fdl_code look(void *data, size_t index, fdl_error *error) {
    const check *c = data;
    const fdl_needed_file *file = &c->needed->items[index];
    uint64_t *found = &c->found[index];
    fdl_store *store = fdl_repo_store(c->repo);
    fdl_code code = FDL_OK;
    *found = MISSING;
    if (!file->is_new && !store->local) {
        *found = file->size_bytes; /* the parent's push looked at it */
        return FDL_OK;
    }
    if (c->local_folder)
        code = look_local(c, file->path, found, error);
    if (code == FDL_OK && *found != file->size_bytes)
        code = look_stored(c, file->path, found, error);
    return code;
}

static fdl_code report(const check *c, fdl_error *error) {
    fdl_buf text;
    fdl_buf_init(&text, FDL_MESSAGE_LIMIT_BYTES * 4);
    size_t bad = 0;
    fdl_code code = FDL_OK;
    const fdl_needed_file *first = NULL;
    for (size_t i = 0; i < c->needed->count && code == FDL_OK; i++) {
        const fdl_needed_file *file = &c->needed->items[i];
        if (c->found[i] == file->size_bytes)
            continue;
        first = first ? first : file;
        if (++bad > NAMED_LIMIT)
            continue;
        code = fdl_buf_add_format(&text, error, "%s'%s' ", bad > 1 ? ", " : "", file->path);
        if (code == FDL_OK)
            code = c->found[i] == MISSING
                       ? fdl_buf_add_str(&text, "(missing)", error)
                       : fdl_buf_add_format(&text, error, "(%" PRIu64 " bytes, the catalog says %" PRIu64 ")",
                                            c->found[i], file->size_bytes);
    }
    if (code == FDL_OK && bad > 0)
        code = fdl_fail(error, FDL_REFUSED, first->path, "%zu data file%s not there as the catalog says: %s%s", bad,
                        bad == 1 ? " is" : "s are", text.data, bad > NAMED_LIMIT ? ", ..." : "");
    fdl_buf_clear(&text);
    return code;
}

fdl_code fdl_needed_check(fdl_repo *repo, const char *local_folder, const fdl_needed *needed, fdl_error *error) {
    const fdl_config *config = NULL;
    check c = {.repo = repo, .local_folder = local_folder, .needed = needed};
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK && needed->count > 0)
        code = fdl_alloc(&c.found, needed->count, sizeof *c.found, error);
    if (code == FDL_OK && needed->count > 0) {
        c.data_dir = config->data_dir;
        int jobs = fdl_repo_store(repo)->local ? 1 : fdl_repo_context(repo)->jobs;
        code = fdl_parallel(needed->count, jobs, look, &c, error);
        if (code == FDL_OK)
            code = report(&c, error);
    }
    free(c.found);
    return code;
}
