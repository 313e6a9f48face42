/*
 * pointers.c - what keeps a version.
 */
#include "flow/pointers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repo/layout.h"
#include "util/text.h"

/* One that cannot be understood stops us: it might keep something.  Most are long decided, and keep nothing. */
static fdl_code add_request(fdl_repo *repo, int64_t number, fdl_ref_list *list, fdl_error *error) {
    fdl_request_record request = {0};
    fdl_code code = fdl_request_read(repo, number, &request, error);
    if (code == FDL_OK && request.state == FDL_REQUEST_WAITING) {
        code = fdl_grow(&list->items, list->count, sizeof *list->items, error);
        if (code == FDL_OK) {
            fdl_ref *ref = &list->items[list->count++];
            memset(ref, 0, sizeof *ref);
            snprintf(ref->name, sizeof ref->name, FDL_REF_REQUESTS "%" PRId64, number);
            memcpy(ref->id, request.version, sizeof ref->id);
        }
    }
    fdl_request_clear(&request);
    return code;
}

static fdl_code add_requests(fdl_repo *repo, fdl_ref_list *list, fdl_error *error) {
    int64_t *numbers = NULL;
    size_t count = 0;
    fdl_code code = fdl_request_numbers(repo, &numbers, &count, error);
    for (size_t i = 0; code == FDL_OK && i < count; i++)
        code = add_request(repo, numbers[i], list, error);
    free(numbers);
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
