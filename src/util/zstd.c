/*
 * zstd.c - files packed with zstd, and unpacked as their bytes come.
 *
 * The packed bytes may be a stranger's: what comes out has a limit, and so has
 * the window that the decoder keeps (zstd's own, 128 MiB).
 */
#include "util/zstd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

/* Measured: 2 to 80 bytes come out of one, the most out of catalogs with hardly a row; of zeros alone 30,000 could. */
#define UNPACKED_RATIO 256u
#define UNPACKED_FREE_BYTES (16u << 20)

#define LEVEL 3 /* DuckDB's files are mostly air; higher levels take ten times as long to find a fifth less */

static fdl_code no_memory(fdl_error *error) {
    return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
}

/* ---- packing ------------------------------------------------------------------ */

typedef struct packing {
    ZSTD_CCtx *context;
    const char *from_path, *to_path;
    int from, to;
    char *in, *out;
} packing;

/* One piece of the file, or its end. */
static fdl_code pack_piece(packing *p, size_t length, fdl_error *error) {
    ZSTD_inBuffer in = {.src = p->in, .size = length};
    fdl_code code = FDL_OK;
    for (size_t left = 1; code == FDL_OK && (in.pos < in.size || (length == 0 && left > 0));) {
        ZSTD_outBuffer out = {.dst = p->out, .size = ZSTD_CStreamOutSize()};
        left = ZSTD_compressStream2(p->context, &out, &in, length ? ZSTD_e_continue : ZSTD_e_end);
        if (ZSTD_isError(left))
            return fdl_fail(error, FDL_FAILED, p->from_path, "cannot pack '%s': %s", p->from_path,
                            ZSTD_getErrorName(left));
        code = fdl_fd_write(p->to, p->to_path, p->out, out.pos, error);
    }
    return code;
}

