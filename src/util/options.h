/*
 * options.h - what a caller of the public API did not say.
 */
#ifndef FDL_UTIL_OPTIONS_H
#define FDL_UTIL_OPTIONS_H

#include <stddef.h>

/* `given`, or a zeroed one for NULL, which lives as long as the block this stands in. */
#define FDL_OPTIONS(type, given) ((given) != NULL ? (given) : &(const type){0})

#endif
