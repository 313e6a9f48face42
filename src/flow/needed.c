/*
 * needed.c - whether the data files that a version needs are there.
 *
 * Names of new files begin alike, for they were made at one time (DuckLake names
 * them by UUIDv7).  So where asking costs a round trip, those of one folder are
 * listed by what their names have in common, a thousand in a request; where they
 * have so little in common that the listing would be longer than the questions,
 * each is asked for.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "flow/pending.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/parallel.h"
#include "util/text.h"

#define NAMED_LIMIT 3
#define MISSING UINT64_MAX
#define PAGE_ENTRIES 1000 /* of a listing; about what one request for an object costs */

typedef struct group {
    size_t first; /* in check.sorted */
    size_t count;
} group;

typedef struct check {
    fdl_repo *repo;
    const char *data_dir;
    const char *local_folder;
    const fdl_needed *needed;
    uint64_t *found; /* the size of each file, or MISSING */
    size_t *sorted;  /* those to be looked for in the store, by path */
    size_t sorted_count;
    group *groups; /* of one folder each */
    size_t group_count;
} check;

static const char *path_of(const check *c, size_t place) {
    return c->needed->items[c->sorted[place]].path;
}

/* ---- one by one -------------------------------------------------------------- */

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

/* ---- by listing ---------------------------------------------------------------- */

typedef struct listing {
    const check *c;
    const group *g;
    size_t root_length; /* of the data folder's name */
    size_t seen;
    bool too_long;
} listing;

static fdl_code take_entry(void *data, const fdl_entry *entry, fdl_error *error) {
    listing *l = data;
    const char *path = entry->key + l->root_length;
    size_t low = l->g->first, high = low + l->g->count;
    if (++l->seen > PAGE_ENTRIES * l->g->count) {
        l->too_long = true;
        return fdl_fail(error, FDL_FAILED, entry->key, "more files than it pays to list");
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(path_of(l->c, middle), path);
        if (order == 0)
            l->c->found[l->c->sorted[middle]] = entry->object.size_bytes;
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return FDL_OK;
}

static fdl_code list_group(const check *c, const group *g, bool *too_long, fdl_error *error) {
    char *prefix = NULL;
    const char *first = path_of(c, g->first), *last = path_of(c, g->first + g->count - 1);
    listing l = {.c = c, .g = g, .root_length = strlen(c->data_dir)};
    int common = 0;
    while (first[common] && first[common] == last[common])
        common++;
    while (common > 0 && ((unsigned char)first[common] & 0xc0) == 0x80) /* a prefix is text: no half characters */
        common--;
    fdl_code code = fdl_str_format(&prefix, error, "%s%.*s", c->data_dir, common, first);
    if (code == FDL_OK)
        code = fdl_store_list(fdl_repo_store(c->repo), prefix, FDL_ALL_LEVELS, take_entry, &l, error);
    free(prefix);
    *too_long = l.too_long;
    return l.too_long ? FDL_OK : code;
}

static fdl_code look_group(void *data, size_t index, fdl_error *error) {
    const check *c = data;
    const group *g = &c->groups[index];
    fdl_store *store = fdl_repo_store(c->repo);
    bool singly = g->count == 1 || store->local || !store->can_list;
    fdl_code code = singly ? FDL_OK : list_group(c, g, &singly, error);
    for (size_t i = 0; code == FDL_OK && singly && i < g->count; i++)
        code = look_stored(c, path_of(c, g->first + i), &c->found[c->sorted[g->first + i]], error);
    return code;
}

/* ---- which ------------------------------------------------------------------------ */

static int by_path(const void *a, const void *b, void *data) {
    const check *c = data;
    return strcmp(c->needed->items[*(const size_t *)a].path, c->needed->items[*(const size_t *)b].path);
}

/* Where the store cannot list, every file is a group of its own, so that they are asked for side by side. */
static bool same_group(const check *c, size_t place) {
    const char *path = path_of(c, place), *before = path_of(c, place - 1);
    const char *name = strrchr(path, '/');
    size_t folder = name ? (size_t)(name - path) + 1 : 0;
    return fdl_repo_store(c->repo)->can_list && strncmp(path, before, folder) == 0 && !strchr(before + folder, '/');
}

static fdl_code sort_out(check *c, fdl_error *error) {
    fdl_store *store = fdl_repo_store(c->repo);
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < c->needed->count; i++) {
        const fdl_needed_file *file = &c->needed->items[i];
        c->found[i] = file->is_new || store->local ? MISSING : file->size_bytes; /* the parent's push looked at it */
        if (c->found[i] == MISSING && c->local_folder)
            code = look_local(c, file->path, &c->found[i], error);
        if (c->found[i] == file->size_bytes)
            continue;
        c->found[i] = MISSING;
        c->sorted[c->sorted_count++] = i;
    }
    if (code == FDL_OK && c->sorted_count > 1)
        qsort_r(c->sorted, c->sorted_count, sizeof *c->sorted, by_path, c);
    for (size_t i = 0; code == FDL_OK && i < c->sorted_count; i++) {
        if (i == 0 || !same_group(c, i))
            c->groups[c->group_count++] = (group){.first = i};
        c->groups[c->group_count - 1].count++;
    }
    return code;
}

/* ---- what is not ------------------------------------------------------------------- */

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
            code = c->found[i] == MISSING
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

fdl_code fdl_needed_check(fdl_repo *repo, const char *local_folder, const fdl_needed *needed, fdl_error *error) {
    const fdl_config *config = NULL;
    check c = {.repo = repo, .local_folder = local_folder, .needed = needed};
    if (needed->count == 0)
        return FDL_OK;
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        code = fdl_alloc(&c.found, needed->count, sizeof *c.found, error);
    if (code == FDL_OK)
        code = fdl_alloc(&c.sorted, needed->count, sizeof *c.sorted, error);
    if (code == FDL_OK)
        code = fdl_alloc(&c.groups, needed->count, sizeof *c.groups, error);
    if (code == FDL_OK) {
        c.data_dir = config->data_dir;
        code = sort_out(&c, error);
    }
    if (code == FDL_OK) {
        int jobs = fdl_repo_store(repo)->local ? 1 : fdl_repo_context(repo)->jobs;
        code = fdl_parallel(c.group_count, jobs, look_group, &c, error);
    }
    if (code == FDL_OK)
        code = report(&c, error);
    free(c.groups);
    free(c.sorted);
    free(c.found);
    return code;
}
