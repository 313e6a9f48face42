/* fuzz_s3_xml.c - what S3 answers: listings and errors. */
#include "fuzz.h"

#include "store/s3_xml.h"

static fdl_code count_entry(void *data, const char *key, bool folder, const fdl_object *object, fdl_error *error) {
    (void)folder;
    (void)object;
    (void)error;
    must(key != NULL);
    ++*(size_t *)data;
    return FDL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char token[1024], field[64];
    size_t count = 0;
    fdl_error error;
    fdl_code code = fdl_s3_page((const char *)data, size, "a server", count_entry, &count, token, sizeof token, &error);
    fuzz_check_error(code, &error);
    must(code != FDL_OK || strlen(token) < sizeof token);
    must(count <= size);
    if (fdl_s3_field((const char *)data, size, "Error", "Code", field, sizeof field))
        must(strlen(field) < sizeof field);
    return 0;
}
