/*
 * refs.json - all refs in one document, for readers that can look nothing up
 * by listing (a browser, a plain web server).
 *
 * It is made anew from the refs after each change of one, and may lag behind
 * them: who needs the newest version reads the ref.  Its ETag is read before
 * the refs are, so of two writers the one that saw less cannot be the last:
 *
 *     read refs.json and its ETag -> read HEAD and the refs -> put If-Match
 *           ^                                                     |
 *           `---------------- somebody wrote it meanwhile --------'
 */
#include <stdlib.h>
#include <string.h>

#include "repo/internal.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/text.h"

#define ATTEMPTS 10

/* ---- reading ------------------------------------------------------------ */

/* The document with its ETag, also when it is broken; `etag` may be NULL. */
static fdl_code read_document(fdl_repo *repo, json_t **out, char *etag, fdl_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    fdl_object object = {0};
    fdl_code code = fdl_document_read(repo, FDL_KEY_REFS_JSON, FDL_LIMIT_REFS_JSON_BYTES, &bytes, &length,
                                   etag ? &object : NULL, error);
    if (code == FDL_OK) {
        if (etag)
            fdl_str_fit(etag, FDL_ETAG_LIMIT_BYTES, object.etag);
        code = fdl_json_parse(bytes, length, FDL_KEY_REFS_JSON, out, error);
    }
    free(bytes);
    return code;
}

/* Readers ignore names they do not know; a name they know must hold an id. */
static fdl_code check_refs(const json_t *document, json_t **refs, fdl_error *error) {
    json_t *value = NULL;
    const char *name = NULL;
    fdl_code code = fdl_json_object(document, FDL_KEY_REFS_JSON, "refs", refs, error);
    if (code != FDL_OK)
        return code;
    json_object_foreach(*refs, name, value) {
        const char *id = json_string_value(value);
        if (fdl_ref_full_name_valid(name) && (!id || !fdl_uuid_valid(id)))
            return fdl_fail(error, FDL_FAILED, FDL_KEY_REFS_JSON, "'%s' does not hold a version id for '%s'",
                            FDL_KEY_REFS_JSON, name);
    }
    return FDL_OK;
}

static fdl_code take_refs(json_t *refs, fdl_ref_list *list, fdl_error *error) {
    json_t *value = NULL;
    const char *name = NULL;
    json_object_foreach(refs, name, value) {
        if (!fdl_ref_full_name_valid(name))
            continue;
        fdl_code code = fdl_ref_list_add(list, name, error);
        if (code != FDL_OK)
            return code;
        fdl_str_fit(list->items[list->count - 1].id, FDL_ID_BYTES, json_string_value(value));
    }
    return FDL_OK;
}

fdl_code fdl_refs_json_read(fdl_repo *repo, fdl_ref_list *out, fdl_error *error) {
    json_t *document = NULL, *refs = NULL;
    fdl_ref_list list = {0};
    fdl_code code = read_document(repo, &document, NULL, error);
    if (code == FDL_OK)
        code = check_refs(document, &refs, error);
    if (code == FDL_OK)
        code = take_refs(refs, &list, error);
    json_decref(document);
    if (code != FDL_OK) {
        fdl_ref_list_clear(&list);
        return code;
    }
    fdl_ref_list_sort(&list);
    *out = list;
    return FDL_OK;
}

/* ---- making it anew ----------------------------------------------------- */

/*
 * The refs as they are.  A store that cannot list is asked for each ref that
 * somebody told of: the document so far, HEAD, and what this process wrote.
 */
static fdl_code read_refs(fdl_repo *repo, const json_t *old, const char *head, fdl_ref_list *out, fdl_error *error) {
    if (repo->store->can_list)
        return fdl_ref_list_collect(repo, out, error);
    json_t *refs = NULL;
    fdl_code code = FDL_OK;
    if (old && check_refs(old, &refs, NULL) == FDL_OK) /* broken, it tells nothing */
        code = take_refs(refs, out, error);
    if (code == FDL_OK)
        code = fdl_ref_list_add(out, head, error);
    if (code == FDL_OK && repo->written[0])
        code = fdl_ref_list_add(out, repo->written, error);
    return code == FDL_OK ? fdl_ref_list_fill(repo, out, error) : code;
}

static fdl_code compose(const char *head, const fdl_ref_list *list, json_t **out, fdl_error *error) {
    json_t *refs = json_object();
    json_t *document = json_object();
    fdl_code code = refs && document ? FDL_OK : fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    for (size_t i = 0; i < list->count && code == FDL_OK; i++)
        code = fdl_json_set(refs, list->items[i].name, json_string(list->items[i].id), error);
    if (code == FDL_OK)
        code = fdl_json_set(document, "head", json_string(head), error);
    if (code == FDL_OK)
        code = fdl_json_set(document, "refs", json_incref(refs), error);
    json_decref(refs);
    if (code == FDL_OK)
        *out = document;
    else
        json_decref(document);
    return code;
}

