/*
 * http_write.c - writing: a new file straight to the store behind the host,
 * where the host gives out an address for it, everything else through the host.
 *
 *   offer -> PUT <upload url> -- done
 *     ^            |-- 412: somebody has it already       FDL_CONFLICT
 *     |            |-- lost, 5xx                          again, it creates only
 *     `------------|-- the address ran out                another one, for this file
 *
 * An upload address speaks for itself: what tells the host who we are does not
 * go along.
 */
#include <stdlib.h>

#include "store/http_internal.h"
#include "store/s3_xml.h"
#include "util/ident.h"
#include "util/text.h"

/* How often one file gets a new address; a second one that is refused at once says that something else is wrong. */
#define ADDRESS_LIMIT 3

/* An upload address as a place to send to. */
typedef struct direct {
    fdl_remote remote;
    fdl_http *http;
    const fdl_offer *offer;
} direct;

static fdl_code send_direct(fdl_remote *remote, const fdl_remote_request *request, fdl_http_response *response,
                            fdl_error *error) {
    const direct *d = (const direct *)((const char *)remote - offsetof(direct, remote));
    fdl_http_request ready = request->http;
    ready.url = d->offer->url;
    ready.headers = &d->offer->headers;
    return fdl_http_send(d->http, &ready, response, error);
}

/* Stores say it as 403 or, with another method of signing, as 400. */
static bool ran_out(const fdl_http_response *response) {
    return response->status == 403 || response->status == 400;
}

static fdl_code explain_direct(const fdl_http_response *response, const char *key, const fdl_offer *offer,
                               fdl_error *error) {
    char name[64] = "", message[300] = "";
    const char *text = response->text.data ? response->text.data : "";
    int64_t off_ms = fdl_http_ahead_ms(response) - offer->host_ahead_ms;
    long long off_minutes = (long long)((off_ms < 0 ? -off_ms : off_ms) / 60000);
    fdl_s3_field(text, response->text.length, "Error", "Code", name, sizeof name);
    fdl_s3_field(text, response->text.length, "Error", "Message", message, sizeof message);
    if (ran_out(response) && offer->host_ahead_ms && off_minutes > 0)
        return fdl_fail(error, FDL_FAILED, key,
                        "'%s' refuses an upload address that was just given out: the clock of the host is %lld minutes "
                        "%s that of the store; its owner has to set it",
                        response->host, off_minutes, off_ms > 0 ? "behind" : "ahead of");
    return fdl_fail(error, ran_out(response) ? FDL_DENIED : FDL_FAILED, key,
                    "'%s' answers %d to the upload of '%s'%s%s%s%s", response->host, response->status, key,
                    name[0] ? ": " : "", name, message[0] ? ", " : "", message);
}

/* To one address.  `*again`: it is of no use any more. */
static fdl_code put_direct(fdl_http_store *self, const char *key, const fdl_remote_body *body, const fdl_offer *offer,
                           fdl_object *object, bool *again, fdl_error *error) {
    direct d = {.remote = {.send = send_direct}, .http = self->http, .offer = offer};
    fdl_remote_request request = {.http = {.method = "PUT", .body = &body->http, .once = true}, .key = key};
    fdl_code code = FDL_OK;
    for (int attempt = 1;; attempt++) {
        fdl_http_response response = {0};
        code = fdl_remote_call(&d.remote, &request, &response, error);
        bool doubt = fdl_remote_doubtful(code, &response);
        if (code == FDL_OK && fdl_remote_success(&response))
            code = object ? fdl_remote_object(key, &response, object, error) : FDL_OK;
        else if (code == FDL_OK && response.status == 412)
            code = fdl_remote_conflict(key, (fdl_condition){.kind = FDL_IF_ABSENT}, error);
        else if (code == FDL_OK) {
            *again = ran_out(&response);
            code = explain_direct(&response, key, offer, error);
        }
        fdl_http_response_clear(&response);
        if (!doubt || attempt == FDL_REMOTE_ATTEMPTS)
            return code;
        fdl_remote_wait(attempt, NULL);
    }
}

/* `*through`: nothing was done, it is to go through the host. */
static fdl_code put_new(fdl_http_store *self, const char *key, fdl_remote_body *body, fdl_object *object, bool *through,
                        fdl_error *error) {
    fdl_code code = FDL_OK;
    bool again = true;
    *through = false;
    for (int i = 0; again && i < ADDRESS_LIMIT; i++) {
        fdl_offer offer;
        again = false;
        code = fdl_http_offer(self, key, body, &offer, error);
        *through = code == FDL_OK && offer.kind != FDL_OFFER_URL && offer.kind != FDL_OFFER_THERE;
        if (code == FDL_OK && offer.kind == FDL_OFFER_THERE)
            code = fdl_remote_conflict(key, (fdl_condition){.kind = FDL_IF_ABSENT}, error);
        else if (code == FDL_OK && offer.kind == FDL_OFFER_URL)
            code = put_direct(self, key, body, &offer, object, &again, error);
        fdl_offer_clear(&offer);
    }
    if (code == FDL_OK && !*through && object)
        object->size_bytes = body->http.length_bytes;
    return code;
}

fdl_code fdl_http_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                      fdl_object *object, fdl_error *error) {
    fdl_http_store *self = (fdl_http_store *)store;
    fdl_remote_body body;
    bool through = true;
    fdl_code code = fdl_remote_body_open(source, &body, error);
    if (code == FDL_OK && condition.kind == FDL_IF_ABSENT && source->path)
        code = put_new(self, key, &body, object, &through, error);
    if (code == FDL_OK && through)
        code = fdl_remote_put(&self->remote, key, &body, condition, object, error);
    fdl_remote_body_close(&body);
    return code;
}
