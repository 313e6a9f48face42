/* fuzz_expired.c - expired.json. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fdl_repo *repo = fuzz_repo("versions/" FUZZ_ID "/expired.json", data, size);
    fdl_expiry expiry = {0};
    fdl_error error;
    fdl_code code = fdl_expiry_read(repo, FUZZ_ID, &expiry, &error);
    fuzz_check_error(code, &error);
    /* Whatever it holds, a marker that is there is never taken for none. */
    must(code != FDL_OK || expiry.expired);
    fdl_expiry_clear(&expiry);
    fdl_repo_free(repo);
    return 0;
}
