/*
 * ref.c - reading HEAD, one ref, or all of them.
 *
 * What stands in these files is text that people edit by hand at times, so a
 * missing line end, CRLF and a byte order mark are read over.  Everything else
 * must be exactly a version id, or "ref: refs/heads/<name>" in HEAD.
 */
#include <stdlib.h>
#include <string.h>

#include "repo/internal.h"
#include "util/ident.h"
#include "util/text.h"

/* ---- one ---------------------------------------------------------------- */

/* The text of a small file without byte order mark and line end; one that is not a line of text reads as "".  `etag` may be NULL. */
static fdl_code read_line(fdl_repo *repo, const char *key, char line[FDL_REF_BYTES], char etag[FDL_ETAG_LIMIT_BYTES],
                          fdl_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    fdl_object object = {0};
    line[0] = '\0';
    if (etag)
        etag[0] = '\0';
    fdl_code code = fdl_document_read(repo, key, FDL_LIMIT_REF_BYTES, &bytes, &length,
                                   etag ? &object : NULL, error);
    if (code == FDL_REFUSED) /* too large: no ref, whatever it is */
        return FDL_OK;
    if (code != FDL_OK)
        return code;
    const char *text = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? bytes + 3 : bytes;
    length -= (size_t)(text - bytes);
    if (length && text[length - 1] == '\n')
        length--;
    if (length && text[length - 1] == '\r')
        length--;
    if (length < FDL_REF_BYTES && !memchr(text, '\0', length)) {
        memcpy(line, text, length);
        line[length] = '\0';
    }
    if (etag)
        fdl_str_fit(etag, FDL_ETAG_LIMIT_BYTES, object.etag);
    free(bytes);
    return FDL_OK;
}

fdl_code fdl_head_read(fdl_repo *repo, char branch[FDL_REF_BYTES], fdl_error *error) {
    char line[FDL_REF_BYTES];
    fdl_code code = read_line(repo, FDL_KEY_HEAD, line, NULL, error);
    if (code == FDL_NOT_FOUND)
        return fdl_not_a_repository(repo, error);
    if (code != FDL_OK)
        return code;
    const char *name = line;
    if (fdl_str_starts(line, "ref:"))
        name += strlen("ref:") + strspn(line + strlen("ref:"), " \t");
    if (name == line || !fdl_str_starts(name, FDL_REF_HEADS) || !fdl_ref_full_name_valid(name))
        return fdl_fail(error, FDL_FAILED, FDL_KEY_HEAD,
                        "'%s' in '%s' does not name a branch; it should hold a line such as 'ref: refs/heads/main'",
                        FDL_KEY_HEAD, fdl_repo_address(repo));
    fdl_str_fit(branch, FDL_REF_BYTES, name);
    return FDL_OK;
}

fdl_code fdl_ref_read(fdl_repo *repo, const char *full_name, fdl_ref *out, fdl_error *error) {
    char line[FDL_REF_BYTES];
    fdl_ref ref = {0};
    fdl_code code = fdl_ref_full_name_check(full_name, error);
    if (code == FDL_OK)
        code = read_line(repo, full_name, line, ref.etag, error);
    if (code == FDL_NOT_FOUND)
        return fdl_fail(error, FDL_NOT_FOUND, full_name, "no ref '%s' in '%s'", full_name, fdl_repo_address(repo));
    if (code != FDL_OK)
        return code;
    if (!fdl_uuid_valid(line))
        return fdl_fail(error, FDL_FAILED, full_name, "the ref '%s' in '%s' does not hold a version id", full_name,
                        fdl_repo_address(repo));
    fdl_str_fit(ref.name, sizeof ref.name, full_name);
    fdl_str_fit(ref.id, sizeof ref.id, line);
    *out = ref;
    return FDL_OK;
}

/* ---- all ---------------------------------------------------------------- */

void fdl_ref_list_clear(fdl_ref_list *list) {
    if (!list)
        return;
    free(list->items);
    memset(list, 0, sizeof *list);
}

