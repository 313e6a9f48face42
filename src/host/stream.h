/*
 * stream.h - a body made of texts and parts of one object, in flat memory.
 *
 * A file is read as the connection takes it.  Another store is asked for one
 * piece at a time, by a worker, so that a slow reader keeps no worker and no
 * connection to the store; each piece must be of the object as first seen, or
 * the answer breaks off.
 */
#ifndef FDL_HOST_STREAM_H
#define FDL_HOST_STREAM_H

#include "host/request.h"

typedef struct fdl_stream_part {
    const char *text; /* comes before the bytes; NULL: none */
    fdl_range range;  /* length 0: none */
} fdl_stream_part;

/* Bytes of an object in memory. */
typedef struct fdl_piece {
    char *bytes; /* NULL: none */
    size_t room_bytes;
    size_t length_bytes;
    uint64_t offset_bytes; /* in the object */
} fdl_piece;

typedef struct fdl_stream_object {
    const char *key;
    const fdl_object *object; /* as found; its ETag names the state */
    int fd;                   /* of a folder's file, closed in every case; else -1 */
    fdl_piece *piece;         /* read already, of that state: taken over and zeroed; may be NULL */
} fdl_stream_object;

/*
 * Up to `length_bytes` from `offset_bytes` on into the piece, which gets its room here; fewer at the object's end, or
 * when that is more than a piece may have.  Released with fdl_piece_clear, also on failure.
 */
fdl_code fdl_piece_get(fdl_host *host, const char *key, uint64_t offset_bytes, uint64_t length_bytes, fdl_piece *piece,
                       fdl_object *object, fdl_error *error);
void fdl_piece_clear(fdl_piece *piece);

/* Copies the parts.  Runs on a worker: the first piece is read here, so that what fails at once has a status of its own. */
fdl_code fdl_answer_stream(fdl_host_request *request, unsigned status, const fdl_stream_object *from,
                           const fdl_stream_part *parts, size_t count, fdl_error *error);

#endif
