/* releases.c - see releases.h. */
#include "flow/releases.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Which DuckLake format each DuckDB release reads, from that release on.  Measured. */
static const struct {
    long major, minor, patch;
    const char *format;
} readers[] = {
    {1, 3, 0, "0.2"},
    {1, 4, 0, "0.3"},
    {1, 5, 0, "0.4"},
    {1, 5, 2, "1.0"},
};

#define READER_COUNT (sizeof readers / sizeof *readers)

/* ".5" of "1.5.2"; false when there is something else. */
static bool take_number(const char **text, char before, long *out) {
    char *end = NULL;
    if (before && **text != before)
        return false;
    const char *digits = *text + (before != '\0');
    if (*digits < '0' || *digits > '9' || strlen(digits) > 12)
        return false;
    *out = strtol(digits, &end, 10);
    *text = end;
    return true;
}

const char *fdl_format_of_release(const char *release) {
    long major = 0, minor = 0, patch = LONG_MAX;
    const char *rest = *release == 'v' ? release + 1 : release;
    const char *format = NULL;
    if (!take_number(&rest, '\0', &major) || !take_number(&rest, '.', &minor) ||
        (*rest && !take_number(&rest, '.', &patch)) || *rest)
        return NULL;
    for (size_t i = 0; i < READER_COUNT; i++)
        if (readers[i].major == major && readers[i].minor == minor && readers[i].patch <= patch)
            format = readers[i].format;
    return format;
}
