/*
 * s3_purge.c - an object gone for good, and what time it is in the bucket.
 *
 * A versioned bucket answers DELETE by hiding the object: its bytes stay, under
 * a version id that anybody with the right may ask for.  So the bucket is asked
 * first whether it keeps versions, once; where it does, each version of the key
 * and each delete marker is deleted by its id.
 */
#include <stdlib.h>
#include <string.h>

#include "store/s3_internal.h"
#include "store/s3_xml.h"
#include "util/text.h"

enum {
    PAGE_LIMIT_BYTES = 16 << 20,
    ID_BYTES = 1100, /* S3's version ids have at most 1024 */
    ROUNDS_LIMIT = 10000,
};

/* ---- does the bucket keep versions? ------------------------------------------- */

/* Servers do not agree on what the root is called.  "Suspended" keeps the versions it had. */
static fdl_code on_status(void *data, const fdl_xml_event *event, fdl_error *error) {
    (void)error;
    if (!event->open && event->depth == 2 && strcmp(event->name, "Status") == 0 && *event->text)
        *(fdl_s3_versioning *)data = FDL_S3_VERSIONED;
    return FDL_OK;
}

static fdl_code ask_versioning(fdl_s3 *s3, fdl_s3_versioning *out, fdl_error *error) {
    static const fdl_sigv4_param params[] = {{"versioning", ""}};
    fdl_http_response response = {0};
    fdl_remote_request request = {.http = {.method = "GET"}, .params = params, .param_count = 1};
    fdl_code code = fdl_remote_call(&s3->remote, &request, &response, error);
    if (code == FDL_OK && fdl_remote_success(&response)) {
        *out = FDL_S3_PLAIN;
        code = fdl_xml_walk(response.text.data ? response.text.data : "", response.text.length, response.host,
                            on_status, out, error);
    } else if (code == FDL_OK && (response.status == 501 || response.status == 405 ||
                                  fdl_s3_error_is(&response, "NotImplemented") ||
                                  fdl_s3_error_is(&response, "VersioningNotConfigured"))) {
        *out = FDL_S3_PLAIN; /* a server without versions */
    } else if (code == FDL_OK) {
        s3->remote.explain(&s3->remote, &request, &response, error);
        code = fdl_fail(error, FDL_REFUSED, NULL,
                        "whether bucket '%s' keeps old versions of objects cannot be told, so nothing can be promised "
                        "gone: %s",
                        s3->bucket, error->message);
    }
    fdl_http_response_clear(&response);
    return code;
}

static fdl_code versioning_of(fdl_s3 *s3, fdl_s3_versioning *out, fdl_error *error) {
    pthread_mutex_lock(&s3->lock);
    *out = s3->versioning;
    pthread_mutex_unlock(&s3->lock);
    if (*out != FDL_S3_VERSIONING_UNKNOWN)
        return FDL_OK;
    fdl_code code = ask_versioning(s3, out, error);
    if (code == FDL_OK) {
        pthread_mutex_lock(&s3->lock);
        s3->versioning = *out;
        pthread_mutex_unlock(&s3->lock);
    }
    return code;
}

fdl_code fdl_s3_keeps_versions(fdl_store *store, bool *out, fdl_error *error) {
    fdl_s3_versioning versioning;
    fdl_code code = versioning_of((fdl_s3 *)store, &versioning, error);
    *out = code == FDL_OK && versioning == FDL_S3_VERSIONED;
    return code;
}

/* ---- one version of the key ----------------------------------------------------- */

/* The next version of the key to delete, as a page of ?versions lists it. */
typedef struct find_version {
    const char *whole; /* the key from the start of the bucket */
    char key[FDL_KEY_LIMIT_BYTES * 2];
    char id[ID_BYTES];
    bool found;
    char found_id[ID_BYTES];
} find_version;

static fdl_code on_event(void *data, const fdl_xml_event *event, fdl_error *error) {
    find_version *f = data;
    bool entry = strcmp(event->name, "Version") == 0 || strcmp(event->name, "DeleteMarker") == 0;
    if (event->depth == 2 && event->open && entry) {
        f->key[0] = f->id[0] = '\0';
    } else if (event->depth == 3 && !event->open && strcmp(event->name, "Key") == 0) {
        fdl_str_fit(f->key, sizeof f->key, event->text);
    } else if (event->depth == 3 && !event->open && strcmp(event->name, "VersionId") == 0) {
        if (!fdl_str_fit(f->id, sizeof f->id, event->text))
            return fdl_fail(error, FDL_FAILED, NULL, "a version id in the listing is too long");
    } else if (event->depth == 2 && !event->open && entry && !f->found && strcmp(f->key, f->whole) == 0) {
        f->found = f->id[0] != '\0';
        memcpy(f->found_id, f->id, sizeof f->found_id);
    }
    return FDL_OK;
}

