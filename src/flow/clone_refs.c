/*
 * clone_refs.c - branches and tags of a mirror, by compare-and-swap, once the
 * versions that they name are there; then refs.json.
 */
#include <string.h>

#include "flow/clone.h"
#include "flow/work.h"
#include "repo/layout.h"
#include "util/text.h"

static bool is_ancestor(const cloning *c, const char *id, const char *tip) {
    for (const clone_step *s = fdl_clone_find(c, tip); s; s = fdl_clone_find(c, s->version.parent))
        if (strcmp(s->version.id, id) == 0)
            return true;
    return false;
}

/* The version on the way from `old` to `tip` that follows `old`. */
static const clone_step *next_step(const cloning *c, const char *old, const char *tip) {
    const clone_step *next = fdl_clone_find(c, tip);
    while (next && strcmp(next->version.parent, old) != 0)
        next = fdl_clone_find(c, next->version.parent);
    return next;
}

/* The first version on the way that could not be shown to anybody; NULL: none. */
static const clone_step *find_gap(const cloning *c, const char *old, const char *tip) {
    const clone_step *gap = NULL;
    for (const clone_step *s = fdl_clone_find(c, tip); s && strcmp(s->version.id, old) != 0; s = fdl_clone_find(c, s->version.parent))
        gap = s->whole ? gap : s;
    return gap;
}

/*
 * A host moves a branch to a child of what it holds, so a mirror that is behind goes the way of its writers.  Any other
 * server takes the last step at once, and so nothing is refused here before the host has.
 */
static fdl_code move_at_host(cloning *c, const fdl_ref *ref, fdl_ref *at, fdl_error *error) {
    const clone_step *gap = find_gap(c, at->id, ref->id);
    fdl_ref now = {0};
    fdl_code code = FDL_OK;
    while (code == FDL_OK && !gap && strcmp(at->id, ref->id) != 0) {
        const clone_step *next = next_step(c, at->id, ref->id);
        code = fdl_ref_write(c->to, ref->name, next ? next->version.id : ref->id, at, error);
        if (code == FDL_OK)
            code = fdl_ref_read(c->to, ref->name, at, error);
    }
    if (gap)
        code = fdl_ref_write(c->to, ref->name, ref->id, at, error);
    if (gap && code == FDL_CONFLICT && fdl_ref_read(c->to, ref->name, &now, NULL) == FDL_OK && strcmp(now.id, at->id) == 0)
        code = fdl_fail(error, FDL_REFUSED, ref->name,
                        "'%s' moves '%s' from version to version, and has not the whole of '%s' on the way from '%s': "
                        "clone with --all, or, if that version has expired, into the store behind the host",
                        fdl_repo_address(c->to), ref->name, gap->version.id, at->id);
    return code;
}

static fdl_code copy_ref(cloning *c, const fdl_ref *ref, fdl_error *error) {
    fdl_ref old = {0};
    const clone_step *s = fdl_clone_find(c, ref->id);
    if (s && s->ended) {
        fdl_note(fdl_repo_context(c->from), FDL_NOTE_WARNING, "'%s' is left out: version '%s' has expired or was withdrawn in '%s'",
                 ref->name, ref->id, fdl_repo_address(c->to));
        return FDL_OK;
    }
    fdl_code code = fdl_ref_read(c->to, ref->name, &old, error);
    if (code == FDL_OK && strcmp(old.id, ref->id) == 0)
        return FDL_OK;
    bool exists = code == FDL_OK;
    if (code == FDL_NOT_FOUND)
        code = FDL_OK;
    if (code == FDL_OK && exists && (fdl_str_starts(ref->name, FDL_REF_TAGS) || !is_ancestor(c, old.id, ref->id)))
        code = fdl_fail(error, FDL_CONFLICT, ref->name, "'%s' holds '%s' in '%s' and '%s' in '%s': it cannot move there",
                        ref->name, old.id, fdl_repo_address(c->to), ref->id, fdl_repo_address(c->from));
    if (code == FDL_OK && exists && fdl_repo_is_http(c->to))
        code = move_at_host(c, ref, &old, error);
    else if (code == FDL_OK && (exists || !s || !s->whole))
        code = fdl_ref_write(c->to, ref->name, ref->id, exists ? &old : NULL, error);
    else if (code == FDL_OK)
        code = fdl_ref_make(c->to, ref->name, ref->id, error);
    if (code == FDL_OK)
        c->result->refs++;
    return code;
}

fdl_code fdl_clone_refs(cloning *c, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < c->refs.count; i++)
        code = copy_ref(c, &c->refs.items[i], error);
    if (code == FDL_OK)
        code = fdl_refs_json_update(c->to, error);
    return code;
}
