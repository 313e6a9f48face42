/*
 * pointers.c - what keeps a version.
 */
#include "flow/pointers.h"

#include <stdlib.h>
#include <string.h>

#include "repo/layout.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/text.h"

#define REQUESTS "refs/requests/"
#define REQUEST_LIMIT_BYTES (1u << 20)

static bool is_request(const char *key) {
    const char *number = key + strlen(REQUESTS);
    return *number && number[strspn(number, "0123456789")] == '\0' && strlen(key) < FDL_REF_BYTES;
}

static fdl_code take_name(void *data, const fdl_entry *entry, fdl_error *error) {
    fdl_ref_list *list = data;
    if (entry->folder || !is_request(entry->key))
        return FDL_OK;
    if (list->count == FDL_LIMIT_REFS)
        return fdl_fail(error, FDL_REFUSED, entry->key, "the repository has more than %u requests", FDL_LIMIT_REFS);
    fdl_code code = fdl_grow(&list->items, list->count, sizeof *list->items, error);
    if (code != FDL_OK)
        return code;
    fdl_ref *ref = &list->items[list->count++];
    memset(ref, 0, sizeof *ref);
    fdl_str_fit(ref->name, sizeof ref->name, entry->key);
    return FDL_OK;
}

/* `id` stays "" unless the request waits.  One that cannot be understood stops us: it might keep something. */
static fdl_code read_request(fdl_store *store, fdl_ref *ref, fdl_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    json_t *document = NULL;
    const char *state = NULL, *version = NULL;
    fdl_code code = fdl_store_read(store, ref->name, REQUEST_LIMIT_BYTES, &bytes, &length, NULL, error);
    if (code == FDL_OK)
        code = fdl_json_parse(bytes, length, ref->name, &document, error);
    if (code == FDL_OK)
        code = fdl_json_string(document, ref->name, "state", &state, error);
    if (code == FDL_OK && strcmp(state, "waiting") == 0) {
        code = fdl_json_string(document, ref->name, "version", &version, error);
        if (code == FDL_OK && (!fdl_uuid_valid(version) || !fdl_str_fit(ref->id, sizeof ref->id, version)))
            code = fdl_fail(error, FDL_FAILED, ref->name, "'%s' does not name a version", ref->name);
    }
    json_decref(document);
    free(bytes);
    return code;
}

/* Requests are never deleted, so most of them are long decided. */
static fdl_code add_requests(fdl_repo *repo, fdl_ref_list *list, fdl_error *error) {
    fdl_store *store = fdl_repo_store(repo);
    size_t kept = list->count;
    fdl_code code = fdl_store_list(store, REQUESTS, FDL_ONE_LEVEL, take_name, list, error);
    for (size_t i = kept; code == FDL_OK && i < list->count; i++) {
        code = read_request(store, &list->items[i], error);
        if (code == FDL_OK && list->items[i].id[0])
            list->items[kept++] = list->items[i];
    }
    list->count = code == FDL_OK ? kept : list->count;
    return code;
}

fdl_code fdl_pointers_read(fdl_repo *repo, fdl_ref_list *out, fdl_error *error) {
    fdl_ref_list list = {0};
    fdl_code code = fdl_ref_list_read(repo, &list, error);
    if (code == FDL_OK)
        code = add_requests(repo, &list, error);
    if (code == FDL_OK)
        *out = list;
    else
        fdl_ref_list_clear(&list);
    return code;
}

const fdl_ref *fdl_pointers_find(const fdl_ref_list *pointers, const char *id) {
    for (size_t i = 0; i < pointers->count; i++)
        if (strcmp(pointers->items[i].id, id) == 0)
            return &pointers->items[i];
    return NULL;
}
