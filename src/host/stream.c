/*
 * stream.c - bodies in pieces.
 *
 *   connection asks for bytes: in the piece at hand?  yes: copied
 *                                                     no:  suspended, a worker gets the next, resumed
 */
#include "host/stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/answer.h"
#include "host/host.h"
#include "util/text.h"

/* What all streams together keep stays bounded: the first get large pieces, the others small ones. */
#define LARGE_PIECE_BYTES (2u << 20)
#define SMALL_PIECE_BYTES (128u << 10)
#define LARGE_STREAMS 64
#define BLOCK_BYTES (128u << 10) /* what the daemon asks for at once */

typedef struct part {
    char *text;
    uint64_t text_bytes;
    fdl_range range;
} part;

typedef struct stream {
    fdl_host *host;
    struct MHD_Connection *connection;
    char *key;
    int fd;
    char etag[FDL_ETAG_LIMIT_BYTES];
    part *parts;
    size_t count;

    fdl_piece piece;
    uint64_t next_offset; /* of the piece asked for */
    uint64_t next_bytes;
    bool failed;
    fdl_host_task task;
} stream;

static void stream_free(void *data) {
    stream *s = data;
    if (!s)
        return;
    atomic_fetch_sub(&s->host->streams, 1);
    for (size_t i = 0; s->parts && i < s->count; i++)
        free(s->parts[i].text);
    if (s->fd >= 0)
        close(s->fd);
    free(s->parts);
    fdl_piece_clear(&s->piece);
    free(s->key);
    free(s);
}

/* ---- pieces of the store's object ------------------------------------------------- */

void fdl_piece_clear(fdl_piece *piece) {
    free(piece->bytes);
    *piece = (fdl_piece){0};
}

static fdl_code add_to_piece(void *data, const void *bytes, size_t length, fdl_error *error) {
    fdl_piece *piece = data;
    if (length > piece->room_bytes - piece->length_bytes)
        return fdl_fail(error, FDL_FAILED, NULL, "the store sends more than was asked for");
    memcpy(piece->bytes + piece->length_bytes, bytes, length);
    piece->length_bytes += length;
    return FDL_OK;
}

fdl_code fdl_piece_get(fdl_host *host, const char *key, uint64_t offset_bytes, uint64_t length_bytes, fdl_piece *piece,
                       fdl_object *object, fdl_error *error) {
    fdl_code code = FDL_OK;
    if (!piece->bytes) {
        piece->room_bytes = atomic_load(&host->streams) < LARGE_STREAMS ? LARGE_PIECE_BYTES : SMALL_PIECE_BYTES;
        code = fdl_alloc(&piece->bytes, piece->room_bytes, 1, error);
    }
    fdl_range range = {.offset_bytes = offset_bytes,
                       .length_bytes = length_bytes < piece->room_bytes ? length_bytes : piece->room_bytes};
    piece->offset_bytes = offset_bytes;
    piece->length_bytes = 0;
    return code == FDL_OK ? fdl_store_get(host->store, key, &range, add_to_piece, piece, object, error) : code;
}

static bool piece_has(const fdl_piece *piece, uint64_t offset) {
    return offset >= piece->offset_bytes && offset - piece->offset_bytes < piece->length_bytes;
}

/* The piece asked for, of the object as first seen. */
static fdl_code get_piece(stream *s, fdl_error *error) {
    fdl_object now;
    fdl_code code = fdl_piece_get(s->host, s->key, s->next_offset, s->next_bytes, &s->piece, &now, error);
    if (code == FDL_OK && strcmp(now.etag, s->etag) != 0)
        code = fdl_fail(error, FDL_BUSY, s->key, "'%s' changed while it was read: try again", s->key);
    if (code == FDL_OK && s->piece.length_bytes == 0)
        code = fdl_fail(error, FDL_FAILED, s->key, "the store sends nothing of '%s'", s->key);
    return code;
}

static void get_next(fdl_host_task *task, fdl_repo *repo) {
    stream *s = (stream *)((char *)task - offsetof(stream, task));
    fdl_error error;
    (void)repo;
    if (get_piece(s, &error) != FDL_OK) {
        fdl_note(s->host->context, FDL_NOTE_WARNING, "an answer breaks off: %s", error.message);
        s->failed = true;
    }
    fdl_host_resume(s->host, s->connection);
}

