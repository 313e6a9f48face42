/*
 * read.c - an object on its way to a reader: what it is, whether the reader has
 * it, which parts are wanted, and where the bytes come from.
 *
 *   a folder: the file itself (sendfile), a small one from memory (hot.h)
 *   any other store: streamed piece by piece
 */
#include "host/read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/answer.h"
#include "host/conditions.h"
#include "host/host.h"
#include "host/ranges.h"
#include "host/stream.h"
#include "repo/layout.h"
#include "store/folder.h"
#include "util/buf.h"
#include "util/ident.h"
#include "util/text.h"

#define FOREVER "max-age=31536000, immutable"

/* An object found. */
typedef struct found {
    const char *key; /* in the store */
    fdl_object object;
    int fd;          /* of a folder's file, else -1 */
    fdl_buf small;   /* all bytes of a small file there: those that the ETag is of */
    fdl_piece piece; /* of its bytes, when some came with it */
    char etag[FDL_HTTP_ETAG_BYTES];
    const char *version; /* FDL-Version, or NULL */
} found;

/* The time as a condition may use it: HTTP has seconds, and a ref may move twice in one. */
static int64_t dated_ms(const fdl_host_request *request, const found *f) {
    return fdl_host_key_immutable(request->key, request->kind) ? f->object.modified_ms : 0;
}

/* What we may not read is, to a reader, not there: the store's rights are no business of his. */
static fdl_code not_there(const fdl_host_request *request, const char *key, fdl_code code, fdl_error *error) {
    if (code != FDL_DENIED && code != FDL_NOT_FOUND)
        return code;
    if (code == FDL_DENIED)
        fdl_note(request->host->context, FDL_NOTE_DETAIL, "%s", error->message);
    return fdl_fail(error, FDL_NOT_FOUND, key, "no '%s' here", key);
}

/* Whether the first bytes wanted can be asked for at once, with the object itself: one round trip instead of two. */
static bool guess_wanted(const fdl_host_request *request, fdl_range *out) {
    return request->method == FDL_METHOD_GET && !fdl_host_header(request, MHD_HTTP_HEADER_IF_NONE_MATCH) &&
           !fdl_host_header(request, MHD_HTTP_HEADER_IF_MODIFIED_SINCE) &&
           !fdl_host_header(request, MHD_HTTP_HEADER_IF_RANGE) &&
           fdl_ranges_guess(fdl_host_header(request, MHD_HTTP_HEADER_RANGE), out);
}

static fdl_code find_in_store(fdl_host_request *request, found *out, fdl_error *error) {
    fdl_range wanted;
    fdl_host *host = request->host;
    if (guess_wanted(request, &wanted)) {
        fdl_code code = fdl_piece_get(host, out->key, wanted.offset_bytes, wanted.length_bytes, &out->piece,
                                      &out->object, error);
        if (code != FDL_FAILED) /* a range behind the object, or nothing in it: the size will tell */
            return code;
        fdl_piece_clear(&out->piece);
    }
    return fdl_store_head(host->store, out->key, &out->object, error);
}

static fdl_code find_in_folder(fdl_host *host, found *out, fdl_error *error) {
    struct stat info;
    if (fdl_host_hot_find(&host->hot, &host->root, out->key, &out->object, &out->small))
        return FDL_OK;
    fdl_code code = fdl_host_root_file(&host->root, out->key, &out->fd, &info, error);
    if (code == FDL_OK)
        code = fdl_folder_describe(out->fd, &info, out->key, &out->object, &out->small, error);
    if (code == FDL_OK)
        fdl_host_hot_keep(&host->hot, out->key, &out->fd, &info, &out->object, &out->small);
    return code;
}

static fdl_code find(fdl_host_request *request, const char *key, found *out, fdl_error *error) {
    fdl_host *host = request->host;
    *out = (found){.key = key, .fd = -1};
    fdl_code code = host->root.fd >= 0 ? find_in_folder(host, out, error) : find_in_store(request, out, error);
    if (code == FDL_OK)
        fdl_http_etag(out->object.etag, out->etag);
    return code == FDL_OK ? FDL_OK : not_there(request, key, code, error);
}

