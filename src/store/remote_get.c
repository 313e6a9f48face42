/*
 * remote_get.c - reading an object over HTTP, whole or in part, through broken
 * connections.
 *
 *   wanted:    |--------- range ---------|        start, wanted
 *   delivered: |-- first answer --x               done: the sink has had these
 *   next:                         |-- Range: start+done ... --|
 *
 * What the first answer says the object is (size, ETag) holds for all that
 * follow; another ETag ends the read.
 */
#include <stdio.h>
#include <string.h>

#include "store/backends.h"
#include "store/remote.h"
#include "util/text.h"

/* A server that ignores Range sends everything; up to here the rest is dropped, above it is an error. */
#define WHOLE_LIMIT_BYTES (8u << 20)

/* A broken read may be taken up again without end as long as each piece brings so much. */
#define PROGRESS_BYTES (1u << 20)

typedef struct reading {
    const char *key;
    const fdl_range *range; /* as asked for, or NULL */
    fdl_sink sink;
    void *sink_data;
    uint64_t start;
    uint64_t wanted; /* UINT64_MAX until the size is known */
    uint64_t done;
    uint64_t skip; /* bytes of the current answer that come before what is wanted */
    bool ranged;   /* the current request asks for a range */
    bool begun;    /* `object` is known */
    bool sized;    /* its size too */
    fdl_object object;
} reading;

fdl_code fdl_remote_object(const char *key, const fdl_http_response *response, fdl_object *out, fdl_error *error) {
    *out = (fdl_object){.modified_ms = fdl_http_date(fdl_http_get(&response->headers, "Last-Modified"))};
    const char *etag = fdl_http_get(&response->headers, "ETag");
    if (etag && !fdl_str_fit(out->etag, sizeof out->etag, etag))
        return fdl_fail(error, FDL_FAILED, key, "'%s' sends an ETag of more than %d bytes", response->host,
                        FDL_ETAG_LIMIT_BYTES - 1);
    return FDL_OK;
}

/* "bytes 5-9/20" */
static bool parse_content_range(const char *text, uint64_t *first, uint64_t *last, uint64_t *size) {
    char part[3][24];
    if (!text || sscanf(text, "bytes %23[0-9]-%23[0-9]/%23[0-9]", part[0], part[1], part[2]) != 3)
        return false;
    return fdl_remote_number(part[0], first) && fdl_remote_number(part[1], last) && fdl_remote_number(part[2], size) &&
           *first <= *last && *last < *size;
}

/* Only a strong ETag proves that the bytes are the same. */
static bool same_state(const fdl_object *first, const fdl_object *now) {
    return first->etag[0] && !fdl_str_starts(first->etag, "W/") && strcmp(first->etag, now->etag) == 0;
}

static fdl_code take_part(reading *r, const fdl_http_response *response, fdl_object *now, fdl_error *error) {
    uint64_t first;
    uint64_t last;
    const char *text = fdl_http_get(&response->headers, "Content-Range");
    if (!r->ranged || !parse_content_range(text, &first, &last, &now->size_bytes) || first != r->start + r->done)
        return fdl_fail(error, FDL_FAILED, r->key, "'%s' answers with another part of '%s' than was asked for",
                        response->host, r->key);
    r->skip = 0;
    r->sized = true;
    return FDL_OK;
}

static fdl_code take_whole(reading *r, const fdl_http_response *response, fdl_object *now, fdl_error *error) {
    r->sized = fdl_remote_number(fdl_http_get(&response->headers, "Content-Length"), &now->size_bytes);
    r->skip = r->start + r->done;
    if (r->ranged && (!r->sized || now->size_bytes > WHOLE_LIMIT_BYTES))
        return fdl_fail(
            error, FDL_FAILED, r->key,
            "'%s' ignores the range asked for and sends all of '%s': serve it with range requests turned on",
            response->host, r->key);
    return FDL_OK;
}

/* The headers are here: is it the right part of the right object? */
static fdl_code on_begin(void *data, const fdl_http_response *response, fdl_error *error) {
    reading *r = data;
    if (!fdl_remote_success(response))
        return FDL_OK;
    fdl_object now;
    fdl_code code = fdl_remote_object(r->key, response, &now, error);
    if (code == FDL_OK)
        code = response->status == 206 ? take_part(r, response, &now, error) : take_whole(r, response, &now, error);
    if (code != FDL_OK)
        return code;
    if (r->done > 0 && !same_state(&r->object, &now))
        return fdl_fail(error, FDL_FAILED, r->key,
                        "the connection to '%s' broke, and '%s' may have changed since: run it again", response->host,
                        r->key);
    r->object = now;
    r->begun = true;
    uint64_t offset;
    return r->sized ? fdl_range_cut(r->range, r->key, now.size_bytes, &offset, &r->wanted, error) : FDL_OK;
}

