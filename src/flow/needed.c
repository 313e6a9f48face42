/*
 * needed.c - whether the data files that a version needs are there.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "flow/lookup.h"
#include "flow/pending.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/text.h"

#define NAMED_LIMIT 3

typedef struct check {
    fdl_repo *repo;
    const char *data_dir;
    const char *local_folder;
    const fdl_needed *needed;
    uint64_t *found; /* the size of each file, or FDL_MISSING */
    char **keys;     /* of those to be looked for in the store */
    size_t *places;  /* in `found` */
    uint64_t *sizes;
    size_t count;
} check;

/* The size in the folder of new files; FDL_MISSING when it is not there. */
static fdl_code look_local(const check *c, const char *file, uint64_t *found, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_str_format(&path, error, "%s%s", c->local_folder, file);
    if (code == FDL_OK && fdl_file_exists(path))
        code = fdl_file_size(path, found, error);
    free(path);
    return code;
}

/* Which of them are to be looked for in the store. */
static fdl_code sort_out(check *c, fdl_error *error) {
    fdl_code code = FDL_OK;
    bool local = fdl_repo_store(c->repo)->local;
    for (size_t i = 0; code == FDL_OK && i < c->needed->count; i++) {
        const fdl_needed_file *file = &c->needed->items[i];
        c->found[i] = file->is_new || local ? FDL_MISSING : file->size_bytes; /* the parent's push looked at it */
        if (c->found[i] == FDL_MISSING && c->local_folder)
            code = look_local(c, file->path, &c->found[i], error);
        if (code != FDL_OK || c->found[i] == file->size_bytes)
            continue;
        c->places[c->count] = i;
        code = fdl_str_format(&c->keys[c->count++], error, "%s%s", c->data_dir, file->path);
    }
    return code;
}

static fdl_code report(const check *c, fdl_error *error) {
    fdl_buf text;
    fdl_buf_init(&text, FDL_MESSAGE_LIMIT_BYTES * 4);
    char key[FDL_KEY_LIMIT_BYTES];
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
            code = c->found[i] == FDL_MISSING
                       ? fdl_buf_add_str(&text, "(missing)", error)
                       : fdl_buf_add_format(&text, error, "(%" PRIu64 " bytes, the catalog says %" PRIu64 ")",
                                            c->found[i], file->size_bytes);
    }
    if (code == FDL_OK && bad > 0)
        snprintf(key, sizeof key, "%s%s", c->data_dir, first->path);
    if (code == FDL_OK && bad > 0)
        code = fdl_fail(error, FDL_REFUSED, key, "%zu data file%s not there as the catalog says: %s%s", bad,
                        bad == 1 ? " is" : "s are", text.data, bad > NAMED_LIMIT ? ", ..." : "");
    fdl_buf_clear(&text);
    return code;
}

static fdl_code look(check *c, fdl_error *error) {
    const fdl_config *config = NULL;
    fdl_code code = fdl_repo_config(c->repo, &config, error);
    if (code == FDL_OK)
        code = fdl_alloc(&c->found, c->needed->count, sizeof *c->found, error);
    if (code == FDL_OK)
        code = fdl_alloc(&c->keys, c->needed->count, sizeof *c->keys, error);
    if (code == FDL_OK)
        code = fdl_alloc(&c->places, c->needed->count, sizeof *c->places, error);
    if (code == FDL_OK)
        code = fdl_alloc(&c->sizes, c->needed->count, sizeof *c->sizes, error);
    if (code == FDL_OK) {
        c->data_dir = config->data_dir;
        code = sort_out(c, error);
    }
    if (code == FDL_OK)
        code = fdl_lookup(fdl_repo_store(c->repo), fdl_repo_context(c->repo)->jobs, (const char *const *)c->keys,
                          c->count, c->sizes, error);
    for (size_t i = 0; code == FDL_OK && i < c->count; i++)
        if (c->sizes[i] != FDL_MISSING)
            c->found[c->places[i]] = c->sizes[i];
    return code;
}

fdl_code fdl_needed_check(fdl_repo *repo, const char *local_folder, const fdl_needed *needed, fdl_error *error) {
    check c = {.repo = repo, .local_folder = local_folder, .needed = needed};
    if (needed->count == 0)
        return FDL_OK;
    fdl_code code = look(&c, error);
    if (code == FDL_OK)
        code = report(&c, error);
    for (size_t i = 0; i < c.count; i++)
        free(c.keys[i]);
    free(c.keys);
    free(c.places);
    free(c.sizes);
    free(c.found);
    return code;
}
