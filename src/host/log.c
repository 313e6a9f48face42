/*
 * log.c - the access log.
 */
#include "host/log.h"

#include <jansson.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host.h"
#include "util/buf.h"
#include "util/ident.h"
#include "util/text.h"

static void address_of(const fdl_host_request *request, char out[NI_MAXHOST]) {
    const union MHD_ConnectionInfo *info =
        fdl_mhd.get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    socklen_t length =
        address && address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
    if (!address || getnameinfo(address, length, out, NI_MAXHOST, NULL, 0, NI_NUMERICHOST) != 0)
        (void)fdl_str_fit(out, NI_MAXHOST, "-");
    if (fdl_str_starts(out, "::ffff:")) /* an IPv4 client on a socket for both */
        memmove(out, out + 7, strlen(out + 7) + 1);
}

/* A line stays a line, and its parts stay parts: what could break that stands as %XX. */
static fdl_code add_target(fdl_buf *line, const char *target) {
    fdl_code code = FDL_OK;
    for (const char *at = target; code == FDL_OK && *at; at++) {
        unsigned char byte = (unsigned char)*at;
        code = byte > 0x20 && byte < 0x7f && byte != '"' && byte != '\\' ? fdl_buf_add(line, at, 1, NULL)
                                                                         : fdl_buf_add_format(line, NULL, "%%%02X", byte);
    }
    return code;
}

void fdl_host_log_request(const fdl_host_request *request, bool complete) {
    const fdl_host_options *options = &request->host->options;
    if (!options->log || options->log_format == FDL_HOST_LOG_OFF)
        return;
    char address[NI_MAXHOST], at[32];
    fdl_buf target, line;
    int64_t now_ms = fdl_now_ms();
    long long took_ms = request->began_ms ? (long long)(now_ms - request->began_ms) : 0;
    unsigned long long sent = complete && request->method != FDL_METHOD_HEAD ? request->answer_bytes : 0;
    fdl_buf_init(&target, 4 * FDL_HOST_TARGET_BYTES);
    fdl_buf_init(&line, 8 * FDL_HOST_TARGET_BYTES);
    address_of(request, address);
    fdl_time_write(now_ms, at);
    const char *method = request->method_name[0] ? request->method_name : "-";
    if (add_target(&target, request->target) != FDL_OK || !target.data)
        goto done;
    if (options->log_format == FDL_HOST_LOG_JSON) {
        json_t *document = json_pack("{s:s, s:s, s:s*, s:s, s:s, s:i, s:I, s:I, s:I, s:b}", "time", at, "address",
                                     address, "who", request->who[0] ? request->who : NULL, "method", method, "target",
                                     target.data, "status", (int)request->status, "bytes", (json_int_t)sent, "received",
                                     (json_int_t)request->received_bytes, "ms", (json_int_t)took_ms, "complete",
                                     complete);
        char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
        if (text)
            options->log(options->log_data, text);
        free(text);
        json_decref(document);
    } else if (fdl_buf_add_format(&line, NULL, "%s %s %s %s %s %u %llu %lldms%s", at, address,
                                  request->who[0] ? request->who : "-", method, target.data, request->status, sent,
                                  took_ms, complete ? "" : " broken") == FDL_OK) {
        options->log(options->log_data, line.data);
    }
done:
    fdl_buf_clear(&target);
    fdl_buf_clear(&line);
}
