/*
 * document.c - the small files of a repository, whole.
 *
 * The login page of a network, and a web server that has one page for every
 * address, answer 200 to everything.  No file that is read here starts as a page
 * does, so that is told as what it is and not as a broken file.
 */
#include <stdlib.h>
#include <string.h>

#include "repo/internal.h"
#include "util/text.h"

typedef struct start {
    char bytes[64];
    size_t length;
} start;

static fdl_code take_start(void *data, const void *bytes, size_t length, fdl_error *error) {
    start *s = data;
    size_t room = sizeof s->bytes - s->length;
    (void)error;
    length = length < room ? length : room;
    memcpy(s->bytes + s->length, bytes, length);
    s->length += length;
    return FDL_OK;
}

fdl_code fdl_document_read(fdl_repo *repo, const char *key, size_t limit_bytes, char **bytes, size_t *length,
                           fdl_object *object, fdl_error *error) {
    start s = {0};
    fdl_error unseen;
    bool page = false;
    fdl_code code = fdl_store_read(repo->store, key, limit_bytes, bytes, length, object, error);
    if (strcmp(repo->store->ops->kind, "http") != 0)
        return code;
    if (code == FDL_OK)
        page = fdl_is_markup(*bytes, *length);
    else if (code == FDL_REFUSED) /* too large: is it a page of that size? */
        page = fdl_store_get(repo->store, key, &(fdl_range){.length_bytes = sizeof s.bytes}, take_start, &s, NULL,
                             &unseen) == FDL_OK &&
               fdl_is_markup(s.bytes, s.length);
    if (!page)
        return code;
    if (code == FDL_OK) {
        free(*bytes);
        *bytes = NULL;
    }
    return fdl_fail(error, FDL_FAILED, key,
                    "'%s' answers with a web page where '%s' should be, so it shows no repository: correct the address, "
                    "or log in to the network",
                    fdl_repo_address(repo), key);
}
