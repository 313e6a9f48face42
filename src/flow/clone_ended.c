/*
 * clone_ended.c - versions that have ended at the source end in the mirror too.
 *
 * A marker goes before what else there is of its version.  What was withdrawn is
 * deleted at the end, once the refs have moved on, of versions too that no ref of
 * the source leads to any more.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/clone.h"
#include "flow/withdraw.h"
#include "flow/work.h"
#include "repo/expiry.h"
#include "repo/layout.h"
#include "util/ident.h"
#include "util/text.h"

/* Whether the mirror still shows what was in a version, and the source does not.  A list may be one that expire left. */
static fdl_code shows_more(cloning *c, const fdl_version *version, bool *more, fdl_error *error) {
    const char *names[] = {version->catalog.file.path, version->files.path ? version->files.path : FDL_FILE_FILES,
                           version->packed.path};
    fdl_code code = FDL_OK;
    *more = false;
    for (size_t i = 0; code == FDL_OK && i < sizeof names / sizeof *names && !*more; i++) {
        bool offered = true;
        code = fdl_clone_holds(&c->there, version, names[i], more, error);
        if (code == FDL_OK && *more && c->offered.listed)
            code = fdl_clone_holds(&c->offered, version, names[i], &offered, error);
        *more = *more && !(c->offered.listed && offered);
    }
    return code;
}

/* A host's writers end no version, whatever their token. */
static fdl_code told_by_host(const cloning *c, const fdl_version *version, fdl_code code, fdl_error *error) {
    if (code != FDL_DENIED || !fdl_repo_is_http(c->to))
        return code;
    return fdl_fail(error, FDL_REFUSED, version->id,
                    "version '%s' has expired or was withdrawn in '%s', and no writer ends it in '%s': clone into the store "
                    "behind the host",
                    version->id, fdl_repo_address(c->from), fdl_repo_address(c->to));
}

/* Marks it here too, and remembers that there is something to delete. */
static fdl_code carry_withdrawal(cloning *c, const fdl_version *version, const fdl_expiry *expiry, fdl_error *error) {
    int64_t at_ms = 0;
    fdl_time_parse(expiry->expired_at, &at_ms);
    fdl_code code = fdl_expiry_write(c->to, version->id, FDL_REASON_WITHDRAWN, at_ms, expiry->text, NULL, error);
    code = told_by_host(c, version, code, error);
    if (code == FDL_OK)
        code = fdl_grow(&c->withdrawn, c->withdrawn_count, sizeof *c->withdrawn, error);
    if (code == FDL_OK)
        memcpy(c->withdrawn[c->withdrawn_count++], version->id, FDL_ID_BYTES);
    return code;
}

/*
 * A marker goes first, as expire itself writes it, and ends the version in the
 * mirror too.  One that came over before is read again only while there is more
 * to delete: a version that had expired may have been withdrawn since.
 */
fdl_code fdl_clone_marker(cloning *c, const fdl_version *version, bool *expired, bool *withdrawn, fdl_error *error) {
    bool there = false, more = false;
    fdl_expiry expiry = {0};
    fdl_code code = FDL_OK;
    if (c->offered.listed)
        code = fdl_clone_holds(&c->offered, version, FDL_FILE_EXPIRED, expired, error);
    else
        code = fdl_expiry_read(c->from, version->id, &expiry, error);
    *expired = *expired || expiry.expired;
    if (code == FDL_OK && *expired)
        code = fdl_clone_holds(&c->there, version, FDL_FILE_EXPIRED, &there, error);
    if (code == FDL_OK && *expired)
        code = shows_more(c, version, &more, error);
    if (code == FDL_OK && *expired && !expiry.expired && (!there || more))
        code = fdl_expiry_read(c->from, version->id, &expiry, error);
    *withdrawn = more && fdl_expiry_is_withdrawn(&expiry);
    if (code == FDL_OK && *expired && !there) {
        char key[FDL_KEY_BYTES];
        code = fdl_key_version(key, version->id, FDL_FILE_EXPIRED, error);
        if (code == FDL_OK)
            code = told_by_host(c, version, fdl_clone_copy(c, key, FDL_CLONE_SMALL_LIMIT_BYTES, error), error);
    }
    if (code == FDL_OK && *withdrawn)
        code = carry_withdrawal(c, version, &expiry, error);
    fdl_expiry_clear(&expiry);
    return code;
}

