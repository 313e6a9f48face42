/*
 * layout.h - which key means what, in one place.  docs/format.md draws the tree.
 */
#ifndef FDL_REPO_LAYOUT_H
#define FDL_REPO_LAYOUT_H

#include <stdbool.h>

#include "fdl/repo.h"

#define FDL_KEY_CONFIG "fdl.json"
#define FDL_KEY_HEAD "HEAD"
#define FDL_KEY_REFS_JSON "refs.json"
#define FDL_KEY_VERSIONS "versions/"
#define FDL_KEY_SOURCES "sources/"
#define FDL_REF_ALL "refs/"
#define FDL_REF_HEADS "refs/heads/"
#define FDL_REF_TAGS "refs/tags/"
#define FDL_REF_REQUESTS "refs/requests/"

#define FDL_FILE_VERSION "version.json"
#define FDL_FILE_CATALOG "ducklake.duckdb"
#define FDL_FILE_DATASET "dataset.json"
#define FDL_FILE_FILES "files.json"
#define FDL_FILE_EXPIRED "expired.json"
#define FDL_FILE_SIGNATURE "version.json.sig"
#define FDL_FOLDER_CATALOGS "catalogs" /* in a version's folder */
#define FDL_FILE_PACKED FDL_FOLDER_CATALOGS "/ducklake.duckdb.zst"

/* Limits on what a stranger's repository may make us read. */
#define FDL_LIMIT_CONFIG_BYTES (1u << 20)
#define FDL_LIMIT_REF_BYTES 4096u
#define FDL_LIMIT_VERSION_BYTES (1u << 20)
#define FDL_LIMIT_EXPIRED_BYTES (1u << 16)
#define FDL_LIMIT_REQUEST_BYTES (1u << 16)
#define FDL_LIMIT_SIGNATURE_BYTES (1u << 16)
#define FDL_LIMIT_REFS_JSON_BYTES (64u << 20)
#define FDL_LIMIT_DATASET_BYTES (256u << 20)
#define FDL_LIMIT_FILES_BYTES (256u << 20)
#define FDL_LIMIT_REFS 1000000u

#define FDL_KEY_BYTES FDL_KEY_LIMIT_BYTES

/* Below a root that ends with '/': keys are literal in a folder and in S3, percent-encoded in a URL.  Released with free(). */
fdl_code fdl_key_url(const char *root, const char *key, char **out, fdl_error *error);

/* "versions/<id>/<file>"; an `id` that is no UUID is FDL_USAGE, so that no name can lead out of versions/. */
fdl_code fdl_key_version(char out[FDL_KEY_BYTES], const char *id, const char *file, fdl_error *error);

/* Whether a key that a listing told is a version's folder, "versions/<id>/", and of which. */
bool fdl_key_version_folder(const char *key, char id[FDL_ID_BYTES]);

#endif
