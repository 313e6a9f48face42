/* asked.c - see asked.h. */
#include "flow/asked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/pending.h"
#include "repo/layout.h"
#include "util/file.h"
#include "util/text.h"

#define FILE_NAME "request.txt"
#define FILE_LIMIT_BYTES 64

int64_t fdl_asked_number(const char *key) {
    char *end = NULL;
    long long number = fdl_str_starts(key, FDL_REF_REQUESTS) ? strtoll(key + strlen(FDL_REF_REQUESTS), &end, 10) : 0;
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
    fdl_request_record record = {0};
    if (fdl_request_read(repo, out->number, &record, NULL) == FDL_OK && strcmp(record.version, id) == 0) {
        out->state = record.state;
        fdl_str_fit(out->reason, sizeof out->reason, record.reason ? record.reason : "");
    }
    fdl_request_clear(&record);
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
