/* fuzz_refs.c - refs.json. */
#include "fuzz.h"

#include "repo/internal.h"
#include "util/ident.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fdl_repo *repo = fuzz_repo("refs.json", data, size);
    fdl_ref_list refs = {0};
    fdl_error error;
    fdl_code code = fdl_refs_json_read(repo, &refs, &error);
    fuzz_check_error(code, &error);
    for (size_t i = 0; code == FDL_OK && i < refs.count; i++) {
        must(fuzz_path_is_inside(refs.items[i].name) && strncmp(refs.items[i].name, "refs/", 5) == 0);
        must(fdl_uuid_valid(refs.items[i].id));
        must(i == 0 || strcmp(refs.items[i - 1].name, refs.items[i].name) < 0);
    }
    fdl_ref_list_clear(&refs);
    fdl_repo_free(repo);
    return 0;
}
