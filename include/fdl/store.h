/*
 * store.h - bytes by key, and the contract a backend must keep.
 *
 * A store is one prefix of an object store, a folder, or memory.  It knows keys
 * and bytes, never what a key means.  Keys are relative, '/'-separated, without
 * empty, "." or ".." parts and without control characters; fdl_key_check says
 * so, and the functions below refuse others before a backend sees them.  Keys
 * are literal: a backend that speaks HTTP does its own percent-encoding.
 *
 * A new backend fills an fdl_store_ops, embeds fdl_store as its first member,
 * and passes tests/store/contract.c.
 */
#ifndef FDL_STORE_H
#define FDL_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FDL_ETAG_LIMIT_BYTES 128
#define FDL_REMOVE_MANY_LIMIT 1000 /* S3 takes no more in one request */

/* What a store knows of an object without its bytes. */
typedef struct fdl_object {
    uint64_t size_bytes;
    int64_t modified_ms;             /* by the store's clock, since 1970, UTC; 0 if not known */
    char etag[FDL_ETAG_LIMIT_BYTES]; /* opaque; two different contents of a key never share one */
} fdl_object;

/* The state a key must be in for a put or a delete to happen. */
typedef enum fdl_condition_kind {
    FDL_ALWAYS,    /* whatever is there */
    FDL_IF_ABSENT, /* nothing is there (If-None-Match: *) */
    FDL_IF_MATCH   /* the object with this ETag is there (If-Match) */
} fdl_condition_kind;

typedef struct fdl_condition {
    fdl_condition_kind kind;
    const char *etag; /* for FDL_IF_MATCH */
} fdl_condition;

/* A part of an object.  A range that ends behind the object is cut; one that starts behind it is FDL_FAILED. */
typedef struct fdl_range {
    uint64_t offset_bytes;
    uint64_t length_bytes; /* at least 1 */
} fdl_range;

/*
 * Takes the bytes of a get in order, in pieces.  Anything but FDL_OK ends the
 * get, which then returns that code; the sink has filled `error`.
 */
typedef fdl_code (*fdl_sink)(void *sink_data, const void *bytes, size_t length_bytes, fdl_error *error);

/* So many bytes more went over the wire; fewer than 0: they did not count, and go again. */
typedef void (*fdl_moved)(void *moved_data, int64_t bytes);

/* The bytes of a put: either in memory, or a file on this machine (path set). */
typedef struct fdl_source {
    const void *bytes;
    size_t length_bytes;
    const char *path;   /* a file; wins over bytes */
    bool given;         /* that file is the store's now: it may be gone after the put, and nobody else writes to it */
    const char *sha256; /* hex, if known: sent along so that the store can check; may be NULL */
    fdl_moved moved;    /* told by stores that take their time, the sum of one put being its length; may be NULL */
    void *moved_data;
} fdl_source;

/* A file that is about to be put with FDL_IF_ABSENT. */
typedef struct fdl_announced {
    const char *key;
    const char *path; /* on this machine */
    uint64_t size_bytes;
    const char *sha256; /* hex, if known; may be NULL */
    bool there;         /* out: an object of that name and size is there already */
} fdl_announced;

/* An object that somebody else is to create, straight in the store. */
#define FDL_UPLOAD_LIMIT_BYTES (UINT64_C(5) << 30) /* of one; S3 takes no more in one request */
#define FDL_UPLOAD_HEADERS 4

typedef struct fdl_upload_terms {
    uint64_t size_bytes;
    const char *sha256;       /* hex; NULL: not known */
    const char *content_type;
    int64_t expires_s;        /* 1 to 604800 */
} fdl_upload_terms;

/* Where to PUT it, and the headers that must be sent along; released with fdl_upload_url_clear. */
typedef struct fdl_upload_url {
    char *url;
    const char *names[FDL_UPLOAD_HEADERS];
    char *values[FDL_UPLOAD_HEADERS];
    size_t header_count;
} fdl_upload_url;

/* One entry of a listing.  `key` lives until the callback returns. */
typedef struct fdl_entry {
    const char *key;  /* from the root of the store; a folder's ends with '/' */
    bool folder;      /* only in a listing of one level */
    fdl_object object; /* etag may be empty; all zero for a folder */
} fdl_entry;

/* Anything but FDL_OK ends the listing, which then returns that code. */
typedef fdl_code (*fdl_entry_callback)(void *data, const fdl_entry *entry, fdl_error *error);

typedef enum fdl_depth {
    FDL_ONE_LEVEL,    /* names up to the next '/', folders as one entry each */
    FDL_FOLDER_NAMES, /* the same, where what deleted objects left may be told as a folder */
    FDL_ALL_LEVELS,   /* every object below */
    FDL_ALL_NAMES     /* the same, where the key is all that is asked: `object` may be left empty */
} fdl_depth;

