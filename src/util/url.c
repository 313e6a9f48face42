/*
 * url.c - http(s) addresses taken apart (by libcurl's parser, so that we and the
 * transfer agree on what the host is), and names percent-encoded.
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/curl.h"
#include "util/text.h"
#include "util/url.h"

static fdl_code bad(const char *text, const char *why, fdl_error *error) {
    /* What may hold a password is not repeated. */
    const char *shown = strchr(text, '@') ? "the address" : text;
    return fdl_fail(error, FDL_USAGE, NULL, "'%s' %s", shown, why);
}

/* Whether the part is there at all; an empty one ("http://host/?") counts. */
static bool has_part(CURLU *url, CURLUPart part) {
    char *text = NULL;
    bool there = fdl_curl.url_get(url, part, &text, 0) == CURLUE_OK;
    fdl_curl.free(text);
    return there;
}

static fdl_code check_parts(CURLU *url, const char *text, fdl_error *error) {
    if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD))
        return bad(text, "holds a user name or password, which would be printed and stored: leave it out", error);
    if (has_part(url, CURLUPART_QUERY) || strchr(text, '?'))
        return bad(text, "has a query string: give the address up to the '?'", error);
    if (has_part(url, CURLUPART_FRAGMENT) || strchr(text, '#'))
        return bad(text, "has a fragment: give the address up to the '#'", error);
    return FDL_OK;
}

static bool default_port(bool tls, const char *port) {
    return strcmp(port, tls ? "443" : "80") == 0;
}

static fdl_code take_authority(CURLU *url, fdl_url *out, fdl_error *error) {
    fdl_code code;
    char *host = NULL;
    char *port = NULL;
    if (fdl_curl.url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK) {
        code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
        goto done;
    }
    for (char *at = host; *at; at++) {
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at - 'A' + 'a');
    }
    if (fdl_curl.url_get(url, CURLUPART_PORT, &port, 0) == CURLUE_OK && !default_port(out->tls, port))
        code = fdl_str_format(&out->authority, error, "%s:%s", host, port);
    else
        code = fdl_str_copy(&out->authority, host, error);
done:
    fdl_curl.free(host);
    fdl_curl.free(port);
    return code;
}

static fdl_code take_path(CURLU *url, fdl_url *out, fdl_error *error) {
    char *path = NULL;
    if (fdl_curl.url_get(url, CURLUPART_PATH, &path, 0) != CURLUE_OK)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    fdl_code code = fdl_str_copy(&out->path, path, error);
    fdl_curl.free(path);
    return code;
}

fdl_code fdl_url_parse(const char *text, fdl_url *out, fdl_error *error) {
    fdl_url made = {0};
    made.tls = strncasecmp(text, "https://", 8) == 0;
    if (!made.tls && strncasecmp(text, "http://", 7) != 0)
        return bad(text, "is not an address of the form https://host/path/", error);

    if (strchr(text, ':')[3] == '/') /* curl would take the first part of the path for the host */
        return bad(text, "names no host: write https://host/path/", error);

    fdl_code code = fdl_curl_open(error);
    CURLU *url = code == FDL_OK ? fdl_curl.url() : NULL;
    if (!url)
        return code != FDL_OK ? code : fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    CURLUcode parsed = fdl_curl.url_set(url, CURLUPART_URL, text, CURLU_PATH_AS_IS);
    if (parsed == CURLUE_OUT_OF_MEMORY)
        code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    else if (parsed != CURLUE_OK)
        code = bad(text, "is not an address of the form https://host/path/", error);
    else
        code = check_parts(url, text, error);
    if (code == FDL_OK)
        code = take_authority(url, &made, error);
    if (code == FDL_OK)
        code = take_path(url, &made, error);
    fdl_curl.url_cleanup(url);
    if (code != FDL_OK) {
        fdl_url_clear(&made);
        return code;
    }
    *out = made;
    return FDL_OK;
}

void fdl_url_clear(fdl_url *url) {
    if (!url)
        return;
    free(url->authority);
    free(url->path);
    *url = (fdl_url){0};
}

static bool unreserved(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

static fdl_code add_encoded(fdl_buf *out, const char *text, bool keep_slash, fdl_error *error) {
    static const char digits[] = "0123456789ABCDEF";
    for (const char *at = text; *at; at++) {
        fdl_code code;
        if (unreserved(*at) || (keep_slash && *at == '/')) {
            code = fdl_buf_add(out, at, 1, error);
        } else {
            unsigned char byte = (unsigned char)*at;
            char escaped[3] = {'%', digits[byte >> 4], digits[byte & 15]};
            code = fdl_buf_add(out, escaped, sizeof escaped, error);
        }
        if (code != FDL_OK)
            return code;
    }
    return FDL_OK;
}

fdl_code fdl_url_add_path(fdl_buf *out, const char *key, fdl_error *error) {
    return add_encoded(out, key, true, error);
}

fdl_code fdl_url_add_value(fdl_buf *out, const char *value, fdl_error *error) {
    return add_encoded(out, value, false, error);
}
