/*
 * admit.c - what must hold before a branch moves: all that verify looks at in a
 * version, as if the branch pointed to it already, and that it builds on what
 * the branch holds now.
 *
 * A host asks this of a stranger's version right before it moves the branch.
 * Nothing is believed: the record is parsed by the rules for readers, every file
 * of the version is hashed, the catalog is opened in a session that can reach
 * nothing else.  One thing is taken from before: data files that the parent's
 * index names were looked for when the parent was admitted, and no gc deletes
 * what a branch needs.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "flow/checker.h"
#include "flow/pending.h"
#include "flow/scratch.h"
#include "flow/verify.h"
#include "repo/files_json.h"
#include "repo/history.h"
#include "repo/layout.h"
#include "util/text.h"

#define HISTORY_LIMIT 100000 /* versions looked at on the way to one that a ref reaches */

typedef struct admission {
    verify look;
    fdl_verify_options options;
    fdl_verify_result result;
    fdl_version version;
    fdl_needed needed;
    fdl_map old;        /* data files of the parent's index, as keys, with their sizes */
    fdl_error finding; /* the first; FDL_OK: none yet */
} admission;

/* ---- what verify finds ----------------------------------------------------------- */

/* Where things lie on this machine is nobody else's business. */
static void forget_place(char *line, const char *place) {
    size_t length = place ? strlen(place) : 0;
    for (char *at = length ? strstr(line, place) : NULL; at; at = strstr(at, place)) {
        size_t skip = length + strspn(at + length, "/");
        memmove(at, at + skip, strlen(at + skip) + 1);
    }
}

static void take_finding(void *data, const char *key, const char *line) {
    admission *a = data;
    char told[FDL_MESSAGE_LIMIT_BYTES];
    if (a->finding.code != FDL_OK)
        return;
    fdl_str_fit(told, sizeof told, line);
    forget_place(told, a->look.scratch);
    forget_place(told, fdl_repo_address(a->look.repo));
    fdl_fail(&a->finding, FDL_REFUSED, key, "%s", told);
}

static fdl_code take_file(void *data, const fdl_data_file *file, fdl_error *error) {
    admission *a = data;
    char *key = NULL;
    uint64_t size = 0;
    fdl_code code = fdl_grow(&a->needed.items, a->needed.count, sizeof *a->needed.items, error);
    if (code == FDL_OK)
        code = fdl_str_format(&key, error, "%s%s", a->look.config->data_dir, file->path);
    if (code == FDL_OK) {
        fdl_needed_file *needed = &a->needed.items[a->needed.count];
        *needed = (fdl_needed_file){.size_bytes = (uint64_t)file->size_bytes};
        needed->is_new = !fdl_map_get(&a->old, key, &size) || size != needed->size_bytes;
        code = fdl_str_copy(&needed->path, file->path, error);
    }
    if (code == FDL_OK)
        a->needed.count++;
    free(key);
    return code;
}

/* ---- what was there before --------------------------------------------------------- */

static fdl_code take_old(void *data, const fdl_file_entry *entry, fdl_error *error) {
    fdl_map *old = data;
    fdl_code code = fdl_map_put(old, entry->path, entry->bytes, error);
    return code == FDL_OK && entry->delete_path ? fdl_map_put(old, entry->delete_path, entry->delete_bytes, error) : code;
}

/* An index that is missing or damaged only means that every file is looked for. */
static fdl_code read_old(admission *a, const fdl_version *parent, fdl_error *error) {
    fdl_code code = fdl_files_read(a->look.repo, parent, take_old, &a->old, error);
    if (code == FDL_NOT_FOUND || code == FDL_FAILED || code == FDL_REFUSED) {
        fdl_map_clear(&a->old);
        return FDL_OK;
    }
    return code;
}

/* ---- where it stands in history ------------------------------------------------------ */

