/*
 * microhttpd.h - libmicrohttpd, opened late (util/late.h): `MHD_add_response_header` is fdl_mhd.add_response_header.
 */
#ifndef FDL_HOST_MICROHTTPD_H
#define FDL_HOST_MICROHTTPD_H

#include <microhttpd.h>

#include "fdl/error.h"

#define FDL_MHD_SYMBOLS(USE) \
    USE(add_response_header) USE(create_response_from_buffer) USE(create_response_from_callback) \
    USE(create_response_from_fd_at_offset64) USE(destroy_response) USE(get_connection_info) \
    USE(get_connection_values) USE(get_daemon_info) USE(get_timeout) USE(lookup_connection_value) USE(queue_response) USE(quiesce_daemon) \
    USE(resume_connection) USE(run) USE(start_daemon) USE(stop_daemon) USE(suspend_connection)

typedef struct fdl_mhd_functions {
#define FDL_MHD_SYMBOL(name) __typeof__(MHD_##name) *name;
    FDL_MHD_SYMBOLS(FDL_MHD_SYMBOL)
#undef FDL_MHD_SYMBOL
} fdl_mhd_functions;

/* Filled once fdl_mhd_open has succeeded. */
extern fdl_mhd_functions fdl_mhd;

fdl_code fdl_mhd_open(fdl_error *error);

#endif
