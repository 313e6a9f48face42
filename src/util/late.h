/*
 * late.h - libraries that most commands do without, opened when they are first needed.
 *
 * libcurl brings thirty libraries along and 5 ms of the loader's work, libcrypto and libmicrohttpd another; `fdl url`
 * on a folder takes 1 ms altogether.  So none of them is linked: each has a table of the few functions that we use,
 * typed by the library's own header and filled by fdl_late_open.
 */
#ifndef FDL_UTIL_LATE_H
#define FDL_UTIL_LATE_H

#include <stdbool.h>
#include <stddef.h>

#include "fdl/error.h"

typedef struct fdl_late_symbol {
    const char *name;
    void *slot; /* a pointer to a function of that type */
} fdl_late_symbol;

typedef struct fdl_late {
    const char *soname; /* what the header of the build belongs to; CMake tells */
    const fdl_late_symbol *symbols;
    size_t count;
    bool open;
} fdl_late;

/* Fills the table from a library that is open; false, with the name of the symbol that it lacks. */
bool fdl_late_fill(void *handle, const fdl_late_symbol *symbols, size_t count, const char **lacking);

/* Once per process, by whichever thread comes first; never closed.  Cheap when it is open. */
fdl_code fdl_late_open(fdl_late *library, fdl_error *error);

#endif
