/*
 * text.c - allocation that answers with an error, small strings, UTF-8.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

static fdl_code out_of_memory(fdl_error *error) {
    return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
}

fdl_code fdl_alloc(void *out_pointer, size_t count, size_t element_bytes, fdl_error *error) {
    void *memory = calloc(count ? count : 1, element_bytes ? element_bytes : 1);
    if (!memory)
        return out_of_memory(error);
    memcpy(out_pointer, &memory, sizeof memory);
    return FDL_OK; /* cppcheck-suppress memleak ; the pointer of the caller holds it now */
}

/*
 * The capacity is not stored; it follows from the count: FIRST_ROOM until that
 * many are used, then the next power of two.  So memory is moved only when the
 * count stands at 0 or at such a power.
 */
fdl_code fdl_grow(void *items_pointer, size_t count, size_t element_bytes, fdl_error *error) {
    enum { FIRST_ROOM = 8 };
    size_t room = FIRST_ROOM;
    size_t each = element_bytes > 0 ? element_bytes : 1;
    if (count > 0) {
        bool full = count >= FIRST_ROOM && (count & (count - 1)) == 0;
        if (!full)
            return FDL_OK;
        if (count > SIZE_MAX / 2)
            return out_of_memory(error);
        room = count * 2;
    }
    if (room > SIZE_MAX / each)
        return out_of_memory(error);

    void *items;
    memcpy(&items, items_pointer, sizeof items);
    items = realloc(items, room * each);
    if (!items)
        return out_of_memory(error);
    memcpy(items_pointer, &items, sizeof items);
    return FDL_OK;
}

fdl_code fdl_str_copy(char **out, const char *text, fdl_error *error) {
    return fdl_str_copy_n(out, text, text ? strlen(text) : 0, error);
}

fdl_code fdl_str_copy_n(char **out, const char *text, size_t length, fdl_error *error) {
    if (!text) {
        *out = NULL;
        return FDL_OK;
    }
    if (length == SIZE_MAX)
        return out_of_memory(error);
    char *copy = malloc(length + 1);
    if (!copy)
        return out_of_memory(error);
    memcpy(copy, text, length);
    copy[length] = '\0';
    *out = copy;
    return FDL_OK;
}

fdl_code fdl_str_format(char **out, fdl_error *error, const char *format, ...) {
    va_list arguments;
    char usual[256];
    va_start(arguments, format);
    int length = vsnprintf(usual, sizeof usual, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!text)
        return out_of_memory(error);
    if ((size_t)length < sizeof usual) {
        memcpy(text, usual, (size_t)length + 1);
    } else {
        va_start(arguments, format);
        vsnprintf(text, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    *out = text;
    return FDL_OK;
}

bool fdl_str_starts(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool fdl_is_markup(const char *bytes, size_t length) {
    size_t at = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < length && bytes[at] && strchr(" \t\r\n", bytes[at]))
        at++;
    return at < length && bytes[at] == '<';
}

bool fdl_str_ends(const char *text, const char *suffix) {
    size_t text_length = strlen(text);
    size_t suffix_length = strlen(suffix);
    return text_length >= suffix_length && memcmp(text + text_length - suffix_length, suffix, suffix_length) == 0;
}

bool fdl_str_fit(char *out, size_t out_bytes, const char *text) {
    size_t length = strlen(text);
    bool fits = length < out_bytes;
    memcpy(out, text, fits ? length : 0);
    if (out_bytes > 0)
        out[fits ? length : 0] = '\0';
    return fits;
}

bool fdl_base64_decode(const char *text, void *out, size_t out_bytes, size_t *length) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *to = out;
    size_t all = strlen(text);
    size_t padding = all > 0 && text[all - 1] == '=' ? (all > 1 && text[all - 2] == '=' ? 2 : 1) : 0;
    if (all % 4 != 0 || all / 4 * 3 - padding > out_bytes)
        return false;
    unsigned bits = 0;
    size_t filled = 0;
    for (size_t i = 0; i < all - padding; i++) {
        const char *digit = memchr(digits, text[i], sizeof digits - 1);
        if (!digit)
            return false;
        bits = (bits << 6 | (unsigned)(digit - digits)) & 0xffffff;
        if (i % 4 != 0) /* each digit but the first of four completes a byte */
            to[filled++] = (unsigned char)(bits >> (6 - 2 * (i % 4)));
    }
    *length = filled;
    return padding == 0 || (bits & (padding == 2 ? 15u : 3u)) == 0; /* what the padding leaves over must be nothing */
}

size_t fdl_utf8_char(const char *bytes, size_t length) {
    const unsigned char *u = (const unsigned char *)bytes;
    if (length == 0)
        return 0;
    if (u[0] < 0x80)
        return 1;

    /* The second byte's range keeps out overlong forms, surrogates and what lies above U+10FFFF. */
    size_t want;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    if (u[0] >= 0xc2 && u[0] <= 0xdf) {
        want = 2;
    } else if (u[0] >= 0xe0 && u[0] <= 0xef) {
        want = 3;
        low = u[0] == 0xe0 ? 0xa0 : low;
        high = u[0] == 0xed ? 0x9f : high;
    } else if (u[0] >= 0xf0 && u[0] <= 0xf4) {
        want = 4;
        low = u[0] == 0xf0 ? 0x90 : low;
        high = u[0] == 0xf4 ? 0x8f : high;
    } else {
        return 0;
    }
    if (length < want || u[1] < low || u[1] > high)
        return 0;
    for (size_t i = 2; i < want; i++) {
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    }
    return want;
}

bool fdl_utf8_steers(const char *character, size_t length) {
    const unsigned char *u = (const unsigned char *)character;
    if (length == 1)
        return u[0] < 0x20 || u[0] == 0x7f;
    if (length == 2)
        return u[0] == 0xc2 && u[1] < 0xa0;
    return length == 3 && u[0] == 0xe2 &&
           ((u[1] == 0x80 && u[2] >= 0xaa && u[2] <= 0xae) || (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9));
}

bool fdl_utf8_valid(const char *bytes, size_t length) {
    size_t at = 0;
    uint64_t eight;
    while (at < length) {
        if (length - at >= sizeof eight) { /* most text is ASCII */
            memcpy(&eight, bytes + at, sizeof eight);
            if ((eight & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof eight;
                continue;
            }
        }
        size_t step = (unsigned char)bytes[at] < 0x80 ? 1 : fdl_utf8_char(bytes + at, length - at);
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

const char *fdl_size_text(unsigned long long bytes, char out[32]) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 999.95 && unit + 1 < sizeof units / sizeof *units; unit++)
        value /= 1000;
    snprintf(out, 32, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return out;
}