/* For a new branch: each step back is a version, as far as the first or one that a ref reaches. */
static fdl_code check_ancestors(admission *a, fdl_error *error) {
    fdl_version at = {0};
    fdl_ref_list refs = {0};
    bool reached = false;
    fdl_code code = fdl_ref_list_read(a->look.repo, &refs, error);
    if (code == FDL_OK)
        code = fdl_refs_reach(a->look.repo, &refs, &a->version, &reached, error);
    if (code == FDL_OK && !reached && a->version.parent[0]) {
        code = fdl_parent_read(a->look.repo, &a->version, &at, error);
        if (code == FDL_OK)
            code = fdl_refs_reach(a->look.repo, &refs, &at, &reached, error);
    }
    for (int i = 0; code == FDL_OK && !reached && at.parent[0]; i++)
        code = i < HISTORY_LIMIT ? fdl_parent_read(a->look.repo, &at, &at, error)
                                 : fdl_fail(error, FDL_REFUSED, a->version.id, "version '%s' has more than %d ancestors",
                                            a->version.id, HISTORY_LIMIT);
    fdl_version_clear(&at);
    fdl_ref_list_clear(&refs);
    return code == FDL_FAILED ? fdl_fail(error, FDL_REFUSED, a->version.id, "%s", error->message) : code;
}

static fdl_code check_parent(admission *a, const char *branch, const char *expected, fdl_error *error) {
    fdl_version parent = {0};
    if (!expected[0])
        return check_ancestors(a, error);
    if (strcmp(a->version.parent, expected) != 0)
        return fdl_fail(error, FDL_CONFLICT, branch, "'%s' holds '%s', and version '%s' builds on %s%s%s", branch, expected,
                        a->version.id, a->version.parent[0] ? "'" : "nothing", a->version.parent,
                        a->version.parent[0] ? "'" : "");
    fdl_code code = fdl_parent_read(a->look.repo, &a->version, &parent, error);
    if (code == FDL_OK)
        code = read_old(a, &parent, error);
    fdl_version_clear(&parent);
    return code;
}

/* ---- what a host would show ------------------------------------------------------------- */

/* Whether `rest` is a symlink, or behind one, below the folder `top`.  `plain` is a folder that is not. */
static bool behind_link(const char *top, const char *rest, char plain[PATH_MAX]) {
    char path[2 * PATH_MAX];
    struct stat info;
    snprintf(path, sizeof path, "%s%s", top, rest);
    size_t folder = (size_t)(strrchr(path, '/') - path);
    bool known = strlen(plain) == folder && strncmp(plain, path, folder) == 0;
    char *slash = path + (known ? folder : strlen(top) - 1); /* `top` may be one itself */
    while (slash) {
        slash = strchr(slash + 1, '/');
        if (slash)
            *slash = '\0';
        if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
            return true;
        if (slash)
            *slash = '/';
    }
    snprintf(plain, PATH_MAX, "%.*s", (int)folder, path);
    return false;
}

static fdl_code refuse_link(const char *key, fdl_error *error) {
    return fdl_fail(error, FDL_REFUSED, key, "'%s' is a symlink or lies behind one, and no host shows that: put the file itself there",
                    key);
}

/* No host follows a link but that of the data folder, so what is behind one is not there for readers. */
static fdl_code refuse_links(admission *a, fdl_error *error) {
    const fdl_version *version = &a->version;
    const char *root = a->look.store->address, *data_dir = a->look.config->data_dir;
    const char *names[] = {FDL_FILE_VERSION,   version->catalog.file.path, version->dataset.path,
                           version->files.path, version->packed.path,       FDL_FILE_SIGNATURE};
    const size_t count = sizeof names / sizeof *names;
    char key[FDL_KEY_BYTES], plain[PATH_MAX] = "";
    char *data = NULL;
    if (strcmp(a->look.store->ops->kind, "folder") != 0)
        return FDL_OK;
    fdl_code code = fdl_str_format(&data, error, "%s%s", root, data_dir);
    for (size_t i = 0; code == FDL_OK && i < count + version->other_count; i++) {
        const char *name = i < count ? names[i] : version->others[i - count].file.path;
        code = name ? fdl_key_version(key, version->id, name, error) : FDL_OK;
        if (code == FDL_OK && name && behind_link(root, key, plain))
            code = refuse_link(key, error);
    }
    for (size_t i = 0; code == FDL_OK && i < a->needed.count; i++)
        if (behind_link(data, a->needed.items[i].path, plain)) {
            snprintf(key, sizeof key, "%s%s", data_dir, a->needed.items[i].path);
            code = refuse_link(key, error);
        }
    free(data);
    return code;
}

