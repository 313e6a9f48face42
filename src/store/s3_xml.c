/*
 * s3_xml.c - the XML that S3 answers with.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/remote.h"
#include "store/s3_xml.h"
#include "util/buf.h"
#include "util/ident.h"
#include "util/text.h"

enum {
    DEPTH_LIMIT = 8, /* ListBucketResult/Contents/Owner/ID is 4 */
    NAME_BYTES = 64,
    TEXT_LIMIT_BYTES = 16 << 10, /* a key of 1024 bytes, or a message */
};

typedef struct scanner {
    const char *at;
    const char *end;
    const char *who;
    char names[DEPTH_LIMIT + 1][NAME_BYTES]; /* the open elements; [0] stands for "no parent" */
    size_t depth;
    bool rooted; /* the root was seen */
    bool leaf;   /* no child since the last begin of an element */
    fdl_buf text;
    fdl_xml_callback callback;
    void *data;
    fdl_error *error;
} scanner;

static fdl_code broken(const scanner *s, const char *why) {
    return fdl_fail(s->error, FDL_FAILED, NULL, "'%s' sends xml that cannot be read: %s; is it an s3 endpoint?", s->who,
                    why);
}

static bool starts(const scanner *s, const char *mark) {
    size_t length = strlen(mark);
    return (size_t)(s->end - s->at) >= length && memcmp(s->at, mark, length) == 0;
}

/* Moves behind the next `mark`; false when there is none. */
static bool skip_behind(scanner *s, const char *mark) {
    const char *found = memmem(s->at, (size_t)(s->end - s->at), mark, strlen(mark));
    if (found)
        s->at = found + strlen(mark);
    return found != NULL;
}

/* ---- text ----------------------------------------------------------------- */

static fdl_code add_char(scanner *s, unsigned long point) {
    char utf8[4];
    size_t length;
    if (point < 0x80) {
        utf8[0] = (char)point;
        length = 1;
    } else if (point < 0x800) {
        utf8[0] = (char)(0xc0 | (point >> 6));
        utf8[1] = (char)(0x80 | (point & 0x3f));
        length = 2;
    } else if (point < 0x10000) {
        utf8[0] = (char)(0xe0 | (point >> 12));
        utf8[1] = (char)(0x80 | ((point >> 6) & 0x3f));
        utf8[2] = (char)(0x80 | (point & 0x3f));
        length = 3;
    } else {
        utf8[0] = (char)(0xf0 | (point >> 18));
        utf8[1] = (char)(0x80 | ((point >> 12) & 0x3f));
        utf8[2] = (char)(0x80 | ((point >> 6) & 0x3f));
        utf8[3] = (char)(0x80 | (point & 0x3f));
        length = 4;
    }
    return fdl_buf_add(&s->text, utf8, length, s->error);
}

/* "#38" or "#x26" */
static bool number_entity(const char *name, unsigned long *out) {
    const char *digits = name[1] == 'x' ? name + 2 : name + 1;
    const char *allowed = name[1] == 'x' ? "0123456789abcdefABCDEF" : "0123456789";
    size_t count = strlen(digits);
    if (name[0] != '#' || count == 0 || count > 7 || strspn(digits, allowed) != count)
        return false;
    *out = strtoul(digits, NULL, name[1] == 'x' ? 16 : 10);
    return *out > 0 && *out <= 0x10ffff && !(*out >= 0xd800 && *out <= 0xdfff);
}

/* At an '&'. */
static fdl_code add_entity(scanner *s) {
    static const struct {
        const char *name;
        char byte;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
    char name[12];
    size_t room = (size_t)(s->end - s->at - 1);
    const char *semicolon = memchr(s->at + 1, ';', room < sizeof name ? room : sizeof name);
    if (!semicolon)
        return broken(s, "an '&' without its ';'");
    size_t length = (size_t)(semicolon - s->at - 1);
    memcpy(name, s->at + 1, length);
    name[length] = '\0';
    s->at = semicolon + 1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i].name) == 0)
            return add_char(s, (unsigned char)known[i].byte);
    }
    unsigned long point;
    return number_entity(name, &point) ? add_char(s, point) : broken(s, "an unknown entity");
}

static bool is_blank(const char *from, const char *to) {
    while (from < to && (*from == ' ' || *from == '\t' || *from == '\r' || *from == '\n'))
        from++;
    return from == to;
}

/* Up to the next '<'. */
static fdl_code take_text(scanner *s) {
    while (s->at < s->end && *s->at != '<') {
        const char *stop = s->at;
        while (stop < s->end && *stop != '<' && *stop != '&')
            stop++;
        fdl_code code = FDL_OK;
        if (s->depth == 0 && !is_blank(s->at, stop))
            return broken(s, "text outside the root");
        if (s->depth > 0)
            code = fdl_buf_add(&s->text, s->at, (size_t)(stop - s->at), s->error);
        s->at = stop;
        if (code == FDL_OK && s->at < s->end && *s->at == '&')
            code = s->depth > 0 ? add_entity(s) : broken(s, "text outside the root");
        if (code != FDL_OK)
            return code;
    }
    return FDL_OK;
}

