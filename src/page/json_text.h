/* json_text.h - fields of a stranger's dataset.json, whatever they hold. */
#ifndef FDL_PAGE_JSON_TEXT_H
#define FDL_PAGE_JSON_TEXT_H

#include <jansson.h>

/* "" unless it is a string. */
static inline const char *fdl_json_text(const json_t *object, const char *field) {
    const char *text = json_string_value(json_object_get(object, field));
    return text ? text : "";
}

/* 0 unless it is a whole number above. */
static inline unsigned long long fdl_json_size(const json_t *object, const char *field) {
    json_int_t number = json_integer_value(json_object_get(object, field));
    return number > 0 ? (unsigned long long)number : 0;
}

#endif
