/* fuzz_version.c - version.json: what is taken can be written and taken again. */
#include "fuzz.h"

#include "util/ident.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fdl_version version = {0}, again = {0};
    char *bytes = NULL, *second = NULL;
    size_t length = 0, second_length = 0;
    fdl_error error;
    fdl_code code = fdl_version_parse((const char *)data, size, FUZZ_ID, &version, &error);
    fuzz_check_error(code, &error);
    if (code == FDL_OK) {
        must(strcmp(version.id, FUZZ_ID) == 0);
        must(version.seq >= 1); /* whether it fits the parent, the parent tells */
        must(fuzz_path_is_inside(version.catalog.file.path));
        must(fuzz_path_is_inside(version.dataset.path));
        for (size_t i = 0; i < version.other_count; i++)
            must(fuzz_path_is_inside(version.others[i].file.path));
        for (size_t i = 0; i < version.ancestors.count; i++)
            must(fdl_uuid_valid(version.ancestors.ids[i]));
        must(fdl_version_write(&version, &bytes, &length, &error) == FDL_OK);
        must(fdl_version_parse(bytes, length, FUZZ_ID, &again, &error) == FDL_OK);
        must(fdl_version_write(&again, &second, &second_length, &error) == FDL_OK);
        must(length == second_length && memcmp(bytes, second, length) == 0);
    }
    free(second);
    free(bytes);
    fdl_version_clear(&again);
    fdl_version_clear(&version);
    return 0;
}
