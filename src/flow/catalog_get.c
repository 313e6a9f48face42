/*
 * catalog_get.c - a version's catalog as a file of this machine.
 *
 * DuckDB's files are mostly air: packed, a catalog is a tenth of its size or less.
 * Whatever way it comes, the sha256 in version.json is of what lies in the file.
 */
#include "flow/catalog_get.h"

#include <string.h>
#include <unistd.h>

#include "flow/meter.h"
#include "repo/record.h"
#include "util/text.h"
#include "util/zstd.h"

static fdl_code get_plain(fdl_repo *repo, const fdl_version *version, const fdl_file_record *file, const char *path,
                          fdl_meter *meter, fdl_error *error) {
    char key[FDL_KEY_BYTES], sha256[FDL_SHA256_BYTES];
    fdl_code code = fdl_key_version(key, version->id, file->path, error);
    fdl_meter_expect(meter, 1, file->bytes);
    if (code == FDL_OK)
        code = fdl_store_download(fdl_repo_store(repo), key, file->bytes, path, sha256, NULL, fdl_meter_moved, meter,
                                  error);
    if (code == FDL_NOT_FOUND)
        return fdl_fail(error, FDL_NOT_FOUND, key, "version '%s' has no catalog: '%s' is missing in '%s'", version->id,
                        key, fdl_repo_address(repo));
    if (code != FDL_OK)
        return code;
    code = fdl_record_judge(file, key, sha256, error);
    if (code == FDL_OK)
        fdl_meter_file(meter);
    else
        unlink(path);
    return code;
}

typedef struct unpacking {
    fdl_unzstd unzstd;
    fdl_meter *meter;
    const char *key;
    const fdl_file_record *packed;
    uint64_t size_bytes; /* that came */
} unpacking;

static fdl_code unpack_piece(void *data, const void *bytes, size_t length, fdl_error *error) {
    unpacking *u = data;
    if (u->size_bytes == 0)
        fdl_meter_expect(u->meter, 1, u->packed->bytes);
    u->unzstd.damaged = length > u->packed->bytes - u->size_bytes;
    if (u->unzstd.damaged)
        return fdl_fail(error, FDL_FAILED, u->key, "'%s' is larger than the %llu bytes that its record says", u->key,
                        (unsigned long long)u->packed->bytes);
    u->size_bytes += length;
    fdl_meter_moved(u->meter, (int64_t)length);
    return fdl_unzstd_add(&u->unzstd, bytes, length, error);
}

/* The sha256 is of what came out, not of the packed file that the key names. */
static fdl_code judge_unpacked(const fdl_file_record *file, const char *key, const char *path, const char *sha256,
                               bool *damaged, fdl_error *error) {
    *damaged = strcmp(sha256, file->sha256) != 0;
    if (!*damaged)
        return FDL_OK;
    unlink(path);
    return fdl_fail(error, FDL_FAILED, key,
                    "'%s' is damaged: what comes out of it has sha256 %s, version.json says %s of '%s'", key, sha256,
                    file->sha256, file->path);
}

/* `*damaged` tells why it failed: it is not what it should be. */
static fdl_code get_packed(fdl_repo *repo, const fdl_version *version, const char *path, fdl_meter *meter, bool *damaged,
                           fdl_error *error) {
    char key[FDL_KEY_BYTES], sha256[FDL_SHA256_BYTES];
    unpacking u = {.meter = meter, .key = key, .packed = &version->packed};
    fdl_code code = fdl_key_version(key, version->id, version->packed.path, error);
    if (code == FDL_OK)
        code = fdl_unzstd_start(&u.unzstd, key, path, version->catalog.file.bytes, error);
    if (code == FDL_OK)
        code = fdl_store_get(fdl_repo_store(repo), key, NULL, unpack_piece, &u, NULL, error);
    if (code == FDL_OK)
        code = fdl_unzstd_finish(&u.unzstd, sha256, error);
    fdl_unzstd_drop(&u.unzstd);
    *damaged = u.unzstd.damaged;
    if (code == FDL_OK)
        code = judge_unpacked(&version->catalog.file, key, path, sha256, damaged, error);
    if (code == FDL_OK)
        fdl_meter_file(meter);
    return code;
}

/*
 * A packed catalog only saves time: where it is missing (which a bucket that may
 * not be listed calls "no permission") or damaged, the catalog itself is taken.
 */
static fdl_code get(fdl_repo *repo, const fdl_version *version, const char *path, fdl_meter *meter, bool *passed_over,
                    fdl_error *error) {
    const fdl_file_record *file = &version->catalog.file;
    fdl_code code = FDL_NOT_FOUND;
    bool damaged = false;
    if (version->packed.path && !fdl_repo_store(repo)->local && file->bytes <= fdl_unzstd_limit(version->packed.bytes))
        code = get_packed(repo, version, path, meter, &damaged, error);
    if (damaged)
        fdl_note(fdl_repo_context(repo), FDL_NOTE_WARNING, "%s; '%s' is taken instead", error->message, file->path);
    *passed_over = damaged || code == FDL_NOT_FOUND || code == FDL_DENIED;
    return *passed_over ? get_plain(repo, version, file, path, meter, error) : code;
}

fdl_code fdl_catalog_download(fdl_repo *repo, const fdl_version *version, const char *path, fdl_error *error) {
    bool passed_over;
    return get(repo, version, path, NULL, &passed_over, error);
}

fdl_code fdl_catalog_download_mirrored(fdl_repo *repo, const fdl_version *version, const char *path, bool *packed,
                                       fdl_error *error) {
    bool passed_over = false;
    fdl_code code = get(repo, version, path, NULL, &passed_over, error);
    *packed = version->packed.path && (fdl_repo_store(repo)->local || !passed_over);
    return code;
}

fdl_code fdl_catalog_download_watched(fdl_repo *repo, const fdl_version *version, const char *path, fdl_error *error) {
    fdl_meter *meter = fdl_meter_start(fdl_repo_context(repo), "downloading");
    bool passed_over;
    fdl_code code = get(repo, version, path, meter, &passed_over, error);
    fdl_meter_end(meter);
    return code;
}

fdl_code fdl_catalog_download_other(fdl_repo *repo, const fdl_version *version, const fdl_file_record *file,
                                    const char *path, fdl_error *error) {
    return get_plain(repo, version, file, path, NULL, error);
}
