/*
 * s3.c - a repository in a bucket: opening, and the short operations.
 */
#include <stdlib.h>
#include <string.h>

#include "store/backends.h"
#include "store/s3_internal.h"
#include "util/text.h"

#define MIB (1024u * 1024u)

/* ---- opening -------------------------------------------------------------- */

/* Wider than AWS's rule (old buckets and other makers have '_' and capitals), but nothing that a URL could misread. */
static bool good_bucket(const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(name);
    return length >= 1 && length <= 255 && strspn(name, allowed) == length && name[0] != '.' && name[0] != '-';
}

/* A bucket can only be part of a host name where it is one label of it: TLS certificates match no dots. */
static bool fits_host(const char *bucket) {
    size_t length = strlen(bucket);
    return length >= 3 && length <= 63 && bucket[strspn(bucket, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

/* "s3://bucket/a/b" and "s3://bucket/a/b/" -> "bucket", "a/b/" */
static fdl_code split_address(const char *address, char **bucket, char **prefix, fdl_error *error) {
    const char *start = address + strlen("s3://");
    size_t length = strcspn(start, "/");
    const char *rest = start[length] ? start + length + 1 : "";
    fdl_code code = fdl_str_copy_n(bucket, start, length, error);
    if (code == FDL_OK && !good_bucket(*bucket))
        code = fdl_fail(error, FDL_USAGE, NULL, "'%s' names no bucket: write s3://bucket/prefix/", address);
    /* DuckDB reads what follows a '?' in an s3:// path as settings. */
    if (code == FDL_OK && strchr(rest, '?'))
        code =
            fdl_fail(error, FDL_USAGE, NULL, "'%s' has a '?': settings come from AWS's environment variables", address);
    if (code == FDL_OK)
        code = fdl_str_format(prefix, error, "%s%s", rest, *rest && !fdl_str_ends(rest, "/") ? "/" : "");
    if (code != FDL_OK || !**prefix)
        return code;
    size_t prefix_length = strlen(*prefix);
    (*prefix)[prefix_length - 1] = '\0';
    code = fdl_key_check(*prefix, error);
    (*prefix)[prefix_length - 1] = '/';
    return code == FDL_USAGE
               ? fdl_fail(error, FDL_USAGE, NULL, "'%s' is no prefix of a bucket: %s", address, error->message)
               : code;
}

static fdl_code configure(fdl_s3 *s3, fdl_error *error) {
    fdl_code code = fdl_aws_config_read(&s3->config, error);
    if (code != FDL_OK)
        return code;
    if (s3->config.endpoint)
        code = fdl_url_parse(s3->config.endpoint, &s3->endpoint, error);
    if (code != FDL_OK)
        return fdl_fail(error, FDL_USAGE, NULL, "the configured s3 endpoint cannot be used: %s", error->message);
    const char *region = s3->config.region ? s3->config.region : "us-east-1";
    if (region[strspn(region, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")] ||
        !fdl_str_fit(s3->region, sizeof s3->region, region))
        return fdl_fail(error, FDL_USAGE, NULL, "'%s' is no region: check AWS_REGION", region);
    bool by_host = s3->endpoint.authority ? s3->config.virtual_host : true;
    s3->path_style = !by_host || !fits_host(s3->bucket);
    return FDL_OK;
}

static void s3_free(fdl_store *store) {
    fdl_s3 *s3 = (fdl_s3 *)store;
    fdl_http_free(s3->http);
    fdl_aws_config_clear(&s3->config);
    fdl_url_clear(&s3->endpoint);
    pthread_mutex_destroy(&s3->lock);
    free(s3->bucket);
    free(s3->prefix);
    free(s3->base.address);
    free(s3);
}

/* ---- short operations ----------------------------------------------------- */

static fdl_code s3_get(fdl_store *store, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                       fdl_object *object, fdl_error *error) {
    return fdl_remote_get(&((fdl_s3 *)store)->remote, key, range, sink, sink_data, object, error);
}

static fdl_code s3_head(fdl_store *store, const char *key, fdl_object *object, fdl_error *error) {
    return fdl_remote_head(&((fdl_s3 *)store)->remote, key, object, error);
}

static fdl_code s3_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                       fdl_object *object, fdl_error *error) {
    fdl_s3 *s3 = (fdl_s3 *)store;
    fdl_remote_body body;
    fdl_code code = fdl_remote_body_open(source, &body, error);
    if (code == FDL_OK && body.http.length_bytes > s3->options.multipart_from_bytes)
        code = fdl_s3_put_parts(s3, key, &body, condition, object, error);
    else if (code == FDL_OK)
        code = fdl_remote_put(&s3->remote, key, &body, condition, object, error);
    fdl_remote_body_close(&body);
    return code;
}

static fdl_code s3_remove(fdl_store *store, const char *key, fdl_condition condition, fdl_error *error) {
    return fdl_remote_remove(&((fdl_s3 *)store)->remote, key, condition, error);
}

static const fdl_store_ops s3_ops = {
    .kind = "s3",
    .get = s3_get,
    .head = s3_head,
    .put = s3_put,
    .remove = s3_remove,
    .list = fdl_s3_list,
    .remove_many = fdl_s3_remove_many,
    .purge = fdl_s3_purge,
    .presign = fdl_s3_presign_upload,
    .clock = fdl_s3_clock,
    .free = s3_free,
};

fdl_code fdl_store_open_s3_with(const fdl_context *context, const char *address, const fdl_s3_options *options,
                                fdl_store **out, fdl_error *error) {
    if (!fdl_str_starts(address, "s3://"))
        return fdl_fail(error, FDL_USAGE, NULL, "'%s' is not an address of the form s3://bucket/prefix/", address);
    fdl_s3 *s3;
    fdl_code code = fdl_alloc(&s3, 1, sizeof *s3, error);
    if (code != FDL_OK)
        return code;
    if (pthread_mutex_init(&s3->lock, NULL) != 0) {
        free(s3);
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    }
    s3->base = (fdl_store){.ops = &s3_ops, .context = context, .can_list = true};
    s3->remote = (fdl_remote){.send = fdl_s3_send,
                              .stays = fdl_s3_blocked,
                              .refused = fdl_s3_condition_failed,
                              .missing = fdl_s3_missing,
                              .explain = fdl_s3_explain};
    s3->options.multipart_from_bytes = options->multipart_from_bytes ? options->multipart_from_bytes : 64 * MIB;
    s3->options.part_bytes = options->part_bytes ? options->part_bytes : 32 * MIB;
    s3->options.page_entries = options->page_entries ? options->page_entries : 1000;
    code = split_address(address, &s3->bucket, &s3->prefix, error);
    if (code == FDL_OK)
        code = fdl_str_format(&s3->base.address, error, "s3://%s/%s", s3->bucket, s3->prefix);
    if (code == FDL_OK)
        code = configure(s3, error);
    if (code == FDL_OK)
        code = fdl_http_open(NULL, &s3->http, error);
    if (code != FDL_OK) {
        s3_free(&s3->base);
        return code;
    }
    *out = &s3->base;
    return FDL_OK;
}

fdl_code fdl_store_open_s3(const fdl_context *context, const char *address, fdl_store **out, fdl_error *error) {
    static const fdl_s3_options defaults;
    return fdl_store_open_s3_with(context, address, &defaults, out, error);
}