typedef struct fdl_store fdl_store;

/*
 * The contract of a backend.  Every callback takes checked keys and fills
 * `error` when it fails.  Codes all backends share: FDL_NOT_FOUND no such
 * object; FDL_DENIED no permission; FDL_UNSUPPORTED cannot do this at all;
 * FDL_UNCERTAIN the answer was lost; FDL_FAILED anything else.  Retries of
 * harmless failures (reads, 503) are the backend's business, and bounded.  All
 * but `free` may be called from several threads at once: transfers are.
 */
typedef struct fdl_store_ops {
    const char *kind; /* "folder", "memory", "s3", "http", "trace", "fault" */

    /*
     * Hands the object, or the given part of it, to `sink`.  `range` may be
     * NULL.  `object` may be NULL; its size is always that of the whole object.
     * The bytes and the ETag are of one state of the object, also while it is
     * replaced.
     */
    fdl_code (*get)(fdl_store *store, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                    fdl_object *object, fdl_error *error);

    /* Fills `object` without reading the bytes. */
    fdl_code (*head)(fdl_store *store, const char *key, fdl_object *object, fdl_error *error);

    /* The size alone, for who needs no ETag, where one costs a read of the object.  NULL: `head` does it. */
    fdl_code (*size)(fdl_store *store, const char *key, uint64_t *size_bytes, fdl_error *error);

    /*
     * Writes the whole object or nothing: no reader ever sees a part.  When it
     * returns FDL_OK the bytes are durable.  FDL_CONFLICT: the condition did
     * not hold (FDL_IF_MATCH on a missing key included) and nothing changed.
     * FDL_UNCERTAIN: it may have happened.  FDL_WAITING: it was heard, and
     * somebody will decide.  Fills `object` if not NULL.
     */
    fdl_code (*put)(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                    fdl_object *object, fdl_error *error);

    /*
     * Makes out a folder of this machine where a file that is given to a put had
     * best be made, as "<name>.tmp": from there it costs no copy.  Released with
     * free().  NULL: any place is as good.
     */
    fdl_code (*place)(fdl_store *store, char **folder, fdl_error *error);

    /*
     * Tells what is about to be put, all in one go, so that a store behind a
     * host can ask for addresses to upload to, and learn what is there already.
     * What was announced before is forgotten.  A put works without.  NULL where
     * nothing is gained by it.
     */
    fdl_code (*announce)(fdl_store *store, fdl_announced *files, size_t count, fdl_error *error);

    /*
     * Whether what answers there is a host that vouches for this contract, so
     * that nothing need be tried out.  NULL: it is not.
     */
    fdl_code (*vouched)(fdl_store *store, bool *out, fdl_error *error);

    /*
     * Deletes the object; FDL_CONFLICT as for put (FDL_IF_ABSENT makes no sense
     * here).  With FDL_ALWAYS a missing object is FDL_OK.
     */
    fdl_code (*remove)(fdl_store *store, const char *key, fdl_condition condition, fdl_error *error);

    /*
     * Lists what starts with `prefix` (a plain string prefix; "" is all), in
     * no promised order.  Sees every put that returned before the call.  The
     * store's own scratch is never listed.
     */
    fdl_code (*list)(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback, void *data,
                     fdl_error *error);

    /*
     * Makes an object durable that somebody else wrote past this store (DuckDB
     * writes Parquet straight into a folder).  NULL where a written object is
     * durable by nature.
     */
    fdl_code (*sync)(fdl_store *store, const char *key, fdl_error *error);

    /*
     * Deletes up to FDL_REMOVE_MANY_LIMIT objects in one go, missing ones
     * counting as deleted.  May fail in the middle: some are gone then.
     * FDL_UNSUPPORTED: not this server; nothing was deleted.  NULL: `remove`
     * does it, key by key.
     */
    fdl_code (*remove_many)(fdl_store *store, const char *const *keys, size_t count, fdl_error *error);

    /*
     * Deletes the object and every earlier state of it that the store keeps (a
     * versioned bucket).  FDL_REFUSED: there are such states and they cannot be
     * deleted.  NULL where nothing earlier is kept: `remove` does it.
     */
    fdl_code (*purge)(fdl_store *store, const char *key, fdl_error *error);

    /*
     * Makes a URL by which whoever has it may create the object, and nothing
     * else: of that size, those bytes where the sha256 is known, and only while
     * nothing is there.  NULL where there are no such URLs.
     */
    fdl_code (*presign)(fdl_store *store, const char *key, const fdl_upload_terms *upload, fdl_upload_url *out,
                        fdl_error *error);

    /* The time by the clock that `modified_ms` comes from.  NULL: this machine's. */
    fdl_code (*clock)(fdl_store *store, int64_t *now_ms, fdl_error *error);

    void (*free)(fdl_store *store);
} fdl_store_ops;

