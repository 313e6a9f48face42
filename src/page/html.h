/*
 * html.h - writes HTML in which strangers' words can never become markup.
 *
 * Markup is only ever a literal of ours (html_raw); everything that comes from a
 * repository goes through html_text.  The first failure stays and makes the rest
 * do nothing, so that a page reads as what it shows.
 */
#ifndef FDL_PAGE_HTML_H
#define FDL_PAGE_HTML_H

#include "util/buf.h"

typedef struct fdl_html {
    fdl_buf text;
    fdl_code code;
    fdl_error *error;
} fdl_html;

void fdl_html_init(fdl_html *html, size_t limit_bytes, fdl_error *error);
void fdl_html_clear(fdl_html *html);

/* Markup of ours: a literal, or made of digits and ids that were checked. */
void fdl_html_raw(fdl_html *html, const char *markup);
void fdl_html_format(fdl_html *html, const char *format, ...) FDL_PRINTF(2, 3);

/*
 * Text, also within a quoted attribute.  Control characters, and those that turn
 * the direction of what stands behind them, are shown as a replacement sign;
 * line breaks stay.  NULL is "".
 */
void fdl_html_text(fdl_html *html, const char *text);

/* "336,776" */
void fdl_html_number(fdl_html *html, unsigned long long number);

#endif
