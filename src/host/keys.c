/*
 * keys.c - what a key is.
 */
#include "host/keys.h"

#include <string.h>

#include "fdl/repo.h"
#include "fdl/store.h"
#include "repo/layout.h"
#include "util/ident.h"
#include "util/text.h"

/* ---- kinds ---------------------------------------------------------------- */

static bool is_ref(const char *key, const char *folder) {
    return fdl_str_starts(key, folder) && fdl_ref_name_check(key + strlen(folder), NULL) == FDL_OK;
}

/* A number without leading zeros, as the host gives them. */
static bool is_request(const char *key) {
    if (!fdl_str_starts(key, FDL_REF_REQUESTS))
        return false;
    const char *number = key + strlen(FDL_REF_REQUESTS);
    size_t digits = strspn(number, "0123456789");
    return digits > 0 && digits < 10 && number[digits] == '\0' && number[0] != '0';
}

const char *fdl_host_version_file(const char *key) {
    return key + strlen(FDL_KEY_VERSIONS) + FDL_ID_BYTES;
}

static bool is_version(const char *key) {
    char id[FDL_ID_BYTES] = "";
    size_t at = strlen(FDL_KEY_VERSIONS);
    if (!fdl_str_starts(key, FDL_KEY_VERSIONS) || strlen(key) <= at + FDL_ID_BYTES || key[at + FDL_ID_BYTES - 1] != '/')
        return false;
    memcpy(id, key + at, FDL_ID_BYTES - 1);
    return fdl_uuid_valid(id);
}

static bool is_source(const char *key) {
    if (!fdl_str_starts(key, FDL_KEY_SOURCES))
        return false;
    const char *name = key + strlen(FDL_KEY_SOURCES);
    return strlen(name) == FDL_SHA256_BYTES - 1 && strspn(name, "0123456789abcdef") == FDL_SHA256_BYTES - 1;
}

fdl_key_kind fdl_host_key_kind(const char *key, const char *data_dir) {
    static const struct {
        const char *key;
        fdl_key_kind kind;
    } fixed[] = {
        {"", FDL_KIND_ROOT},
        {FDL_KEY_CONFIG, FDL_KIND_CONFIG},
        {FDL_KEY_HEAD, FDL_KIND_HEAD},
        {FDL_KEY_REFS_JSON, FDL_KIND_REFS_JSON},
        {FDL_FILE_CATALOG, FDL_KIND_CURRENT},
        {"healthz", FDL_KIND_HEALTH},
        {"metrics", FDL_KIND_METRICS},
        {"fdl.css", FDL_KIND_PAGE_FILE},
        {"fdl.js", FDL_KIND_PAGE_FILE},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (strcmp(key, fixed[i].key) == 0)
            return fixed[i].kind;
    if (fdl_str_ends(key, ".wal")) /* a catalog has none: it would be a working one's */
        return FDL_KIND_OTHER;
    if (is_ref(key, FDL_REF_HEADS))
        return FDL_KIND_BRANCH;
    if (is_ref(key, FDL_REF_TAGS))
        return FDL_KIND_TAG;
    if (is_request(key))
        return FDL_KIND_REQUEST;
    if (is_version(key))
        return FDL_KIND_VERSION;
    if (is_source(key))
        return FDL_KIND_SOURCE;
    return fdl_str_starts(key, data_dir) && key[strlen(data_dir)] ? FDL_KIND_DATA : FDL_KIND_OTHER;
}

/* ---- what a client is told of them ------------------------------------------ */

bool fdl_host_key_immutable(const char *key, fdl_key_kind kind) {
    static const char *const files[] = {FDL_FILE_CATALOG, FDL_FILE_VERSION, FDL_FILE_DATASET, FDL_FILE_FILES};
    if (kind == FDL_KIND_DATA)
        return true;
    if (kind != FDL_KIND_VERSION)
        return false;
    const char *file = fdl_host_version_file(key);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(file, files[i]) == 0)
            return true;
    return fdl_str_starts(file, FDL_FOLDER_CATALOGS "/");
}

const char *fdl_host_content_type(const char *key, fdl_key_kind kind) {
    /* Nothing that a browser would run: anybody who may write could put it here. */
    static const struct {
        const char *suffix;
        const char *type;
    } types[] = {
        {".json", "application/json"},        {".parquet", "application/vnd.apache.parquet"},
        {".sig", "text/plain; charset=utf-8"}, {".txt", "text/plain; charset=utf-8"},
        {".md", "text/markdown; charset=utf-8"}, {".csv", "text/csv; charset=utf-8"},
        {".png", "image/png"},                {".jpg", "image/jpeg"},
    };
    if (kind & (FDL_KIND_HEAD | FDL_KIND_BRANCH | FDL_KIND_TAG))
        return "text/plain; charset=utf-8";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (fdl_str_ends(key, types[i].suffix))
            return types[i].type;
    return "application/octet-stream";
}

/* ---- from the target of a request ------------------------------------------- */

static int hex_digit(char c) {
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = memchr(digits, c, sizeof digits - 1);
    if (!at)
        return -1;
    return at - digits < 16 ? (int)(at - digits) : (int)(at - digits) - 6;
}

fdl_code fdl_host_key_decode(const char *path, size_t length, char key[FDL_KEY_LIMIT_BYTES], fdl_error *error) {
    size_t filled = 0;
    for (size_t i = 0; i < length; i++) {
        char byte = path[i];
        if (byte == '%') {
            int high = i + 2 < length ? hex_digit(path[i + 1]) : -1;
            int low = high < 0 ? -1 : hex_digit(path[i + 2]);
            if (low < 0)
                return fdl_fail(error, FDL_USAGE, NULL, "the path has a '%%' that is no escape; write it as '%%25'");
            byte = (char)(high * 16 + low);
            i += 2;
            if (byte == '/' || byte == '\0')
                return fdl_fail(error, FDL_USAGE, NULL, "the path hides a '/' or a NUL in an escape");
        }
        if (filled + 1 >= FDL_KEY_LIMIT_BYTES)
            return fdl_fail(error, FDL_USAGE, NULL, "the path is longer than a key may be");
        key[filled++] = byte;
    }
    key[filled] = '\0';
    return filled == 0 ? FDL_OK : fdl_key_check(key, error);
}
