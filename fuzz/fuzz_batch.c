/*
 * fuzz_batch.c - the body of `POST /?batch`: what is accepted has at most as many files as a batch may, each with a
 * key below the root and a sha256 in hex or none; what is not is an error in one line.
 */
#include "fuzz.h"
#include "host/batch_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fdl_batch_files files = {0};
    fdl_error error = {0};
    fdl_code code = fdl_batch_read((const char *)data, size, &files, &error);
    fuzz_check_error(code, &error);
    must(code == FDL_OK || (!files.document && !files.keys));
    must(files.count <= FDL_BATCH_LIMIT);
    for (size_t i = 0; code == FDL_OK && i < files.count; i++) {
        must(fdl_key_check(files.keys[i], &error) == FDL_OK && fuzz_path_is_inside(files.keys[i]));
        must(files.bytes[i] <= INT64_MAX);
        must(!files.sha256[i] || (strlen(files.sha256[i]) == 64 && !files.sha256[i][strspn(files.sha256[i], "0123456789abcdef")]));
    }
    fdl_batch_clear(&files);
    return 0;
}
