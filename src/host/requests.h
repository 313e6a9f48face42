/*
 * requests.h - pushes that wait for approval, over HTTP.
 */
#ifndef FDL_HOST_REQUESTS_H
#define FDL_HOST_REQUESTS_H

#include "host/request.h"

/* GET /?requests */
fdl_code fdl_host_requests_list(fdl_host_request *request, fdl_error *error);

/* POST /refs/requests/<n>?approve, and ?reject with {"reason"?} */
fdl_code fdl_host_request_approve(fdl_host_request *request, fdl_error *error);
fdl_code fdl_host_request_reject(fdl_host_request *request, fdl_error *error);

#endif