/* ---- the whole ------------------------------------------------------------------------- */

static fdl_code read_version(admission *a, const char *id, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *bytes = NULL;
    size_t length = 0;
    fdl_expiry expiry = {0};
    fdl_code code = fdl_key_version(key, id, FDL_FILE_VERSION, error);
    if (code == FDL_OK)
        code = fdl_store_read(a->look.store, key, FDL_LIMIT_VERSION_BYTES, &bytes, &length, NULL, error);
    if (code == FDL_NOT_FOUND)
        code = fdl_fail(error, FDL_REFUSED, key, "version '%s' is not complete: '%s' is missing", id, key);
    if (code == FDL_OK) {
        code = fdl_version_parse(bytes, length, id, &a->version, error);
        if (code == FDL_FAILED || code == FDL_USAGE)
            code = fdl_fail(error, FDL_REFUSED, key, "%s", error->message);
    }
    if (code == FDL_OK)
        code = fdl_expiry_read(a->look.repo, id, &expiry, error);
    if (code == FDL_OK && expiry.expired)
        code = fdl_fail(error, FDL_EXPIRED, id, "version '%s' is gone (%s)", id, expiry.reason);
    fdl_expiry_clear(&expiry);
    free(bytes);
    return code;
}

static fdl_code look_at(admission *a, fdl_error *error) {
    char prefix[FDL_KEY_BYTES];
    fdl_code code = fdl_key_version(prefix, a->version.id, "", error);
    if (code == FDL_OK)
        code = fdl_scratch_make(&a->look.scratch, error);
    if (code == FDL_OK)
        code = fdl_keyset_open(a->look.store, prefix, &a->look.there, error);
    a->look.there.store = a->look.store;
    if (code == FDL_OK)
        code = fdl_verify_version(&a->look, a->version.id, error);
    if (a->finding.code != FDL_OK) { /* whatever came of looking on */
        *error = a->finding;
        code = error->code;
    }
    if (code == FDL_OK)
        code = fdl_needed_check(a->look.repo, NULL, &a->needed, error);
    return code == FDL_OK ? refuse_links(a, error) : code;
}

fdl_code fdl_admit(fdl_repo *repo, const char *branch, const char *expected, const char *id, fdl_error *error) {
    admission a = {0};
    if (fdl_repo_context(repo)->checker)
        return fdl_checker_admit(repo, branch, expected, id, error);
    fdl_ref *ref = NULL;
    a.look = (verify){.repo = repo,
                      .store = fdl_repo_store(repo),
                      .options = &a.options,
                      .callback = take_finding,
                      .look = take_file,
                      .data = &a,
                      .result = &a.result};
    fdl_code code = fdl_repo_config(repo, &a.look.config, error);
    if (code == FDL_OK)
        code = read_version(&a, id, error);
    if (code == FDL_OK)
        code = check_parent(&a, branch, expected, error);
    if (code == FDL_OK)
        code = fdl_alloc(&ref, 1, sizeof *ref, error);
    if (code == FDL_OK) {
        fdl_str_fit(ref->name, sizeof ref->name, branch);
        fdl_str_fit(ref->id, sizeof ref->id, id);
        a.look.refs = (fdl_ref_list){.items = ref, .count = 1};
        code = look_at(&a, error);
    }
    fdl_verify_clear(&a.look);
    fdl_version_clear(&a.version);
    fdl_needed_clear(&a.needed);
    fdl_map_clear(&a.old);
    return code;
}
