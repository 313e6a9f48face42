/* http_look.c - see http.h. */
#include <stdlib.h>
#include <string.h>

#include "store/http.h"
#include "store/http_internal.h"
#include "util/file.h"
#include "util/text.h"
#include "util/url.h"

#define NETRC_LIMIT_BYTES (1u << 20)

/* ---- how a file is handed out ------------------------------------------------- */

typedef struct looking {
    fdl_http_manners *manners;
    bool seen; /* the headers came */
} looking;

static fdl_code not_http(const fdl_store *store, fdl_error *error) {
    return fdl_fail(error, FDL_UNSUPPORTED, NULL, "'%s' is not reached over http", store->address);
}

/* A cache tells the time at which it got the file, and how long ago that was. */
static void look_at_time(const fdl_http_response *response, fdl_http_manners *out) {
    uint64_t age_s = 0;
    const char *age = fdl_http_get(&response->headers, "Age");
    out->tells_time = fdl_http_get(&response->headers, "Date") && (!age || fdl_remote_number(age, &age_s));
    out->ahead_ms = fdl_http_ahead_ms(response) + (int64_t)(age_s % (1u << 30)) * 1000;
}

/* What was asked for are bytes 4 to 19, so a server that sends all from the start is told apart by its words. */
static fdl_code on_headers(void *data, const fdl_http_response *response, fdl_error *error) {
    looking *l = data;
    const char *part = fdl_http_get(&response->headers, "Content-Range");
    const char *etag = fdl_http_get(&response->headers, "ETag");
    l->seen = true;
    l->manners->parts = response->status == 206 && part && fdl_str_starts(part, "bytes 4-19/");
    l->manners->strong_etag = etag && *etag == '"';
    look_at_time(response, l->manners);
    /* The rest is not wanted where it is not the part. */
    return l->manners->parts || response->status != 200 ? FDL_OK : fdl_fail(error, FDL_FAILED, NULL, "enough was seen");
}

fdl_code fdl_http_look(fdl_store *store, const char *key, fdl_http_manners *out, fdl_error *error) {
    if (strcmp(store->ops->kind, "http") != 0)
        return not_http(store, error);
    fdl_remote *remote = &((fdl_http_store *)store)->remote;
    looking l = {.manners = out};
    fdl_object object;
    fdl_http_headers headers = {0};
    fdl_http_response response = {0};
    fdl_remote_request request = {
        .http = {.method = "GET", .begin = on_headers, .data = &l}, .key = key, .extra = &headers};
    *out = (fdl_http_manners){0};
    fdl_code code = fdl_remote_head(remote, key, &object, error);
    if (code == FDL_OK)
        code = fdl_http_add(&headers, "Range", "bytes=4-19", error);
    if (code == FDL_OK) {
        code = remote->send(remote, &request, &response, error);
        if (code == FDL_OK && !fdl_remote_success(&response))
            code = remote->explain(remote, &request, &response, error);
        else if (l.seen)
            code = FDL_OK;
    }
    fdl_http_response_clear(&response);
    fdl_http_headers_clear(&headers);
    return code;
}

/* ---- who we are ---------------------------------------------------------------- */

/* The next word of `*text`, up to white space; "" at the end. */
static size_t next_word(const char **text, const char **word) {
    *word = *text + strspn(*text, " \t\r\n");
    size_t length = strcspn(*word, " \t\r\n");
    *text = *word + length;
    return length;
}

static bool word_is(const char *word, size_t length, const char *expected) {
    return length == strlen(expected) && memcmp(word, expected, length) == 0;
}

/* "machine <host>", or "default" for all others. */
static bool netrc_names(const char *text, const char *host) {
    const char *word;
    for (size_t length; (length = next_word(&text, &word)) > 0;) {
        if (word_is(word, length, "default"))
            return true;
        if (!word_is(word, length, "machine"))
            continue;
        length = next_word(&text, &word);
        if (word_is(word, length, host))
            return true;
    }
    return false;
}

static fdl_code look_into_netrc(const char *host, bool *named, fdl_error *error) {
    const char *home = getenv("HOME");
    char *path = NULL, *text = NULL;
    size_t length = 0;
    *named = false;
    if (!home || !*home)
        return FDL_OK;
    fdl_code code = fdl_str_format(&path, error, "%s/.netrc", home);
    if (code == FDL_OK && fdl_file_exists(path))
        code = fdl_file_read(path, NETRC_LIMIT_BYTES, &text, &length, error);
    if (code == FDL_OK && text) {
        *named = netrc_names(text, host);
        explicit_bzero(text, length);
    }
    free(text);
    free(path);
    return code;
}

fdl_code fdl_http_who(fdl_store *store, const char **out, fdl_error *error) {
    fdl_url url = {0};
    bool named = false;
    *out = NULL;
    if (strcmp(store->ops->kind, "http") != 0)
        return not_http(store, error);
    if (((fdl_http_store *)store)->bearer) {
        *out = "FDL_TOKEN";
        return FDL_OK;
    }
    fdl_code code = fdl_url_parse(store->address, &url, error);
    if (code == FDL_OK) {
        char *port = strrchr(url.authority, ':');
        if (port && !strchr(port, ']'))
            *port = '\0';
        code = look_into_netrc(url.authority, &named, error);
    }
    if (code == FDL_OK && named)
        *out = "~/.netrc";
    fdl_url_clear(&url);
    return code;
}
