/*
 * repo.h - a repository: settings, refs, version records, history.
 *
 * Opening reads nothing; each call reads just the keys it needs, so that
 * fdl_resolve over plain HTTP costs what docs/format.md says and not more.
 */
#ifndef FDL_REPO_H
#define FDL_REPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "context.h"
#include "error.h"
#include "store.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FDL_ID_BYTES 37         /* a UUID as text, with the NUL */
#define FDL_SHA256_BYTES 65     /* hex, with the NUL */
#define FDL_TIME_BYTES 32       /* "2026-10-15T09:00:00Z", fractions allowed */
#define FDL_REF_BYTES 232       /* "refs/heads/" and a name of at most 200 bytes */
#define FDL_REF_NAME_LIMIT_BYTES 200

typedef struct fdl_repo fdl_repo;

/* fdl.json.  Strings belong to the repo. */
typedef struct fdl_config {
    const char *format;   /* "0.1" */
    const char *id;       /* NULL in a repository without one */
    const char *data_dir; /* "data/": relative, ends with '/' */
    const char *url;      /* public root with a final '/', or NULL */
} fdl_config;

/* `address` as a person types it: a folder, s3://..., http(s)://...; a final '/' makes no difference. */
FDL_API fdl_code fdl_repo_open(const fdl_context *context, const char *address, fdl_repo **out, fdl_error *error);

/* The same over a store the caller made; the repo owns it from here, also on failure. */
FDL_API fdl_code fdl_repo_open_store(const fdl_context *context, fdl_store *store, fdl_repo **out, fdl_error *error);
FDL_API void fdl_repo_free(fdl_repo *repo);

/* What it was opened with: the store belongs to the repo, the context to the caller. */
FDL_API fdl_store *fdl_repo_store(fdl_repo *repo);
FDL_API const fdl_context *fdl_repo_context(const fdl_repo *repo);

/* Canonical, with a final '/'; belongs to the repo. */
FDL_API const char *fdl_repo_address(const fdl_repo *repo);

/*
 * Reads and checks fdl.json, once.  FDL_NOT_FOUND: not a repository;
 * FDL_FAILED: broken, or of a major version not known.
 */
FDL_API fdl_code fdl_repo_config(fdl_repo *repo, const fdl_config **out, fdl_error *error);

/*
 * The lists of fdl.json, one by one from index 0 on; FDL_NOT_FOUND behind the
 * last.  They are looked at only here, so that a slip of the pen in them stops
 * nobody who does not need them.  FDL_FAILED names the entry that is broken.
 */

/* A DuckLake format that new versions carry.  Strings belong to the repo. */
typedef struct fdl_catalog_format {
    const char *ducklake; /* "0.3" */
    const char *until;    /* "2027-03-31": the last day, in UTC, for new versions; NULL: for ever */
} fdl_catalog_format;

/* One of "catalog_formats". */
FDL_API fdl_code fdl_repo_catalog_format(fdl_repo *repo, size_t index, fdl_catalog_format *out, fdl_error *error);

/* Whether a version made at `now_ms` gets the format. */
FDL_API bool fdl_catalog_format_is_due(const fdl_catalog_format *format, int64_t now_ms);

/* A key whose signatures are to be expected: a line of an allowed signers file, which proves nothing by standing here. */
FDL_API fdl_code fdl_repo_signer(fdl_repo *repo, size_t index, const char **line, fdl_error *error);

/* ---- version records -------------------------------------------------- */

typedef struct fdl_file_record {
    char *path; /* relative to the version's folder */
    uint64_t bytes;
    char sha256[FDL_SHA256_BYTES];
} fdl_file_record;

typedef struct fdl_catalog_record {
    char *format;  /* DuckLake format, "1.0" */
    char *storage; /* "duckdb-v1.5.0" */
    fdl_file_record file;
} fdl_catalog_record;

#define FDL_ANCESTORS_LIMIT 15 /* 16^15 is the last power of 16 that a seq can reach */

/*
 * Ancestors that lie further back than the parent: ids[k] is the last one whose
 * seq 16^(k+1) divides, the parent included.  For reading ahead, and not to be
 * trusted: the history is what `parent` says.
 */
typedef struct fdl_ancestors {
    char ids[FDL_ANCESTORS_LIMIT][FDL_ID_BYTES];
    size_t count; /* 0: it names none */
} fdl_ancestors;

