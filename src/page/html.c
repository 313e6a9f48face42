/* html.c - see html.h. */
#include "page/html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

#define REPLACEMENT "\xef\xbf\xbd"

void fdl_html_init(fdl_html *html, size_t limit_bytes, fdl_error *error) {
    fdl_buf_init(&html->text, limit_bytes);
    html->code = FDL_OK;
    html->error = error;
}

void fdl_html_clear(fdl_html *html) {
    fdl_buf_clear(&html->text);
}

static void add(fdl_html *html, const char *bytes, size_t length) {
    if (html->code == FDL_OK)
        html->code = fdl_buf_add(&html->text, bytes, length, html->error);
}

void fdl_html_raw(fdl_html *html, const char *markup) {
    add(html, markup, strlen(markup));
}

void fdl_html_format(fdl_html *html, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0 && (size_t)length < sizeof line)
        add(html, line, (size_t)length);
    else if (html->code == FDL_OK)
        html->code = fdl_fail(html->error, FDL_FAILED, NULL, "a line of the page is too long");
}

static const char *written_as(const char *c, size_t length) {
    switch (*c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\n':
    case '\t':
        return NULL;
    default:
        break;
    }
    return length == 0 || fdl_utf8_steers(c, length) ? REPLACEMENT : NULL;
}

void fdl_html_text(fdl_html *html, const char *text) {
    for (const char *c = text ? text : ""; *c;) {
        size_t length = fdl_utf8_char(c, strlen(c) < 4 ? strlen(c) : 4);
        const char *other = written_as(c, length);
        if (other)
            fdl_html_raw(html, other);
        else
            add(html, c, length);
        c += length ? length : 1;
    }
}

void fdl_html_number(fdl_html *html, unsigned long long number) {
    char digits[32], grouped[48];
    int length = snprintf(digits, sizeof digits, "%llu", number);
    size_t n = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            grouped[n++] = ',';
        grouped[n++] = digits[i];
    }
    add(html, grouped, n);
}
