/*
 * http.c - one HTTP exchange (src/util/http.h) as a command, so that tests can
 * look at it from the other end of the wire.
 *
 *     http METHOD URL [follow] [once] [twice] [idle SECONDS] [body TEXT] [header NAME VALUE]...
 *
 * Prints one line of JSON: code, outcome, status, text; "twice" sends the request
 * two times over one client and prints the second.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/http.h"

static const char *outcome_name(fdl_http_outcome outcome) {
    static const char *const names[] = {"answered", "not sent", "hopeless", "lost", "stopped"};
    return names[outcome];
}

int main(int argc, char **argv) {
    fdl_error error = {0};
    fdl_http *http = NULL;
    fdl_http_headers headers = {0};
    fdl_http_body body = {.fd = -1};
    fdl_http_response response = {0};
    fdl_http_limits limits = {0};
    int times = 1;
    if (argc < 3)
        return 2;
    fdl_http_request request = {.method = argv[1], .url = argv[2], .headers = &headers};
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "follow") == 0) {
            request.follow = true;
        } else if (strcmp(argv[i], "once") == 0) {
            request.once = true;
        } else if (strcmp(argv[i], "twice") == 0) {
            times = 2;
        } else if (strcmp(argv[i], "idle") == 0 && i + 1 < argc) {
            limits.idle_s = (int)strtol(argv[++i], NULL, 10);
        } else if (strcmp(argv[i], "body") == 0 && i + 1 < argc) {
            body.bytes = argv[++i];
            body.length_bytes = strlen(argv[i]);
            request.body = &body;
        } else if (strcmp(argv[i], "header") == 0 && i + 2 < argc) {
            if (fdl_http_add(&headers, argv[i + 1], argv[i + 2], &error) != FDL_OK)
                return 2;
            i += 2;
        } else {
            return 2;
        }
    }
    fdl_code code = fdl_http_open(&limits, &http, &error);
    for (int i = 0; i < times && (i == 0 || code == FDL_OK); i++) {
        fdl_http_response_clear(&response);
        code = fdl_http_send(http, &request, &response, &error);
    }
    json_t *answer =
        json_pack("{s:s, s:s, s:i, s:s, s:s}", "code", fdl_code_name(code), "outcome", outcome_name(response.outcome),
                  "status", response.status, "text", response.text.data ? response.text.data : "", "message",
                  code == FDL_OK ? "" : error.message);
    char *text = json_dumps(answer, JSON_COMPACT);
    puts(text ? text : "{}");
    free(text);
    json_decref(answer);
    fdl_http_response_clear(&response);
    fdl_http_headers_clear(&headers);
    fdl_http_free(http);
    return 0;
}
