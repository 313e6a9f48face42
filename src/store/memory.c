/*
 * memory.c - a store that lives as long as the program: a sorted array of
 * objects, and a counter whose every value is one state of one object.
 *
 * It is the contract in its shortest form; tests that need a store and no disk
 * use it.  A lock makes each operation one step; sinks and callbacks, which may
 * use the store themselves, are called without it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fdl/store.h"
#include "store/backends.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

/* What a put takes from a file; memory is no place for more. */
#define FILE_LIMIT_BYTES ((size_t)1 << 30)

typedef struct memory_item {
    char *key;
    char *bytes;
    fdl_object object;
} memory_item;

typedef struct memory_store {
    fdl_store store;
    pthread_mutex_t lock; /* of all below */
    memory_item *items;   /* in the order of key */
    size_t count;
    uint64_t states; /* how many there have been; the next ETag */
} memory_store;

/* The first item whose key is not below `key`; `*found` when it is that key. */
static size_t find(const memory_store *memory, const char *key, bool *found) {
    size_t low = 0;
    size_t high = memory->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(memory->items[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < memory->count && strcmp(memory->items[low].key, key) == 0;
    return low;
}

static memory_store *lock(fdl_store *store) {
    memory_store *memory = (memory_store *)store;
    pthread_mutex_lock(&memory->lock);
    return memory;
}

static void unlock(memory_store *memory) {
    pthread_mutex_unlock(&memory->lock);
}

/* NULL with `error` filled when there is none. */
static memory_item *find_item(memory_store *memory, const char *key, fdl_error *error) {
    bool found;
    size_t at = find(memory, key, &found);
    if (found)
        return &memory->items[at];
    fdl_fail(error, FDL_NOT_FOUND, key, "no object '%s' in '%s'", key, memory->store.address);
    return NULL;
}

/* A copy of the part asked for. */
static fdl_code copy_part(fdl_store *store, const char *key, const fdl_range *range, char **bytes, size_t *length_bytes,
                          fdl_object *object, fdl_error *error) {
    memory_store *memory = lock(store);
    const memory_item *item = find_item(memory, key, error);
    fdl_code code = FDL_NOT_FOUND;
    if (item) {
        uint64_t offset;
        uint64_t length;
        *object = item->object;
        code = fdl_range_cut(range, key, item->object.size_bytes, &offset, &length, error);
        if (code == FDL_OK)
            code = fdl_str_copy_n(bytes, item->bytes + offset, (size_t)length, error);
        if (code == FDL_OK)
            *length_bytes = (size_t)length;
    }
    unlock(memory);
    return code;
}

static fdl_code memory_get(fdl_store *store, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                           fdl_object *object, fdl_error *error) {
    char *bytes;
    size_t length;
    fdl_object found;
    fdl_code code = copy_part(store, key, range, &bytes, &length, &found, error);
    if (code != FDL_OK)
        return code;
    if (length > 0)
        code = sink(sink_data, bytes, length, error);
    free(bytes);
    if (code == FDL_OK && object)
        *object = found;
    return code;
}

static fdl_code memory_head(fdl_store *store, const char *key, fdl_object *object, fdl_error *error) {
    memory_store *memory = lock(store);
    const memory_item *item = find_item(memory, key, error);
    if (item)
        *object = item->object;
    unlock(memory);
    return item ? FDL_OK : FDL_NOT_FOUND;
}

/* The rule of put and remove; `item` is NULL when the key holds nothing. */
static fdl_code check(const char *key, const memory_item *item, fdl_condition condition, fdl_error *error) {
    if (condition.kind == FDL_IF_ABSENT && item)
        return fdl_fail(error, FDL_CONFLICT, key, "'%s' exists already", key);
    if (condition.kind == FDL_IF_MATCH && (!item || strcmp(item->object.etag, condition.etag) != 0))
        return fdl_fail(error, FDL_CONFLICT, key, "'%s' was changed or deleted meanwhile", key);
    return FDL_OK;
}

static fdl_code check_sha256(const char *key, const char *bytes, size_t length, const char *expected, fdl_error *error) {
    char digest[65];
    fdl_code code = fdl_sha256_bytes(bytes, length, digest, error);
    if (code == FDL_OK && strcmp(digest, expected) != 0)
        code = fdl_fail(error, FDL_REFUSED, key, "the bytes for '%s' do not have the sha256 they should have", key);
    return code;
}

/* The bytes of a source, copied, and held against the digest that came along. */
static fdl_code take_bytes(const char *key, const fdl_source *source, char **out, size_t *length, fdl_error *error) {
    char *bytes = NULL;
    fdl_code code;
    if (source->path) {
        code = fdl_file_read(source->path, FILE_LIMIT_BYTES, &bytes, length, error);
    } else {
        *length = source->length_bytes;
        code = fdl_str_copy_n(&bytes, source->length_bytes ? source->bytes : "", source->length_bytes, error);
    }
    if (code == FDL_OK && source->sha256)
        code = check_sha256(key, bytes, *length, source->sha256, error);
    if (code == FDL_OK)
        *out = bytes;
    else
        free(bytes);
    return code;
}

/* Opens a gap for a new key at `at`. */
static fdl_code insert(memory_store *memory, size_t at, const char *key, fdl_error *error) {
    char *copy;
    fdl_code code = fdl_grow(&memory->items, memory->count, sizeof *memory->items, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&copy, key, error);
    if (code != FDL_OK)
        return code;
    memory_item *gap = &memory->items[at];
    memmove(gap + 1, gap, (memory->count - at) * sizeof *gap);
    *gap = (memory_item){.key = copy};
    memory->count++;
    return FDL_OK;
}

/* Takes `bytes` over when it succeeds. */
static fdl_code replace(memory_store *memory, const char *key, char *bytes, size_t length, fdl_condition condition,
                        fdl_object *object, fdl_error *error) {
    bool found;
    size_t at = find(memory, key, &found);
    fdl_code code = check(key, found ? &memory->items[at] : NULL, condition, error);
    if (code == FDL_OK && !found)
        code = insert(memory, at, key, error);
    if (code != FDL_OK)
        return code;
    memory_item *item = &memory->items[at];
    free(item->bytes);
    item->bytes = bytes;
    item->object = (fdl_object){.size_bytes = length, .modified_ms = fdl_now_ms()};
    snprintf(item->object.etag, sizeof item->object.etag, "m%llu", (unsigned long long)++memory->states);
    if (object)
        *object = item->object;
    return FDL_OK;
}

static fdl_code memory_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                           fdl_object *object, fdl_error *error) {
    char *bytes;
    size_t length;
    fdl_code code = take_bytes(key, source, &bytes, &length, error);
    if (code != FDL_OK)
        return code;
    memory_store *memory = lock(store);
    code = replace(memory, key, bytes, length, condition, object, error);
    unlock(memory);
    if (code != FDL_OK)
        free(bytes);
    return code;
}

static fdl_code memory_remove(fdl_store *store, const char *key, fdl_condition condition, fdl_error *error) {
    memory_store *memory = lock(store);
    bool found;
    size_t at = find(memory, key, &found);
    fdl_code code = check(key, found ? &memory->items[at] : NULL, condition, error);
    if (code == FDL_OK && found) {
        memory_item *item = &memory->items[at];
        free(item->key);
        free(item->bytes);
        memory->count--;
        memmove(item, item + 1, (memory->count - at) * sizeof *item);
    }
    unlock(memory);
    return code;
}

/* ---- listing ------------------------------------------------------------ */

/* A walk in the order of keys; between its steps others may put and remove. */
typedef struct walk {
    const char *prefix;
    fdl_depth depth;
    char key[FDL_KEY_LIMIT_BYTES];
    char next[FDL_KEY_LIMIT_BYTES]; /* where the next step begins to look */
} walk;

/*
 * A folder is told at the first key below it; the walk then goes on behind all
 * of them: no key below "a/" sorts after "a0" ('0' follows '/').
 */
static bool step(memory_store *memory, walk *w, fdl_entry *entry) {
    bool found;
    size_t at = find(memory, w->next, &found);
    if (at == memory->count || !fdl_str_starts(memory->items[at].key, w->prefix))
        return false;
    const memory_item *item = &memory->items[at];
    bool one_level = w->depth == FDL_ONE_LEVEL || w->depth == FDL_FOLDER_NAMES;
    const char *slash = one_level ? strchr(item->key + strlen(w->prefix), '/') : NULL;
    size_t length = slash ? (size_t)(slash + 1 - item->key) : strlen(item->key);
    memcpy(w->key, item->key, length);
    w->key[length] = '\0';
    memcpy(w->next, w->key, length + 1);
    if (slash)
        w->next[length - 1] = '/' + 1;
    else
        memcpy(w->next + length, "\x01", 2);
    *entry = (fdl_entry){.key = w->key, .folder = slash != NULL};
    if (!slash)
        entry->object = item->object;
    return true;
}

static fdl_code memory_list(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback,
                            void *data, fdl_error *error) {
    walk w = {.prefix = prefix, .depth = depth};
    fdl_str_fit(w.next, sizeof w.next, prefix);
    fdl_code code = FDL_OK;
    for (bool more = true; more && code == FDL_OK;) {
        fdl_entry entry;
        memory_store *memory = lock(store);
        more = step(memory, &w, &entry);
        unlock(memory);
        if (more)
            code = callback(data, &entry, error);
    }
    return code;
}

/* ---- the store ---------------------------------------------------------- */

static void memory_free(fdl_store *store) {
    memory_store *memory = (memory_store *)store;
    for (size_t i = 0; i < memory->count; i++) {
        free(memory->items[i].key);
        free(memory->items[i].bytes);
    }
    free(memory->items);
    free(store->address);
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

static const fdl_store_ops memory_ops = {
    .kind = "memory",
    .get = memory_get,
    .head = memory_head,
    .put = memory_put,
    .remove = memory_remove,
    .list = memory_list,
    .free = memory_free,
};

fdl_code fdl_store_open_memory(const fdl_context *context, fdl_store **out, fdl_error *error) {
    memory_store *memory;
    fdl_code code = fdl_alloc(&memory, 1, sizeof *memory, error);
    if (code != FDL_OK)
        return code;
    memory->store =
        (fdl_store){.ops = &memory_ops, .context = context, .can_list = true, .local = true};
    code = fdl_str_copy(&memory->store.address, "memory://", error);
    if (code != FDL_OK) {
        free(memory);
        return code;
    }
    pthread_mutex_init(&memory->lock, NULL);
    *out = &memory->store;
    return FDL_OK;
}
