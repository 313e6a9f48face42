/*
 * remote_body.c - the bytes of a write: memory or a file, their length and digest.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/remote_write.h"
#include "util/crypto.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

fdl_code fdl_remote_body_open(const fdl_source *source, fdl_remote_body *out, fdl_error *error) {
    *out = (fdl_remote_body){
        .http = {.fd = -1, .path = source->path, .moved = source->moved, .moved_data = source->moved_data}};
    if (source->sha256 && !fdl_str_fit(out->sha256, sizeof out->sha256, source->sha256))
        return fdl_fail(error, FDL_USAGE, NULL, "'%s' is no sha256", source->sha256);
    if (!source->path) {
        out->http.bytes = source->bytes ? source->bytes : "";
        out->http.length_bytes = source->length_bytes;
        return FDL_OK;
    }
    struct stat file;
    out->http.fd = open(source->path, O_RDONLY | O_CLOEXEC);
    if (out->http.fd < 0 || fstat(out->http.fd, &file) != 0)
        return fdl_file_error(error, "read", source->path, errno);
    if (!S_ISREG(file.st_mode))
        return fdl_fail(error, FDL_FAILED, source->path, "cannot send '%s': it is not a file", source->path);
    out->http.length_bytes = (uint64_t)file.st_size;
    return FDL_OK;
}

void fdl_remote_body_close(fdl_remote_body *body) {
    if (body->http.fd >= 0)
        close(body->http.fd);
}

static fdl_code digest_file(const fdl_http_body *body, fdl_sha256 *hash, fdl_error *error) {
    char piece[64 << 10];
    uint64_t done = 0;
    fdl_code code = FDL_OK;
    while (code == FDL_OK && done < body->length_bytes) {
        uint64_t left = body->length_bytes - done;
        ssize_t got = pread(body->fd, piece, left < sizeof piece ? (size_t)left : sizeof piece,
                            (off_t)(body->offset_bytes + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fdl_file_error(error, "read", body->path, errno);
        if (got == 0)
            return fdl_fail(error, FDL_FAILED, body->path, "'%s' became shorter while it was read", body->path);
        code = fdl_sha256_add(hash, piece, (size_t)got, error);
        done += (uint64_t)got;
    }
    return code;
}

fdl_code fdl_remote_digest(const fdl_http_body *body, char out[65], fdl_error *error) {
    fdl_sha256 hash;
    fdl_code code = fdl_sha256_start(&hash, error);
    if (code != FDL_OK)
        return code;
    if (body->bytes)
        code = fdl_sha256_add(&hash, (const char *)body->bytes + body->offset_bytes, body->length_bytes, error);
    else
        code = digest_file(body, &hash, error);
    if (code == FDL_OK)
        return fdl_sha256_finish(&hash, out, error);
    fdl_sha256_drop(&hash);
    return code;
}

/* S3 wants the digest in base64, where it stores it with the object. */
fdl_code fdl_remote_add_checksum(fdl_http_headers *headers, const char *sha256, fdl_error *error) {
    unsigned char bytes[32];
    unsigned char base64[64];
    long length = 0;
    fdl_code code = fdl_crypto_open(error);
    if (code != FDL_OK)
        return code;
    unsigned char *decoded = fdl_crypto.OPENSSL_hexstr2buf(sha256, &length);
    bool good = decoded && length == (long)sizeof bytes;
    if (good)
        memcpy(bytes, decoded, sizeof bytes);
    fdl_crypto.CRYPTO_free(decoded, __FILE__, __LINE__);
    if (!good)
        return fdl_fail(error, FDL_USAGE, NULL, "'%s' is no sha256", sha256);
    fdl_crypto.EVP_EncodeBlock(base64, bytes, sizeof bytes);
    return fdl_http_add(headers, "x-amz-checksum-sha256", (const char *)base64, error);
}
