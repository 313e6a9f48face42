/*
 * pending.c - versions committed and not pushed, and their lists of data files.
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

fdl_code fdl_needed_add(void *data, const fdl_data_file *file, fdl_error *error) {
    fdl_needed *needed = data;
    fdl_code code = fdl_grow(&needed->items, needed->count, sizeof *needed->items, error);
    if (code != FDL_OK)
        return code;
    fdl_needed_file *item = &needed->items[needed->count];
    *item = (fdl_needed_file){.size_bytes = (uint64_t)file->size_bytes, .is_new = true};
    code = fdl_str_copy(&item->path, file->path, error);
    if (code == FDL_OK)
        needed->count++;
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
