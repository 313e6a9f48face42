/*
 * http_batch.c - what is about to be written is announced to the host, which
 * says of each file: there already, upload it here, or send it through me.
 *
 *   POST <root>?batch   {"files":[{"key","bytes","sha256"}]}
 *                    -> {"files":[{"key","upload":{"url","headers","expires_in"}}
 *                               | {"key","exists":true} | {"key","status":413}]}
 *
 * A server without this answers 404, 405 or 501; then everything goes through
 * it, and what is there already is found by looking at each key.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "store/http_internal.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/parallel.h"
#include "util/text.h"

enum {
    ASK_LIMIT = 500,              /* files in one request: half of what a host must take */
    ANSWER_LIMIT_BYTES = 8 << 20, /* of its answer: URLs are long */
    MARGIN_PART = 10,             /* of the time a URL has, so much is left unused */
    EXPIRES_LIMIT_S = 7 * 24 * 60 * 60,
};

/* ---- offers --------------------------------------------------------------- */

void fdl_offer_clear(fdl_offer *offer) {
    free(offer->url);
    fdl_http_headers_clear(&offer->headers);
    *offer = (fdl_offer){.kind = FDL_OFFER_NONE};
}

void fdl_http_forget(fdl_http_store *self) {
    for (size_t i = 0; i < self->offer_count; i++)
        fdl_offer_clear(&self->offers[i]);
    free(self->offers);
    fdl_map_clear(&self->places);
    self->offers = NULL;
    self->offer_count = 0;
}

/* With the lock held: takes `offer` over, in the place of an older one for the key. */
static fdl_code keep(fdl_http_store *self, const char *key, fdl_offer *offer, fdl_error *error) {
    uint64_t place = 0;
    fdl_code code = FDL_OK;
    if (!fdl_map_get(&self->places, key, &place)) {
        place = self->offer_count;
        code = fdl_grow(&self->offers, self->offer_count, sizeof *self->offers, error);
        if (code == FDL_OK)
            code = fdl_map_put(&self->places, key, place, error);
        if (code != FDL_OK)
            return code;
        self->offers[self->offer_count++] = (fdl_offer){.kind = FDL_OFFER_NONE};
    }
    fdl_offer_clear(&self->offers[place]);
    self->offers[place] = *offer;
    *offer = (fdl_offer){.kind = FDL_OFFER_NONE};
    return FDL_OK;
}

/* ---- asking --------------------------------------------------------------- */

static fdl_code write_question(const fdl_announced *files, size_t count, char **out, size_t *length,
                               fdl_error *error) {
    json_t *list = json_array();
    json_t *document = json_object();
    fdl_code code = list && document ? FDL_OK : fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    for (size_t i = 0; code == FDL_OK && i < count; i++) {
        json_t *file = json_object();
        if (json_array_append_new(list, file) != 0)
            code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
        if (code == FDL_OK)
            code = fdl_json_set(file, "key", json_string(files[i].key), error);
        if (code == FDL_OK)
            code = fdl_json_set(file, "bytes", json_integer((json_int_t)files[i].size_bytes), error);
        if (code == FDL_OK && files[i].sha256)
            code = fdl_json_set(file, "sha256", json_string(files[i].sha256), error);
    }
    if (code == FDL_OK)
        code = fdl_json_set(document, "files", json_incref(list), error);
    if (code == FDL_OK)
        code = fdl_json_write(document, out, length, error);
    json_decref(document);
    json_decref(list);
    return code;
}

/* What curl writes by itself, or must not be told by others. */
static bool is_ours(const char *name) {
    static const char *const names[] = {"Content-Length", "Host",   "Connection",   "Transfer-Encoding",
                                        "Authorization",  "Expect", "Accept-Encoding"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcasecmp(names[i], name) == 0)
            return true;
    }
    return false;
}

static fdl_code read_headers(const json_t *upload, const char *who, fdl_http_headers *out, fdl_error *error) {
    json_t *headers = json_object_get(upload, "headers"), *value = NULL;
    const char *name = NULL;
    fdl_code code = FDL_OK;
    json_object_foreach(headers, name, value) {
        if (code == FDL_OK && !json_is_string(value))
            code = fdl_fail(error, FDL_FAILED, NULL, "'%s' gives out an upload address with a broken header '%s'", who,
                            name);
        if (code == FDL_OK && !is_ours(name))
            code = fdl_http_add(out, name, json_string_value(value), error);
    }
    return code;
}

