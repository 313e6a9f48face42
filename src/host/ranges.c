/*
 * ranges.c - "bytes=0-99,200-,-5" for an object whose size is known.
 */
#include "host/ranges.h"

#include <string.h>
#include <strings.h>

/* Digits at `*at`, a number too large for the type being the largest; false: none, and `*out` stays. */
static bool read_number(const char **at, uint64_t *out) {
    if (**at < '0' || **at > '9')
        return false;
    for (*out = 0; **at >= '0' && **at <= '9'; (*at)++) {
        uint64_t digit = (uint64_t)(**at - '0');
        *out = *out > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *out * 10 + digit;
    }
    return true;
}

/* One of "a-b", "a-", "-n"; false: none of them.  `out` is empty when nothing of it is in the object. */
static bool read_one(const char **at, uint64_t size, fdl_range *out) {
    uint64_t first;
    uint64_t last = UINT64_MAX;
    *out = (fdl_range){0};
    if (**at == '-') {
        (*at)++;
        if (!read_number(at, &last))
            return false;
        out->length_bytes = last < size ? last : size;
        out->offset_bytes = size - out->length_bytes;
        return true;
    }
    if (!read_number(at, &first) || **at != '-')
        return false;
    (*at)++;
    if (read_number(at, &last) && last < first)
        return false;
    if (first < size) {
        out->offset_bytes = first;
        out->length_bytes = last - first < size - first ? last - first + 1 : size - first;
    }
    return true;
}

fdl_ranges_answer fdl_ranges_read(const char *header, uint64_t size_bytes, fdl_ranges *out) {
    uint64_t limit = size_bytes > UINT64_MAX / 2 ? UINT64_MAX : 2 * size_bytes;
    uint64_t total = 0;
    size_t asked = 0;
    out->count = 0;
    if (!header || strncasecmp(header, "bytes=", 6) != 0 || size_bytes == 0)
        return FDL_RANGES_WHOLE;
    for (const char *at = header + 6;;) {
        fdl_range one;
        at += strspn(at, " \t,");
        if (!*at)
            break;
        if (!read_one(&at, size_bytes, &one))
            return FDL_RANGES_WHOLE;
        at += strspn(at, " \t");
        if (*at && *at != ',')
            return FDL_RANGES_WHOLE;
        if (++asked > FDL_RANGES_LIMIT)
            return FDL_RANGES_NONE;
        if (one.length_bytes == 0)
            continue;
        if (total > limit - one.length_bytes)
            return FDL_RANGES_NONE;
        total += one.length_bytes;
        out->items[out->count++] = one;
    }
    if (asked == 0)
        return FDL_RANGES_WHOLE;
    return out->count ? FDL_RANGES_PARTS : FDL_RANGES_NONE;
}

bool fdl_ranges_guess(const char *header, fdl_range *out) {
    *out = (fdl_range){.length_bytes = UINT64_MAX};
    if (!header)
        return true;
    const char *at = header + 6;
    if (strncasecmp(header, "bytes=", 6) != 0 || *at == '-' || !read_one(&at, UINT64_MAX, out))
        return false;
    return *at == '\0' && out->length_bytes > 0;
}
