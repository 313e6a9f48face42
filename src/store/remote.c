/*
 * remote.c - sending with bounded retries; head.
 */
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "store/remote.h"
#include "util/text.h"

enum {
    FIRST_WAIT_MS = 100,
    LONGEST_WAIT_MS = 5000,
    LONGEST_ASKED_S = 10, /* of a Retry-After */
};

bool fdl_remote_success(const fdl_http_response *response) {
    return response->status >= 200 && response->status <= 299;
}

bool fdl_remote_transient(int status) {
    return status == 408 || status == 409 || status == 429 || (status >= 500 && status != 501 && status != 505);
}

bool fdl_remote_number(const char *text, uint64_t *out) {
    uint64_t number = 0;
    if (!text || !*text)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || number > (UINT64_MAX - 9) / 10)
            return false;
        number = number * 10 + (uint64_t)(*text - '0');
    }
    *out = number;
    return true;
}

/* Half of the wait is fixed and half is chance, so that those who failed together do not come back together. */
void fdl_remote_wait(int attempt, const fdl_http_response *response) {
    uint64_t wait_ms = FIRST_WAIT_MS;
    for (int i = 1; i < attempt && wait_ms < LONGEST_WAIT_MS; i++)
        wait_ms *= 2;
    if (wait_ms > LONGEST_WAIT_MS)
        wait_ms = LONGEST_WAIT_MS;
    uint16_t chance = 0;
    if (getrandom(&chance, sizeof chance, GRND_NONBLOCK) != sizeof chance)
        chance = UINT16_MAX / 2;
    wait_ms = wait_ms / 2 + wait_ms / 2 * chance / UINT16_MAX;

    uint64_t asked_s = 0;
    if (response && fdl_remote_number(fdl_http_get(&response->headers, "Retry-After"), &asked_s)) {
        if (asked_s > LONGEST_ASKED_S)
            asked_s = LONGEST_ASKED_S;
        if (asked_s * 1000 > wait_ms)
            wait_ms = asked_s * 1000;
    }
    struct timespec left = {(time_t)(wait_ms / 1000), (long)(wait_ms % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0) {
    }
}

/* Whether the request that ended like this is to be sent again. */
static bool send_again(const fdl_remote *remote, const fdl_remote_request *request, fdl_code code,
                       const fdl_http_response *response) {
    if (code == FDL_OK && remote->stays && remote->stays(response))
        return false;
    if (code == FDL_OK) {
        bool surely_not_done = response->status == 409 || response->status == 429;
        return request->http.once ? surely_not_done : fdl_remote_transient(response->status);
    }
    return response->outcome == FDL_HTTP_NOT_SENT || (response->outcome == FDL_HTTP_LOST && !request->http.once);
}

fdl_code fdl_remote_call(fdl_remote *remote, const fdl_remote_request *request, fdl_http_response *response,
                         fdl_error *error) {
    for (int attempt = 1;; attempt++) {
        fdl_code code = remote->send(remote, request, response, error);
        if (code != FDL_OK && response->outcome == FDL_HTTP_LOST && request->http.once)
            return fdl_fail(error, FDL_UNCERTAIN, request->key, "%s", error->message);
        if (attempt == FDL_REMOTE_ATTEMPTS || !send_again(remote, request, code, response))
            return code;
        fdl_remote_wait(attempt, response);
        fdl_http_response_clear(response);
    }
}

fdl_code fdl_remote_expect(fdl_remote *remote, const fdl_remote_request *request, fdl_http_response *response,
                           fdl_error *error) {
    fdl_code code = fdl_remote_call(remote, request, response, error);
    if (code == FDL_OK && !fdl_remote_success(response))
        code = remote->explain(remote, request, response, error);
    return code;
}

fdl_code fdl_remote_head(fdl_remote *remote, const char *key, fdl_object *object, fdl_error *error) {
    fdl_http_response response = {0};
    fdl_remote_request request = {.http = {.method = "HEAD"}, .key = key};
    fdl_object found = {0};
    fdl_code code = fdl_remote_expect(remote, &request, &response, error);
    if (code == FDL_OK)
        code = fdl_remote_object(key, &response, &found, error);
    if (code == FDL_OK && !fdl_remote_number(fdl_http_get(&response.headers, "Content-Length"), &found.size_bytes))
        code = fdl_fail(error, FDL_FAILED, key,
                        "'%s' does not tell the length of '%s' (HEAD without content-length): it cannot serve a "
                        "repository like this",
                        response.host, key);
    if (code == FDL_OK)
        *object = found;
    fdl_http_response_clear(&response);
    return code;
}
