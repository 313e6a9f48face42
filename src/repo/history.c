/*
 * history.c - steps back in a history, and versions found by the start of
 * their id.
 *
 * Where the store lists, it is asked for the folders that start so; where it
 * does not (plain HTTP), the histories of all refs are walked.  A folder without
 * version.json is a push that was stopped, and no version.
 */
#include "repo/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repo/internal.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/text.h"

#define PREFIX_LIMIT 8u      /* the first 8 digits of a UUIDv7 span a minute */
#define FOLDERS_LIMIT 10000u /* of one prefix, looked into */
#define WALK_LIMIT 100000u   /* versions read on one walk */
#define MATCHES_SHOWN 3u

fdl_code fdl_parent_read(fdl_repo *repo, fdl_version *child, fdl_version *out, fdl_error *error) {
    fdl_version parent = {0};
    fdl_code code = fdl_version_read(repo, child->parent, &parent, error);
    if (code == FDL_NOT_FOUND)
        return fdl_fail(error, FDL_FAILED, child->parent, "the history of '%s' is broken: its parent '%s' is missing",
                        child->id, child->parent);
    if (code != FDL_OK)
        return code;
    if (parent.seq >= child->seq) {
        code =
            fdl_fail(error, FDL_FAILED, parent.id,
                     "the history of '%s' is broken: its parent '%s' does not have a lower seq", child->id, parent.id);
        fdl_version_clear(&parent);
        return code;
    }
    if (out == child)
        fdl_version_clear(child);
    *out = parent;
    return FDL_OK;
}

fdl_code fdl_history_has(fdl_repo *repo, const char *tip, const char *id, int64_t seq, bool *found, fdl_error *error) {
    fdl_version walk = {0};
    *found = strcmp(tip, id) == 0;
    fdl_code code = *found ? FDL_OK : fdl_version_read(repo, tip, &walk, error);
    for (unsigned i = 0; i < WALK_LIMIT && code == FDL_OK && !*found && walk.seq > seq && walk.parent[0]; i++) {
        *found = strcmp(walk.parent, id) == 0;
        if (!*found)
            code = fdl_parent_read(repo, &walk, &walk, error);
    }
    fdl_version_clear(&walk);
    return code;
}

fdl_code fdl_refs_reach(fdl_repo *repo, const fdl_ref_list *refs, const fdl_version *version, bool *reached,
                        fdl_error *error) {
    fdl_code code = FDL_OK;
    *reached = false;
    for (size_t i = 0; i < refs->count && !*reached; i++)
        *reached = strcmp(refs->items[i].id, version->id) == 0;
    for (size_t i = 0; code == FDL_OK && i < refs->count && !*reached; i++)
        code = fdl_history_has(repo, refs->items[i].id, version->id, version->seq, reached, error);
    return code;
}

/* ---- ids by their start -------------------------------------------------- */

bool fdl_id_prefix_valid(const char *text) {
    size_t length = strlen(text);
    if (length < PREFIX_LIMIT || length >= FDL_ID_BYTES)
        return false;
    for (size_t i = 0; i < length; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (dash ? text[i] != '-' : !strchr("0123456789abcdef", text[i]))
            return false;
    }
    return true;
}

/* The first few versions found, enough to answer and to name them when there are several. */
typedef struct matches {
    char ids[MATCHES_SHOWN][FDL_ID_BYTES];
    size_t count;
} matches;

static void add_match(matches *found, const char *id) {
    if (found->count < MATCHES_SHOWN)
        fdl_str_fit(found->ids[found->count++], FDL_ID_BYTES, id);
}

static fdl_code version_exists(fdl_repo *repo, const char *id, bool *exists, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    uint64_t size = 0;
    fdl_code code = fdl_key_version(key, id, FDL_FILE_VERSION, error);
    if (code == FDL_OK)
        code = fdl_store_size(repo->store, key, &size, error);
    *exists = code == FDL_OK;
    return code == FDL_NOT_FOUND ? FDL_OK : code;
}

/* ---- where the store lists ----------------------------------------------- */

typedef struct id_list {
    char (*ids)[FDL_ID_BYTES];
    size_t count;
} id_list;

