/*
 * revision.c - from what a person types to a version id.
 *
 * A name is tried as a full ref, HEAD, branch, tag and id, in that order, each
 * at the cost of one small read, and nothing else is read.  So the way from HEAD
 * to an id is two reads, over plain HTTP too.
 */
#include <string.h>

#include "repo/history.h"
#include "repo/internal.h"
#include "util/text.h"

#define BACK_LIMIT 1000000u

typedef struct revision {
    char name[FDL_REF_BYTES];
    uint32_t back; /* ~N, added up */
    bool stepped;  /* has a '~', be it ~0 */
} revision;

/* ---- taking it apart ------------------------------------------------------ */

static fdl_code not_a_revision(const char *text, const char *why, fdl_error *error) {
    return fdl_fail(error, FDL_USAGE, text, "'%.300s' is not a revision: %s", text, why);
}

/* "~", "~3", "~2~1": each is so many steps back, one when it does not say. */
static fdl_code parse_steps(const char *text, const char *steps, uint32_t *back, fdl_error *error) {
    *back = 0;
    while (*steps == '~') {
        uint32_t count = 0;
        bool counted = false;
        for (steps++; *steps >= '0' && *steps <= '9'; steps++) {
            counted = true;
            count = count * 10 + (uint32_t)(*steps - '0');
            if (count > BACK_LIMIT)
                return not_a_revision(text, "'~' takes at most 1000000", error);
        }
        *back += counted ? count : 1;
        if (*back > BACK_LIMIT)
            return not_a_revision(text, "'~' takes at most 1000000", error);
    }
    return *steps == '\0' ? FDL_OK : not_a_revision(text, "only a number may follow '~'", error);
}

static fdl_code parse_revision(const char *text, revision *out, fdl_error *error) {
    size_t length = strcspn(text, "~");
    if (length == 0)
        return not_a_revision(text, "give a branch, a tag, HEAD or a version id", error);
    if (length >= sizeof out->name)
        return not_a_revision(text, "the name is too long", error);
    memcpy(out->name, text, length);
    out->name[length] = '\0';
    out->stepped = text[length] == '~';
    fdl_error why = {0};
    if (strcmp(out->name, FDL_KEY_HEAD) != 0 && !fdl_ref_full_name_valid(out->name) &&
        fdl_ref_name_check(out->name, &why) != FDL_OK)
        return fdl_fail(error, FDL_USAGE, text, "'%.300s' is not a revision: %s", text, why.message);
    return parse_steps(text, text + length, &out->back, error);
}

/* ---- looking it up -------------------------------------------------------- */

static fdl_code no_version_yet(fdl_repo *repo, const char *branch, fdl_target *out, fdl_error *error) {
    fdl_str_fit(out->branch, sizeof out->branch, branch);
    return fdl_fail(error, FDL_NOT_FOUND, branch,
                    "no version yet in '%s' (branch '%s' does not exist yet); check out, commit and push the first one",
                    fdl_repo_address(repo), branch + strlen(FDL_REF_HEADS));
}

static fdl_code try_ref(fdl_repo *repo, const char *full_name, fdl_target *out, fdl_error *error) {
    fdl_ref ref;
    fdl_code code = fdl_ref_read(repo, full_name, &ref, error);
    if (code != FDL_OK)
        return code;
    memcpy(out->id, ref.id, sizeof out->id);
    if (fdl_str_starts(full_name, FDL_REF_HEADS)) {
        memcpy(out->branch, ref.name, sizeof out->branch);
        memcpy(out->etag, ref.etag, sizeof out->etag);
    }
    return FDL_OK;
}

static fdl_code look_up_head(fdl_repo *repo, fdl_target *out, fdl_error *error) {
    char branch[FDL_REF_BYTES];
    fdl_code code = fdl_head_read(repo, branch, error);
    if (code != FDL_OK)
        return code;
    code = try_ref(repo, branch, out, error);
    return code == FDL_NOT_FOUND ? no_version_yet(repo, branch, out, error) : code;
}

