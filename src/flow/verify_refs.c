/*
 * verify_refs.c - where a look at a repository starts: HEAD, the refs, refs.json,
 * the folders of versions; and what nothing leads to.
 *
 * Files that no version names are no fault: a push may be on its way, or was
 * stopped, and gc deletes what stays.  So they are counted and not found.
 */
#include <stdio.h>
#include <string.h>

#include "flow/verify.h"
#include "repo/layout.h"
#include "util/text.h"

/* ---- refs ---------------------------------------------------------------------------- */

/* Readers ignore names they do not know; a ref may have gone since it was listed. */
static fdl_code take_ref(void *data, const fdl_entry *entry, fdl_error *error) {
    verify *v = data;
    fdl_ref ref = {0};
    if (entry->folder)
        return FDL_OK;
    fdl_code code = fdl_ref_read(v->repo, entry->key, &ref, error);
    if (code == FDL_USAGE || code == FDL_NOT_FOUND)
        return FDL_OK;
    if (code != FDL_OK)
        return fdl_verify_judge(v, code, entry->key, error);
    if (v->refs.count == FDL_LIMIT_REFS)
        return fdl_fail(error, FDL_REFUSED, NULL, "the repository has more than %u refs", FDL_LIMIT_REFS);
    code = fdl_grow(&v->refs.items, v->refs.count, sizeof *v->refs.items, error);
    if (code == FDL_OK)
        v->refs.items[v->refs.count++] = ref;
    return code;
}

fdl_code fdl_verify_refs(verify *v, fdl_error *error) {
    if (v->store->can_list)
        return fdl_store_list(v->store, FDL_REF_ALL, FDL_ALL_LEVELS, take_ref, v, error);
    return fdl_verify_judge(v, fdl_ref_list_read(v->repo, &v->refs, error), FDL_KEY_REFS_JSON, error);
}

static fdl_code check_head(verify *v, fdl_error *error) {
    char branch[FDL_REF_BYTES];
    return fdl_verify_judge(v, fdl_head_read(v->repo, branch, error), FDL_KEY_HEAD, error);
}

static fdl_code check_refs_json(verify *v, fdl_error *error) {
    bool current = false;
    fdl_code code = fdl_refs_json_current(v->repo, &current, error);
    if (code == FDL_OK && !current)
        fdl_verify_finding(v, FDL_KEY_REFS_JSON, "'refs.json' differs from the refs; any push repairs it");
    return fdl_verify_judge(v, code, FDL_KEY_REFS_JSON, error);
}

fdl_code fdl_verify_dangling(verify *v, const char *id, const char *key) {
    bool named = false;
    for (size_t i = 0; i < v->refs.count; i++) {
        const fdl_ref *ref = &v->refs.items[i];
        if (strcmp(ref->id, id) != 0)
            continue;
        named = true;
        fdl_verify_finding(v, ref->name, "'%s' points to version '%s', which is not there", ref->name, id);
    }
    if (!named)
        fdl_verify_finding(v, key, "'%s' is missing", key);
    return FDL_OK;
}

/* ---- which versions -------------------------------------------------------------------- */

static fdl_code add_listed(void *data, const fdl_entry *entry, fdl_error *error) {
    verify *v = data;
    char id[FDL_ID_BYTES], key[FDL_KEY_BYTES];
    bool there = false;
    if (!fdl_key_version_folder(entry->key, id))
        return FDL_OK;
    fdl_code code = fdl_key_version(key, id, FDL_FILE_VERSION, error);
    if (code == FDL_OK)
        code = fdl_keyset_has(&v->there, key, &there, NULL, error);
    if (code == FDL_OK && !there) {
        fdl_note(fdl_repo_context(v->repo), FDL_NOTE_INFO, "'%s' is the rest of a push that was stopped", entry->key);
        return FDL_OK;
    }
    return code == FDL_OK ? fdl_verify_add(v, id, error) : code;
}

/* refs.json is made of HEAD and the refs: where these are broken, that was said. */
static fdl_code choose_all(verify *v, fdl_error *error) {
    fdl_code code = check_head(v, error);
    if (code == FDL_OK && v->result->findings == 0)
        code = check_refs_json(v, error);
    for (size_t i = 0; code == FDL_OK && i < v->refs.count; i++)
        code = fdl_verify_add(v, v->refs.items[i].id, error);
    if (code == FDL_OK && v->store->can_list)
        code = fdl_store_list(v->store, FDL_KEY_VERSIONS, FDL_ONE_LEVEL, add_listed, v, error);
    return code;
}

fdl_code fdl_verify_choose(verify *v, fdl_error *error) {
    fdl_target target = {0};
    if (v->options->all)
        return choose_all(v, error);
    fdl_code code = fdl_resolve(v->repo, v->options->revision, &target, error);
    return code == FDL_OK ? fdl_verify_add(v, target.id, error) : code;
}

/* ---- what nothing leads to ---------------------------------------------------------------- */

static fdl_code count_orphan(void *data, const fdl_entry *entry, fdl_error *error) {
    verify *v = data;
    bool of_lake = fdl_str_ends(entry->key, ".parquet") || fdl_str_ends(entry->key, ".puffin");
    (void)error;
    if (!entry->folder && of_lake && !fdl_map_get(&v->files, entry->key, NULL))
        v->result->orphans++;
    return FDL_OK;
}

fdl_code fdl_verify_orphans(verify *v, fdl_error *error) {
    return v->store->can_list
               ? fdl_store_list(v->store, v->config->data_dir, FDL_ALL_LEVELS, count_orphan, v, error)
               : FDL_OK;
}
