/*
 * store.c - the front of every store: which backend an address means, and the
 * checks that no backend needs to make again.
 *
 * A key arrives here from a person, a catalog or a stranger's repository; what
 * is let through can be joined to a root and stays below it.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fdl/store.h"
#include "store/backends.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/parallel.h"
#include "util/text.h"

/* ---- addresses ---------------------------------------------------------- */

/* Whether `text` starts like "scheme://", or was meant to; a folder of such a name is "./name:/". */
static bool has_scheme(const char *text) {
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    return length > 0 && fdl_str_starts(text + length, ":/");
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    return isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10 : -1;
}

/* "file:///srv/a%20lake" is the folder "/srv/a lake". */
static fdl_code open_file_url(const fdl_context *context, const char *address, fdl_store **out, fdl_error *error) {
    const char *at = address + strlen("file://");
    if (fdl_str_starts(at, "localhost/"))
        at += strlen("localhost");
    bool good = *at == '/';
    fdl_buf path;
    fdl_buf_init(&path, 1 << 16);
    fdl_code code = FDL_OK;
    for (; code == FDL_OK && good && *at; at++) {
        char byte = *at;
        if (byte == '%') {
            int high = hex_digit(at[1]);
            int low = high < 0 ? -1 : hex_digit(at[2]);
            byte = (char)(high * 16 + low);
            good = low >= 0 && byte != '\0';
            at += good ? 2 : 0;
        }
        code = fdl_buf_add(&path, &byte, 1, error);
    }
    if (!good)
        code = fdl_fail(error, FDL_USAGE, address, "'%s' is not the URL of a folder; write file:///path", address);
    if (code == FDL_OK)
        code = fdl_store_open_folder(context, path.data, out, error);
    fdl_buf_clear(&path);
    return code;
}

fdl_code fdl_store_open(const fdl_context *context, const char *address, fdl_store **out, fdl_error *error) {
    if (fdl_str_starts(address, "s3://"))
        return fdl_store_open_s3(context, address, out, error);
    if (fdl_str_starts(address, "http://") || fdl_str_starts(address, "https://"))
        return fdl_store_open_http(context, address, out, error);
    if (fdl_str_starts(address, "file://"))
        return open_file_url(context, address, out, error);
    if (has_scheme(address))
        return fdl_fail(error, FDL_USAGE, address,
                        "'%s' is not an address of a store; use a folder, s3://, http:// or https://", address);
    return fdl_store_open_folder(context, address, out, error);
}

void fdl_store_free(fdl_store *store) {
    if (store)
        store->ops->free(store);
}

/* ---- keys and prefixes -------------------------------------------------- */

#define KEY_LIMIT_BYTES 1024 /* S3's */

/* What is wrong with a part of a key that is complete; NULL when nothing is. */
static const char *part_problem(const char *part, size_t length) {
    if (length == 0)
        return "has an empty part";
    if (part[0] == '.' && (length == 1 || (length == 2 && part[1] == '.')))
        return "has a '.' or '..' part";
    return NULL;
}

/* What is wrong with `text`; with `prefix` its last part is a beginning only, and may be empty. */
static const char *problem(const char *text, bool prefix) {
    size_t length = strlen(text);
    if (length > KEY_LIMIT_BYTES)
        return "is longer than 1024 bytes";
    if (!fdl_utf8_valid(text, length))
        return "is not valid UTF-8";
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i]; /* C1 controls are two bytes in UTF-8 */
        if (iscntrl(byte) || (byte == 0xc2 && (unsigned char)text[i + 1] < 0xa0))
            return "has a control character";
    }
    const char *part = text;
    const char *found = NULL;
    while (!found) {
        size_t part_length = strcspn(part, "/");
        bool last = part[part_length] == '\0';
        if (!(last && prefix))
            found = part_problem(part, part_length);
        if (last)
            break;
        part += part_length + 1;
    }
    return found;
}

fdl_code fdl_key_check(const char *key, fdl_error *error) {
    if (!key[0])
        return fdl_fail(error, FDL_USAGE, NULL, "'' is not a key: it is empty");
    const char *why = problem(key, false);
    return why ? fdl_fail(error, FDL_USAGE, key, "'%s' is not a key: it %s", key, why) : FDL_OK;
}

static fdl_code check_prefix(const char *prefix, fdl_error *error) {
    const char *why = problem(prefix, true);
    return why ? fdl_fail(error, FDL_USAGE, prefix, "'%s' cannot start a key: it %s", prefix, why) : FDL_OK;
}

/* ---- the operations of the contract ------------------------------------- */