static fdl_code pack(packing *p, fdl_error *error) {
    fdl_code code = FDL_OK;
    ssize_t got = 1;
    ZSTD_CCtx_setParameter(p->context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(p->context, ZSTD_c_checksumFlag, 1);
    while (code == FDL_OK && got > 0) {
        got = read(p->from, p->in, ZSTD_CStreamInSize());
        if (got < 0)
            return fdl_file_error(error, "read", p->from_path, errno);
        code = pack_piece(p, (size_t)got, error);
    }
    return code;
}

fdl_code fdl_zstd_file(const char *from, const char *to, fdl_error *error) {
    packing p = {.from_path = from, .to_path = to, .from = -1, .to = -1};
    char *temp = NULL;
    fdl_code code = fdl_temp_create(to, &temp, &p.to, error);
    if (code == FDL_OK && (p.from = open(from, O_RDONLY | O_CLOEXEC)) < 0)
        code = fdl_file_error(error, "read", from, errno);
    p.context = ZSTD_createCCtx();
    p.in = malloc(ZSTD_CStreamInSize());
    p.out = malloc(ZSTD_CStreamOutSize());
    if (code == FDL_OK && (!p.context || !p.in || !p.out))
        code = no_memory(error);
    if (code == FDL_OK)
        code = pack(&p, error);
    if (code == FDL_OK) {
        code = fdl_fd_finish(p.to, to, error);
        p.to = -1;
    }
    if (code == FDL_OK)
        code = fdl_file_rename(temp, to, error);
    if (p.to >= 0)
        close(p.to);
    if (p.from >= 0)
        close(p.from);
    if (temp && code != FDL_OK)
        unlink(temp);
    ZSTD_freeCCtx(p.context);
    free(p.in);
    free(p.out);
    free(temp);
    return code;
}

/* ---- unpacking ---------------------------------------------------------------- */

uint64_t fdl_unzstd_limit(uint64_t packed_bytes) {
    return packed_bytes > UINT64_MAX / UNPACKED_RATIO - UNPACKED_FREE_BYTES
               ? UINT64_MAX
               : packed_bytes * UNPACKED_RATIO + UNPACKED_FREE_BYTES;
}

typedef struct unpacking {
    ZSTD_DCtx *context;
    const char *name, *path;
    char *temp;
    int fd; /* -1: no file is wanted */
    fdl_sha256 hash;
    uint64_t in_bytes, out_bytes, limit_bytes;
    size_t wanted;       /* 0 at the end of a frame */
    char *out;
} unpacking;

static void unpacking_free(unpacking *u) {
    if (u->fd >= 0)
        close(u->fd);
    if (u->temp)
        unlink(u->temp);
    free(u->temp);
    fdl_sha256_drop(&u->hash);
    ZSTD_freeDCtx(u->context);
    free(u->out);
    free(u);
}

void fdl_unzstd_drop(fdl_unzstd *unzstd) {
    if (unzstd->state)
        unpacking_free(unzstd->state);
    unzstd->state = NULL;
}

fdl_code fdl_unzstd_start(fdl_unzstd *unzstd, const char *name, const char *path, uint64_t limit_bytes,
                          fdl_error *error) {
    unpacking *u = calloc(1, sizeof *u);
    if (!u)
        return no_memory(error);
    *u = (unpacking){.name = name, .path = path, .fd = -1, .limit_bytes = limit_bytes, .wanted = 1};
    unzstd->state = u;
    u->context = ZSTD_createDCtx();
    u->out = malloc(ZSTD_DStreamOutSize());
    fdl_code code = u->context && u->out ? FDL_OK : no_memory(error);
    if (code == FDL_OK)
        code = fdl_sha256_start(&u->hash, error);
    if (code == FDL_OK && path)
        code = fdl_temp_create(path, &u->temp, &u->fd, error);
    if (code != FDL_OK)
        fdl_unzstd_drop(unzstd);
    return code;
}

static fdl_code damaged(fdl_unzstd *unzstd, const char *why, fdl_error *error) {
    const unpacking *u = unzstd->state;
    unzstd->damaged = true;
    return fdl_fail(error, FDL_FAILED, u->name, "'%s' is damaged: %s", u->name, why);
}

fdl_code fdl_unzstd_add(fdl_unzstd *unzstd, const void *bytes, size_t length, fdl_error *error) {
    unpacking *u = unzstd->state;
    ZSTD_inBuffer in = {.src = bytes, .size = length};
    fdl_code code = FDL_OK;
    size_t filled = 0, room = ZSTD_DStreamOutSize();
    u->in_bytes += length;
    while (code == FDL_OK && (in.pos < in.size || (filled == room && u->wanted > 0))) { /* a full buffer may leave more behind */
        ZSTD_outBuffer out = {.dst = u->out, .size = room};
        size_t wanted = ZSTD_decompressStream(u->context, &out, &in);
        if (ZSTD_isError(wanted))
            return damaged(unzstd, ZSTD_getErrorName(wanted), error);
        u->wanted = wanted;
        filled = out.pos;
        u->out_bytes += out.pos;
        if (u->out_bytes > u->limit_bytes)
            return damaged(unzstd, "more comes out of it than should", error);
        if (u->out_bytes > fdl_unzstd_limit(u->in_bytes))
            return damaged(unzstd, "more comes out of it than out of any catalog of its size", error);
        code = fdl_sha256_add(&u->hash, u->out, out.pos, error);
        if (code == FDL_OK && u->fd >= 0)
            code = fdl_fd_write(u->fd, u->path, u->out, out.pos, error);
    }
    return code;
}

fdl_code fdl_unzstd_finish(fdl_unzstd *unzstd, char sha256_out[65], fdl_error *error) {
    unpacking *u = unzstd->state;
    fdl_code code = u->wanted == 0 ? FDL_OK : damaged(unzstd, "its end is missing", error);
    if (code == FDL_OK)
        code = fdl_sha256_finish(&u->hash, sha256_out, error);
    if (code == FDL_OK && u->fd >= 0) {
        code = fdl_fd_finish(u->fd, u->path, error);
        u->fd = -1;
    }
    if (code == FDL_OK && u->temp)
        code = fdl_file_rename(u->temp, u->path, error);
    if (code == FDL_OK && u->temp) {
        free(u->temp);
        u->temp = NULL;
    }
    fdl_unzstd_drop(unzstd);
    return code;
}
