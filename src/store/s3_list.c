/*
 * s3_list.c - listing a prefix by pages.
 *
 * What comes back are keys from the start of the bucket; ours begin behind the
 * repository's prefix, which ends with '/', so that "lake/" never sees "lake2/".
 * Keys that no store call could name (consoles make folders as empty objects
 * called "lake/data/") are passed over.
 */
#include <stdio.h>
#include <string.h>

#include "store/s3_internal.h"
#include "store/s3_xml.h"
#include "util/text.h"

enum {
    PAGE_LIMIT_BYTES = 16 << 20, /* 1000 keys of 1024 bytes, each byte an entity */
    TOKEN_BYTES = 2048,
};

#define SCRATCH ".fdl/"

typedef struct listing {
    fdl_s3 *s3;
    bool hide_scratch;
    fdl_entry_callback callback;
    void *data;
} listing;

static bool nameable(const char *key, bool folder) {
    char name[FDL_KEY_LIMIT_BYTES];
    if (!fdl_str_fit(name, sizeof name, key))
        return false;
    size_t length = strlen(name);
    if (folder && length > 0)
        name[length - 1] = '\0';
    fdl_error ignored;
    return fdl_key_check(name, &ignored) == FDL_OK;
}

static fdl_code on_entry(void *data, const char *key, bool folder, const fdl_object *object, fdl_error *error) {
    listing *l = data;
    if (!fdl_str_starts(key, l->s3->prefix))
        return fdl_fail(error, FDL_FAILED, NULL, "a listing of '%s' holds '%s', which is not in it",
                        l->s3->base.address, key);
    key += strlen(l->s3->prefix);
    if (!nameable(key, folder) || (l->hide_scratch && fdl_str_starts(key, SCRATCH)))
        return FDL_OK;
    fdl_entry entry = {.key = key, .folder = folder, .object = *object};
    return l->callback(l->data, &entry, error);
}

/* One page; `token` says where it starts ("" at first) and then where the next one does. */
static fdl_code list_page(listing *l, const char *prefix, fdl_depth depth, char token[TOKEN_BYTES], fdl_error *error) {
    char entries[16];
    char next[TOKEN_BYTES] = "";
    fdl_sigv4_param params[5] = {{"list-type", "2"}, {"max-keys", entries}, {"prefix", prefix}};
    size_t count = 3;
    snprintf(entries, sizeof entries, "%u", l->s3->options.page_entries);
    if (depth == FDL_ONE_LEVEL || depth == FDL_FOLDER_NAMES)
        params[count++] = (fdl_sigv4_param){"delimiter", "/"};
    if (*token)
        params[count++] = (fdl_sigv4_param){"continuation-token", token};

    fdl_http_response response = {0};
    fdl_remote_request request = {
        .http = {.method = "GET", .text_limit_bytes = PAGE_LIMIT_BYTES}, .params = params, .param_count = count};
    fdl_code code = fdl_remote_expect(&l->s3->remote, &request, &response, error);
    if (code == FDL_OK)
        code = fdl_s3_page(response.text.data ? response.text.data : "", response.text.length, response.host, on_entry,
                           l, next, sizeof next, error);
    if (code == FDL_OK && *next && strcmp(next, token) == 0)
        code = fdl_fail(error, FDL_FAILED, NULL, "'%s' lists the same page again and again", response.host);
    if (code == FDL_OK)
        memcpy(token, next, sizeof next);
    fdl_http_response_clear(&response);
    return code;
}

fdl_code fdl_s3_list(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback, void *data,
                     fdl_error *error) {
    listing l = {.s3 = (fdl_s3 *)store, .callback = callback, .data = data};
    l.hide_scratch = !fdl_str_starts(prefix, SCRATCH);
    char token[TOKEN_BYTES] = "";
    char whole[2 * FDL_KEY_LIMIT_BYTES];
    if (snprintf(whole, sizeof whole, "%s%s", l.s3->prefix, prefix) >= (int)sizeof whole)
        return fdl_fail(error, FDL_USAGE, prefix, "'%s' is longer than a key can be", prefix);
    fdl_code code;
    do {
        code = list_page(&l, whole, depth, token, error);
    } while (code == FDL_OK && *token);
    return code;
}
