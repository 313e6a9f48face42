/*
 * metrics.h - counters of what the host did, for /metrics.
 */
#ifndef FDL_HOST_METRICS_H
#define FDL_HOST_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "fdl/error.h"
#include "host/request.h"

#define FDL_METHOD_COUNT 7
#define FDL_STATUS_CLASS_COUNT 6

typedef struct fdl_host_metrics {
    atomic_uint_fast64_t requests[FDL_METHOD_COUNT][FDL_STATUS_CLASS_COUNT]; /* status class 0: broken off */
    atomic_uint_fast64_t sent_bytes;     /* of bodies, in answers that were sent whole */
    atomic_uint_fast64_t received_bytes; /* of bodies */
    atomic_uint_fast64_t swept;          /* connections ended because they took too long */
} fdl_host_metrics;

/* Counts a request that has ended. */
void fdl_host_metrics_count(fdl_host_metrics *metrics, const fdl_host_request *request, bool complete);

/* GET /metrics and /healthz. */
fdl_code fdl_host_metrics_answer(fdl_host_request *request, fdl_error *error);
fdl_code fdl_host_health_answer(fdl_host_request *request, fdl_error *error);

#endif