/* ---- 4: withdrawals ------------------------------------------------------------------- */

/* Versions of the mirror that no ref of the source leads to any more. */
typedef struct others {
    const cloning *c;
    char (*ids)[FDL_ID_BYTES];
    size_t count;
} others;

static fdl_code add_other(void *data, const fdl_entry *entry, fdl_error *error) {
    others *found = data;
    char id[FDL_ID_BYTES];
    if (!fdl_key_version_folder(entry->key, id) || fdl_clone_find(found->c, id))
        return FDL_OK;
    fdl_code code = fdl_grow(&found->ids, found->count, sizeof *found->ids, error);
    if (code == FDL_OK)
        memcpy(found->ids[found->count++], id, FDL_ID_BYTES);
    return code;
}

/* A clone that was stopped left all but the record here, which the source still has: with it withdraw knows what to do. */
static fdl_code carry_other(cloning *c, const fdl_version *version, const fdl_expiry *expiry, bool bare, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    fdl_code code = carry_withdrawal(c, version, expiry, error);
    if (code == FDL_OK && bare)
        code = fdl_key_version(key, version->id, FDL_FILE_VERSION, error);
    return code == FDL_OK && bare ? fdl_clone_copy(c, key, FDL_CLONE_SMALL_LIMIT_BYTES, error) : code;
}

static fdl_code look_at_other(cloning *c, const char *id, fdl_error *error) {
    fdl_version version = {0};
    fdl_expiry expiry = {0};
    bool expired = true, more = false, bare = false;
    memcpy(version.id, id, FDL_ID_BYTES);
    fdl_code code = c->offered.listed ? fdl_clone_holds(&c->offered, &version, FDL_FILE_EXPIRED, &expired, error) : FDL_OK;
    if (code == FDL_OK && expired)
        code = fdl_expiry_read(c->from, id, &expiry, error);
    if (code == FDL_OK && fdl_expiry_is_withdrawn(&expiry))
        code = fdl_version_read(c->to, id, &version, error);
    bare = code == FDL_NOT_FOUND;
    if (bare)
        code = fdl_version_read(c->from, id, &version, error);
    if (code == FDL_OK && fdl_expiry_is_withdrawn(&expiry))
        code = shows_more(c, &version, &more, error);
    if (code == FDL_OK && more)
        code = carry_other(c, &version, &expiry, bare, error);
    fdl_expiry_clear(&expiry);
    fdl_version_clear(&version);
    return code == FDL_NOT_FOUND ? FDL_OK : code; /* pruned at the source */
}

/* The mirror's own catalogs tell which of its files go; whatever its branches keep of them, withdraw says. */
fdl_code fdl_clone_withdraw(cloning *c, fdl_error *error) {
    others found = {.c = c};
    fdl_code code = FDL_OK;
    if (c->target->can_list)
        code = fdl_store_list(c->target, FDL_KEY_VERSIONS, FDL_ONE_LEVEL, add_other, &found, error);
    for (size_t i = 0; code == FDL_OK && i < found.count; i++)
        code = look_at_other(c, found.ids[i], error);
    free(found.ids);
    if (code != FDL_OK || c->withdrawn_count == 0)
        return code;
    code = fdl_withdraw_mirrored(c->to, c->from, error);
    for (size_t i = 0; code == FDL_OK && i < c->withdrawn_count; i++)
        fdl_note(fdl_repo_context(c->from), FDL_NOTE_INFO, "version '%s' was withdrawn: its data is deleted from '%s' too",
                 c->withdrawn[i], fdl_repo_address(c->to));
    return code;
}
