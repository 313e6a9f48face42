/*
 * json.c - jansson, made strict, with errors that a person can act on.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"
#include "util/json.h"
#include "util/text.h"

/* No document of ours comes near; it bounds what a mistake can cost. */
#define JSON_LIMIT_BYTES ((size_t)1 << 30)

/* What is wrong, in our words. */
static const char *parse_reason(const json_error_t *broken) {
    switch (json_error_code(broken)) {
    case json_error_out_of_memory:
        return "out of memory";
    case json_error_stack_overflow:
        return "nested too deeply";
    case json_error_invalid_utf8:
        return "not valid UTF-8";
    case json_error_premature_end_of_input:
        return "it ends too early";
    case json_error_end_of_input_expected:
        return "something follows its end";
    case json_error_duplicate_key:
        return "a key occurs twice";
    case json_error_numeric_overflow:
        return "a number is too large";
    case json_error_null_character:
    case json_error_null_byte_in_key:
        return "a NUL character";
    default:
        return "a syntax error";
    }
}

fdl_code fdl_json_parse(const char *bytes, size_t length, const char *name, json_t **out, fdl_error *error) {
    json_error_t broken;
    json_t *value = json_loadb(bytes ? bytes : "", length, JSON_REJECT_DUPLICATES, &broken);
    if (!value) {
        /* jansson shows the place as " near '...'" at the end of its text. */
        const char *near = strstr(broken.text, " near '");
        if (fdl_is_markup(bytes, length))
            return fdl_fail(error, FDL_FAILED, name, "'%s' is a web page, or XML, where JSON should be", name);
        return fdl_fail(error, FDL_FAILED, name, "'%s' is not valid JSON, line %d: %s%s", name,
                        broken.line > 0 ? broken.line : 1, parse_reason(&broken), near ? near : "");
    }
    if (!json_is_object(value)) {
        json_decref(value);
        return fdl_fail(error, FDL_FAILED, name, "'%s' is not a JSON object", name);
    }
    *out = value;
    return FDL_OK;
}

/*
 * The fewest digits, from 15 to 17, that give every real in `value` back as it
 * is: a publisher's 0.1 shall not come out as 0.10000000000000001.
 */
static int digits_needed(const json_t *value) {
    int digits = 15;
    if (json_is_real(value)) {
        double real = json_real_value(value);
        char text[64];
        for (; digits < 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, real);
            if (!(strtod(text, NULL) < real || strtod(text, NULL) > real))
                break;
        }
        return digits;
    }
    const char *key;
    json_t *child;
    size_t index;
    json_object_foreach((json_t *)value, key, child) {
        int needed = digits_needed(child);
        digits = needed > digits ? needed : digits;
    }
    json_array_foreach(value, index, child) {
        int needed = digits_needed(child);
        digits = needed > digits ? needed : digits;
    }
    return digits;
}

typedef struct writing {
    fdl_buf buf;
    fdl_code code;
    fdl_error *error;
} writing;

static int write_piece(const char *bytes, size_t length, void *data) {
    writing *to = data;
    if (to->code == FDL_OK) /* jansson goes on after some failures; a gap must not be forgotten */
        to->code = fdl_buf_add(&to->buf, bytes, length, to->error);
    return to->code == FDL_OK ? 0 : -1;
}

fdl_code fdl_json_write(const json_t *value, char **out, size_t *length, fdl_error *error) {
    writing to = {.error = error};
    fdl_buf_init(&to.buf, JSON_LIMIT_BYTES);
    size_t flags = JSON_INDENT(2) | JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits_needed(value));
    if (json_dump_callback(value, write_piece, &to, flags) != 0 && to.code == FDL_OK)
        to.code = fdl_fail(error, FDL_FAILED, NULL, "cannot write JSON: out of memory");
    if (to.code == FDL_OK)
        to.code = fdl_buf_add_str(&to.buf, "\n", error);
    if (to.code == FDL_OK)
        *out = fdl_buf_detach(&to.buf, length);
    fdl_buf_clear(&to.buf);
    return to.code;
}