static fdl_code read_upload(const fdl_http_store *self, const json_t *upload, const char *who, fdl_offer *out,
                            fdl_error *error) {
    const char *url = NULL;
    int64_t expires_s = 0;
    fdl_code code = fdl_json_string(upload, who, "url", &url, error);
    if (code == FDL_OK)
        code = fdl_json_count(upload, who, "expires_in", &expires_s, error);
    bool tls = code == FDL_OK && fdl_str_starts(url, "https://");
    if (code == FDL_OK && !tls && (fdl_str_starts(self->base.address, "https://") || !fdl_str_starts(url, "http://")))
        code = fdl_fail(error, FDL_FAILED, NULL, "'%s' gives out an upload address that is not https: not used", who);
    if (code == FDL_OK)
        code = read_headers(upload, who, &out->headers, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&out->url, url, error);
    if (expires_s > EXPIRES_LIMIT_S)
        expires_s = EXPIRES_LIMIT_S;
    out->kind = FDL_OFFER_URL;
    out->until_ms = fdl_now_ms() + expires_s * 1000 - expires_s * 1000 / MARGIN_PART;
    return code;
}

/* The answer for one file.  What we do not understand leaves it to be sent through the host, which tells why not. */
static fdl_code read_one(fdl_http_store *self, const json_t *one, const char *who, int64_t ahead_ms,
                         fdl_announced *file, fdl_error *error) {
    fdl_offer offer = {.kind = FDL_OFFER_THROUGH, .host_ahead_ms = ahead_ms};
    json_t *upload = json_object_get(one, "upload");
    fdl_code code = FDL_OK;
    if (json_is_object(upload))
        code = read_upload(self, upload, who, &offer, error);
    else if (json_is_true(json_object_get(one, "exists")))
        offer.kind = FDL_OFFER_THERE;
    if (file->sha256)
        fdl_str_fit(offer.sha256, sizeof offer.sha256, file->sha256);
    file->there = offer.kind == FDL_OFFER_THERE;
    if (code == FDL_OK) {
        pthread_mutex_lock(&self->lock);
        code = keep(self, file->key, &offer, error);
        pthread_mutex_unlock(&self->lock);
    }
    fdl_offer_clear(&offer);
    return code;
}

static fdl_code read_answer(fdl_http_store *self, const fdl_http_response *response, fdl_announced *files,
                            size_t count, fdl_error *error) {
    json_t *document = NULL, *list = NULL, *one = NULL;
    fdl_map places = {0};
    size_t index = 0;
    uint64_t place = 0;
    int64_t ahead_ms = fdl_http_ahead_ms(response);
    fdl_code code = fdl_json_parse(response->text.data, response->text.length, response->host, &document, error);
    if (code == FDL_OK)
        code = fdl_json_array_optional(document, response->host, "files", &list, error);
    for (size_t i = 0; code == FDL_OK && i < count; i++)
        code = fdl_map_put(&places, files[i].key, i, error);
    json_array_foreach(list, index, one) {
        const char *key = json_string_value(json_object_get(one, "key"));
        if (code == FDL_OK && key && fdl_map_get(&places, key, &place))
            code = read_one(self, one, response->host, ahead_ms, &files[place], error);
    }
    fdl_map_clear(&places);
    json_decref(document);
    return code;
}

/* Web servers have other answers too for a POST that they do not know; then the first PUT tells whether we may. */
static bool is_without(const fdl_http_response *response) {
    int status = response->status;
    return status == 404 || status == 405 || status == 501 ||
           ((status == 400 || status == 403) && !fdl_http_gives_reason(response));
}

static bool knows_batch(fdl_http_store *self, bool *asked) {
    pthread_mutex_lock(&self->lock);
    bool has = self->has_batch || !self->asked;
    *asked = self->asked;
    pthread_mutex_unlock(&self->lock);
    return has;
}

static void learn(fdl_http_store *self, bool has_batch) {
    pthread_mutex_lock(&self->lock);
    self->asked = true;
    self->has_batch = has_batch;
    pthread_mutex_unlock(&self->lock);
}

/* One request.  A server without batch is FDL_OK too, remembered, and asked no more. */
static fdl_code ask(fdl_http_store *self, fdl_announced *files, size_t count, fdl_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    fdl_http_response response = {0};
    fdl_http_headers headers = {0};
    fdl_code code = write_question(files, count, &bytes, &length, error);
    fdl_http_body body = {.bytes = bytes, .fd = -1, .length_bytes = length};
    fdl_sigv4_param param = {.name = "batch"};
    fdl_remote_request request = {
        .http = {.method = "POST", .body = &body, .text_limit_bytes = ANSWER_LIMIT_BYTES},
        .extra = &headers,
        .params = &param,
        .param_count = 1,
    };
    if (code == FDL_OK)
        code = fdl_http_add(&headers, "Content-Type", "application/json", error);
    if (code == FDL_OK)
        code = fdl_remote_call(&self->remote, &request, &response, error);
    bool answered = code == FDL_OK;
    if (answered && is_without(&response)) {
        learn(self, false);
    } else if (answered && !fdl_remote_success(&response)) {
        code = self->remote.explain(&self->remote, &request, &response, error);
    } else if (answered) {
        code = read_answer(self, &response, files, count, error);
        if (code == FDL_OK)
            learn(self, true);
    }
    fdl_http_response_clear(&response);
    fdl_http_headers_clear(&headers);
    free(bytes);
    return code;
}

