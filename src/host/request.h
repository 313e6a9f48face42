/*
 * request.h - one request from its first byte to its log line, and what every
 * handler gets.
 *
 *   target read -> headers read: fdl_host_begin -> body pieces -> answer made -> sent -> fdl_host_end
 *                  (route, role, limits)                          (here or on a worker)
 *
 * The connection's thread never waits: an answer that needs the store is made on
 * a worker while the connection is suspended.
 */
#ifndef FDL_HOST_REQUEST_H
#define FDL_HOST_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "fdl/repo.h"
#include "host/keys.h"
#include "host/microhttpd.h"
#include "host/worker.h"
#include "util/buf.h"

typedef struct fdl_host fdl_host;
typedef struct fdl_host_route fdl_host_route;

/* Each may do what those before it may. */
typedef enum fdl_host_role { FDL_ROLE_NONE, FDL_ROLE_READ, FDL_ROLE_WRITE, FDL_ROLE_APPROVE } fdl_host_role;

typedef enum fdl_host_method {
    FDL_METHOD_OTHER = 0,
    FDL_METHOD_GET = 1,
    FDL_METHOD_HEAD = 2,
    FDL_METHOD_PUT = 4,
    FDL_METHOD_POST = 8,
    FDL_METHOD_DELETE = 16,
    FDL_METHOD_OPTIONS = 32
} fdl_host_method;

#define FDL_HOST_NAME_BYTES 64   /* of a token */
#define FDL_HOST_QUERY_BYTES 64  /* "batch"; ours are words */
#define FDL_HOST_TARGET_BYTES 4096

typedef struct fdl_host_request {
    fdl_host *host;
    struct MHD_Connection *connection;
    const fdl_host_route *route; /* NULL: refused before one was found */
    enum { FDL_REQUEST_NEW, FDL_REQUEST_BODY, FDL_REQUEST_WORKING, FDL_REQUEST_ANSWERED } state;

    fdl_host_method method;
    char method_name[16];
    char *target;                     /* as sent, at most FDL_HOST_TARGET_BYTES of it */
    bool target_cut;
    char key[FDL_KEY_LIMIT_BYTES];    /* decoded once; "" for the root */
    char query[FDL_HOST_QUERY_BYTES]; /* what follows '?', as sent */
    fdl_key_kind kind;

    fdl_host_role role;
    char who[FDL_HOST_NAME_BYTES]; /* the token's name; "" for nobody */

    /* The body. */
    bool has_length;
    uint64_t length_bytes;   /* Content-Length */
    uint64_t received_bytes; /* so far */
    fdl_buf body;            /* of a route with a small body, whole */
    bool refused;            /* an error is the answer already; the rest of the body is dropped */
    bool last;               /* the connection ends with this answer */

    /* What the route's handler keeps from `begin` to `end`. */
    void *own;
    /* While a worker runs the handler: the worker's own repository. */
    fdl_repo *repo;

    /* The answer. */
    unsigned status;
    struct MHD_Response *response;
    uint64_t answer_bytes; /* of its body */
    const char *cache;     /* Cache-Control; NULL: no-store */

    fdl_host_task task;
    int64_t began_ms;
    bool told;    /* the answer is an error that the handler chose */
    bool counted; /* as in flight */
} fdl_host_request;

/* The value of a request header, or NULL. */
const char *fdl_host_header(const fdl_host_request *request, const char *name);

/* The callbacks of the daemon (server.c). */
void *fdl_host_on_target(void *host, const char *target, struct MHD_Connection *connection);
enum MHD_Result fdl_host_on_request(void *host, struct MHD_Connection *connection, const char *url, const char *method,
                                    const char *version, const char *upload, size_t *upload_bytes, void **request);
void fdl_host_on_end(void *host, struct MHD_Connection *connection, void **request,
                     enum MHD_RequestTerminationCode how);

#endif
