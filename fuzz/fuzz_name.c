/* fuzz_name.c - names of refs and keys. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *name = fuzz_text(data, size);
    fdl_error error;
    fdl_code code = fdl_ref_name_check(name, &error);
    fuzz_check_error(code, &error);
    if (code == FDL_OK) {
        size_t length = strlen(name);
        must(length > 0 && length <= 200 && fuzz_path_is_inside(name));
        must(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._/-") == length);
        must(!strstr(name, "..") && name[0] != '.' && !strstr(name, "/."));
        must(!strstr(name, ".lock/") && (length < 5 || strcmp(name + length - 5, ".lock") != 0));
    }
    code = fdl_key_check(name, &error);
    fuzz_check_error(code, &error);
    must(code != FDL_OK || fuzz_path_is_inside(name));
    free(name);
    return 0;
}
