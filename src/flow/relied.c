/* relied.c - see relied.h. */
#include "flow/relied.h"

#include <stdlib.h>
#include <string.h>

#include "flow/lookup.h"
#include "util/text.h"

fdl_code fdl_relied_add(fdl_relied *relied, const char *folder, const char *name, uint64_t size_bytes,
                        fdl_error *error) {
    fdl_code code = fdl_grow(&relied->items, relied->count, sizeof *relied->items, error);
    if (code != FDL_OK)
        return code;
    fdl_relied_file *file = &relied->items[relied->count++];
    *file = (fdl_relied_file){.size_bytes = size_bytes};
    return fdl_str_format(&file->key, error, "%s%s", folder, name);
}

static void keep_gone(fdl_relied *relied, const uint64_t *found) {
    size_t gone = 0;
    for (size_t i = 0; i < relied->count; i++) {
        if (found[i] == relied->items[i].size_bytes)
            free(relied->items[i].key);
        else
            relied->items[gone++] = relied->items[i];
    }
    relied->count = gone;
}

fdl_code fdl_relied_look(fdl_repo *repo, fdl_relied *relied, fdl_error *error) {
    const char **keys = NULL;
    uint64_t *found = NULL;
    if (relied->count == 0)
        return FDL_OK;
    fdl_code code = fdl_alloc(&keys, relied->count, sizeof *keys, error);
    if (code == FDL_OK)
        code = fdl_alloc(&found, relied->count, sizeof *found, error);
    for (size_t i = 0; code == FDL_OK && i < relied->count; i++)
        keys[i] = relied->items[i].key;
    if (code == FDL_OK)
        code = fdl_lookup(fdl_repo_store(repo), fdl_repo_context(repo)->jobs, keys, relied->count, found, error);
    if (code == FDL_OK)
        keep_gone(relied, found);
    free(found);
    free(keys);
    return code;
}

void fdl_relied_clear(fdl_relied *relied) {
    for (size_t i = 0; i < relied->count; i++)
        free(relied->items[i].key);
    free(relied->items);
    memset(relied, 0, sizeof *relied);
}
