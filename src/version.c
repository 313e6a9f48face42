/*
 * version.c - what the library is called at run time, for programs that link
 * the shared one and were compiled against another header.
 */
#include "fdl.h"

const char *fdl_version_string(void) {
    return FDL_VERSION;
}
