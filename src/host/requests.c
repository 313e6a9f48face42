/*
 * requests.c - see requests.h; what is done is told in flow/requests.c.
 */
#include "host/requests.h"

#include <stdlib.h>
#include <string.h>

#include "fdl/flow.h"
#include "host/answer.h"
#include "host/host.h"
#include "repo/layout.h"
#include "util/json.h"

fdl_code fdl_host_requests_list(fdl_host_request *request, fdl_error *error) {
    char *document = NULL;
    fdl_code code = fdl_requests(request->repo, &document, error);
    if (code == FDL_OK)
        code = fdl_answer_bytes(request, MHD_HTTP_OK, "application/json", document, strlen(document), error);
    free(document);
    return code;
}

static int64_t number_of(const fdl_host_request *request) {
    return strtoll(request->key + strlen(FDL_REF_REQUESTS), NULL, 10);
}

static fdl_code answer(fdl_host_request *request, fdl_code code, fdl_request_record *decided, fdl_error *error) {
    if (code == FDL_OK)
        code = fdl_answer_json(request, MHD_HTTP_OK,
                               json_pack("{s:I, s:s, s:s, s:s, s:s*}", "number", (json_int_t)decided->number, "branch",
                                         decided->branch, "version", decided->version, "state",
                                         fdl_request_name(decided->state), "reason", decided->reason),
                               error);
    fdl_request_clear(decided);
    return code;
}

fdl_code fdl_host_request_approve(fdl_host_request *request, fdl_error *error) {
    fdl_request_record decided = {0};
    fdl_code code = fdl_request_approve(request->repo, number_of(request), &decided, error);
    return answer(request, code, &decided, error);
}

fdl_code fdl_host_request_reject(fdl_host_request *request, fdl_error *error) {
    fdl_request_record decided = {0};
    json_t *document = NULL;
    const char *reason = NULL;
    fdl_code code = FDL_OK;
    if (request->body.length) {
        code = fdl_json_parse(request->body.data, request->body.length, "reject", &document, error);
        if (code == FDL_OK)
            code = fdl_json_string_optional(document, "reject", "reason", &reason, error);
        if (code == FDL_FAILED)
            code = fdl_fail(error, FDL_USAGE, NULL, "%s", error->message);
    }
    if (code == FDL_OK)
        code = fdl_request_reject(request->repo, number_of(request), reason, &decided, error);
    json_decref(document);
    return answer(request, code, &decided, error);
}