static fdl_code on_bytes(void *data, const void *bytes, size_t length, fdl_error *error) {
    reading *r = data;
    size_t skipped = r->skip < length ? (size_t)r->skip : length;
    r->skip -= skipped;
    length -= skipped;
    if (length > r->wanted - r->done)
        length = (size_t)(r->wanted - r->done);
    if (length == 0)
        return FDL_OK;
    r->done += length;
    return r->sink(r->sink_data, (const char *)bytes + skipped, length, error);
}

/* "bytes=5-9", or "bytes=5-" where the end is not known or beyond every number. */
static fdl_code ask_range(const reading *r, fdl_http_headers *headers, fdl_error *error) {
    char text[64];
    uint64_t first = r->start + r->done;
    uint64_t length = UINT64_MAX;
    if (r->wanted != UINT64_MAX)
        length = r->wanted - r->done;
    else if (r->range)
        length = r->range->length_bytes;
    if (length > UINT64_MAX - first)
        snprintf(text, sizeof text, "bytes=%llu-", (unsigned long long)first);
    else
        snprintf(text, sizeof text, "bytes=%llu-%llu", (unsigned long long)first,
                 (unsigned long long)(first + length - 1));
    return fdl_http_add(headers, "Range", text, error);
}

/* 416 carries the size, so the message can be the one that every store gives. */
static fdl_code behind_the_end(const reading *r, const fdl_http_response *response, fdl_error *error) {
    const char *text = fdl_http_get(&response->headers, "Content-Range");
    uint64_t size = 0;
    uint64_t ignored;
    fdl_code code = FDL_OK;
    if (text && fdl_str_starts(text, "bytes */") && fdl_remote_number(text + strlen("bytes */"), &size))
        code = fdl_range_cut(r->range, r->key, size, &ignored, &ignored, error);
    if (code != FDL_OK)
        return code;
    return fdl_fail(error, FDL_FAILED, r->key, "'%s' has fewer bytes than the part asked for starts at", r->key);
}

/* One answer, or what broke on the way.  `*again`: worth another try. */
static fdl_code read_once(fdl_remote *remote, reading *r, fdl_http_response *response, bool *again, fdl_error *error) {
    fdl_http_headers headers = {0};
    fdl_remote_request request = {
        .http = {.method = "GET", .begin = on_begin, .sink = on_bytes, .data = r}, .key = r->key, .extra = &headers};
    r->ranged = r->range || r->done > 0;
    fdl_code code = r->ranged ? ask_range(r, &headers, error) : FDL_OK;
    if (code != FDL_OK)
        goto done;
    code = remote->send(remote, &request, response, error);
    *again = code != FDL_OK && (response->outcome == FDL_HTTP_NOT_SENT || response->outcome == FDL_HTTP_LOST);
    if (*again && r->sized && r->done == r->wanted) { /* broke when nothing was missing any more */
        *again = false;
        code = FDL_OK;
        goto done;
    }
    if (code != FDL_OK)
        goto done;
    if (response->status == 416 && r->range) {
        code = behind_the_end(r, response, error);
    } else if (!fdl_remote_success(response)) {
        code = remote->explain(remote, &request, response, error);
        *again = fdl_remote_transient(response->status);
    } else if (r->sized && r->done < r->wanted) {
        code = fdl_fail(error, FDL_FAILED, r->key, "'%s' sends fewer bytes of '%s' than it has: run it again",
                        response->host, r->key);
        *again = true;
    }
done:
    fdl_http_headers_clear(&headers);
    return code;
}

fdl_code fdl_remote_get(fdl_remote *remote, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                        fdl_object *object, fdl_error *error) {
    reading r = {.key = key, .range = range, .sink = sink, .sink_data = sink_data, .wanted = UINT64_MAX};
    r.start = range ? range->offset_bytes : 0;
    uint64_t done_before = 0;
    fdl_code code;
    for (int attempt = 1;; attempt++) {
        fdl_http_response response = {0};
        bool again = false;
        code = read_once(remote, &r, &response, &again, error);
        if (r.done - done_before >= PROGRESS_BYTES) {
            done_before = r.done;
            attempt = 1;
        }
        again = again && attempt < FDL_REMOTE_ATTEMPTS;
        if (again)
            fdl_remote_wait(attempt, &response);
        fdl_http_response_clear(&response);
        if (!again)
            break;
    }
    if (code == FDL_OK && object) {
        *object = r.object;
        if (!r.sized)
            object->size_bytes = r.done;
    }
    return code;
}