static void found_clear(found *f) {
    if (f->fd >= 0)
        close(f->fd);
    fdl_buf_clear(&f->small);
    fdl_piece_clear(&f->piece);
}

/* ---- the body --------------------------------------------------------------------- */

static fdl_code answer_part(fdl_host_request *request, found *f, unsigned status, const fdl_range *range,
                            fdl_error *error) {
    int fd = f->fd;
    if (f->small.data)
        return fdl_answer_bytes(request, status, NULL, f->small.data + range->offset_bytes, (size_t)range->length_bytes,
                                error);
    f->fd = -1;
    if (fd >= 0)
        return fdl_answer_file(request, status, fd, range->offset_bytes, range->length_bytes, error);
    fdl_stream_object from = {.key = f->key, .object = &f->object, .fd = -1, .piece = &f->piece};
    return fdl_answer_stream(request, status, &from, &(fdl_stream_part){.range = *range}, 1, error);
}

static fdl_code answer_none(fdl_host_request *request, const found *f, fdl_error *error) {
    char text[64];
    fdl_code code = fdl_answer_fail(request, MHD_HTTP_RANGE_NOT_SATISFIABLE, error, FDL_USAGE, f->key,
                                    "'%s' has %" PRIu64 " bytes, and not the ranges asked for", f->key,
                                    f->object.size_bytes);
    snprintf(text, sizeof text, "bytes */%" PRIu64, f->object.size_bytes);
    fdl_answer_header(request, MHD_HTTP_HEADER_CONTENT_RANGE, text);
    return code;
}

static fdl_code add_content_range(fdl_buf *out, const found *f, const fdl_range *range, fdl_error *error) {
    return fdl_buf_add_format(out, error, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, range->offset_bytes,
                              range->offset_bytes + range->length_bytes - 1, f->object.size_bytes);
}

static fdl_code answer_range(fdl_host_request *request, found *f, const fdl_range *range, fdl_error *error) {
    fdl_buf text;
    fdl_buf_init(&text, 128);
    fdl_code code = add_content_range(&text, f, range, error);
    if (code == FDL_OK)
        code = answer_part(request, f, MHD_HTTP_PARTIAL_CONTENT, range, error);
    if (code == FDL_OK) {
        fdl_answer_header(request, MHD_HTTP_HEADER_CONTENT_RANGE, text.data);
        fdl_answer_header(request, MHD_HTTP_HEADER_CONTENT_TYPE, fdl_host_content_type(f->key, request->kind));
    }
    fdl_buf_clear(&text);
    return code;
}