/* ---- tags ----------------------------------------------------------------- */

/* A name at the start of a tag, without its namespace prefix. */
static bool take_name(scanner *s, char out[NAME_BYTES]) {
    const char *start = s->at;
    while (s->at < s->end && !strchr(" \t\r\n/>", *s->at)) {
        if (*s->at == ':')
            start = s->at + 1;
        s->at++;
    }
    size_t length = (size_t)(s->at - start);
    if (length == 0 || length >= NAME_BYTES || memchr(start, '<', length) || memchr(start, '\0', length))
        return false;
    memcpy(out, start, length);
    out[length] = '\0';
    return true;
}

static fdl_code tell(scanner *s, bool open) {
    fdl_xml_event event = {.open = open,
                           .depth = s->depth,
                           .name = s->names[s->depth],
                           .parent = s->names[s->depth - 1],
                           .text = !open && s->leaf && s->text.data ? s->text.data : ""};
    return s->callback(s->data, &event, s->error);
}

static fdl_code end_element(scanner *s) {
    fdl_code code = tell(s, false);
    s->depth--;
    s->leaf = false;
    fdl_buf_clear(&s->text);
    return code;
}

static fdl_code close_tag(scanner *s) {
    char name[NAME_BYTES];
    s->at += 2;
    if (!take_name(s, name) || s->depth == 0 || strcmp(name, s->names[s->depth]) != 0 || !skip_behind(s, ">"))
        return broken(s, "an end tag without its start tag");
    return end_element(s);
}

/* Attributes are skipped; one may hold a '>' in quotes. */
static bool skip_attributes(scanner *s, bool *empty) {
    *empty = false;
    while (s->at < s->end && *s->at != '>') {
        char c = *s->at++;
        *empty = c == '/';
        if (c == '"' || c == '\'') {
            const char *quote = memchr(s->at, c, (size_t)(s->end - s->at));
            if (!quote)
                return false;
            s->at = quote + 1;
        }
    }
    if (s->at == s->end)
        return false;
    s->at++;
    return true;
}

static fdl_code open_tag(scanner *s) {
    bool empty;
    s->at++;
    if (s->depth == DEPTH_LIMIT)
        return broken(s, "elements too deep");
    if (s->depth == 0 && s->rooted)
        return broken(s, "two roots");
    if (!take_name(s, s->names[s->depth + 1]) || !skip_attributes(s, &empty))
        return broken(s, "an incomplete tag");
    s->depth++;
    s->rooted = true;
    s->leaf = true;
    fdl_buf_clear(&s->text);
    fdl_code code = tell(s, true);
    return code == FDL_OK && empty ? end_element(s) : code;
}

static fdl_code take_cdata(scanner *s) {
    s->at += strlen("<![CDATA[");
    const char *start = s->at;
    if (s->depth == 0 || !skip_behind(s, "]]>"))
        return broken(s, "an incomplete cdata section");
    return fdl_buf_add(&s->text, start, (size_t)(s->at - start) - strlen("]]>"), s->error);
}

static fdl_code take_markup(scanner *s) {
    if (starts(s, "<?"))
        return skip_behind(s, "?>") ? FDL_OK : broken(s, "an incomplete declaration");
    if (starts(s, "<!--"))
        return skip_behind(s, "-->") ? FDL_OK : broken(s, "an incomplete comment");
    if (starts(s, "<![CDATA["))
        return take_cdata(s);
    if (starts(s, "<!"))
        return broken(s, "a doctype");
    return starts(s, "</") ? close_tag(s) : open_tag(s);
}

fdl_code fdl_xml_walk(const char *bytes, size_t length, const char *who, fdl_xml_callback callback, void *data,
                      fdl_error *error) {
    scanner s = {.at = bytes, .end = bytes + length, .who = who, .callback = callback, .data = data, .error = error};
    fdl_buf_init(&s.text, TEXT_LIMIT_BYTES);
    if (starts(&s, "\xef\xbb\xbf"))
        s.at += 3;
    fdl_code code = FDL_OK;
    while (code == FDL_OK && s.at < s.end)
        code = *s.at == '<' ? take_markup(&s) : take_text(&s);
    if (code == FDL_OK && (!s.rooted || s.depth > 0))
        code = broken(&s, "it ends too early");
    fdl_buf_clear(&s.text);
    return code;
}

/* ---- single fields -------------------------------------------------------- */