static fdl_code wrong_type(const char *name, const char *field, const char *wanted, fdl_error *error) {
    return fdl_fail(error, FDL_FAILED, name, "'%s': field '%s' is not %s", name, field, wanted);
}

/* The field, or NULL when absent or null. */
static json_t *present(const json_t *object, const char *field) {
    json_t *value = json_object_get(object, field);
    return json_is_null(value) ? NULL : value;
}

static fdl_code required(const json_t *object, const char *name, const char *field, json_t **out, fdl_error *error) {
    *out = present(object, field);
    return *out ? FDL_OK : fdl_fail(error, FDL_FAILED, name, "'%s' has no field '%s'", name, field);
}

fdl_code fdl_json_string(const json_t *object, const char *name, const char *field, const char **out,
                         fdl_error *error) {
    json_t *value;
    fdl_code code = required(object, name, field, &value, error);
    if (code != FDL_OK)
        return code;
    if (!json_is_string(value))
        return wrong_type(name, field, "a string", error);
    *out = json_string_value(value);
    return FDL_OK;
}

fdl_code fdl_json_string_optional(const json_t *object, const char *name, const char *field, const char **out,
                                  fdl_error *error) {
    json_t *value = present(object, field);
    if (value && !json_is_string(value))
        return wrong_type(name, field, "a string", error);
    *out = value ? json_string_value(value) : NULL;
    return FDL_OK;
}

fdl_code fdl_json_count(const json_t *object, const char *name, const char *field, int64_t *out, fdl_error *error) {
    json_t *value;
    fdl_code code = required(object, name, field, &value, error);
    if (code != FDL_OK)
        return code;
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return wrong_type(name, field, "a whole number of 0 or more", error);
    *out = json_integer_value(value);
    return FDL_OK;
}

fdl_code fdl_json_object(const json_t *object, const char *name, const char *field, json_t **out, fdl_error *error) {
    json_t *value;
    fdl_code code = required(object, name, field, &value, error);
    if (code != FDL_OK)
        return code;
    if (!json_is_object(value))
        return wrong_type(name, field, "an object", error);
    *out = value;
    return FDL_OK;
}

fdl_code fdl_json_array_optional(const json_t *object, const char *name, const char *field, json_t **out,
                                 fdl_error *error) {
    json_t *value = present(object, field);
    if (value && !json_is_array(value))
        return wrong_type(name, field, "an array", error);
    *out = value;
    return FDL_OK;
}

fdl_code fdl_json_set(json_t *object, const char *field, json_t *value, fdl_error *error) {
    if (!value || json_object_set_new(object, field, value) != 0)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    return FDL_OK;
}

/* ---- errors ----------------------------------------------------------------- */

static fdl_code code_named(const char *name) {
    for (int code = FDL_FAILED; code <= FDL_UNCERTAIN; code++) {
        if (strcmp(fdl_code_name((fdl_code)code), name) == 0)
            return (fdl_code)code;
    }
    return FDL_OK;
}

fdl_code fdl_json_error(const char *bytes, size_t length, fdl_error *error) {
    json_t *document = NULL, *said = NULL;
    const char *name = NULL, *message = NULL, *key = NULL;
    fdl_code code = FDL_OK;
    if (fdl_json_parse(bytes, length, "", &document, NULL) == FDL_OK &&
        fdl_json_object(document, "", "error", &said, NULL) == FDL_OK &&
        fdl_json_string(said, "", "code", &name, NULL) == FDL_OK &&
        fdl_json_string(said, "", "message", &message, NULL) == FDL_OK &&
        fdl_json_string_optional(said, "", "key", &key, NULL) == FDL_OK)
        code = code_named(name);
    if (code != FDL_OK)
        fdl_fail(error, code, key, "%s", message);
    json_decref(document);
    return code;
}

const char *fdl_json_text(const json_t *object, const char *field) {
    const char *text = json_string_value(json_object_get(object, field));
    return text ? text : "";
}

unsigned long long fdl_json_size(const json_t *object, const char *field) {
    json_int_t number = json_integer_value(json_object_get(object, field));
    return number > 0 ? (unsigned long long)number : 0;
}