fdl_code fdl_ref_list_add(fdl_ref_list *list, const char *full_name, fdl_error *error) {
    if (list->count == FDL_LIMIT_REFS)
        return fdl_fail(error, FDL_REFUSED, NULL, "the repository has more than %u refs", FDL_LIMIT_REFS);
    fdl_code code = fdl_grow(&list->items, list->count, sizeof *list->items, error);
    if (code != FDL_OK)
        return code;
    fdl_ref *ref = &list->items[list->count++];
    memset(ref, 0, sizeof *ref);
    fdl_str_fit(ref->name, sizeof ref->name, full_name);
    return FDL_OK;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const fdl_ref *)a)->name, ((const fdl_ref *)b)->name);
}

void fdl_ref_list_sort(fdl_ref_list *list) {
    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, by_name);
}

fdl_code fdl_ref_list_fill(fdl_repo *repo, fdl_ref_list *list, fdl_error *error) {
    size_t kept = 0;
    fdl_ref_list_sort(list);
    for (size_t i = 0; i < list->count; i++) {
        char name[FDL_REF_BYTES];
        fdl_str_fit(name, sizeof name, list->items[i].name);
        if (kept && strcmp(list->items[kept - 1].name, name) == 0)
            continue;
        if (repo->written_id[0] && strcmp(name, repo->written) == 0) {
            fdl_ref *known = &list->items[kept++];
            memset(known, 0, sizeof *known);
            fdl_str_fit(known->name, sizeof known->name, name);
            fdl_str_fit(known->id, sizeof known->id, repo->written_id);
            continue;
        }
        fdl_code code = fdl_ref_read(repo, name, &list->items[kept], error);
        if (code != FDL_OK && code != FDL_NOT_FOUND)
            return code;
        if (code == FDL_OK)
            kept++;
    }
    list->count = kept;
    return FDL_OK;
}

/* Readers ignore names they do not know: editors' leavings, other programs' files. */
static fdl_code take_name(void *data, const fdl_entry *entry, fdl_error *error) {
    return fdl_ref_full_name_valid(entry->key) ? fdl_ref_list_add(data, entry->key, error) : FDL_OK;
}

static fdl_code list_names(fdl_repo *repo, fdl_ref_list *names, fdl_error *error) {
    /* One listing for branches and tags; a host's requests lie between them and are passed over. */
    fdl_code code = fdl_store_list(repo->store, FDL_REF_ALL, FDL_ALL_LEVELS, take_name, names, error);
    return code == FDL_OK ? fdl_ref_list_fill(repo, names, error) : code;
}

/* Before the first push there is no refs.json, and a host may not keep one: HEAD's branch is all one can know. */
static fdl_code head_branch_only(fdl_repo *repo, fdl_ref_list *names, fdl_error *error) {
    char branch[FDL_REF_BYTES];
    fdl_code code = fdl_head_read(repo, branch, error);
    if (code == FDL_OK)
        code = fdl_ref_list_add(names, branch, error);
    return code == FDL_OK ? fdl_ref_list_fill(repo, names, error) : code;
}

fdl_code fdl_ref_list_collect(fdl_repo *repo, fdl_ref_list *out, fdl_error *error) {
    fdl_ref_list list = {0};
    fdl_code code;
    if (repo->store->can_list) {
        code = list_names(repo, &list, error);
    } else {
        code = fdl_refs_json_read(repo, &list, error);
        if (code == FDL_NOT_FOUND)
            code = head_branch_only(repo, &list, error);
    }
    if (code == FDL_OK)
        *out = list;
    else
        fdl_ref_list_clear(&list);
    return code;
}

fdl_code fdl_ref_list_read(fdl_repo *repo, fdl_ref_list *out, fdl_error *error) {
    repo->written_id[0] = '\0'; /* whoever asks wants to know what is there now */
    return fdl_ref_list_collect(repo, out, error);
}
