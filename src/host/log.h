/*
 * log.h - one line for each request that ended.
 */
#ifndef FDL_HOST_LOG_H
#define FDL_HOST_LOG_H

#include <stdbool.h>

#include "host/request.h"

/*
 * Text:  <time> <address> <token's name or -> <method> <target> <status> <bytes sent> <ms>[ broken]
 * JSON:  {"time","address","who"?,"method","target","status","bytes","received","ms","complete"}
 */
void fdl_host_log_request(const fdl_host_request *request, bool complete);

#endif
