/*
 * fuzz_request.c - what the host makes of a request's path and of its Range: a key below the root, or
 * none; parts that lie within the object, or none.  The first byte says which of the two.
 */
#include "fuzz.h"
#include "host/keys.h"
#include "host/ranges.h"

static void read_path(const char *text) {
    fdl_error error;
    char key[FDL_KEY_LIMIT_BYTES];
    if (fdl_host_key_decode(text, strlen(text), key, &error) != FDL_OK || !key[0])
        return;
    must(fdl_key_check(key, &error) == FDL_OK);
    must(fuzz_path_is_inside(key));
    fdl_key_kind kind = fdl_host_key_kind(key, "data/");
    size_t length = strlen(key);
    bool working = length > 4 && strcmp(key + length - 4, ".wal") == 0;
    must(kind == FDL_KIND_OTHER || (strncmp(key, ".fdl", 4) != 0 && !working));
    if (kind == FDL_KIND_VERSION)
        must(*fdl_host_version_file(key));
}

static void read_ranges(const char *text, uint64_t size) {
    fdl_ranges ranges;
    fdl_range guess;
    bool guessed = fdl_ranges_guess(text, &guess);
    if (fdl_ranges_read(text, size, &ranges) != FDL_RANGES_PARTS)
        return;
    must(ranges.count > 0 && ranges.count <= FDL_RANGES_LIMIT);
    for (size_t i = 0; i < ranges.count; i++) {
        must(ranges.items[i].length_bytes > 0 && ranges.items[i].length_bytes <= size);
        must(ranges.items[i].offset_bytes <= size - ranges.items[i].length_bytes);
    }
    if (guessed) /* what was asked for before the size was known holds what is sent */
        must(ranges.count == 1 && guess.offset_bytes == ranges.items[0].offset_bytes &&
             guess.length_bytes >= ranges.items[0].length_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    char *text = fuzz_text(data + 1, size - 1);
    if (data[0] == '/')
        read_path(text);
    else
        read_ranges(text, data[0] < 128 ? data[0] : UINT64_MAX - data[0] + 128);
    free(text);
    return 0;
}
