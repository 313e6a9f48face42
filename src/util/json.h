/*
 * json.h - strict JSON (jansson) with errors that name the document and field.
 *
 * Parsing refuses duplicate keys, invalid UTF-8, trailing bytes and depth over
 * jansson's limit.  Writing keeps the order fields were set in, indents by two,
 * and ends with a newline.
 */
#ifndef FDL_UTIL_JSON_H
#define FDL_UTIL_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fdl/error.h"

/* `name` is what the document is called in errors, usually its key.  Must be an object.  FDL_FAILED when broken. */
fdl_code fdl_json_parse(const char *bytes, size_t length, const char *name, json_t **out, fdl_error *error);

/* The document with a final newline, released with free(). */
fdl_code fdl_json_write(const json_t *value, char **out, size_t *length, fdl_error *error);

/*
 * Fields.  `name` as above.  The _optional forms leave `*out` as NULL, or the
 * given default, when the field is absent (null counts as absent); a field of
 * the wrong type is always an error.  Strings belong to the document.
 */
fdl_code fdl_json_string(const json_t *object, const char *name, const char *field, const char **out, fdl_error *error);
fdl_code fdl_json_string_optional(const json_t *object, const char *name, const char *field, const char **out,
                                  fdl_error *error);
/* A whole number, 0 or more. */
fdl_code fdl_json_count(const json_t *object, const char *name, const char *field, int64_t *out, fdl_error *error);
fdl_code fdl_json_object(const json_t *object, const char *name, const char *field, json_t **out, fdl_error *error);
fdl_code fdl_json_array_optional(const json_t *object, const char *name, const char *field, json_t **out,
                                 fdl_error *error);

/*
 * Reads {"error":{"code","message","key"?}}, as programs and hosts word a
 * failure, into `error` and returns its code; FDL_OK for what is no such thing.
 */
fdl_code fdl_json_error(const char *bytes, size_t length, fdl_error *error);

/* What is there to be shown, whatever a stranger put there: "" unless the field is a string, 0 unless it is a whole number above. */
const char *fdl_json_text(const json_t *object, const char *field);
unsigned long long fdl_json_size(const json_t *object, const char *field);

/* json_object_set_new with the error told: takes `value` over in every case; NULL is "out of memory". */
fdl_code fdl_json_set(json_t *object, const char *field, json_t *value, fdl_error *error);

#endif
