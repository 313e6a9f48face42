/*
 * route.h - what the host does, as one table (route.c): which methods of which
 * keys, who may, what body comes, and who answers.
 */
#ifndef FDL_HOST_ROUTE_H
#define FDL_HOST_ROUTE_H

#include "host/request.h"

#define FDL_HOST_SMALL_BODY_LIMIT_BYTES (1u << 20)

typedef enum fdl_host_body {
    FDL_BODY_NONE,    /* one that comes is refused */
    FDL_BODY_SMALL,   /* whole in request->body, at most FDL_HOST_SMALL_BODY_LIMIT_BYTES */
    FDL_BODY_STREAMED /* handed to `piece` as it comes, at most the limit on uploads */
} fdl_host_body;

typedef enum fdl_host_lane {
    FDL_LANE_HERE,        /* answers at once, on the connection's thread: must not wait for anything */
    FDL_LANE_READ_OBJECT, /* at once where the store is a folder, as the body will be sent from there too; else as the next */
    FDL_LANE_READ,        /* on a worker for readers: what takes milliseconds */
    FDL_LANE_WRITE        /* on a worker for writers: may take as long as it takes */
} fdl_host_lane;

struct fdl_host_route {
    unsigned kinds;   /* of keys */
    unsigned methods;
    const char *query; /* "batch"; "" for none; NULL: whatever it is */
    fdl_host_role role;
    fdl_host_body body;
    fdl_host_lane lane;

    /*
     * All return FDL_OK or fill `error`, which becomes the answer unless the
     * handler made another one (fdl_answer_fail).
     */
    /* The headers are here; may refuse before the body comes.  NULL: nothing to do.  Must not wait. */
    fdl_code (*begin)(fdl_host_request *request, fdl_error *error);
    /* A piece of a streamed body, on the connection's thread: a local file at most. */
    fdl_code (*piece)(fdl_host_request *request, const char *bytes, size_t length_bytes, fdl_error *error);
    /* Everything is here: makes the answer. */
    fdl_code (*answer)(fdl_host_request *request, fdl_error *error);
    /* Releases request->own, however the request ended.  NULL: nothing to do.  Must not wait. */
    void (*end)(fdl_host_request *request);
};

/*
 * The route of a request whose method, key and query are known, or NULL; then
 * `*methods` are those that the key would take (0: no such thing here).
 */
const fdl_host_route *fdl_host_route_find(const fdl_host_request *request, unsigned *methods);

#endif
