/*
 * http_internal.h - what the files of the HTTP backend share.
 *
 *   http.c        opening, reading, and what an answer means
 *   http_batch.c  announcing: upload addresses, asked for in one go
 *   http_ask.c    questions beyond the contract
 *   http_look.c   how a server hands out a file, and who we are to it
 *   http_write.c  writing, straight to such an address or through the host
 */
#ifndef FDL_STORE_HTTP_INTERNAL_H
#define FDL_STORE_HTTP_INTERNAL_H

#include <pthread.h>

#include "fdl/store.h"
#include "store/remote_write.h"
#include "util/map.h"

/* What a host said about one file. */
typedef enum fdl_offer_kind {
    FDL_OFFER_NONE,   /* nothing, or it was used up */
    FDL_OFFER_URL,    /* upload it there */
    FDL_OFFER_THERE,  /* it has it */
    FDL_OFFER_THROUGH /* send it through the host */
} fdl_offer_kind;

typedef struct fdl_offer {
    fdl_offer_kind kind;
    char *url;
    fdl_http_headers headers; /* to be sent along */
    int64_t until_ms;         /* by this machine's clock, a margin taken off */
    int64_t host_ahead_ms;    /* of this machine's clock; 0: not known */
    char sha256[65];          /* of the file, once it was read; kept when the rest is used up */
} fdl_offer;

typedef struct fdl_http_store {
    fdl_store base;
    fdl_remote remote;
    fdl_http *http;
    char *bearer;         /* the header's value; NULL: no FDL_TOKEN */
    pthread_mutex_t lock; /* guards what follows */
    bool asked;           /* for upload addresses, once, with an answer */
    bool has_batch;       /* and the server knew what that is */
    fdl_map places;       /* of a key, in offers */
    fdl_offer *offers;
    size_t offer_count;
} fdl_http_store;

void fdl_offer_clear(fdl_offer *offer);

/* Forgets what was announced. */
void fdl_http_forget(fdl_http_store *self);

/* Hands over the offer for a key, asking for it if there is none that can be used; of kind NONE from a server without. */
fdl_code fdl_http_offer(fdl_http_store *self, const char *key, fdl_remote_body *body, fdl_offer *out,
                        fdl_error *error);

fdl_code fdl_http_announce(fdl_store *store, fdl_announced *files, size_t count, fdl_error *error);
fdl_code fdl_http_vouched(fdl_store *store, bool *out, fdl_error *error);
fdl_code fdl_http_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                      fdl_object *object, fdl_error *error);

/* Whether an answer holds an error as fdl's hosts word it. */
bool fdl_http_gives_reason(const fdl_http_response *response);

/* The milliseconds that the sender's clock is ahead of ours; 0 when it does not say. */
int64_t fdl_http_ahead_ms(const fdl_http_response *response);

#endif
