/*
 * aws_ini.c - the ini files of AWS's tools, read in place.
 *
 *   [profile work]
 *   region = eu-west-1        ; a key of the section
 *   s3 =                      ; a parent: the indented lines below are its keys
 *     addressing_style = virtual
 *
 * In ~/.aws/config a profile's section is "profile NAME", in ~/.aws/credentials
 * just "NAME"; the caller says which.  Files are small and read once, so each
 * question walks the lines again.
 */
#include <stddef.h>
#include <string.h>

#include "store/aws_config.h"

typedef struct span {
    const char *start;
    size_t length;
} span;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static span trim(span s) {
    while (s.length > 0 && is_blank(*s.start)) {
        s.start++;
        s.length--;
    }
    while (s.length > 0 && is_blank(s.start[s.length - 1]))
        s.length--;
    return s;
}

static bool equals(span s, const char *text) {
    return s.length == strlen(text) && memcmp(s.start, text, s.length) == 0;
}

/* The next line without its end; false after the last. */
static bool next_line(const char **at, span *line) {
    if (!**at)
        return false;
    line->start = *at;
    line->length = strcspn(*at, "\n");
    *at += line->length + ((*at)[line->length] == '\n');
    return true;
}

/* "[profile  x]" and `[profile "x"]` are both "profile x". */
static bool is_section(span line, const char *section) {
    const char *close = line.length > 0 && *line.start == '[' ? memchr(line.start, ']', line.length) : NULL;
    char plain[256];
    size_t used = 0;
    for (const char *at = line.start + 1; close && at < close; at++) {
        if (*at == '"' || (is_blank(*at) && (used == 0 || plain[used - 1] == ' ')))
            continue;
        if (used == sizeof plain)
            return false;
        plain[used++] = is_blank(*at) ? ' ' : *at;
    }
    if (used > 0 && plain[used - 1] == ' ')
        used--;
    return close && equals((span){plain, used}, section);
}

bool fdl_aws_ini_has(const char *text, const char *section) {
    span line;
    while (next_line(&text, &line)) {
        if (is_section(trim(line), section))
            return true;
    }
    return false;
}

bool fdl_aws_ini_get(const char *text, const char *section, const char *parent, const char *key, const char **value,
                     size_t *length) {
    bool in_section = false;
    bool in_parent = false;
    span raw;
    while (next_line(&text, &raw)) {
        span line = trim(raw);
        if (line.length == 0 || *line.start == '#' || *line.start == ';')
            continue;
        if (*line.start == '[') {
            in_section = is_section(line, section);
            in_parent = false;
            continue;
        }
        const char *equal = memchr(line.start, '=', line.length);
        if (!in_section || !equal)
            continue;
        bool indented = is_blank(*raw.start);
        span name = trim((span){line.start, (size_t)(equal - line.start)});
        if (!indented)
            in_parent = parent && equals(name, parent);
        if (indented == (parent != NULL) && (!parent || in_parent) && equals(name, key)) {
            span found = trim((span){equal + 1, (size_t)(line.start + line.length - equal - 1)});
            *value = found.start;
            *length = found.length;
            return true;
        }
    }
    return false;
}