static fdl_code check_condition(const char *key, fdl_condition condition, fdl_error *error) {
    if (condition.kind == FDL_IF_MATCH && (!condition.etag || !condition.etag[0]))
        return fdl_fail(error, FDL_USAGE, key, "no ETag to expect for '%s'", key);
    return FDL_OK;
}

fdl_code fdl_store_get(fdl_store *store, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                       fdl_object *object, fdl_error *error) {
    fdl_code code = fdl_key_check(key, error);
    if (code == FDL_OK && range && range->length_bytes == 0)
        code = fdl_fail(error, FDL_USAGE, key, "an empty range of '%s' was asked for", key);
    return code == FDL_OK ? store->ops->get(store, key, range, sink, sink_data, object, error) : code;
}

fdl_code fdl_store_head(fdl_store *store, const char *key, fdl_object *object, fdl_error *error) {
    fdl_code code = fdl_key_check(key, error);
    return code == FDL_OK ? store->ops->head(store, key, object, error) : code;
}

fdl_code fdl_store_size(fdl_store *store, const char *key, uint64_t *size_bytes, fdl_error *error) {
    fdl_object object = {0};
    if (!store->ops->size) {
        fdl_code code = fdl_store_head(store, key, &object, error);
        *size_bytes = object.size_bytes;
        return code;
    }
    fdl_code code = fdl_key_check(key, error);
    return code == FDL_OK ? store->ops->size(store, key, size_bytes, error) : code;
}

fdl_code fdl_store_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                       fdl_object *object, fdl_error *error) {
    fdl_code code = fdl_key_check(key, error);
    if (code == FDL_OK)
        code = check_condition(key, condition, error);
    return code == FDL_OK ? store->ops->put(store, key, source, condition, object, error) : code;
}

fdl_code fdl_store_place(fdl_store *store, char **folder, fdl_error *error) {
    *folder = NULL;
    return store->ops->place ? store->ops->place(store, folder, error) : FDL_OK;
}

fdl_code fdl_store_announce(fdl_store *store, fdl_announced *files, size_t count, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < count && code == FDL_OK; i++) {
        files[i].there = false;
        code = fdl_key_check(files[i].key, error);
    }
    return code == FDL_OK && count > 0 && store->ops->announce ? store->ops->announce(store, files, count, error) : code;
}

fdl_code fdl_store_vouched(fdl_store *store, bool *out, fdl_error *error) {
    *out = false;
    return store->ops->vouched ? store->ops->vouched(store, out, error) : FDL_OK;
}

fdl_code fdl_store_remove(fdl_store *store, const char *key, fdl_condition condition, fdl_error *error) {
    fdl_code code = fdl_key_check(key, error);
    if (code == FDL_OK)
        code = check_condition(key, condition, error);
    if (code == FDL_OK && condition.kind == FDL_IF_ABSENT)
        code = fdl_fail(error, FDL_USAGE, key, "'%s' cannot be deleted if it is absent", key);
    return code == FDL_OK ? store->ops->remove(store, key, condition, error) : code;
}

fdl_code fdl_store_list(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback, void *data,
                        fdl_error *error) {
    fdl_code code = check_prefix(prefix, error);
    if (code == FDL_OK && !store->can_list)
        code = fdl_fail(error, FDL_UNSUPPORTED, prefix, "'%s' cannot list what it holds; name the folder or bucket itself", store->address);
    return code == FDL_OK ? store->ops->list(store, prefix, depth, callback, data, error) : code;
}

fdl_code fdl_store_sync(fdl_store *store, const char *key, fdl_error *error) {
    fdl_code code = fdl_key_check(key, error);
    return code == FDL_OK && store->ops->sync ? store->ops->sync(store, key, error) : code;
}

/* ---- many at once --------------------------------------------------------- */

typedef struct removal {
    fdl_store *store;
    const char *const *keys;
    size_t count;
} removal;

static fdl_code remove_one(void *data, size_t index, fdl_error *error) {
    const removal *r = data;
    return r->store->ops->remove(r->store, r->keys[index], (fdl_condition){.kind = FDL_ALWAYS}, error);
}

static fdl_code remove_batch(void *data, size_t index, fdl_error *error) {
    const removal *r = data;
    size_t start = index * FDL_REMOVE_MANY_LIMIT;
    size_t rest = r->count - start;
    size_t count = rest < FDL_REMOVE_MANY_LIMIT ? rest : FDL_REMOVE_MANY_LIMIT;
    return r->store->ops->remove_many(r->store, r->keys + start, count, error);
}

/* A store on this machine gains nothing from threads, and one in memory takes none. */
static int jobs_for(const fdl_store *store) {
    if (store->local)
        return 1;
    return store->context ? store->context->jobs : 0;
}

