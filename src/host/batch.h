/*
 * batch.h - POST /?batch: where files can be uploaded, past the host.
 */
#ifndef FDL_HOST_BATCH_H
#define FDL_HOST_BATCH_H

#include "host/request.h"

fdl_code fdl_host_batch_answer(fdl_host_request *request, fdl_error *error);

#endif
