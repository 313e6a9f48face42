/*
 * show.c - one version: its record, its signature, and what it contains.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "flow/sign.h"
#include "repo/dataset.h"
#include "util/options.h"

void fdl_show_result_clear(fdl_show_result *result) {
    fdl_version_clear(&result->version);
    fdl_expiry_clear(&result->expiry);
    free(result->dataset);
    memset(result, 0, sizeof *result);
}

/* A machine without ssh-keygen shows versions all the same. */
static fdl_code judge_signature(fdl_repo *repo, const char *bytes, size_t length, const char *allowed_signers,
                                fdl_show_result *result, fdl_error *error) {
    fdl_code code =
        fdl_signature_read(repo, &result->version, bytes, length, allowed_signers, &result->signature, error);
    if (code != FDL_UNSUPPORTED)
        return code;
    result->signature = (fdl_signature){.state = FDL_SIGNATURE_UNKNOWN};
    snprintf(result->signature.reason, sizeof result->signature.reason, "%.500s", error->message);
    return FDL_OK;
}

fdl_code fdl_show(fdl_repo *repo, const char *revision, const fdl_show_options *options, fdl_show_result *out,
                  fdl_error *error) {
    fdl_show_result result = {0};
    fdl_target target = {0};
    char *bytes = NULL;
    size_t length = 0;
    options = FDL_OPTIONS(fdl_show_options, options);
    fdl_code code = fdl_resolve(repo, revision, &target, error);
    if (code == FDL_OK)
        code = fdl_version_load(repo, target.id, &result.version, &bytes, &length, error);
    if (code == FDL_OK)
        code = fdl_expiry_read(repo, target.id, &result.expiry, error);
    if (code == FDL_OK)
        code = judge_signature(repo, bytes, length, options->allowed_signers, &result, error);
    if (code == FDL_OK)
        code = fdl_dataset_read(repo, &result.version, &result.dataset, error);
    free(bytes);
    if (code == FDL_OK)
        *out = result;
    else
        fdl_show_result_clear(&result);
    return code;
}