fdl_code fdl_store_remove_many(fdl_store *store, const char *const *keys, size_t count, fdl_error *error) {
    removal r = {.store = store, .keys = keys, .count = count};
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < count && code == FDL_OK; i++)
        code = fdl_key_check(keys[i], error);
    if (code != FDL_OK || count == 0)
        return code;
    if (store->ops->remove_many) {
        size_t batches = (count + FDL_REMOVE_MANY_LIMIT - 1) / FDL_REMOVE_MANY_LIMIT;
        code = fdl_parallel(batches, jobs_for(store), remove_batch, &r, error);
        if (code != FDL_UNSUPPORTED)
            return code;
    }
    return fdl_parallel(count, jobs_for(store), remove_one, &r, error);
}

fdl_code fdl_store_purge(fdl_store *store, const char *key, fdl_error *error) {
    fdl_code code = fdl_key_check(key, error);
    if (code != FDL_OK)
        return code;
    if (store->ops->purge)
        return store->ops->purge(store, key, error);
    return store->ops->remove(store, key, (fdl_condition){.kind = FDL_ALWAYS}, error);
}

fdl_code fdl_store_presign(fdl_store *store, const char *key, const fdl_upload_terms *upload, fdl_upload_url *out,
                           fdl_error *error) {
    fdl_code code = fdl_key_check(key, error);
    if (code == FDL_OK && !store->ops->presign)
        code = fdl_fail(error, FDL_UNSUPPORTED, key, "'%s' gives no urls for uploads", store->address);
    if (code == FDL_OK && upload->size_bytes > FDL_UPLOAD_LIMIT_BYTES)
        code = fdl_fail(error, FDL_USAGE, key, "'%s' has %llu bytes; an upload by url takes at most %llu", key,
                        (unsigned long long)upload->size_bytes, (unsigned long long)FDL_UPLOAD_LIMIT_BYTES);
    return code == FDL_OK ? store->ops->presign(store, key, upload, out, error) : code;
}

void fdl_upload_url_clear(fdl_upload_url *url) {
    for (size_t i = 0; i < url->header_count; i++)
        free(url->values[i]);
    free(url->url);
    *url = (fdl_upload_url){0};
}

fdl_code fdl_store_clock(fdl_store *store, int64_t *now_ms, fdl_error *error) {
    if (store->ops->clock)
        return store->ops->clock(store, now_ms, error);
    *now_ms = fdl_now_ms();
    return FDL_OK;
}

fdl_code fdl_range_cut(const fdl_range *range, const char *key, uint64_t size_bytes, uint64_t *offset_bytes,
                       uint64_t *length_bytes, fdl_error *error) {
    *offset_bytes = range ? range->offset_bytes : 0;
    if (range && range->offset_bytes >= size_bytes)
        return fdl_fail(error, FDL_FAILED, key, "'%s' has %llu bytes; a part from byte %llu on was asked for", key,
                        (unsigned long long)size_bytes, (unsigned long long)range->offset_bytes);
    uint64_t rest = size_bytes - *offset_bytes;
    *length_bytes = range && range->length_bytes < rest ? range->length_bytes : rest;
    return FDL_OK;
}

/* ---- whole objects ------------------------------------------------------ */

typedef struct reading {
    fdl_buf buf;
    const char *key;
} reading;

static fdl_code read_piece(void *data, const void *bytes, size_t length, fdl_error *error) {
    reading *r = data;
    if (length > r->buf.limit - r->buf.length)
        return fdl_fail(error, FDL_REFUSED, r->key, "'%s' is larger than the %zu bytes it may have", r->key,
                        r->buf.limit);
    return fdl_buf_add(&r->buf, bytes, length, error);
}

fdl_code fdl_store_read(fdl_store *store, const char *key, size_t limit_bytes, char **out, size_t *length_bytes,
                        fdl_object *object, fdl_error *error) {
    reading r = {.key = key};
    fdl_buf_init(&r.buf, limit_bytes);
    fdl_object found;
    fdl_code code = fdl_store_get(store, key, NULL, read_piece, &r, object ? &found : NULL, error);
    if (code == FDL_OK) {
        char *bytes = fdl_buf_detach(&r.buf, length_bytes);
        if (bytes)
            *out = bytes;
        else
            code = fdl_fail(error, FDL_FAILED, key, "out of memory");
    }
    if (code == FDL_OK && object)
        *object = found;
    fdl_buf_clear(&r.buf);
    return code;
}

#define SYNC_PIECE_BYTES ((uint64_t)8 << 20)
#define WRITE_PIECE_BYTES ((size_t)64 << 10) /* a transfer brings 16 KiB at a time, and a file system likes to have more */