static bool same_fields(const json_t *a, const json_t *b) {
    return json_equal(json_object_get(a, "head"), json_object_get(b, "head")) &&
           json_equal(json_object_get(a, "refs"), json_object_get(b, "refs"));
}

static fdl_code put_document(fdl_repo *repo, const json_t *document, const char *etag, fdl_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    fdl_code code = fdl_json_write(document, &bytes, &length, error);
    if (code == FDL_OK && length > FDL_LIMIT_REFS_JSON_BYTES)
        code = fdl_fail(error, FDL_REFUSED, FDL_KEY_REFS_JSON,
                        "'%s' would be larger than %u bytes, which no reader accepts; delete some refs",
                        FDL_KEY_REFS_JSON, FDL_LIMIT_REFS_JSON_BYTES);
    if (code == FDL_OK) {
        fdl_source source = {.bytes = bytes, .length_bytes = length};
        fdl_condition condition = {.kind = etag[0] ? FDL_IF_MATCH : FDL_IF_ABSENT, .etag = etag};
        code = fdl_store_put(repo->store, FDL_KEY_REFS_JSON, &source, condition, NULL, error);
    }
    free(bytes);
    return code;
}

/* FDL never changes HEAD, so right after a ref was moved the document's word for it will do; else it is read. */
static fdl_code look_at_head(fdl_repo *repo, const json_t *old, char head[FDL_REF_BYTES], fdl_error *error) {
    const char *known = old ? json_string_value(json_object_get(old, "head")) : NULL;
    if (repo->written_id[0] && known && fdl_ref_full_name_valid(known) && fdl_str_fit(head, FDL_REF_BYTES, known))
        return FDL_OK;
    return fdl_head_read(repo, head, error);
}

/* The document as it stands (NULL: missing or broken) with its ETag, and as it should be. */
static fdl_code look(fdl_repo *repo, json_t **old, char etag[FDL_ETAG_LIMIT_BYTES], json_t **fresh, fdl_error *error) {
    char head[FDL_REF_BYTES];
    fdl_ref_list refs = {0};
    fdl_code code = read_document(repo, old, etag, error);
    if (code == FDL_REFUSED) { /* larger than any reader takes */
        fdl_object object = {0};
        code = fdl_store_head(repo->store, FDL_KEY_REFS_JSON, &object, error);
        fdl_str_fit(etag, FDL_ETAG_LIMIT_BYTES, object.etag);
    }
    if (code == FDL_NOT_FOUND || (code == FDL_FAILED && etag[0]))
        code = FDL_OK; /* missing or broken: written anew */
    if (code == FDL_OK)
        code = look_at_head(repo, *old, head, error);
    if (code == FDL_OK)
        code = read_refs(repo, *old, head, &refs, error);
    if (code == FDL_OK)
        code = compose(head, &refs, fresh, error);
    repo->written_id[0] = '\0';
    fdl_ref_list_clear(&refs);
    return code;
}

fdl_code fdl_refs_json_current(fdl_repo *repo, bool *current, fdl_error *error) {
    json_t *old = NULL, *fresh = NULL;
    char etag[FDL_ETAG_LIMIT_BYTES] = "";
    fdl_code code = look(repo, &old, etag, &fresh, error);
    if (code == FDL_OK) /* a repository without refs needs no document */
        *current = old ? same_fields(old, fresh) : json_object_size(json_object_get(fresh, "refs")) == 0;
    json_decref(old);
    json_decref(fresh);
    return code;
}

/* One round.  FDL_CONFLICT and FDL_UNCERTAIN: look again. */
static fdl_code update_once(fdl_repo *repo, fdl_error *error) {
    json_t *old = NULL, *fresh = NULL;
    char etag[FDL_ETAG_LIMIT_BYTES] = "";
    fdl_code code = look(repo, &old, etag, &fresh, error);
    if (code == FDL_OK && !(old && same_fields(old, fresh)))
        code = put_document(repo, fresh, etag, error);
    json_decref(old);
    json_decref(fresh);
    return code;
}

fdl_code fdl_refs_json_update(fdl_repo *repo, fdl_error *error) {
    fdl_code code = FDL_CONFLICT;
    for (int i = 0; i < ATTEMPTS && (code == FDL_CONFLICT || code == FDL_UNCERTAIN); i++)
        code = update_once(repo, error);
    if (code == FDL_DENIED && strcmp(repo->store->ops->kind, "http") == 0)
        return FDL_OK; /* a host that writes it itself lets nobody else */
    if (code == FDL_CONFLICT || code == FDL_UNCERTAIN)
        code = fdl_fail(error, code, FDL_KEY_REFS_JSON,
                        "'%s' in '%s' could not be written %d times in a row; the next "
                        "push makes up for it",
                        FDL_KEY_REFS_JSON, fdl_repo_address(repo), ATTEMPTS);
    return code;
}
