/*
 * ranges.h - the Range header.
 */
#ifndef FDL_HOST_RANGES_H
#define FDL_HOST_RANGES_H

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

#endif
