/*
 * lint.h - what clang-tidy is told before each file: who fills an error returns a code that is none of FDL_OK, which nobody
 * can see who looks at one file at a time.
 */
#include "fdl/error.h"
#define fdl_fail(error, code, ...) ((void)fdl_fail(error, code, __VA_ARGS__), (fdl_code)(code))

/* A body that counts only where there is no other: that is what gnu_inline means. */
extern inline __attribute__((gnu_inline)) fdl_code fdl_file_error(fdl_error *error, const char *verb, const char *path,
                                                                  int errno_value) {
    return fdl_fail(error, FDL_FAILED, path, "%s %d", verb, errno_value);
}
