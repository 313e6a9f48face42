/*
 * sources.h - original files: the CSV or spreadsheet that tables came from.
 *
 * They are kept as sources/<sha256>, so the same bytes are there once, and listed
 * in dataset.json as "sources": [{name, bytes, sha256, url?}].  An entry without
 * a sha256 tells of an original that lies elsewhere.
 */
#ifndef FDL_FLOW_SOURCES_H
#define FDL_FLOW_SOURCES_H

#include <jansson.h>

#include "fdl/repo.h"

#define FDL_FOLDER_SOURCES "sources" /* beside a version that is not pushed yet */

/* Whether these files can be kept, each under a name of its own. */
fdl_code fdl_sources_check_paths(const char *const *paths, size_t count, fdl_error *error);

/*
 * Copies the files to "<folder>/sources/<sha256>" and lists them in `dataset`
 * by their last names: an entry of that name gets the new bytes and sha256 and
 * keeps what else it says, such as a url.
 */
fdl_code fdl_sources_keep(const char *const *paths, size_t count, const char *folder, json_t *dataset,
                          fdl_error *error);

/* FDL_REFUSED, naming the field of the document `name`, unless its "sources" are a list as above (or absent). */
fdl_code fdl_sources_check(const json_t *dataset, const char *name, fdl_error *error);

/* An original that the repository keeps; strings live until the callback returns. */
typedef struct fdl_kept_source {
    const char *name;
    const char *sha256;
    uint64_t bytes;
} fdl_kept_source;

typedef fdl_code (*fdl_kept_source_callback)(void *data, const fdl_kept_source *source, fdl_error *error);

/* Those of a dataset.json that name a sha256 and a size; others are passed over. */
fdl_code fdl_sources_each(const json_t *dataset, fdl_kept_source_callback callback, void *data, fdl_error *error);

/* "sources/<sha256>" */
#define FDL_SOURCE_KEY_BYTES (8 + FDL_SHA256_BYTES)
void fdl_source_key(char out[FDL_SOURCE_KEY_BYTES], const char *sha256);

#endif
