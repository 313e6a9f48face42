/*
 * remote.h - what the stores that speak HTTP share: sending with a bounded
 * number of retries, and reading objects.
 *
 * A read may break off in the middle.  It is taken up again where it stopped,
 * by a range, and only if the ETag shows that the object is still the same one;
 * so a sink never gets bytes of two states.
 *
 *   get -> [send, wait]* -> sink      a backend says how to send one request
 *                                     (address, signature) and what a status means
 */
#ifndef FDL_STORE_REMOTE_H
#define FDL_STORE_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "fdl/store.h"
#include "store/sigv4.h"
#include "util/http.h"

/* How often one request is sent, the first time included. */
#define FDL_REMOTE_ATTEMPTS 6

/* One request to a backend, in its terms. */
typedef struct fdl_remote_request {
    fdl_http_request http;         /* all but url and headers, which the backend fills */
    const char *key;               /* NULL: the bucket itself */
    const fdl_http_headers *extra; /* headers beside those of the backend; may be NULL */
    const fdl_sigv4_param *params;
    size_t param_count;
    const char *payload; /* hex sha256 of the body; NULL: there is none */
} fdl_remote_request;

typedef struct fdl_remote fdl_remote;

/* Embedded in a backend's struct, behind its fdl_store. */
struct fdl_remote {
    /* Sends once; as fdl_http_send. */
    fdl_code (*send)(fdl_remote *remote, const fdl_remote_request *request, fdl_http_response *response,
                     fdl_error *error);
    /* Whether an answer will stay although its status is one of those that pass; may be NULL. */
    bool (*stays)(const fdl_http_response *response);
    /* Whether an answer says that the condition of a write did not hold. */
    bool (*refused)(const fdl_http_response *response, fdl_condition condition);
    /* Whether an answer says that there is no such object. */
    bool (*missing)(const fdl_http_response *response);
    /* Fills `error` for an answer that is no success, or a 202 to a write; never FDL_OK. */
    fdl_code (*explain)(fdl_remote *remote, const fdl_remote_request *request, const fdl_http_response *response,
                        fdl_error *error);
    bool plain;             /* a web server: it need not tell the ETag of what it took */
    int write_idle_limit_s; /* how long a write may take after its last byte; 0: as any request */
};

/*
 * Sends until there is an answer that will stay: what broke, and 408, 409, 429
 * and 5xx, is sent again after a growing, jittered wait.  FDL_OK with any
 * status, the last one when all attempts are used up.  With `once` a lost answer
 * is FDL_UNCERTAIN at once and a 5xx is handed over at once, since it may have
 * been done; what surely was not done is sent again all the same.
 */
fdl_code fdl_remote_call(fdl_remote *remote, const fdl_remote_request *request, fdl_http_response *response,
                         fdl_error *error);

/* fdl_remote_call for those who only take success. */
fdl_code fdl_remote_expect(fdl_remote *remote, const fdl_remote_request *request, fdl_http_response *response,
                           fdl_error *error);

/* Waits before attempt `attempt` (1 is the second): longer each time, as long as Retry-After asks, at most 10 s. */
void fdl_remote_wait(int attempt, const fdl_http_response *response);

/* get and head of the store contract. */
fdl_code fdl_remote_get(fdl_remote *remote, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                        fdl_object *object, fdl_error *error);
fdl_code fdl_remote_head(fdl_remote *remote, const char *key, fdl_object *object, fdl_error *error);

/* ETag and Last-Modified of an answer; the size is left 0. */
fdl_code fdl_remote_object(const char *key, const fdl_http_response *response, fdl_object *out, fdl_error *error);

bool fdl_remote_success(const fdl_http_response *response);
bool fdl_remote_transient(int status);

/* The digits of a number and nothing else; false on overflow too. */
bool fdl_remote_number(const char *text, uint64_t *out);

#endif
