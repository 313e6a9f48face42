/*
 * answer.h - making the answer of a request.
 *
 * Each replaces an answer made before.  Nothing is sent until the handler has
 * returned; HEAD gets the same answer, and the daemon leaves out the body.
 */
#ifndef FDL_HOST_ANSWER_H
#define FDL_HOST_ANSWER_H

#include <jansson.h>
#include <stdint.h>

#include "host/request.h"

/* Copies the bytes; `content_type` may be NULL when there are none. */
fdl_code fdl_answer_bytes(fdl_host_request *request, unsigned status, const char *content_type, const char *bytes,
                          size_t length_bytes, fdl_error *error);

/* Takes the document over in every case; NULL (out of memory) fails. */
fdl_code fdl_answer_json(fdl_host_request *request, unsigned status, json_t *document, fdl_error *error);

/* A part of an open file; closes `fd` in every case. */
fdl_code fdl_answer_file(fdl_host_request *request, unsigned status, int fd, uint64_t offset_bytes,
                         uint64_t length_bytes, fdl_error *error);

/* A response made elsewhere, taken over; NULL fails. */
fdl_code fdl_answer_response(fdl_host_request *request, unsigned status, struct MHD_Response *response,
                             uint64_t body_bytes, fdl_error *error);

/* Adds to the answer made; a value that is no header's is left out. */
void fdl_answer_header(fdl_host_request *request, const char *name, const char *value);

/* {"error":{"code","message","key"?}} with this status, or with the one that the error's code stands for (0). */
void fdl_answer_error(fdl_host_request *request, unsigned status, const fdl_error *error);

/* Fills `error` and makes it the answer: a handler that needs a status of its own returns this. */
fdl_code fdl_answer_fail(fdl_host_request *request, unsigned status, fdl_error *error, fdl_code code, const char *key,
                         const char *format, ...) FDL_PRINTF(6, 7);

void fdl_answer_drop(fdl_host_request *request);

/* Adds what every answer has, and hands it to the daemon. */
enum MHD_Result fdl_answer_send(fdl_host_request *request);

#endif
