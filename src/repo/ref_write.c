/*
 * ref_write.c - moving, creating and removing a ref: the one step by which a
 * version becomes visible, and the one place where two writers meet.
 *
 *     put If-Match <etag as read>            (or If-None-Match: * for a new one)
 *       |-- done                                        over HTTP it is read once more
 *       |-- refused, or the answer was lost: read the ref
 *             |-- holds ours, or a descendant of ours      done after all
 *             |-- holds what we expected: not landed       put again, a few times
 *             `-- holds anything else                      FDL_CONFLICT
 *
 * A refusal is no proof of a lost race: a client below us may have sent the put
 * twice and been refused by its own success.  So the ref itself is always asked.
 */
#include <stdio.h>
#include <string.h>

#include "repo/history.h"
#include "repo/internal.h"
#include "util/ident.h"
#include "util/text.h"

#define ATTEMPTS 5

/* ---- names that cannot live together ------------------------------------ */

/* Any ref below the name will do. */
static fdl_code look_for_clash(void *data, const fdl_entry *entry, fdl_error *error) {
    (void)error;
    if (fdl_ref_full_name_valid(entry->key))
        fdl_str_fit(data, FDL_REF_BYTES, entry->key);
    return FDL_OK;
}

/* The refs that the name makes a folder of: 'a' and 'a/b' for 'a/b/c'. */
static fdl_code look_above(fdl_repo *repo, const char *full_name, size_t kind, char other[FDL_REF_BYTES],
                           fdl_error *error) {
    char above[FDL_REF_BYTES];
    fdl_str_fit(above, sizeof above, full_name);
    for (char *slash = above + kind; (slash = strchr(slash, '/')) && !other[0]; *slash++ = '/') {
        fdl_object object;
        *slash = '\0';
        fdl_code code = fdl_store_head(repo->store, above, &object, error);
        if (code == FDL_OK)
            fdl_str_fit(other, FDL_REF_BYTES, above);
        else if (code != FDL_NOT_FOUND)
            return code;
    }
    return FDL_OK;
}

/*
 * 'a' and 'a/b' would be a file and a folder of one name.  Only names that could clash are asked for, since a
 * listing of all for each new one makes a mirror of many take for ever.
 */
static fdl_code check_clash(fdl_repo *repo, const char *full_name, fdl_error *error) {
    if (!repo->store->can_list)
        return FDL_OK; /* the host behind the store looks */
    char below[FDL_REF_BYTES + 1], other[FDL_REF_BYTES] = "";
    snprintf(below, sizeof below, "%s/", full_name);
    size_t kind = strlen(fdl_str_starts(full_name, FDL_REF_HEADS) ? FDL_REF_HEADS : FDL_REF_TAGS);
    fdl_code code = fdl_store_list(repo->store, below, FDL_ALL_LEVELS, look_for_clash, other, error);
    if (code == FDL_OK)
        code = look_above(repo, full_name, kind, other, error);
    if (code == FDL_OK && other[0])
        code = fdl_fail(error, FDL_CONFLICT, full_name, "'%s' cannot exist beside '%s'; choose another name", full_name,
                        other);
    return code;
}

/* ---- moving ------------------------------------------------------------- */

/* The ref as it is now; one that does not exist has no id. */
static fdl_code read_now(fdl_repo *repo, const char *full_name, fdl_ref *now, fdl_error *error) {
    memset(now, 0, sizeof *now);
    fdl_code code = fdl_ref_read(repo, full_name, now, error);
    return code == FDL_NOT_FOUND ? FDL_OK : code;
}

/* Whether `id` is an ancestor of `held`; a history that cannot be read is no proof. */
static bool is_built_on(fdl_repo *repo, const char *id, const char *held) {
    fdl_version ours = {0};
    bool found = false;
    if (fdl_version_read(repo, id, &ours, NULL) != FDL_OK ||
        fdl_history_has(repo, held, id, ours.seq, &found, NULL) != FDL_OK)
        found = false;
    fdl_version_clear(&ours);
    return found;
}

static fdl_code moved(const char *full_name, const fdl_ref *expected, const fdl_ref *now, fdl_error *error) {
    if (!expected)
        return fdl_fail(error, FDL_CONFLICT, full_name, "'%s' exists already and holds '%s'", full_name, now->id);
    if (!now->id[0])
        return fdl_fail(error, FDL_CONFLICT, full_name, "'%s' was deleted meanwhile; it held '%s'", full_name,
                        expected->id);
    return fdl_fail(error, FDL_CONFLICT, full_name,
                    "'%s' has moved from '%s' to '%s'; check out again and redo the work", full_name, expected->id,
                    now->id);
}

/* The store refuses or loses every attempt, and still the ref is as expected. */
static fdl_code given_up(fdl_repo *repo, fdl_code last, const char *full_name, fdl_error *error) {
    if (last == FDL_CONFLICT)
        return fdl_fail(error, FDL_CONFLICT, full_name,
                        "'%s' refused to write '%s' %d times although nobody moved it; try again",
                        fdl_repo_address(repo), full_name, ATTEMPTS);
    return fdl_fail(error, FDL_UNCERTAIN, full_name, "the answer to writing '%s' in '%s' was lost %d times; try again",
                    full_name, fdl_repo_address(repo), ATTEMPTS);
}

