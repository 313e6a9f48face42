/*
 * remote_remove.c - deleting an object, or only the one that was seen.
 */
#include "store/remote_write.h"

static fdl_code remove_always(fdl_remote *remote, const char *key, fdl_error *error) {
    fdl_http_response response = {0};
    fdl_remote_request request = {.http = {.method = "DELETE"}, .key = key};
    fdl_code code = fdl_remote_call(remote, &request, &response, error);
    bool gone = code == FDL_OK && (fdl_remote_success(&response) || remote->missing(&response));
    bool doubt = fdl_remote_doubtful(code, &response) && response.status != 503;
    if (code == FDL_OK && !gone)
        code = remote->explain(remote, &request, &response, error);
    if (code != FDL_OK && doubt)
        code = fdl_fail(error, FDL_UNCERTAIN, key, "%s", error->message);
    fdl_http_response_clear(&response);
    return code;
}

/*
 * One round.  The ETag is looked at first, since a store that does not know
 * If-Match on a DELETE would ignore it; where it is known, it closes the gap
 * between the two.  `*doubt`: an earlier round may have done it.
 */
static fdl_code remove_if_once(fdl_remote *remote, const fdl_remote_request *request, fdl_condition condition, bool *doubt,
                               bool *again, fdl_error *error) {
    fdl_http_response response = {0};
    fdl_object now;
    fdl_code code = fdl_remote_head(remote, request->key, &now, error);
    if (code == FDL_NOT_FOUND)
        return *doubt ? FDL_OK : fdl_remote_conflict(request->key, condition, error);
    if (code != FDL_OK)
        return *doubt ? fdl_remote_uncertain(request->key, error) : code;
    if (!fdl_remote_same_etag(now.etag, condition.etag))
        return *doubt ? fdl_remote_uncertain(request->key, error) : fdl_remote_conflict(request->key, condition, error);

    code = fdl_remote_call(remote, request, &response, error);
    bool refused = code == FDL_OK && remote->refused(&response, condition);
    if (fdl_remote_doubtful(code, &response) || (refused && *doubt)) {
        *doubt = true;
        *again = true;
        code = fdl_remote_uncertain(request->key, error);
    } else if (refused) {
        code = fdl_remote_conflict(request->key, condition, error);
    } else if (code == FDL_OK && !fdl_remote_success(&response)) {
        code = remote->explain(remote, request, &response, error);
    }
    fdl_http_response_clear(&response);
    return code;
}

static fdl_code remove_if(fdl_remote *remote, const char *key, fdl_condition condition, fdl_error *error) {
    fdl_http_headers headers = {0};
    fdl_remote_request request = {.http = {.method = "DELETE", .once = true}, .key = key, .extra = &headers};
    bool doubt = false;
    fdl_code code = fdl_remote_add_condition(&headers, condition, error);
    for (int attempt = 1; code == FDL_OK; attempt++) {
        bool again = false;
        code = remove_if_once(remote, &request, condition, &doubt, &again, error);
        if (!again || attempt == FDL_REMOTE_ATTEMPTS)
            break;
        fdl_remote_wait(attempt, NULL);
        code = FDL_OK;
    }
    fdl_http_headers_clear(&headers);
    return code;
}

fdl_code fdl_remote_remove(fdl_remote *remote, const char *key, fdl_condition condition, fdl_error *error) {
    return condition.kind == FDL_ALWAYS ? remove_always(remote, key, error)
                                        : remove_if(remote, key, condition, error);
}
