/*
 * route.c - the table.
 */
#include "host/route.h"

#include <string.h>

#include "host/answer.h"
#include "host/batch.h"
#include "host/metrics.h"
#include "host/pages.h"
#include "host/put.h"
#include "host/read.h"
#include "host/refs.h"
#include "host/requests.h"

#define READING (FDL_METHOD_GET | FDL_METHOD_HEAD)

static const fdl_host_route routes[] = {
    {.kinds = FDL_KIND_STORED & ~FDL_KIND_SOURCE,
     .methods = READING,
     .role = FDL_ROLE_READ,
     .lane = FDL_LANE_READ_OBJECT,
     .answer = fdl_host_read_key},
    {.kinds = FDL_KIND_SOURCE,
     .methods = READING,
     .role = FDL_ROLE_WRITE,
     .lane = FDL_LANE_READ_OBJECT,
     .answer = fdl_host_read_key},
    {.kinds = FDL_KIND_VERSION | FDL_KIND_DATA | FDL_KIND_SOURCE,
     .methods = FDL_METHOD_PUT,
     .role = FDL_ROLE_WRITE,
     .body = FDL_BODY_STREAMED,
     .lane = FDL_LANE_WRITE,
     .begin = fdl_host_put_begin,
     .piece = fdl_host_put_piece,
     .answer = fdl_host_put_answer,
     .end = fdl_host_put_end},
    {.kinds = FDL_KIND_BRANCH,
     .methods = FDL_METHOD_PUT,
     .role = FDL_ROLE_WRITE,
     .body = FDL_BODY_SMALL,
     .lane = FDL_LANE_WRITE,
     .answer = fdl_host_branch_put},
    {.kinds = FDL_KIND_TAG,
     .methods = FDL_METHOD_PUT,
     .role = FDL_ROLE_WRITE,
     .body = FDL_BODY_SMALL,
     .lane = FDL_LANE_WRITE,
     .answer = fdl_host_tag_put},
    {.kinds = FDL_KIND_BRANCH | FDL_KIND_TAG,
     .methods = FDL_METHOD_DELETE,
     .role = FDL_ROLE_WRITE,
     .lane = FDL_LANE_WRITE,
     .answer = fdl_host_ref_delete},
    {.kinds = FDL_KIND_CONFIG | FDL_KIND_HEAD | FDL_KIND_REFS_JSON,
     .methods = FDL_METHOD_PUT,
     .role = FDL_ROLE_WRITE,
     .body = FDL_BODY_SMALL,
     .begin = fdl_host_own_document,
     .answer = fdl_host_own_document},
    {.kinds = FDL_KIND_ROOT,
     .methods = FDL_METHOD_POST,
     .query = "batch",
     .role = FDL_ROLE_WRITE,
     .body = FDL_BODY_SMALL,
     .lane = FDL_LANE_WRITE,
     .answer = fdl_host_batch_answer},
    {.kinds = FDL_KIND_ROOT,
     .methods = READING,
     .query = "requests",
     .role = FDL_ROLE_WRITE,
     .lane = FDL_LANE_WRITE,
     .answer = fdl_host_requests_list},
    {.kinds = FDL_KIND_REQUEST,
     .methods = READING,
     .role = FDL_ROLE_WRITE,
     .lane = FDL_LANE_READ_OBJECT,
     .answer = fdl_host_read_key},
    {.kinds = FDL_KIND_REQUEST,
     .methods = FDL_METHOD_POST,
     .query = "approve",
     .role = FDL_ROLE_APPROVE,
     .body = FDL_BODY_SMALL,
     .lane = FDL_LANE_WRITE,
     .answer = fdl_host_request_approve},
    {.kinds = FDL_KIND_REQUEST,
     .methods = FDL_METHOD_POST,
     .query = "reject",
     .role = FDL_ROLE_APPROVE,
     .body = FDL_BODY_SMALL,
     .lane = FDL_LANE_WRITE,
     .answer = fdl_host_request_reject},
    {.kinds = FDL_KIND_CURRENT,
     .methods = READING,
     .role = FDL_ROLE_READ,
     .lane = FDL_LANE_READ,
     .answer = fdl_host_read_current},
    {.kinds = FDL_KIND_ROOT,
     .methods = READING,
     .role = FDL_ROLE_READ,
     .lane = FDL_LANE_WRITE, /* hundreds of records may be read for it */
     .answer = fdl_host_page_answer},
    {.kinds = FDL_KIND_PAGE_FILE, .methods = READING, .role = FDL_ROLE_READ, .answer = fdl_host_page_file_answer},
    {.kinds = FDL_KIND_METRICS, .methods = READING, .role = FDL_ROLE_READ, .answer = fdl_host_metrics_answer},
    {.kinds = FDL_KIND_HEALTH, .methods = READING, .role = FDL_ROLE_NONE, .answer = fdl_host_health_answer},
};

/* A browser asks first, without a token; pages read and never write. */
static fdl_code answer_preflight(fdl_host_request *request, fdl_error *error) {
    fdl_code code = fdl_answer_bytes(request, MHD_HTTP_NO_CONTENT, NULL, "", 0, error);
    if (code == FDL_OK) {
        fdl_answer_header(request, MHD_HTTP_HEADER_ALLOW, "GET, HEAD, OPTIONS");
        fdl_answer_header(request, "Access-Control-Allow-Methods", "GET, HEAD, OPTIONS");
        fdl_answer_header(request, "Access-Control-Allow-Headers",
                          "Authorization, Range, If-Match, If-None-Match, If-Modified-Since, If-Range, Cache-Control");
        fdl_answer_header(request, "Access-Control-Max-Age", "86400");
    }
    return code;
}

static const fdl_host_route preflight = {.methods = FDL_METHOD_OPTIONS, .answer = answer_preflight};

const fdl_host_route *fdl_host_route_find(const fdl_host_request *request, unsigned *methods) {
    *methods = 0;
    if (request->method == FDL_METHOD_OPTIONS)
        return &preflight;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        const fdl_host_route *route = &routes[i];
        if (!(route->kinds & request->kind) || (route->query && strcmp(route->query, request->query) != 0))
            continue;
        if (route->methods & request->method)
            return route;
        *methods |= route->methods;
    }
    return NULL;
}