static fdl_code put_ref(fdl_repo *repo, const char *full_name, const char *id, const fdl_ref *now, fdl_error *error) {
    char line[FDL_ID_BYTES + 1];
    memcpy(line, id, FDL_ID_BYTES - 1);
    memcpy(line + FDL_ID_BYTES - 1, "\n", 2);
    fdl_source source = {.bytes = line, .length_bytes = FDL_ID_BYTES};
    fdl_condition condition = {.kind = now->id[0] ? FDL_IF_MATCH : FDL_IF_ABSENT, .etag = now->etag};
    return fdl_store_put(repo->store, full_name, &source, condition, NULL, error);
}

/* What answers 200 to everything, such as the login page of a network, has written nothing. */
static fdl_code look_back(fdl_repo *repo, const char *full_name, const char *id, fdl_ref *now, bool *lost,
                          fdl_error *error) {
    fdl_error why;
    if (strcmp(repo->store->ops->kind, "http") != 0)
        return FDL_OK;
    if (read_now(repo, full_name, now, &why) != FDL_OK)
        return fdl_fail(error, FDL_UNCERTAIN, full_name, "whether '%s' was written is not known, try again: %s", full_name,
                        why.message);
    if (strcmp(now->id, id) == 0)
        return FDL_OK;
    *lost = true; /* others may have built on it */
    return fdl_fail(error, FDL_CONFLICT, full_name, "'%s' says that it wrote '%s', which does not hold '%s': try again",
                    fdl_repo_address(repo), full_name, id);
}

/*
 * Puts until it is known what became of it.  FDL_OK: the ref holds `id`.
 * FDL_CONFLICT with `now` filled: it holds something else.
 */
static fdl_code put_and_settle(fdl_repo *repo, const char *full_name, const char *id, const fdl_ref *expected,
                               fdl_ref *now, bool *lost, fdl_error *error) {
    const char *expected_id = expected ? expected->id : "";
    fdl_code code = FDL_OK;
    memset(now, 0, sizeof *now);
    if (expected)
        *now = *expected;
    for (int i = 0; i < ATTEMPTS; i++) {
        code = put_ref(repo, full_name, id, now, error);
        if (code == FDL_OK)
            return look_back(repo, full_name, id, now, lost, error);
        if (code != FDL_CONFLICT && code != FDL_UNCERTAIN)
            return code;
        *lost = *lost || code == FDL_UNCERTAIN;
        fdl_code read = read_now(repo, full_name, now, error);
        if (read != FDL_OK && *lost)
            return fdl_fail(error, FDL_UNCERTAIN, full_name,
                            "whether '%s' in '%s' was written is not known, and it cannot be read now; try again",
                            full_name, fdl_repo_address(repo));
        if (read != FDL_OK)
            return read;
        if (strcmp(now->id, id) == 0)
            return FDL_OK;
        if (strcmp(now->id, expected_id) != 0)
            return moved(full_name, expected, now, error);
    }
    return given_up(repo, code, full_name, error);
}

fdl_code fdl_ref_write(fdl_repo *repo, const char *full_name, const char *id, const fdl_ref *expected,
                       fdl_error *error) {
    fdl_code code = fdl_ref_full_name_check(full_name, error);
    if (code == FDL_OK && !fdl_uuid_valid(id))
        code = fdl_fail(error, FDL_USAGE, full_name, "'%s' is not a version id", id);
    if (code == FDL_OK && expected && !expected->id[0])
        expected = NULL; /* read as "does not exist" */
    if (code == FDL_OK && expected && fdl_str_starts(full_name, FDL_REF_TAGS))
        code = fdl_fail(error, FDL_REFUSED, full_name, "'%s' is a tag and never moves", full_name);
    if (code == FDL_OK && !expected)
        code = check_clash(repo, full_name, error);
    if (code != FDL_OK)
        return code;

    fdl_ref now;
    bool lost = false;
    code = put_and_settle(repo, full_name, id, expected, &now, &lost, error);
    fdl_str_fit(repo->written_id, sizeof repo->written_id, code == FDL_OK ? id : "");
    /* A name that merely existed before is no success, even if its version was built on ours. */
    if (code == FDL_CONFLICT && now.id[0] && (expected || lost) && is_built_on(repo, id, now.id))
        code = FDL_OK;
    if (code == FDL_OK)
        fdl_str_fit(repo->written, sizeof repo->written, full_name);
    return code;
}

/* ---- removing ----------------------------------------------------------- */

fdl_code fdl_ref_remove(fdl_repo *repo, const fdl_ref *ref, fdl_error *error) {
    fdl_code code = fdl_ref_full_name_check(ref->name, error);
    if (code != FDL_OK)
        return code;
    fdl_ref now = *ref;
    for (int i = 0; i < ATTEMPTS; i++) {
        fdl_condition condition = {.kind = FDL_IF_MATCH, .etag = now.etag};
        code = fdl_store_remove(repo->store, ref->name, condition, error);
        if (code != FDL_CONFLICT && code != FDL_UNCERTAIN)
            return code;
        fdl_code read = read_now(repo, ref->name, &now, error);
        if (read != FDL_OK)
            return read;
        if (!now.id[0])
            return FDL_OK; /* gone, which is what was asked */
        if (strcmp(now.id, ref->id) != 0)
            return moved(ref->name, ref, &now, error);
    }
    return given_up(repo, code, ref->name, error);
}
