/* upload.c - see upload.h. */
#include "flow/upload.h"

#include "util/file.h"

/* A put that was refused, or whose answer was lost: what is there decides. */
static fdl_code settle(fdl_store *store, const char *key, uint64_t size, fdl_error *error) {
    uint64_t there = 0;
    fdl_error first = *error;
    fdl_code code = fdl_store_size(store, key, &there, error);
    if (code == FDL_NOT_FOUND) { /* it did not happen after all */
        *error = first;
        return first.code;
    }
    if (code == FDL_OK && there != size)
        code = fdl_fail(error, FDL_FAILED, key, "'%s' is in '%s' already with %llu bytes instead of %llu", key,
                        store->address, (unsigned long long)there, (unsigned long long)size);
    return code;
}

/* What a store told of one put; stores that are fast tell nothing. */
typedef struct tally {
    fdl_meter *meter;
    int64_t bytes;
} tally;

static void count(void *data, int64_t bytes) {
    tally *t = data;
    __atomic_add_fetch(&t->bytes, bytes, __ATOMIC_RELAXED);
    fdl_meter_moved(t->meter, bytes);
}

fdl_code fdl_upload(fdl_store *store, const char *key, const char *path, bool given, const char *sha256,
                    fdl_sent *sent, fdl_meter *meter, fdl_error *error) {
    tally told = {.meter = meter};
    fdl_source source = {.path = path, .given = given, .sha256 = sha256, .moved = count, .moved_data = &told};
    uint64_t size = 0;
    fdl_code code = fdl_file_size(path, &size, error);
    if (code == FDL_OK)
        code = fdl_store_put(store, key, &source, (fdl_condition){.kind = FDL_IF_ABSENT}, NULL, error);
    if (code == FDL_OK) {
        __atomic_add_fetch(&sent->files, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&sent->bytes, size, __ATOMIC_RELAXED);
    }
    if (code == FDL_CONFLICT || code == FDL_UNCERTAIN)
        code = settle(store, key, size, error);
    if (code == FDL_OK) {
        fdl_meter_moved(meter, (int64_t)size - told.bytes);
        fdl_meter_file(meter);
    }
    return code;
}