/*
 * The versions of a key come first among those of all keys it begins, so one
 * page tells whether there is one left.
 */
static fdl_code next_version(fdl_s3 *s3, find_version *f, fdl_error *error) {
    const fdl_sigv4_param params[] = {{"max-keys", "100"}, {"prefix", f->whole}, {"versions", ""}};
    fdl_http_response response = {0};
    fdl_remote_request request = {
        .http = {.method = "GET", .text_limit_bytes = PAGE_LIMIT_BYTES}, .params = params, .param_count = 3};
    fdl_code code = fdl_remote_expect(&s3->remote, &request, &response, error);
    f->found = false;
    if (code == FDL_OK)
        code = fdl_xml_walk(response.text.data ? response.text.data : "", response.text.length, response.host, on_event,
                            f, error);
    fdl_http_response_clear(&response);
    return code;
}

static fdl_code delete_version(fdl_s3 *s3, const char *key, const char *id, fdl_error *error) {
    const fdl_sigv4_param params[] = {{"versionId", id}};
    fdl_http_response response = {0};
    fdl_remote_request request = {.http = {.method = "DELETE"}, .key = key, .params = params, .param_count = 1};
    fdl_code code = fdl_remote_call(&s3->remote, &request, &response, error);
    if (code == FDL_OK && !fdl_remote_success(&response) && response.status != 404)
        code = s3->remote.explain(&s3->remote, &request, &response, error);
    fdl_http_response_clear(&response);
    if (code == FDL_DENIED)
        code = fdl_fail(error, FDL_REFUSED, key,
                        "bucket '%s' keeps old versions of '%s' and does not let them be deleted: %s", s3->bucket, key,
                        error->message);
    return code;
}

static fdl_code delete_versions(fdl_s3 *s3, const char *key, fdl_error *error) {
    find_version *f = NULL;
    char *whole = NULL;
    fdl_code code = fdl_alloc(&f, 1, sizeof *f, error);
    if (code == FDL_OK)
        code = fdl_str_format(&whole, error, "%s%s", s3->prefix, key);
    for (int round = 0; code == FDL_OK; round++) {
        f->whole = whole;
        code = next_version(s3, f, error);
        if (code != FDL_OK || !f->found)
            break;
        code = round < ROUNDS_LIMIT ? delete_version(s3, key, f->found_id, error)
                                    : fdl_fail(error, FDL_REFUSED, key, "'%s' has versions without end", key);
    }
    free(whole);
    free(f);
    return code;
}

fdl_code fdl_s3_purge(fdl_store *store, const char *key, fdl_error *error) {
    fdl_s3 *s3 = (fdl_s3 *)store;
    fdl_s3_versioning versioning;
    fdl_code code = versioning_of(s3, &versioning, error);
    if (code != FDL_OK)
        return code;
    if (versioning == FDL_S3_VERSIONED)
        return delete_versions(s3, key, error);
    return fdl_remote_remove(&s3->remote, key, (fdl_condition){.kind = FDL_ALWAYS}, error);
}

/* ---- the clock ---------------------------------------------------------------- */

/* Every answer carries the server's time, whatever it says. */
fdl_code fdl_s3_clock(fdl_store *store, int64_t *now_ms, fdl_error *error) {
    fdl_s3 *s3 = (fdl_s3 *)store;
    fdl_http_response response = {0};
    fdl_remote_request request = {.http = {.method = "HEAD"}};
    fdl_code code = fdl_remote_call(&s3->remote, &request, &response, error);
    int64_t now = code == FDL_OK ? fdl_http_date(fdl_http_get(&response.headers, "Date")) : 0;
    if (code == FDL_OK && now == 0)
        code = fdl_fail(error, FDL_UNSUPPORTED, NULL, "'%s' does not tell the time, so the age of files is not known",
                        response.host);
    if (code == FDL_OK)
        *now_ms = now;
    fdl_http_response_clear(&response);
    return code;
}
