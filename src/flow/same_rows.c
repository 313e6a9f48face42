/*
 * same_rows.c - brings the files that two catalogs do not share, and lets their
 * rows be compared.
 *
 * What lies on this machine is linked to, in the data folder of a repository
 * that is a folder or in "<work>.fdl/data/"; the rest is downloaded, several at
 * once.  So DuckDB needs no network and no secrets, and reads what was rewritten alone.
 */
#include "flow/same_rows.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "fdl/store.h"
#include "flow/scratch.h"
#include "util/file.h"
#include "util/text.h"

typedef struct source {
    fdl_store *store;
    const fdl_config *config;
    char *local;            /* new files that are not in the repository yet; NULL: there are none */
    char real[2][PATH_MAX]; /* the folders that links lead to */
    const char *folders[2];
    char scratch[PATH_MAX];
    fdl_rows_place place;
} source;

static fdl_code bring(void *data, const char *path, const char *target, fdl_error *error);

static void add_folder(source *s, const char *path) {
    size_t at = s->place.folder_count;
    if (path && realpath(path, s->real[at])) {
        s->folders[at] = s->real[at];
        s->place.folder_count++;
    }
}

/* `work` may be NULL.  The struct is cleared by the caller, also on failure. */
static fdl_code open_source(const fdl_work *work, fdl_repo *repo, const char *folder, source *s, fdl_error *error) {
    char *path = NULL;
    s->store = fdl_repo_store(repo);
    s->place = (fdl_rows_place){.scratch = s->scratch,
                                .folders = s->folders,
                                .jobs = fdl_repo_context(repo)->jobs,
                                .bring = bring,
                                .data = s};
    fdl_code code = fdl_repo_config(repo, &s->config, error);
    if (code == FDL_OK)
        code = fdl_str_format(&path, error, "%s/rows", folder);
    if (code == FDL_OK)
        code = fdl_folder_make(path, error);
    if (code == FDL_OK && !realpath(path, s->scratch))
        code = fdl_file_error(error, "open", path, errno);
    free(path);
    path = NULL;
    if (code == FDL_OK && work && fdl_repo_is_http(repo))
        code = fdl_work_data_path(work, repo, &s->local, error);
    add_folder(s, s->local);
    if (code == FDL_OK && strcmp(s->store->ops->kind, "folder") == 0)
        code = fdl_str_format(&path, error, "%s%s", s->store->address, s->config->data_dir);
    add_folder(s, path);
    free(path);
    return code;
}

static fdl_code close_source(source *s, fdl_code code, fdl_error *error) {
    fdl_error ignored;
    fdl_code removed = s->scratch[0] ? fdl_folder_remove(s->scratch, code == FDL_OK ? error : &ignored) : FDL_OK;
    free(s->local);
    return code == FDL_OK ? removed : code;
}

static fdl_code link_to(const char *path, const char *target, fdl_error *error) {
    return symlink(path, target) == 0 ? FDL_OK : fdl_file_error(error, "make the link", target, errno);
}

static fdl_code bring(void *data, const char *path, const char *target, fdl_error *error) {
    const source *s = data;
    char *key = NULL, *local = NULL;
    fdl_code code = FDL_OK;
    if (s->local)
        code = fdl_str_format(&local, error, "%s%s", s->local, path);
    if (code == FDL_OK)
        code = fdl_str_format(&key, error, "%s%s", s->config->data_dir, path);
    if (code == FDL_OK && local && fdl_file_exists(local))
        code = link_to(local, target, error);
    else if (code == FDL_OK && strcmp(s->store->ops->kind, "folder") == 0) {
        fdl_local_file file = {0};
        code = fdl_local_file_get(s->store, s->scratch, key, UINT64_MAX, &file, error);
        if (code == FDL_OK)
            code = link_to(file.path, target, error);
        fdl_local_file_clear(&file);
    } else if (code == FDL_OK)
        code = fdl_store_fetch(s->store, key, UINT64_MAX, target, error);
    free(local);
    free(key);
    return code;
}

fdl_code fdl_same_rows(const fdl_work *work, fdl_repo *repo, const char *parent, const char *catalog,
                       const char *folder, bool *same, char **difference, fdl_error *error) {
    const fdl_context *context = fdl_repo_context(repo);
    source s = {0};
    fdl_error why = {0};
    *same = false;
    *difference = NULL;
    fdl_code code = open_source(work, repo, folder, &s, error);
    if (code == FDL_OK && fdl_frozen_same_rows(context, parent, catalog, &s.place, same, difference, &why) != FDL_OK)
        fdl_note(context, FDL_NOTE_WARNING, "the rows cannot be compared with the parent's, so a version is made: %s",
                 why.message);
    return close_source(&s, code, error);
}

fdl_code fdl_row_changes(fdl_repo *repo, const char *from, const char *to, const char *folder, int64_t limit,
                         fdl_row_change_callback callback, void *data, fdl_error *error) {
    source s = {0};
    fdl_code code = open_source(NULL, repo, folder, &s, error);
    if (code == FDL_OK)
        code = fdl_frozen_row_changes(fdl_repo_context(repo), from, to, &s.place, limit, callback, data, error);
    return close_source(&s, code, error);
}
