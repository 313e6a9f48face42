/*
 * refs.c - branches and tags: create and delete, and refs.json kept in step.
 */
#include <stdio.h>
#include <string.h>

#include "fdl.h"
#include "flow/refs.h"
#include "repo/layout.h"
#include "util/text.h"

static bool is_branch(const char *kind) {
    return strcmp(kind, FDL_REF_HEADS) == 0;
}

static fdl_code full_name(const char *kind, const char *name, char out[FDL_REF_BYTES], fdl_error *error) {
    fdl_code code = fdl_ref_name_check(name, error);
    if (code != FDL_OK)
        return code;
    if (snprintf(out, FDL_REF_BYTES, "%s%s", kind, name) >= FDL_REF_BYTES)
        return fdl_fail(error, FDL_USAGE, name, "the name '%s' is too long", name);
    return FDL_OK;
}

/* Looked at first, since a write that finds our own value there counts as done (its answer may have been lost). */
static fdl_code refuse_existing(fdl_repo *repo, const char *kind, const char *name, const char *full,
                                fdl_error *error) {
    fdl_ref existing = {0};
    fdl_code code = fdl_ref_read(repo, full, &existing, error);
    if (code == FDL_OK)
        return fdl_fail(error, FDL_CONFLICT, full, "%s '%s' exists already and holds '%s'%s",
                        is_branch(kind) ? "branch" : "tag", name, existing.id,
                        is_branch(kind) ? "" : "; a tag never moves");
    return code == FDL_NOT_FOUND ? FDL_OK : code;
}

/*
 * An expire that did not see the new ref yet has written its marker before we
 * look here; one that writes it later reads the refs after that and sees ours.
 */
static fdl_code refuse_expired_meanwhile(fdl_repo *repo, const fdl_ref *made, fdl_error *error) {
    fdl_expiry expiry = {0};
    fdl_ref now = {0};
    fdl_code code = fdl_expiry_read(repo, made->id, &expiry, error);
    if (code == FDL_OK && expiry.expired) {
        code = fdl_ref_read(repo, made->name, &now, error);
        if (code == FDL_OK && strcmp(now.id, made->id) == 0)
            code = fdl_ref_remove(repo, &now, error);
        if (code == FDL_OK || code == FDL_NOT_FOUND)
            code = fdl_fail(error, FDL_EXPIRED, made->id, "version '%s' expired at this moment; '%s' was not made",
                            made->id, made->name);
    }
    fdl_expiry_clear(&expiry);
    return code;
}

fdl_code fdl_ref_make(fdl_repo *repo, const char *full_name, const char *id, fdl_error *error) {
    fdl_ref made = {0};
    fdl_code code = fdl_ref_write(repo, full_name, id, NULL, error);
    if (code != FDL_OK)
        return code;
    fdl_str_fit(made.name, sizeof made.name, full_name);
    fdl_str_fit(made.id, sizeof made.id, id);
    return refuse_expired_meanwhile(repo, &made, error);
}

fdl_code fdl_ref_create(fdl_repo *repo, const char *kind, const char *name, const char *revision, fdl_ref *out,
                        fdl_error *error) {
    fdl_ref ref = {0};
    fdl_location location = {0};
    const fdl_config *config = NULL;
    char full[FDL_REF_BYTES];
    fdl_code code = full_name(kind, name, full, error);
    if (code == FDL_OK) /* nothing is written to a repository of a format we do not know */
        code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        code = refuse_existing(repo, kind, name, full, error);
    if (code == FDL_OK)
        code = fdl_locate(repo, revision, &location, error); /* an expired version can get no new name */
    if (code == FDL_OK) {
        memcpy(ref.name, full, sizeof ref.name);
        memcpy(ref.id, location.target.id, sizeof ref.id);
        code = fdl_ref_make(repo, full, ref.id, error);
    }
    if (code == FDL_OK)
        code = fdl_refs_json_update(repo, error);
    if (code == FDL_OK)
        *out = ref;
    fdl_location_clear(&location);
    return code;
}

fdl_code fdl_ref_delete(fdl_repo *repo, const char *kind, const char *name, fdl_ref *out, fdl_error *error) {
    fdl_ref ref = {0};
    const fdl_config *config = NULL;
    char full[FDL_REF_BYTES], head[FDL_REF_BYTES];
    fdl_code code = full_name(kind, name, full, error);
    if (code == FDL_OK)
        code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK && is_branch(kind)) {
        code = fdl_head_read(repo, head, error);
        if (code == FDL_OK && strcmp(head, full) == 0)
            code = fdl_fail(error, FDL_REFUSED, full, "branch '%s' is the one HEAD names and cannot be deleted", name);
    }
    if (code == FDL_OK) {
        code = fdl_ref_read(repo, full, &ref, error);
        if (code == FDL_NOT_FOUND)
            code = fdl_fail(error, FDL_NOT_FOUND, full, "no %s '%s' in '%s'", is_branch(kind) ? "branch" : "tag", name,
                            fdl_repo_address(repo));
    }
    if (code == FDL_OK)
        code = fdl_ref_remove(repo, &ref, error);
    if (code == FDL_OK)
        code = fdl_refs_json_update(repo, error);
    if (code == FDL_OK)
        *out = ref;
    return code;
}
