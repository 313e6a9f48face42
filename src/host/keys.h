/*
 * keys.h - which keys the host knows, and how caches may keep them.
 */
#ifndef FDL_HOST_KEYS_H
#define FDL_HOST_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "fdl/error.h"

/* Bits, so that a route can name several. */
typedef enum fdl_key_kind {
    FDL_KIND_OTHER = 0, /* not served */
    FDL_KIND_ROOT = 1,  /* "" */
    FDL_KIND_CONFIG = 2,
    FDL_KIND_HEAD = 4,
    FDL_KIND_REFS_JSON = 8,
    FDL_KIND_BRANCH = 16,   /* refs/heads/<name> */
    FDL_KIND_TAG = 32,      /* refs/tags/<name> */
    FDL_KIND_REQUEST = 64,  /* refs/requests/<number> */
    FDL_KIND_VERSION = 128, /* versions/<id>/<...> */
    FDL_KIND_DATA = 256,    /* <data_dir><...> */
    FDL_KIND_SOURCE = 512,  /* sources/<sha256> */
    FDL_KIND_CURRENT = 1024, /* ducklake.duckdb: no key of the store, but HEAD's catalog */
    FDL_KIND_HEALTH = 2048, /* healthz */
    FDL_KIND_METRICS = 4096, /* metrics */
    FDL_KIND_PAGE_FILE = 8192 /* fdl.css, fdl.js */
} fdl_key_kind;

#define FDL_KIND_STORED                                                                                               \
    (FDL_KIND_CONFIG | FDL_KIND_HEAD | FDL_KIND_REFS_JSON | FDL_KIND_BRANCH | FDL_KIND_TAG | FDL_KIND_VERSION |        \
     FDL_KIND_DATA | FDL_KIND_SOURCE)

/* What a checked key is. */
fdl_key_kind fdl_host_key_kind(const char *key, const char *data_dir);

/* "versions/<id>/<file>" -> "<file>". */
const char *fdl_host_version_file(const char *key);

/* Whether the object at the key never changes, so that caches may keep it for ever. */
bool fdl_host_key_immutable(const char *key, fdl_key_kind kind);

const char *fdl_host_content_type(const char *key, fdl_key_kind kind);

/*
 * The path of a request target, decoded once: "/a%20b" -> "a b".  FDL_USAGE:
 * an encoded '/' or NUL, a broken escape, and what fdl_key_check refuses.
 */
fdl_code fdl_host_key_decode(const char *path, size_t length, char key[FDL_KEY_LIMIT_BYTES], fdl_error *error);

#endif
