/*
 * conditions.h - ETags and dates in HTTP, and what a request makes depend on them.
 */
#ifndef FDL_HOST_CONDITIONS_H
#define FDL_HOST_CONDITIONS_H

#include <stdbool.h>

#include "fdl/store.h"
#include "host/request.h"

#define FDL_HTTP_ETAG_BYTES (FDL_ETAG_LIMIT_BYTES + 2)
#define FDL_HTTP_DATE_BYTES 32

/* The ETag as HTTP has it, in quotes, whether the store keeps it so or not; "" stays "". */
void fdl_http_etag(const char *store_etag, char out[FDL_HTTP_ETAG_BYTES]);

/* Whether `header` (If-Match, If-None-Match: "*" or a list) names the ETag; `weak` lets W/"a" stand for "a". */
bool fdl_http_etag_listed(const char *header, const char *http_etag, bool weak);

/* "Sun, 06 Nov 1994 08:49:37 GMT" */
void fdl_http_date_write(int64_t ms, char out[FDL_HTTP_DATE_BYTES]);

/* What the conditions of a GET make of it: 200, 304 or 412. */
unsigned fdl_host_get_status(const fdl_host_request *request, const char *http_etag, int64_t modified_ms);

/* Whether a Range is to be looked at: there is no If-Range, or the object is the one it names. */
bool fdl_host_range_holds(const fdl_host_request *request, const char *http_etag, int64_t modified_ms);

#endif
