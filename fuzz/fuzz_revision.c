/* fuzz_revision.c - what people type to name a version. */
#include "fuzz.h"

static const char record[] =
    "{\"fdl\": \"0.1\", \"id\": \"" FUZZ_ID "\", \"seq\": 1, \"parents\": [], \"created_at\": \"2026-01-01T00:00:00Z\", "
    "\"author\": {\"name\": \"A\"}, \"message\": \"m\", \"catalog\": {\"path\": \"ducklake.duckdb\", \"storage\": "
    "\"duckdb-v1.5.0\", \"bytes\": 1, \"sha256\": \"0000000000000000000000000000000000000000000000000000000000000000\"}, "
    "\"dataset\": {\"path\": \"dataset.json\", \"bytes\": 1, \"sha256\": "
    "\"0000000000000000000000000000000000000000000000000000000000000000\"}, \"ducklake\": {\"format\": \"1.0\", "
    "\"snapshot_id\": 1, \"snapshots\": [0, 1]}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *revision = fuzz_text(data, size);
    fdl_repo *repo = fuzz_repo("versions/" FUZZ_ID "/version.json", record, sizeof record - 1);
    fdl_target target = {0};
    fdl_error error;
    fuzz_put(repo, "refs/heads/main", FUZZ_ID "\n", sizeof FUZZ_ID);
    fuzz_put(repo, "refs/tags/v1", FUZZ_ID "\n", sizeof FUZZ_ID);
    must(fdl_resolve(repo, FUZZ_ID, &target, &error) == FDL_OK);
    fdl_code code = fdl_resolve(repo, revision, &target, &error);
    fuzz_check_error(code, &error);
    must(code != FDL_OK || strcmp(target.id, FUZZ_ID) == 0);
    fdl_repo_free(repo);
    free(revision);
    return 0;
}