/*
 * A branch or tag of that name; not found also when no ref can have it, and when
 * we may not look: a public bucket that nobody may list answers 403 for what is
 * not there.
 */
static fdl_code try_name(fdl_repo *repo, const char *kind, const char *name, fdl_target *out, fdl_error *error) {
    char full_name[FDL_REF_BYTES];
    if (fdl_ref_name_check(name, error) != FDL_OK)
        return FDL_NOT_FOUND;
    fdl_str_fit(full_name, sizeof full_name, kind);
    fdl_str_fit(full_name + strlen(kind), sizeof full_name - strlen(kind), name);
    fdl_code code = try_ref(repo, full_name, out, error);
    return code == FDL_DENIED ? FDL_NOT_FOUND : code;
}

/* Nothing of that name: perhaps because nothing is there at all. */
static fdl_code explain_not_found(fdl_repo *repo, const char *name, fdl_target *out, fdl_error *error) {
    char branch[FDL_REF_BYTES];
    fdl_code code = fdl_head_read(repo, branch, error);
    if (code != FDL_OK)
        return code;
    if (strcmp(name, branch) == 0 || strcmp(name, branch + strlen(FDL_REF_HEADS)) == 0)
        return no_version_yet(repo, branch, out, error);
    return fdl_fail(error, FDL_NOT_FOUND, name, "no branch, tag or version '%s' in '%s'", name, fdl_repo_address(repo));
}

static fdl_code look_up(fdl_repo *repo, const char *name, fdl_target *out, fdl_error *error) {
    if (strcmp(name, FDL_KEY_HEAD) == 0)
        return look_up_head(repo, out, error);
    fdl_code code = FDL_NOT_FOUND;
    if (fdl_ref_full_name_valid(name))
        code = try_ref(repo, name, out, error);
    if (code == FDL_NOT_FOUND)
        code = try_name(repo, FDL_REF_HEADS, name, out, error);
    if (code == FDL_NOT_FOUND)
        code = try_name(repo, FDL_REF_TAGS, name, out, error);
    if (code == FDL_NOT_FOUND && fdl_id_prefix_valid(name))
        code = fdl_id_complete(repo, name, out->id, error);
    return code == FDL_NOT_FOUND ? explain_not_found(repo, name, out, error) : code;
}

/* ---- going back ----------------------------------------------------------- */

static fdl_code step_back(fdl_repo *repo, const revision *from, char id[FDL_ID_BYTES], fdl_error *error) {
    fdl_version version = {0};
    fdl_code code = fdl_version_read(repo, id, &version, error);
    for (uint32_t i = 0; i < from->back && code == FDL_OK; i++) {
        if (!version.parent[0])
            code = fdl_fail(error, FDL_NOT_FOUND, from->name, "'%s' has no ancestor ~%u: it has %u", from->name,
                            from->back, i);
        else
            code = fdl_parent_read(repo, &version, &version, error);
    }
    if (code == FDL_OK)
        memcpy(id, version.id, FDL_ID_BYTES);
    fdl_version_clear(&version);
    return code;
}

fdl_code fdl_resolve(fdl_repo *repo, const char *text, fdl_target *out, fdl_error *error) {
    revision asked = {0};
    memset(out, 0, sizeof *out);
    fdl_code code = parse_revision(text ? text : FDL_KEY_HEAD, &asked, error);
    if (code == FDL_OK)
        code = look_up(repo, asked.name, out, error);
    if (code == FDL_OK && asked.back)
        code = step_back(repo, &asked, out->id, error);
    if (asked.stepped) { /* a place in a history, and no branch */
        out->branch[0] = '\0';
        out->etag[0] = '\0';
    }
    if (code != FDL_OK)
        out->id[0] = '\0';
    return code;
}