/* multipart/byteranges: before each range its head, behind the last one the end mark. */
static fdl_code answer_ranges(fdl_host_request *request, found *f, const fdl_ranges *ranges, fdl_error *error) {
    char boundary[FDL_ID_BYTES], type[80];
    fdl_buf heads[FDL_RANGES_LIMIT + 1];
    fdl_stream_part parts[FDL_RANGES_LIMIT + 1] = {0};
    const char *content_type = fdl_host_content_type(f->key, request->kind);
    fdl_code code = fdl_uuid_v4(boundary, error);
    for (size_t i = 0; i <= ranges->count; i++) {
        const char *start = i ? "\r\n" : "";
        fdl_buf_init(&heads[i], 512);
        if (code == FDL_OK && i == ranges->count)
            code = fdl_buf_add_format(&heads[i], error, "%s--%s--\r\n", start, boundary);
        else if (code == FDL_OK) {
            code = fdl_buf_add_format(&heads[i], error, "%s--%s\r\nContent-Type: %s\r\nContent-Range: ", start, boundary,
                                      content_type);
            if (code == FDL_OK)
                code = add_content_range(&heads[i], f, &ranges->items[i], error);
            if (code == FDL_OK)
                code = fdl_buf_add_str(&heads[i], "\r\n\r\n", error);
            parts[i].range = ranges->items[i];
        }
        parts[i].text = heads[i].data;
    }
    if (code == FDL_OK) {
        fdl_stream_object from = {.key = f->key, .object = &f->object, .fd = f->fd, .piece = &f->piece};
        f->fd = -1;
        code = fdl_answer_stream(request, MHD_HTTP_PARTIAL_CONTENT, &from, parts, ranges->count + 1, error);
    }
    if (code == FDL_OK) {
        snprintf(type, sizeof type, "multipart/byteranges; boundary=%s", boundary);
        fdl_answer_header(request, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    }
    for (size_t i = 0; i <= ranges->count; i++)
        fdl_buf_clear(&heads[i]);
    return code;
}

static fdl_code answer_body(fdl_host_request *request, found *f, fdl_error *error) {
    fdl_ranges ranges;
    const char *header = NULL;
    if (request->method == FDL_METHOD_GET && fdl_host_range_holds(request, f->etag, dated_ms(request, f)))
        header = fdl_host_header(request, MHD_HTTP_HEADER_RANGE);
    fdl_ranges_answer answer = fdl_ranges_read(header, f->object.size_bytes, &ranges);
    if (answer == FDL_RANGES_NONE)
        return answer_none(request, f, error);
    if (answer == FDL_RANGES_PARTS)
        return ranges.count == 1 ? answer_range(request, f, &ranges.items[0], error)
                                 : answer_ranges(request, f, &ranges, error);
    fdl_range whole = {.length_bytes = f->object.size_bytes};
    fdl_code code = answer_part(request, f, MHD_HTTP_OK, &whole, error);
    if (code == FDL_OK)
        fdl_answer_header(request, MHD_HTTP_HEADER_CONTENT_TYPE, fdl_host_content_type(f->key, request->kind));
    return code;
}

/* ---- the answer -------------------------------------------------------------------- */

static const char *cache_rule(const fdl_host_request *request) {
    if (request->kind == FDL_KIND_CONFIG)
        return "no-cache";
    if (!fdl_host_key_immutable(request->key, request->kind))
        return "no-store";
    return request->host->options.reading_needs_token ? "private, " FOREVER : "public, " FOREVER;
}

static void add_headers(fdl_host_request *request, const found *f) {
    char date[FDL_HTTP_DATE_BYTES];
    fdl_answer_header(request, MHD_HTTP_HEADER_ETAG, f->etag);
    fdl_answer_header(request, MHD_HTTP_HEADER_ACCEPT_RANGES, "bytes");
    if (f->object.modified_ms > 0) {
        fdl_http_date_write(f->object.modified_ms, date);
        fdl_answer_header(request, MHD_HTTP_HEADER_LAST_MODIFIED, date);
    }
    if (f->version)
        fdl_answer_header(request, "FDL-Version", f->version);
}

static fdl_code answer_found(fdl_host_request *request, found *f, fdl_error *error) {
    unsigned status = fdl_host_get_status(request, f->etag, dated_ms(request, f));
    fdl_code code = FDL_OK;
    if (status == MHD_HTTP_NOT_MODIFIED)
        code = fdl_answer_bytes(request, status, NULL, "", 0, error);
    else if (status != MHD_HTTP_OK)
        code = fdl_answer_fail(request, status, error, FDL_CONFLICT, f->key, "'%s' is not as the request expects it",
                               f->key);
    else
        code = answer_body(request, f, error);
    if (code == FDL_OK) {
        add_headers(request, f);
        request->cache = cache_rule(request);
    }
    return code;
}

fdl_code fdl_host_read_key(fdl_host_request *request, fdl_error *error) {
    found f;
    fdl_code code = find(request, request->key, &f, error);
    if (code == FDL_OK)
        code = answer_found(request, &f, error);
    found_clear(&f);
    return code;
}

fdl_code fdl_host_read_current(fdl_host_request *request, fdl_error *error) {
    found f = {.fd = -1};
    fdl_target target;
    char key[FDL_KEY_BYTES];
    fdl_code code = fdl_resolve(request->repo, NULL, &target, error);
    if (code == FDL_OK)
        code = fdl_key_version(key, target.id, FDL_FILE_CATALOG, error);
    if (code == FDL_OK)
        code = find(request, key, &f, error);
    if (code == FDL_OK) {
        f.version = target.id;
        f.object.modified_ms = 0; /* the catalog's own, and not of the moment when it became the newest */
        snprintf(f.etag, sizeof f.etag, "\"%s\"", target.id);
        code = answer_found(request, &f, error);
    }
    found_clear(&f);
    return code;
}
