/*
 * file_error.c - what the system said of a file, as an error.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "util/file.h"
#include "util/text.h"

static fdl_code code_of_errno(int value) {
    switch (value) {
    case ENOENT:
    case ENOTDIR:
        return FDL_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return FDL_DENIED;
    default:
        return FDL_FAILED;
    }
}

fdl_code fdl_file_error(fdl_error *error, const char *verb, const char *path, int errno_value) {
    char room[128];
    char why[128];
    fdl_str_fit(why, sizeof why, strerror_r(errno_value, room, sizeof room));
    if (why[0] && !isupper((unsigned char)why[1]))
        why[0] = (char)tolower((unsigned char)why[0]);
    return fdl_fail(error, code_of_errno(errno_value), path, "cannot %s '%s': %s", verb, path, why);
}
