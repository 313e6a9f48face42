/*
 * expiry_write.c - the marker that says a version is gone: written, and taken
 * back.
 *
 *     nothing --retention--> retention --withdrawn--> withdrawn
 *        ^                      |
 *        `------ taken back ----'
 *
 * Each step names the state it leaves, so of two commands that meet at one
 * version none undoes what the other has promised.  What stands there after a
 * refusal or a lost answer decides, as for a ref.
 */
#include <stdlib.h>
#include <string.h>

#include "repo/expiry.h"
#include "repo/internal.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/text.h"

#define ATTEMPTS 5

bool fdl_expiry_is_withdrawn(const fdl_expiry *expiry) {
    return strcmp(expiry->reason, FDL_REASON_WITHDRAWN) == 0;
}

/* One line; what readers of the folder see first. */
static fdl_code compose(const char *reason, int64_t at_ms, const char *text, char **out, size_t *length,
                        fdl_error *error) {
    char time[FDL_TIME_BYTES];
    if (text && (!fdl_utf8_valid(text, strlen(text)) || strlen(text) > FDL_LIMIT_EXPIRED_BYTES / 8))
        return fdl_fail(error, FDL_USAGE, NULL, "the text of a marker must be valid UTF-8 of at most %u bytes",
                        FDL_LIMIT_EXPIRED_BYTES / 8);
    fdl_time_write(at_ms / 1000 * 1000, time);
    json_t *document = json_object();
    fdl_code code = document ? FDL_OK : fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    if (code == FDL_OK)
        code = fdl_json_set(document, "expired_at", json_string(time), error);
    if (code == FDL_OK)
        code = fdl_json_set(document, "reason", json_string(reason), error);
    if (code == FDL_OK && text)
        code = fdl_json_set(document, "text", json_string(text), error);
    if (code == FDL_OK)
        code = fdl_json_write(document, out, length, error);
    json_decref(document);
    return code;
}

/* In the place of what was seen ("": nothing). */
static fdl_code put(fdl_repo *repo, const char *key, const fdl_source *source, const char *etag, fdl_error *error) {
    fdl_condition condition = {.kind = *etag ? FDL_IF_MATCH : FDL_IF_ABSENT, .etag = etag};
    return fdl_store_put(repo->store, key, source, condition, NULL, error);
}

static bool is_unsettled(fdl_code code) {
    return code == FDL_CONFLICT || code == FDL_UNCERTAIN;
}

fdl_code fdl_expiry_write(fdl_repo *repo, const char *id, const char *reason, int64_t at_ms, const char *text,
                          bool *written, fdl_error *error) {
    char key[FDL_KEY_BYTES], etag[FDL_ETAG_LIMIT_BYTES] = "";
    char *bytes = NULL;
    fdl_source source = {0};
    bool withdraw = strcmp(reason, FDL_REASON_WITHDRAWN) == 0, ours = false;
    fdl_code code = fdl_key_version(key, id, FDL_FILE_EXPIRED, error);
    if (code == FDL_OK)
        code = compose(reason, at_ms, text, &bytes, &source.length_bytes, error);
    source.bytes = bytes;
    for (int i = 0; code == FDL_OK && i < ATTEMPTS; i++) {
        fdl_expiry now = {0};
        code = put(repo, key, &source, etag, error);
        ours = code == FDL_OK || code == FDL_UNCERTAIN;
        if (!is_unsettled(code))
            break;
        fdl_error unsettled = *error;
        code = fdl_expiry_read_state(repo, id, &now, etag, error);
        bool settled = code == FDL_OK && now.expired && (!withdraw || fdl_expiry_is_withdrawn(&now));
        fdl_expiry_clear(&now);
        if (settled)
            break;
        if (code == FDL_OK && i + 1 == ATTEMPTS) {
            *error = unsettled;
            code = unsettled.code;
        }
    }
    if (code == FDL_OK && written)
        *written = ours;
    free(bytes);
    return code;
}

/* `*gone`: there is no marker any more. */
static fdl_code remove_once(fdl_repo *repo, const char *id, const char *key, bool *gone, fdl_error *error) {
    char etag[FDL_ETAG_LIMIT_BYTES];
    fdl_expiry now = {0};
    fdl_code code = fdl_expiry_read_state(repo, id, &now, etag, error);
    bool withdrawn = fdl_expiry_is_withdrawn(&now);
    *gone = code == FDL_OK && !now.expired;
    fdl_expiry_clear(&now);
    if (code != FDL_OK || *gone)
        return code;
    if (withdrawn)
        return fdl_fail(error, FDL_REFUSED, id, "version '%s' was withdrawn; that is never taken back", id);
    code = fdl_store_remove(repo->store, key, (fdl_condition){.kind = FDL_IF_MATCH, .etag = etag}, error);
    *gone = code == FDL_OK;
    return code;
}

fdl_code fdl_expiry_take_back(fdl_repo *repo, const char *id, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    bool gone = false;
    fdl_code code = fdl_key_version(key, id, FDL_FILE_EXPIRED, error);
    for (int i = 0; code == FDL_OK && !gone && i < ATTEMPTS; i++) {
        code = remove_once(repo, id, key, &gone, error);
        if (is_unsettled(code) && i + 1 < ATTEMPTS)
            code = FDL_OK;
    }
    return code;
}
