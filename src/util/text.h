/*
 * text.h - allocation and small strings, with errors instead of aborts.
 */
#ifndef FDL_UTIL_TEXT_H
#define FDL_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "fdl/error.h"

/* Zeroed memory for `count` elements, released with free(); FDL_FAILED "out of memory" otherwise. */
fdl_code fdl_alloc(void *out_pointer, size_t count, size_t element_bytes, fdl_error *error);

/*
 * Makes room for one more in an array that only this function grows (doubling):
 * `*items` has `count` elements used, and is NULL at first.
 */
fdl_code fdl_grow(void *items_pointer, size_t count, size_t element_bytes, fdl_error *error);

/* A copy; NULL stays NULL. */
fdl_code fdl_str_copy(char **out, const char *text, fdl_error *error);
fdl_code fdl_str_copy_n(char **out, const char *text, size_t length, fdl_error *error);
fdl_code fdl_str_format(char **out, fdl_error *error, const char *format, ...) FDL_PRINTF(3, 4);

bool fdl_str_starts(const char *text, const char *prefix);
bool fdl_str_ends(const char *text, const char *suffix);

/* Whether it begins as HTML or XML does: with '<', but for blanks and a byte order mark. */
bool fdl_is_markup(const char *bytes, size_t length);

/* Copies into a fixed array; false (and "") when it does not fit. */
bool fdl_str_fit(char *out, size_t out_bytes, const char *text);

/* "1.2 MB", for people. */
const char *fdl_size_text(unsigned long long bytes, char out[32]);

/* Base64 with padding, strict; false when it is none, or longer than `out_bytes`. */
bool fdl_base64_decode(const char *text, void *out, size_t out_bytes, size_t *length);

/* Strict UTF-8 (no surrogates, no overlong forms). */
bool fdl_utf8_valid(const char *bytes, size_t length);
/* The bytes of the one character that `bytes` starts with, 1 to 4; 0 when it is none. */
size_t fdl_utf8_char(const char *bytes, size_t length);
/*
 * Whether that character steers what shows it: C0, DEL, the C1 controls, which
 * some terminals obey too, and U+202A to U+202E and U+2066 to U+2069, behind
 * which other text could seem to say something else.
 */
bool fdl_utf8_steers(const char *character, size_t length);

#endif
