/*
 * batch_read.c - {"files": [{"key", "bytes", "sha256"?}, ...]}, as a stranger may have written it.
 */
#include "host/batch_read.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fdl/repo.h"
#include "fdl/store.h"
#include "repo/layout.h"
#include "util/json.h"
#include "util/text.h"

static bool is_sha256(const char *text) {
    return strlen(text) == FDL_SHA256_BYTES - 1 && strspn(text, "0123456789abcdef") == FDL_SHA256_BYTES - 1;
}

static fdl_code read_file(fdl_batch_files *files, const json_t *file, size_t i, fdl_error *error) {
    int64_t bytes = 0;
    if (!json_is_object(file))
        return fdl_fail(error, FDL_USAGE, NULL, "an entry of 'files' is no object");
    fdl_code code = fdl_json_string(file, "files", "key", &files->keys[i], error);
    if (code == FDL_OK)
        code = fdl_json_count(file, "files", "bytes", &bytes, error);
    if (code == FDL_OK)
        code = fdl_json_string_optional(file, "files", "sha256", &files->sha256[i], error);
    if (code == FDL_OK)
        code = fdl_key_check(files->keys[i], error);
    if (code == FDL_OK && files->sha256[i] && !is_sha256(files->sha256[i]))
        code = fdl_fail(error, FDL_USAGE, files->keys[i], "the sha256 of '%s' is none", files->keys[i]);
    files->bytes[i] = (uint64_t)bytes;
    return code == FDL_FAILED ? fdl_fail(error, FDL_USAGE, NULL, "%s", error->message) : code;
}

static fdl_code read_files(fdl_batch_files *files, fdl_error *error) {
    const json_t *list = json_object_get(files->document, "files");
    files->count = json_array_size(list);
    if (!json_is_array(list))
        return fdl_fail(error, FDL_USAGE, NULL, "a batch has a list 'files'");
    if (files->count > FDL_BATCH_LIMIT)
        return fdl_fail(error, FDL_REFUSED, NULL, "a batch has at most %d files, not %zu", FDL_BATCH_LIMIT,
                        files->count);
    size_t room = files->count ? files->count : 1;
    fdl_code code = fdl_alloc(&files->keys, room, sizeof *files->keys, error);
    if (code == FDL_OK)
        code = fdl_alloc(&files->bytes, room, sizeof *files->bytes, error);
    if (code == FDL_OK)
        code = fdl_alloc(&files->sha256, room, sizeof *files->sha256, error);
    for (size_t i = 0; code == FDL_OK && i < files->count; i++)
        code = read_file(files, json_array_get(list, i), i, error);
    return code;
}

fdl_code fdl_batch_read(const char *text, size_t length, fdl_batch_files *out, fdl_error *error) {
    fdl_batch_files files = {0};
    fdl_code code = fdl_json_parse(text, length, "batch", &files.document, error);
    if (code == FDL_FAILED)
        code = fdl_fail(error, FDL_USAGE, NULL, "%s", error->message);
    if (code == FDL_OK)
        code = read_files(&files, error);
    if (code == FDL_OK)
        *out = files;
    else
        fdl_batch_clear(&files);
    return code;
}

void fdl_batch_clear(fdl_batch_files *files) {
    json_decref(files->document);
    free(files->keys);
    free(files->bytes);
    free(files->sha256);
    *files = (fdl_batch_files){0};
}