static fdl_code take_folder(void *data, const fdl_entry *entry, fdl_error *error) {
    id_list *folders = data;
    char id[FDL_ID_BYTES];
    if (!fdl_key_version_folder(entry->key, id))
        return FDL_OK;
    if (folders->count == FOLDERS_LIMIT)
        return fdl_fail(error, FDL_USAGE, id, "more than %u version ids start like this; give more of the id",
                        FOLDERS_LIMIT);
    fdl_code code = fdl_grow(&folders->ids, folders->count, sizeof *folders->ids, error);
    if (code == FDL_OK)
        memcpy(folders->ids[folders->count++], id, FDL_ID_BYTES);
    return code;
}

static fdl_code match_folders(fdl_repo *repo, const char *prefix, matches *found, fdl_error *error) {
    char key_prefix[sizeof FDL_KEY_VERSIONS + FDL_ID_BYTES];
    id_list folders = {0};
    snprintf(key_prefix, sizeof key_prefix, FDL_KEY_VERSIONS "%s", prefix);
    fdl_code code = fdl_store_list(repo->store, key_prefix, FDL_ONE_LEVEL, take_folder, &folders, error);
    for (size_t i = 0; i < folders.count && code == FDL_OK && found->count < MATCHES_SHOWN; i++) {
        bool exists = false;
        code = version_exists(repo, folders.ids[i], &exists, error);
        if (exists)
            add_match(found, folders.ids[i]);
    }
    free(folders.ids);
    return code;
}

/* ---- where it does not ---------------------------------------------------- */

typedef struct walk {
    fdl_repo *repo;
    const char *prefix;
    json_t *seen; /* an object used as a set of ids */
    matches *found;
} walk;

/* Back from `tip` to the first version, or to one that was seen: histories share their beginnings. */
static fdl_code match_history(walk *w, const char *tip, fdl_error *error) {
    char id[FDL_ID_BYTES];
    memcpy(id, tip, sizeof id);
    while (id[0] && !json_object_get(w->seen, id) && w->found->count < MATCHES_SHOWN) {
        fdl_version version = {0};
        if (json_object_size(w->seen) == WALK_LIMIT)
            return fdl_fail(error, FDL_USAGE, w->prefix, "'%s' is not among %u versions looked at; give the whole id",
                            w->prefix, WALK_LIMIT);
        fdl_code code = fdl_json_set(w->seen, id, json_true(), error);
        if (code == FDL_OK)
            code = fdl_version_read(w->repo, id, &version, error);
        if (code == FDL_NOT_FOUND) /* no version, and no way further back */
            return FDL_OK;
        if (code != FDL_OK)
            return code;
        if (fdl_str_starts(id, w->prefix))
            add_match(w->found, id);
        memcpy(id, version.parent, sizeof id);
        fdl_version_clear(&version);
    }
    return FDL_OK;
}

static fdl_code match_histories(fdl_repo *repo, const char *prefix, matches *found, fdl_error *error) {
    walk w = {.repo = repo, .prefix = prefix, .seen = json_object(), .found = found};
    fdl_ref_list refs = {0};
    fdl_code code = w.seen ? fdl_ref_list_read(repo, &refs, error) : fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    for (size_t i = 0; i < refs.count && code == FDL_OK; i++)
        code = match_history(&w, refs.items[i].id, error);
    fdl_ref_list_clear(&refs);
    json_decref(w.seen);
    return code;
}

fdl_code fdl_id_complete(fdl_repo *repo, const char *prefix, char out[FDL_ID_BYTES], fdl_error *error) {
    matches found = {0};
    bool exists = false;
    fdl_code code;
    if (fdl_uuid_valid(prefix)) {
        code = version_exists(repo, prefix, &exists, error);
        if (exists)
            add_match(&found, prefix);
    } else if (repo->store->can_list) {
        code = match_folders(repo, prefix, &found, error);
    } else {
        code = match_histories(repo, prefix, &found, error);
    }
    if (code != FDL_OK)
        return code;
    if (found.count == 0)
        return fdl_fail(error, FDL_NOT_FOUND, prefix, "no version '%s' in '%s'", prefix, fdl_repo_address(repo));
    if (found.count > 1)
        return fdl_fail(error, FDL_USAGE, prefix, "'%s' is ambiguous: it may be '%s', '%s'%s; give more of the id",
                        prefix, found.ids[0], found.ids[1], found.count > 2 ? " or another" : "");
    memcpy(out, found.ids[0], FDL_ID_BYTES);
    return FDL_OK;
}