/* version.json.  Zeroed is empty; fdl_version_clear releases what it holds. */
typedef struct fdl_version {
    char *format; /* "0.1" */
    char id[FDL_ID_BYTES];
    int64_t seq;                 /* parent's + 1; the first is 1 */
    char parent[FDL_ID_BYTES];   /* "" for the first */
    fdl_ancestors ancestors;
    char created_at[FDL_TIME_BYTES];
    char *author_name;
    char *author_email; /* NULL if none */
    char *message;
    fdl_catalog_record catalog; /* the main one; its format is `ducklake.format` */
    fdl_file_record packed;     /* `catalog.zstd`: the same, packed; path NULL when absent */
    fdl_file_record dataset;
    fdl_file_record files;      /* path NULL when absent */
    fdl_catalog_record *others; /* `catalogs`, other formats */
    size_t other_count;
    int64_t snapshot_id;
    int64_t first_snapshot; /* `snapshots`: [first, last] */
    int64_t last_snapshot;
} fdl_version;

FDL_API void fdl_version_clear(fdl_version *version);

/* The bytes of version.json; `*out` is the caller's, released with free(). */
FDL_API fdl_code fdl_version_write(const fdl_version *version, char **out, size_t *length_bytes, fdl_error *error);

/*
 * Parses and checks version.json for the id it was asked under: another id
 * inside, or an unknown major version (both named), is FDL_FAILED.
 */
FDL_API fdl_code fdl_version_parse(const char *bytes, size_t length_bytes, const char *id, fdl_version *out,
                                   fdl_error *error);

/* Reads versions/<id>/version.json.  FDL_NOT_FOUND: no such version. */
FDL_API fdl_code fdl_version_read(fdl_repo *repo, const char *id, fdl_version *out, fdl_error *error);

/* The same with the bytes it was read from, for a signature is over them; released with free(). */
FDL_API fdl_code fdl_version_load(fdl_repo *repo, const char *id, fdl_version *out, char **bytes, size_t *length_bytes,
                                  fdl_error *error);

/* expired.json */
typedef struct fdl_expiry {
    bool expired;
    char expired_at[FDL_TIME_BYTES];
    char reason[16]; /* "retention" or "withdrawn" */
    char *text;      /* NULL if none */
} fdl_expiry;

FDL_API void fdl_expiry_clear(fdl_expiry *expiry);

/*
 * A version without the marker is FDL_OK with expired == false.  So is one whose
 * marker we may not read: call it once version.json was readable.
 */
FDL_API fdl_code fdl_expiry_read(fdl_repo *repo, const char *id, fdl_expiry *out, fdl_error *error);

#define FDL_REASON_RETENTION "retention"
#define FDL_REASON_WITHDRAWN "withdrawn"

/*
 * Marks a version as gone since `at_ms`; `text` may be NULL.  A marker that is
 * there stays as it is, but for a withdrawal, which replaces a retention.
 * `*written` (may be NULL) says whether this call did it.
 */
FDL_API fdl_code fdl_expiry_write(fdl_repo *repo, const char *id, const char *reason, int64_t at_ms, const char *text,
                                  bool *written, fdl_error *error);

/* Takes a marker of retention back.  None there: FDL_OK.  FDL_REFUSED: the version was withdrawn. */
FDL_API fdl_code fdl_expiry_take_back(fdl_repo *repo, const char *id, fdl_error *error);

/* ---- refs and revisions ----------------------------------------------- */

/* FDL_USAGE, naming the rule, unless `name` may name a branch or tag ("main", not "refs/heads/main"). */
FDL_API fdl_code fdl_ref_name_check(const char *name, fdl_error *error);

typedef struct fdl_ref {
    char name[FDL_REF_BYTES]; /* full: "refs/heads/main" */
    char id[FDL_ID_BYTES];    /* "" when the ref does not exist (see fdl_ref_read) */
    char etag[FDL_ETAG_LIMIT_BYTES]; /* "" when only refs.json told of it */
} fdl_ref;

/* The branch HEAD names, full, whether it exists or not. */
FDL_API fdl_code fdl_head_read(fdl_repo *repo, char branch[FDL_REF_BYTES], fdl_error *error);

/* Reads one ref by its full name.  FDL_NOT_FOUND: no such ref. */
FDL_API fdl_code fdl_ref_read(fdl_repo *repo, const char *full_name, fdl_ref *out, fdl_error *error);

/*
 * Moves a branch, or creates a ref: the value it replaces is always named.
 * `expected` is the ref as read, or NULL for "does not exist".  A lost answer is
 * settled by reading the ref: ours, or a descendant of ours, is FDL_OK; so who
 * must not take over a name that exists reads it first.  FDL_CONFLICT: it holds
 * something else, or a new name cannot live beside another ('a' and 'a/b').
 * FDL_UNCERTAIN: the ref could not be read either.
 */
FDL_API fdl_code fdl_ref_write(fdl_repo *repo, const char *full_name, const char *id, const fdl_ref *expected,
                               fdl_error *error);