struct fdl_store {
    const fdl_store_ops *ops;
    const fdl_context *context;
    char *address;   /* canonical, with a final '/': "/srv/lake/", "s3://bucket/lake/", "https://host/lake/" */
    bool can_list;   /* false: list answers FDL_UNSUPPORTED (HTTP) */
    bool local;      /* head costs no round trip */
};

/*
 * Opens the store at `address`: a folder, s3://bucket/prefix/, or http(s)://.
 * Nothing is created or read yet.  FDL_USAGE: not an address.
 */
FDL_API fdl_code fdl_store_open(const fdl_context *context, const char *address, fdl_store **out, fdl_error *error);

/* The backends by name, for programs and tests that need a certain one. */
FDL_API fdl_code fdl_store_open_folder(const fdl_context *context, const char *path, fdl_store **out, fdl_error *error);
FDL_API fdl_code fdl_store_open_memory(const fdl_context *context, fdl_store **out, fdl_error *error);

FDL_API void fdl_store_free(fdl_store *store);

/* FDL_USAGE with a message naming the key, unless `key` is one a store takes. */
FDL_API fdl_code fdl_key_check(const char *key, fdl_error *error);

/* The operations of the contract, with the key checked first. */
FDL_API fdl_code fdl_store_get(fdl_store *store, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                               fdl_object *object, fdl_error *error);
FDL_API fdl_code fdl_store_head(fdl_store *store, const char *key, fdl_object *object, fdl_error *error);
FDL_API fdl_code fdl_store_size(fdl_store *store, const char *key, uint64_t *size_bytes, fdl_error *error);
FDL_API fdl_code fdl_store_put(fdl_store *store, const char *key, const fdl_source *source, fdl_condition condition,
                               fdl_object *object, fdl_error *error);
FDL_API fdl_code fdl_store_remove(fdl_store *store, const char *key, fdl_condition condition, fdl_error *error);
/* `*folder` is NULL where any place does. */
FDL_API fdl_code fdl_store_place(fdl_store *store, char **folder, fdl_error *error);
FDL_API fdl_code fdl_store_announce(fdl_store *store, fdl_announced *files, size_t count, fdl_error *error);
FDL_API fdl_code fdl_store_vouched(fdl_store *store, bool *out, fdl_error *error);
FDL_API fdl_code fdl_store_list(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback,
                                void *data, fdl_error *error);
FDL_API fdl_code fdl_store_sync(fdl_store *store, const char *key, fdl_error *error);

/*
 * Deletes any number of objects, whatever they hold, several at once; missing
 * ones are FDL_OK.  After a failure some are gone and some are not: run it again.
 */
FDL_API fdl_code fdl_store_remove_many(fdl_store *store, const char *const *keys, size_t count, fdl_error *error);

/* Deletes an object so that no earlier state of it is left in the store either. */
FDL_API fdl_code fdl_store_purge(fdl_store *store, const char *key, fdl_error *error);

/* A URL for somebody else's upload.  FDL_UNSUPPORTED: this store has none.  FDL_USAGE: too large for one. */
FDL_API fdl_code fdl_store_presign(fdl_store *store, const char *key, const fdl_upload_terms *upload, fdl_upload_url *out,
                                   fdl_error *error);
FDL_API void fdl_upload_url_clear(fdl_upload_url *url);

/* The time by the clock of the store, in milliseconds since 1970, UTC. */
FDL_API fdl_code fdl_store_clock(fdl_store *store, int64_t *now_ms, fdl_error *error);

/*
 * Reads a whole object of at most `limit_bytes` into memory, with a NUL behind
 * it.  `*out` is the caller's, released with free().  A larger object is
 * FDL_REFUSED.
 */
FDL_API fdl_code fdl_store_read(fdl_store *store, const char *key, size_t limit_bytes, char **out, size_t *length_bytes,
                                fdl_object *object, fdl_error *error);

/*
 * Copies an object into a new file, durable when this returns.  When more than
 * `limit_bytes` come (UINT64_MAX: any number may), it ends with FDL_FAILED there,
 * so that a server that sends without end does not fill the disk.  `sha256_out`
 * (65 bytes, may be NULL) gets the hex digest of what was written; `moved`, which
 * may be NULL, is told as the bytes come.  On failure no file is left.
 */
FDL_API fdl_code fdl_store_download(fdl_store *store, const char *key, uint64_t limit_bytes, const char *path,
                                    char sha256_out[65], fdl_object *object, fdl_moved moved, void *moved_data,
                                    fdl_error *error);

/*
 * Copies an object into a new file that is only passing through: neither hashed nor made durable.  The limit is
 * as above.  On failure no file is left.
 */
FDL_API fdl_code fdl_store_fetch(fdl_store *store, const char *key, uint64_t limit_bytes, const char *path,
                                 fdl_error *error);

#ifdef __cplusplus
}
#endif
#endif
