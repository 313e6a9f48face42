/*
 * promises.h - whether a store does what it says: doctor's question, and that of
 * init and the first push.
 *
 * A store that accepts "If-None-Match: *" and ignores it looks fine until two
 * writers meet; then a version is lost.  So it is tried out, in a scratch key
 * below ".fdl/doctor-<uuid>", which is removed again in every case.
 */
#ifndef FDL_STORE_PROMISES_H
#define FDL_STORE_PROMISES_H

#include <stdbool.h>

#include "fdl/store.h"

typedef enum fdl_promise_kind {
    FDL_PROMISE_CREATE_ONLY, /* If-None-Match: * on a key that is there changes nothing */
    FDL_PROMISE_IF_MATCH,    /* If-Match replaces what was seen, and nothing else, and nothing missing */
    FDL_PROMISE_RACE,        /* of writers at the same moment one wins */
    FDL_PROMISE_LIST,        /* what was just written is listed */
    FDL_PROMISE_RANGE,       /* a part is exactly that part */
    FDL_PROMISE_DELETE,      /* what was deleted is gone, and only what was meant */
    FDL_PROMISE_COUNT
} fdl_promise_kind;

typedef struct fdl_promise {
    const char *name; /* "create only", "if match", "race", "list after write", "range", "delete": stable, for JSON */
    bool kept;
    char detail[FDL_MESSAGE_LIMIT_BYTES]; /* what happened instead; "" when kept */
} fdl_promise;

typedef struct fdl_promises {
    fdl_promise items[FDL_PROMISE_COUNT];
    bool all_kept;
} fdl_promises;

/*
 * Tries everything; about 90 requests, most of them the race.  FDL_OK also when promises are broken:
 * `out` says which.  Other codes: it could not be tried at all (FDL_UNSUPPORTED
 * for a store that takes no writes).
 */
fdl_code fdl_store_check_promises(fdl_store *store, fdl_promises *out, fdl_error *error);

/*
 * The cheap form, for init and the first push: only what keeps two writers
 * apart, without a race; 7 requests.  FDL_REFUSED, naming the broken promise and
 * --unsafe-no-conditions, for a store that ignores conditions; FDL_OK at once for
 * one that lies on this machine.
 */
fdl_code fdl_store_check_conditions(fdl_store *store, fdl_error *error);

#endif
