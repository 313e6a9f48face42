/* fuzz_ref.c - a ref file and HEAD. */
#include "fuzz.h"

#include "util/ident.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fdl_repo *repo = fuzz_repo("refs/heads/main", data, size);
    fdl_ref ref = {0};
    char branch[FDL_REF_BYTES] = "";
    fdl_error error;
    fdl_code code = fdl_ref_read(repo, "refs/heads/main", &ref, &error);
    fuzz_check_error(code, &error);
    must(code != FDL_OK || fdl_uuid_valid(ref.id));
    fuzz_put(repo, "HEAD", data, size);
    code = fdl_head_read(repo, branch, &error);
    fuzz_check_error(code, &error);
    must(code != FDL_OK || (strncmp(branch, "refs/heads/", 11) == 0 && fuzz_path_is_inside(branch)));
    fdl_repo_free(repo);
    return 0;
}
