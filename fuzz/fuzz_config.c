/* fuzz_config.c - fdl.json. */
#include "fuzz.h"

#include "repo/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fdl_config_file file = {0};
    fdl_error error;
    fdl_code code = fdl_config_parse((const char *)data, size, &file, &error);
    fuzz_check_error(code, &error);
    if (code == FDL_OK) {
        size_t length = strlen(file.fields.data_dir);
        must(length > 1 && file.fields.data_dir[length - 1] == '/');
        file.data_dir[length - 1] = '\0';
        must(fuzz_path_is_inside(file.data_dir));
        must(strncmp(file.data_dir, "versions", 8) != 0 || (file.data_dir[8] && file.data_dir[8] != '/'));
        must(!file.fields.url || strstr(file.fields.url, "://"));
    }
    fdl_config_file_clear(&file);
    return 0;
}
