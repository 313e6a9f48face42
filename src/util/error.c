/*
 * error.c - what people are told: errors and notes, made fit for a terminal.
 *
 * Names in messages come from strangers' repositories.  So every line is
 * cleaned on its way into the struct: what steers a terminal and a byte that is
 * no UTF-8 become '?', and a line that is too long ends in "...", never within a
 * character.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fdl/context.h"
#include "fdl/error.h"
#include "util/text.h"

/* Copies `text` cleaned; what does not fit is cut, with "..." in its place. */
static void copy_clean(char *out, size_t out_bytes, const char *text, size_t length) {
    size_t used = 0;
    size_t fitting = 0; /* where a cut leaves room for the dots */
    size_t at = 0;
    while (at < length) {
        size_t step = fdl_utf8_char(text + at, length - at);
        bool shown = step > 0 && !fdl_utf8_steers(text + at, step);
        size_t width = shown ? step : 1;
        if (used + width >= out_bytes) {
            memcpy(out + fitting, "...", 4);
            return;
        }
        memcpy(out + used, shown ? text + at : "?", width);
        used += width;
        at += step > 0 ? step : 1;
        if (used + 4 <= out_bytes)
            fitting = used;
    }
    out[used] = '\0';
}

/* Formats and cleans; twice the room first, so that a cut is always copy_clean's. */
static void format_clean(char out[FDL_MESSAGE_LIMIT_BYTES], const char *format, va_list arguments) FDL_PRINTF(2, 0);

static void format_clean(char out[FDL_MESSAGE_LIMIT_BYTES], const char *format, va_list arguments) {
    char raw[2 * FDL_MESSAGE_LIMIT_BYTES];
    if (vsnprintf(raw, sizeof raw, format, arguments) < 0)
        raw[0] = '\0';
    copy_clean(out, FDL_MESSAGE_LIMIT_BYTES, raw, strlen(raw));
}

fdl_code fdl_fail(fdl_error *error, fdl_code code, const char *key, const char *format, ...) {
    if (!error)
        return code;
    /* Both first into their own room: `key` and the arguments may lie in *error. */
    char message[FDL_MESSAGE_LIMIT_BYTES];
    char clean_key[FDL_KEY_LIMIT_BYTES] = "";
    va_list arguments;
    va_start(arguments, format);
    format_clean(message, format, arguments);
    va_end(arguments);
    if (key)
        copy_clean(clean_key, sizeof clean_key, key, strlen(key));

    error->code = code;
    memcpy(error->message, message, sizeof message);
    memcpy(error->key, clean_key, sizeof clean_key);
    return code;
}

const char *fdl_code_name(fdl_code code) {
    switch (code) {
    case FDL_OK:
        return "ok";
    case FDL_FAILED:
        return "failure";
    case FDL_USAGE:
        return "usage";
    case FDL_CONFLICT:
        return "conflict";
    case FDL_EXPIRED:
        return "expired";
    case FDL_NOT_FOUND:
        return "not_found";
    case FDL_BUSY:
        return "busy";
    case FDL_REFUSED:
        return "refused";
    case FDL_DENIED:
        return "denied";
    case FDL_UNSUPPORTED:
        return "unsupported";
    case FDL_UNCERTAIN:
        return "uncertain";
    case FDL_WAITING:
        return "waiting";
    }
    return "failure";
}

int fdl_exit_status(fdl_code code) {
    if (code == FDL_WAITING)
        return 0;
    return code >= FDL_OK && code <= FDL_REFUSED ? (int)code : (int)FDL_FAILED;
}

void fdl_note(const fdl_context *context, fdl_note_level level, const char *format, ...) {
    if (!context || !context->note)
        return;
    char line[FDL_MESSAGE_LIMIT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    format_clean(line, format, arguments);
    va_end(arguments);
    context->note(context->note_data, level, line);
}
