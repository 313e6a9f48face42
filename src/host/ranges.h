/*
 * ranges.h - the Range header.
 */
#ifndef FDL_HOST_RANGES_H
#define FDL_HOST_RANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "fdl/store.h"

#define FDL_RANGES_LIMIT 64

typedef struct fdl_ranges {
    fdl_range items[FDL_RANGES_LIMIT]; /* within the object, as asked for: in order, overlaps kept */
    size_t count;
} fdl_ranges;

typedef enum fdl_ranges_answer {
    FDL_RANGES_WHOLE, /* no range, or none that is to be understood: the object as a whole */
    FDL_RANGES_PARTS,
    FDL_RANGES_NONE /* nothing of it is in the object, or too much was asked for: 416 */
} fdl_ranges_answer;

/*
 * `header` may be NULL.  Too much is more than FDL_RANGES_LIMIT ranges, or
 * overlapping ones that come to more than twice the object.
 */
fdl_ranges_answer fdl_ranges_read(const char *header, uint64_t size_bytes, fdl_ranges *out);

/*
 * Where the one range asked for begins and how long it may be, before the size of the object is known: "a-b" and
 * "a-", or all of it without a header.  false: that takes knowing the size, or it is no plain range.
 */
bool fdl_ranges_guess(const char *header, fdl_range *out);

#endif
