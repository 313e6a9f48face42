/*
 * map.c - strings to numbers over tsearch.
 */
#include "util/map.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

typedef struct item {
    const char *key; /* text below; in a search, the caller's */
    uint64_t value;
    char text[];
} item;

static int by_key(const void *a, const void *b) {
    return strcmp(((const item *)a)->key, ((const item *)b)->key);
}

static item *make(const char *key, uint64_t value, fdl_error *error) {
    size_t length = strlen(key);
    item *made = NULL;
    if (fdl_alloc(&made, 1, sizeof *made + length + 1, error) != FDL_OK)
        return NULL;
    made->value = value;
    made->key = memcpy(made->text, key, length + 1);
    return made;
}

fdl_code fdl_map_put(fdl_map *map, const char *key, uint64_t value, fdl_error *error) {
    item *made = make(key, value, error);
    if (!made)
        return error->code;
    item **found = tsearch(made, &map->root, by_key);
    if (!found) {
        free(made);
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    }
    if (*found != made) {
        (*found)->value = value;
        free(made);
    } else {
        map->count++;
    }
    return FDL_OK;
}

bool fdl_map_get(const fdl_map *map, const char *key, uint64_t *value) {
    const item wanted = {.key = key};
    item *const *found = tfind(&wanted, &map->root, by_key);
    if (found && value)
        *value = (*found)->value;
    return found != NULL;
}

void fdl_map_clear(fdl_map *map) {
    tdestroy(map->root, free);
    *map = (fdl_map){0};
}