fdl_code fdl_http_vouched(fdl_store *store, bool *out, fdl_error *error) {
    fdl_http_store *self = (fdl_http_store *)store;
    bool asked = false;
    fdl_code code = FDL_OK;
    *out = knows_batch(self, &asked);
    if (!asked) {
        code = ask(self, NULL, 0, error);
        *out = knows_batch(self, &asked) && asked;
    }
    return code;
}

/* ---- announcing ----------------------------------------------------------- */

typedef struct announcement {
    fdl_http_store *self;
    fdl_announced *files;
    char (*digests)[65]; /* of the files whose caller knew none */
} announcement;

static fdl_code hash_one(void *data, size_t index, fdl_error *error) {
    announcement *a = data;
    fdl_announced *file = &a->files[index];
    uint64_t size = 0;
    if (file->sha256)
        return FDL_OK;
    fdl_code code = fdl_sha256_file(file->path, a->digests[index], &size, error);
    if (code == FDL_OK && size != file->size_bytes)
        code = fdl_fail(error, FDL_FAILED, file->path, "'%s' changed while it was read", file->path);
    if (code == FDL_OK)
        file->sha256 = a->digests[index];
    return code;
}

static fdl_code look_at_one(void *data, size_t index, fdl_error *error) {
    announcement *a = data;
    fdl_announced *file = &a->files[index];
    fdl_object object = {0};
    fdl_code code = fdl_store_head(&a->self->base, file->key, &object, error);
    file->there = code == FDL_OK && object.size_bytes == file->size_bytes;
    return code == FDL_NOT_FOUND || code == FDL_DENIED ? FDL_OK : code;
}

static fdl_code ask_for_all(announcement *a, size_t count, int jobs, fdl_error *error) {
    bool asked = false;
    fdl_code code = fdl_parallel(count, jobs, hash_one, a, error);
    for (size_t done = 0; code == FDL_OK && done < count && knows_batch(a->self, &asked); done += ASK_LIMIT)
        code = ask(a->self, a->files + done, count - done < ASK_LIMIT ? count - done : ASK_LIMIT, error);
    return code;
}

fdl_code fdl_http_announce(fdl_store *store, fdl_announced *files, size_t count, fdl_error *error) {
    announcement a = {.self = (fdl_http_store *)store, .files = files};
    int jobs = store->context ? store->context->jobs : 0;
    bool asked = false;
    pthread_mutex_lock(&a.self->lock);
    fdl_http_forget(a.self);
    pthread_mutex_unlock(&a.self->lock);
    fdl_code code = fdl_alloc(&a.digests, count, sizeof *a.digests, error);
    if (code == FDL_OK && knows_batch(a.self, &asked))
        code = ask_for_all(&a, count, jobs, error);
    if (code == FDL_OK && !knows_batch(a.self, &asked))
        code = fdl_parallel(count, jobs, look_at_one, &a, error);
    for (size_t i = 0; a.digests && i < count; i++) {
        if (files[i].sha256 == a.digests[i])
            files[i].sha256 = NULL; /* it is ours, and remembered with the offer */
    }
    free(a.digests);
    return code;
}

/* ---- one file --------------------------------------------------------------- */

/* The digest stays behind: a URL that is asked for again is for the same bytes. */
static void take(fdl_http_store *self, const char *key, fdl_offer *out) {
    uint64_t place = 0;
    pthread_mutex_lock(&self->lock);
    if (fdl_map_get(&self->places, key, &place)) {
        fdl_offer *kept = &self->offers[place];
        *out = *kept;
        *kept = (fdl_offer){.kind = FDL_OFFER_NONE};
        memcpy(kept->sha256, out->sha256, sizeof kept->sha256);
    }
    pthread_mutex_unlock(&self->lock);
}

static bool has_run_out(const fdl_offer *offer) {
    return offer->kind == FDL_OFFER_URL && fdl_now_ms() >= offer->until_ms;
}

fdl_code fdl_http_offer(fdl_http_store *self, const char *key, fdl_remote_body *body, fdl_offer *out,
                        fdl_error *error) {
    bool asked = false;
    fdl_code code = FDL_OK;
    *out = (fdl_offer){.kind = FDL_OFFER_NONE};
    take(self, key, out);
    if (out->sha256[0] && !body->sha256[0])
        memcpy(body->sha256, out->sha256, sizeof body->sha256);
    if ((out->kind != FDL_OFFER_NONE && !has_run_out(out)) || !knows_batch(self, &asked))
        return FDL_OK;
    if (has_run_out(out))
        fdl_note(self->base.context, FDL_NOTE_DETAIL, "the upload address of '%s' ran out, asking for another", key);
    fdl_offer_clear(out);
    if (!body->sha256[0])
        code = fdl_remote_digest(&body->http, body->sha256, error);
    if (code == FDL_OK) {
        fdl_announced file = {.key = key, .size_bytes = body->http.length_bytes, .sha256 = body->sha256};
        code = ask(self, &file, 1, error);
    }
    if (code == FDL_OK)
        take(self, key, out);
    return code;
}