typedef struct wish {
    const char *root;
    const char *field;
    char *out;
    size_t out_bytes;
    bool found;
} wish;

static fdl_code look(void *data, const fdl_xml_event *event, fdl_error *error) {
    (void)error;
    wish *w = data;
    if (!event->open && event->depth == 2 && strcmp(event->parent, w->root) == 0 &&
        strcmp(event->name, w->field) == 0 && !w->found)
        w->found = fdl_str_fit(w->out, w->out_bytes, event->text);
    return FDL_OK;
}

bool fdl_s3_field(const char *bytes, size_t length, const char *root, const char *field, char *out, size_t out_bytes) {
    wish w = {root, field, out, out_bytes, false};
    fdl_error ignored;
    bool walked = length > 0 && fdl_xml_walk(bytes, length, "", look, &w, &ignored) == FDL_OK;
    if (!walked || !w.found)
        out[0] = '\0';
    return walked && w.found;
}

/* ---- listings ------------------------------------------------------------- */

typedef struct page {
    const char *who;
    fdl_s3_entry_callback callback;
    void *data;
    char key[TEXT_LIMIT_BYTES];
    fdl_object object;
    bool sized;
    bool truncated;
    char *token;
    size_t token_bytes;
} page;

static fdl_code bad_page(const page *p, const char *what, const char *text, fdl_error *error) {
    return fdl_fail(error, FDL_FAILED, NULL, "'%s' lists %s '%s', which cannot be", p->who, what, text);
}

static fdl_code take_object_field(page *p, const fdl_xml_event *event, fdl_error *error) {
    const char *text = event->text;
    if (strcmp(event->name, "Key") == 0) {
        if (!fdl_str_fit(p->key, sizeof p->key, text))
            return bad_page(p, "a key", text, error);
    } else if (strcmp(event->name, "Size") == 0) {
        p->sized = fdl_remote_number(text, &p->object.size_bytes);
        if (!p->sized)
            return bad_page(p, "a size", text, error);
    } else if (strcmp(event->name, "LastModified") == 0) {
        if (!fdl_time_parse(text, &p->object.modified_ms))
            return bad_page(p, "a time", text, error);
    } else if (strcmp(event->name, "ETag") == 0) {
        fdl_str_fit(p->object.etag, sizeof p->object.etag, text);
    }
    return FDL_OK;
}

static fdl_code end_object(page *p, fdl_error *error) {
    if (!p->key[0] || !p->sized)
        return bad_page(p, "an object without key or size:", p->key, error);
    return p->callback(p->data, p->key, false, &p->object, error);
}

static fdl_code take_page_field(page *p, const fdl_xml_event *event, fdl_error *error) {
    if (strcmp(event->name, "Contents") == 0)
        return end_object(p, error);
    if (strcmp(event->name, "IsTruncated") == 0)
        p->truncated = strcmp(event->text, "true") == 0;
    else if (strcmp(event->name, "NextContinuationToken") == 0 && !fdl_str_fit(p->token, p->token_bytes, event->text))
        return bad_page(p, "a continuation token", event->text, error);
    return FDL_OK;
}

static fdl_code on_page(void *data, const fdl_xml_event *event, fdl_error *error) {
    page *p = data;
    if (event->depth == 1 && event->open && strcmp(event->name, "ListBucketResult") != 0)
        return bad_page(p, "a", event->name, error);
    if (event->depth == 2 && event->open && strcmp(event->name, "Contents") == 0) {
        p->key[0] = '\0';
        p->object = (fdl_object){0};
        p->sized = false;
    }
    if (event->open)
        return FDL_OK;
    if (event->depth == 2)
        return take_page_field(p, event, error);
    if (event->depth == 3 && strcmp(event->parent, "Contents") == 0)
        return take_object_field(p, event, error);
    if (event->depth == 3 && strcmp(event->parent, "CommonPrefixes") == 0 && strcmp(event->name, "Prefix") == 0) {
        static const fdl_object nothing;
        return p->callback(p->data, event->text, true, &nothing, error);
    }
    return FDL_OK;
}

fdl_code fdl_s3_page(const char *bytes, size_t length, const char *who, fdl_s3_entry_callback callback, void *data,
                     char *token, size_t token_bytes, fdl_error *error) {
    page *p;
    fdl_code code = fdl_alloc(&p, 1, sizeof *p, error);
    if (code != FDL_OK)
        return code;
    *p = (page){.who = who, .callback = callback, .data = data, .token = token, .token_bytes = token_bytes};
    token[0] = '\0';
    code = fdl_xml_walk(bytes, length, who, on_page, p, error);
    if (code == FDL_OK && p->truncated && !token[0])
        code = bad_page(p, "a page that goes on, without saying where:", "", error);
    if (!p->truncated)
        token[0] = '\0';
    free(p);
    return code;
}
