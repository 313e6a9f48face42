/*
 * internal.h - what the files of this folder share: the repository itself, and
 * the few rules that more than one of them needs.
 */
#ifndef FDL_REPO_INTERNAL_H
#define FDL_REPO_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>

#include "fdl/repo.h"
#include "repo/layout.h"

/* fdl.json as read: `fields` points into the rest. */
typedef struct fdl_config_file {
    fdl_config fields;
    json_t *document; /* NULL: not read yet */
    char *data_dir;
    char *url;
} fdl_config_file;

struct fdl_repo {
    const fdl_context *context;
    fdl_store *store;
    fdl_config_file config;

    /*
     * The ref this object wrote last.  A store that cannot list (HTTP) gives no
     * other way to learn of a new branch when refs.json is made anew.  What it
     * holds is known too, for the first attempt at that: if somebody moved the
     * ref since, they write refs.json after us, or our If-Match fails.
     */
    char written[FDL_REF_BYTES];
    char written_id[FDL_ID_BYTES]; /* "": not known any more */
};

/* fdl_store_read for the small files of a repository; over HTTP, a web page in a file's place is FDL_FAILED and says so. */
fdl_code fdl_document_read(fdl_repo *repo, const char *key, size_t limit_bytes, char **bytes, size_t *length,
                           fdl_object *object, fdl_error *error);

/* FDL_NOT_FOUND "... is not a repository; make one with ...". */
fdl_code fdl_not_a_repository(const fdl_repo *repo, fdl_error *error);

/* FDL_FAILED: no such document.  FDL_USAGE: a field breaks its rule; the message starts with the field. */
fdl_code fdl_config_parse(const char *bytes, size_t length, fdl_config_file *out, fdl_error *error);
void fdl_config_file_clear(fdl_config_file *file);

/*
 * The `fdl` field of the document `name`: any 0.x is ours, unknown fields and
 * all; another major version is FDL_FAILED, naming both.
 */
fdl_code fdl_format_check(const char *format, const char *name, fdl_error *error);

/*
 * What holds of every version record, read or to be written.  FDL_FAILED names
 * the document and the field; text that is no UTF-8 is FDL_USAGE.
 */
fdl_code fdl_version_check(const fdl_version *version, const char *name, fdl_error *error);

/* fdl_expiry_read with the marker's ETag; "" when there is none. */
fdl_code fdl_expiry_read_state(fdl_repo *repo, const char *id, fdl_expiry *out, char etag[FDL_ETAG_LIMIT_BYTES],
                               fdl_error *error);

/* "refs/heads/main", "refs/tags/v1": as a question, and as FDL_USAGE with the rule that is broken. */
bool fdl_ref_full_name_valid(const char *full_name);
fdl_code fdl_ref_full_name_check(const char *full_name, fdl_error *error);

/* Appends a ref of that name, not read yet; at most FDL_LIMIT_REFS of them. */
fdl_code fdl_ref_list_add(fdl_ref_list *list, const char *full_name, fdl_error *error);

void fdl_ref_list_sort(fdl_ref_list *list);

/* fdl_ref_list_read, but what this process just wrote is not read again (see `written_id`). */
fdl_code fdl_ref_list_collect(fdl_repo *repo, fdl_ref_list *out, fdl_error *error);

/* Sorts the names, drops repeated ones, and reads each ref; one that is gone by now is left out. */
fdl_code fdl_ref_list_fill(fdl_repo *repo, fdl_ref_list *list, fdl_error *error);


#endif