typedef struct download {
    const char *key;
    const char *path;
    int fd;
    fdl_sha256 hash;
    uint64_t size_bytes;
    char *piece; /* came, and is not written yet */
    size_t piece_length;
    uint64_t written_bytes;
    uint64_t begun_bytes; /* that the disk was told to begin with */
    bool passing; /* no hash is asked for */
    uint64_t limit_bytes;
    fdl_moved moved;
    void *moved_data;
} download;

static fdl_code write_piece(download *d, fdl_error *error) {
    fdl_code code = fdl_fd_write(d->fd, d->path, d->piece, d->piece_length, error);
    d->written_bytes += d->piece_length;
    d->piece_length = 0;
    if (code == FDL_OK && d->written_bytes - d->begun_bytes >= SYNC_PIECE_BYTES) {
        fdl_fd_sync_begin(d->fd, d->begun_bytes, d->written_bytes - d->begun_bytes);
        d->begun_bytes = d->written_bytes;
    }
    return code;
}

static fdl_code download_piece(void *data, const void *bytes, size_t length, fdl_error *error) {
    download *d = data;
    if (length > d->limit_bytes - d->size_bytes)
        return fdl_fail(error, FDL_FAILED, d->key, "'%s' is larger than the %llu bytes that its record says", d->key,
                        (unsigned long long)d->limit_bytes);
    d->size_bytes += length;
    if (d->moved)
        d->moved(d->moved_data, (int64_t)length);
    fdl_code code = d->passing ? FDL_OK : fdl_sha256_add(&d->hash, bytes, length, error);
    while (code == FDL_OK && length > 0) {
        size_t room = WRITE_PIECE_BYTES - d->piece_length, taken = length < room ? length : room;
        memcpy(d->piece + d->piece_length, bytes, taken);
        d->piece_length += taken;
        bytes = (const char *)bytes + taken;
        length -= taken;
        if (d->piece_length == WRITE_PIECE_BYTES)
            code = write_piece(d, error);
    }
    return code;
}

/* All of it has come. */
static fdl_code get_whole(fdl_store *store, const char *key, download *d, fdl_object *found, fdl_error *error) {
    fdl_code code = fdl_alloc(&d->piece, 1, WRITE_PIECE_BYTES, error);
    if (code == FDL_OK)
        code = fdl_store_get(store, key, NULL, download_piece, d, found, error);
    if (code == FDL_OK)
        code = write_piece(d, error);
    free(d->piece);
    if (code == FDL_OK && d->size_bytes != found->size_bytes)
        code = fdl_fail(error, FDL_FAILED, key, "'%s' came with %llu bytes instead of %llu; try again", key,
                        (unsigned long long)d->size_bytes, (unsigned long long)found->size_bytes);
    return code;
}

fdl_code fdl_store_fetch(fdl_store *store, const char *key, uint64_t limit_bytes, const char *path, fdl_error *error) {
    download d = {.key = key, .path = path, .limit_bytes = limit_bytes, .passing = true};
    fdl_object found;
    d.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (d.fd < 0)
        return fdl_file_error(error, "write", path, errno);
    fdl_code code = get_whole(store, key, &d, &found, error);
    close(d.fd);
    if (code != FDL_OK)
        unlink(path);
    return code;
}

fdl_code fdl_store_download(fdl_store *store, const char *key, uint64_t limit_bytes, const char *path,
                            char sha256_out[65], fdl_object *object, fdl_moved moved, void *moved_data,
                            fdl_error *error) {
    download d = {
        .key = key, .path = path, .fd = -1, .limit_bytes = limit_bytes, .moved = moved, .moved_data = moved_data};
    fdl_object found;
    char digest[65];
    char *temp = NULL;
    fdl_code code = fdl_sha256_start(&d.hash, error);
    if (code == FDL_OK)
        code = fdl_temp_create(path, &temp, &d.fd, error);
    if (code != FDL_OK)
        goto done;
    code = get_whole(store, key, &d, &found, error);
    if (code == FDL_OK)
        code = fdl_sha256_finish(&d.hash, digest, error);
    if (code == FDL_OK) {
        code = fdl_fd_finish(d.fd, path, error);
        d.fd = -1;
    }
    if (code == FDL_OK)
        code = fdl_file_rename(temp, path, error);
    if (code != FDL_OK)
        goto done;
    if (sha256_out)
        memcpy(sha256_out, digest, sizeof digest);
    if (object)
        *object = found;
done:
    if (d.fd >= 0)
        close(d.fd);
    if (temp && code != FDL_OK)
        unlink(temp);
    free(temp);
    fdl_sha256_drop(&d.hash);
    return code;
}