/* Deletes the ref if it still is as read. */
FDL_API fdl_code fdl_ref_remove(fdl_repo *repo, const fdl_ref *ref, fdl_error *error);

typedef struct fdl_ref_list {
    fdl_ref *items; /* sorted by name: all of refs/heads/, then all of refs/tags/ */
    size_t count;
} fdl_ref_list;

/* All branches and tags: listed where the store can list, else as refs.json has them. */
FDL_API fdl_code fdl_ref_list_read(fdl_repo *repo, fdl_ref_list *out, fdl_error *error);
FDL_API void fdl_ref_list_clear(fdl_ref_list *list);

/*
 * The refs that refs.json tells of, sorted, in one read: it may lag behind.
 * FDL_NOT_FOUND: there is none; FDL_FAILED: broken.
 */
FDL_API fdl_code fdl_refs_json_read(fdl_repo *repo, fdl_ref_list *out, fdl_error *error);

/* Makes refs.json agree with HEAD and the refs; does not write when it does. */
FDL_API fdl_code fdl_refs_json_update(fdl_repo *repo, fdl_error *error);

/* Whether it does; a repository without refs needs none. */
FDL_API fdl_code fdl_refs_json_current(fdl_repo *repo, bool *current, fdl_error *error);

/* ---- requests: pushes that wait for approval --------------------------- */

typedef enum fdl_request_state {
    FDL_NOT_ASKED, /* there is no request */
    FDL_REQUEST_WAITING,
    FDL_REQUEST_APPROVED, /* and the branch will hold it, or did */
    FDL_REQUEST_REJECTED
} fdl_request_state;

/* refs/requests/<number>.  Zeroed is empty; fdl_request_clear releases what it holds. */
typedef struct fdl_request_record {
    int64_t number;              /* from 1 on; never used twice */
    char branch[FDL_REF_BYTES];  /* full */
    char version[FDL_ID_BYTES];
    char expected[FDL_ID_BYTES]; /* what the branch must hold for it; "": it must not exist */
    char *author_name;           /* who asked */
    char *author_email;          /* NULL if not known */
    char created_at[FDL_TIME_BYTES];
    fdl_request_state state;
    char *reason; /* NULL if none */
    char etag[FDL_ETAG_LIMIT_BYTES]; /* as read */
} fdl_request_record;

FDL_API void fdl_request_clear(fdl_request_record *request);

/* "waiting", "approved", "rejected", NULL for FDL_NOT_ASKED: as the document has it, and for JSON. */
FDL_API const char *fdl_request_name(fdl_request_state state);

/* FDL_NOT_FOUND: no such request.  FDL_FAILED: broken. */
FDL_API fdl_code fdl_request_read(fdl_repo *repo, int64_t number, fdl_request_record *out, fdl_error *error);

/* The numbers of all requests, rising; released with free(). */
FDL_API fdl_code fdl_request_numbers(fdl_repo *repo, int64_t **out, size_t *count, fdl_error *error);

/* Writes a new one under the next free number, which it fills in with the ETag. */
FDL_API fdl_code fdl_request_create(fdl_repo *repo, fdl_request_record *request, fdl_error *error);

/*
 * Gives a request as read another state, and a reason (NULL: none).  FDL_CONFLICT:
 * it is not as read any more.  Fills in state, reason and ETag.
 */
FDL_API fdl_code fdl_request_set(fdl_repo *repo, fdl_request_record *request, fdl_request_state state, const char *reason,
                                 fdl_error *error);

/* What a revision came to. */
typedef struct fdl_target {
    char id[FDL_ID_BYTES];
    char branch[FDL_REF_BYTES]; /* full name when the revision is a branch or HEAD, without ~N; else "" */
    char etag[FDL_ETAG_LIMIT_BYTES]; /* of that branch */
} fdl_target;

/*
 * A revision: full ref, HEAD, branch, tag, id or id prefix (8 characters or
 * more), in that order, each with an optional ~N.  NULL is HEAD.
 * FDL_NOT_FOUND: nothing of that name, or "no version yet" (then `out->branch`
 * is filled all the same).  FDL_USAGE: not a revision, or ambiguous.
 */
FDL_API fdl_code fdl_resolve(fdl_repo *repo, const char *revision, fdl_target *out, fdl_error *error);

/* ---- addresses -------------------------------------------------------- */

/* "<root>versions/<id>/<path>" and "<root><data_dir>"; released with free(). */
FDL_API fdl_code fdl_version_url(fdl_repo *repo, const char *id, const char *path, char **out, fdl_error *error);
FDL_API fdl_code fdl_data_url(fdl_repo *repo, char **out, fdl_error *error);

#ifdef __cplusplus
}
#endif
#endif