/* Sends for the piece that begins at `offset`; the connection sleeps until it is here. */
static ssize_t wait_for(stream *s, uint64_t offset, uint64_t rest) {
    s->next_offset = offset;
    s->next_bytes = rest;
    s->task.run = get_next;
    fdl_mhd.suspend_connection(s->connection);
    if (!fdl_host_pool_add(s->host->readers, &s->task)) {
        s->failed = true;
        fdl_host_resume(s->host, s->connection);
    }
    return 0;
}

/* ---- the body ---------------------------------------------------------------------- */

static ssize_t read_object(stream *s, uint64_t offset, uint64_t rest, char *out, size_t room) {
    size_t length = rest < room ? (size_t)rest : room;
    if (s->fd >= 0) {
        ssize_t got;
        do {
            got = pread(s->fd, out, length, (off_t)offset);
        } while (got < 0 && errno == EINTR);
        return got > 0 ? got : MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (s->failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (!piece_has(&s->piece, offset))
        return wait_for(s, offset, rest);
    size_t at = (size_t)(offset - s->piece.offset_bytes);
    length = length < s->piece.length_bytes - at ? length : s->piece.length_bytes - at;
    memcpy(out, s->piece.bytes + at, length);
    return (ssize_t)length;
}

static ssize_t read_stream(void *data, uint64_t position, char *out, size_t room) {
    stream *s = data;
    for (size_t i = 0; i < s->count; i++) {
        const part *p = &s->parts[i];
        if (position < p->text_bytes) {
            size_t rest = (size_t)(p->text_bytes - position);
            size_t length = rest < room ? rest : room;
            memcpy(out, p->text + position, length);
            return (ssize_t)length;
        }
        position -= p->text_bytes;
        if (position < p->range.length_bytes)
            return read_object(s, p->range.offset_bytes + position, p->range.length_bytes - position, out, room);
        position -= p->range.length_bytes;
    }
    return MHD_CONTENT_READER_END_OF_STREAM;
}

static fdl_code stream_make(fdl_host_request *request, const fdl_stream_object *from, const fdl_stream_part *parts,
                            size_t count, stream **out, fdl_error *error) {
    stream *s = NULL;
    fdl_code code = fdl_alloc(&s, 1, sizeof *s, error);
    if (code != FDL_OK) {
        if (from->fd >= 0)
            close(from->fd);
        return code;
    }
    s->host = request->host;
    atomic_fetch_add(&s->host->streams, 1);
    s->connection = request->connection;
    s->fd = from->fd;
    if (from->piece) {
        s->piece = *from->piece;
        *from->piece = (fdl_piece){0};
    }
    (void)fdl_str_fit(s->etag, sizeof s->etag, from->object->etag);
    code = fdl_str_copy(&s->key, from->key, error);
    if (code == FDL_OK)
        code = fdl_alloc(&s->parts, count, sizeof *s->parts, error);
    for (size_t i = 0; code == FDL_OK && i < count; i++) {
        s->count = i + 1;
        s->parts[i].range = parts[i].range;
        code = fdl_str_copy(&s->parts[i].text, parts[i].text, error);
        s->parts[i].text_bytes = code == FDL_OK && parts[i].text ? strlen(parts[i].text) : 0;
    }
    if (code == FDL_OK)
        *out = s;
    else
        stream_free(s);
    return code;
}

/* The first piece of the first part, unless it is here. */
static fdl_code get_first(stream *s, fdl_error *error) {
    const fdl_range *first = &s->parts[0].range;
    if (s->fd >= 0 || first->length_bytes == 0 || piece_has(&s->piece, first->offset_bytes))
        return FDL_OK;
    s->next_offset = first->offset_bytes;
    s->next_bytes = first->length_bytes;
    return get_piece(s, error);
}

fdl_code fdl_answer_stream(fdl_host_request *request, unsigned status, const fdl_stream_object *from,
                           const fdl_stream_part *parts, size_t count, fdl_error *error) {
    stream *s = NULL;
    uint64_t total = 0;
    struct MHD_Response *response = NULL;
    fdl_code code = stream_make(request, from, parts, count, &s, error);
    if (code == FDL_OK && request->method != FDL_METHOD_HEAD)
        code = get_first(s, error);
    if (code != FDL_OK) {
        stream_free(s);
        return code;
    }
    for (size_t i = 0; i < s->count; i++)
        total += s->parts[i].text_bytes + s->parts[i].range.length_bytes;
    response = fdl_mhd.create_response_from_callback(total, BLOCK_BYTES, read_stream, s, stream_free);
    if (!response)
        stream_free(s);
    return fdl_answer_response(request, status, response, total, error);
}
