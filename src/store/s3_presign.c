/*
 * s3_presign.c - URLs by which somebody without our credentials creates one
 * object.
 *
 * What may be sent is part of the signature: the length, the type, the checksum
 * and "If-None-Match: *".  Whoever leaves one out, or sends other bytes, is
 * refused by the store itself.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "store/s3_internal.h"
#include "util/text.h"

static fdl_code make_headers(const fdl_upload_terms *upload, fdl_http_headers *out, fdl_error *error) {
    char length[24];
    snprintf(length, sizeof length, "%" PRIu64, upload->size_bytes);
    fdl_code code = fdl_http_add(out, "Content-Length", length, error);
    if (code == FDL_OK)
        code = fdl_http_add(out, "Content-Type", upload->content_type, error);
    if (code == FDL_OK)
        code = fdl_http_add(out, "If-None-Match", "*", error);
    return code == FDL_OK && upload->sha256 ? fdl_remote_add_checksum(out, upload->sha256, error) : code;
}

fdl_code fdl_s3_presign_upload(fdl_store *store, const char *key, const fdl_upload_terms *upload, fdl_upload_url *out,
                               fdl_error *error) {
    static const char *const names[FDL_UPLOAD_HEADERS] = {"Content-Length", "Content-Type", "If-None-Match",
                                                          "x-amz-checksum-sha256"};
    fdl_http_headers headers = {0};
    fdl_upload_url url = {0};
    fdl_code code = make_headers(upload, &headers, error);
    if (code == FDL_OK)
        code = fdl_s3_presign(store, "PUT", key, &headers, upload->expires_s, &url.url, error);
    for (size_t i = 0; code == FDL_OK && i < headers.count; i++) {
        url.names[i] = names[i];
        code = fdl_str_copy(&url.values[i], headers.items[i].value, error);
        url.header_count += code == FDL_OK;
    }
    fdl_http_headers_clear(&headers);
    if (code == FDL_OK)
        *out = url;
    else
        fdl_upload_url_clear(&url);
    return code;
}
