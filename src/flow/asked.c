/* asked.c - see asked.h. */
#include "flow/asked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/pending.h"
#include "repo/layout.h"
#include "util/file.h"
#include "util/json.h"
#include "util/text.h"

#define FILE_NAME "request.txt"
#define FILE_LIMIT_BYTES 64
#define REQUEST_LIMIT_BYTES (64u << 10)
#define REQUESTS "refs/requests/"

const char *fdl_request_name(fdl_request_state state) {
    static const char *const names[] = {NULL, "waiting", "approved", "rejected"};
    return names[state];
}

int64_t fdl_asked_number(const char *key) {
    char *end = NULL;
    long long number = fdl_str_starts(key, REQUESTS) ? strtoll(key + strlen(REQUESTS), &end, 10) : 0;
    return end && !*end && number > 0 ? number : 0;
}

fdl_code fdl_asked_save(const fdl_work *work, const char *id, int64_t number, fdl_error *error) {
    char line[FILE_LIMIT_BYTES];
    char *path = NULL;
    int length = snprintf(line, sizeof line, "%lld\n", (long long)number);
    fdl_code code = fdl_pending_file(work, id, FILE_NAME, &path, error);
    if (code == FDL_OK)
        code = fdl_file_write(path, line, (size_t)length, error);
    free(path);
    return code;
}

fdl_code fdl_asked_forget(const fdl_work *work, const char *id, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_pending_file(work, id, FILE_NAME, &path, error);
    if (code == FDL_OK)
        code = fdl_file_remove(path, error);
    free(path);
    return code;
}

/* The request as the host has it.  One that cannot be read, or is about another version, tells nothing new. */
static void look_at_host(fdl_repo *repo, const char *id, fdl_request *out) {
    char key[64];
    char *bytes = NULL;
    size_t length = 0;
    json_t *document = NULL;
    const char *version = NULL, *state = NULL, *reason = NULL;
    snprintf(key, sizeof key, REQUESTS "%lld", (long long)out->number);
    if (fdl_store_read(fdl_repo_store(repo), key, REQUEST_LIMIT_BYTES, &bytes, &length, NULL, NULL) == FDL_OK &&
        fdl_json_parse(bytes, length, key, &document, NULL) == FDL_OK &&
        fdl_json_string(document, key, "version", &version, NULL) == FDL_OK && strcmp(version, id) == 0 &&
        fdl_json_string(document, key, "state", &state, NULL) == FDL_OK &&
        fdl_json_string_optional(document, key, "reason", &reason, NULL) == FDL_OK) {
        if (strcmp(state, "approved") == 0)
            out->state = FDL_REQUEST_APPROVED;
        if (strcmp(state, "rejected") == 0)
            out->state = FDL_REQUEST_REJECTED;
        fdl_str_fit(out->reason, sizeof out->reason, reason ? reason : "");
    }
    json_decref(document);
    free(bytes);
}

fdl_code fdl_asked_read(const fdl_work *work, fdl_repo *repo, const char *id, fdl_request *out, fdl_error *error) {
    char *path = NULL, *bytes = NULL;
    size_t length = 0;
    *out = (fdl_request){.state = FDL_NOT_ASKED};
    fdl_code code = fdl_pending_file(work, id, FILE_NAME, &path, error);
    if (code == FDL_OK && fdl_file_exists(path)) {
        code = fdl_file_read(path, FILE_LIMIT_BYTES, &bytes, &length, error);
        if (code == FDL_OK)
            *out = (fdl_request){.state = FDL_REQUEST_WAITING, .number = strtoll(bytes, NULL, 10)};
        if (code == FDL_OK && out->number > 0)
            look_at_host(repo, id, out);
    }
    free(bytes);
    free(path);
    return code;
}
