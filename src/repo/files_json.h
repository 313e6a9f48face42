/*
 * files_json.h - files.json: the data files of each table, so that one can know
 * what a version needs without opening its catalog.
 *
 * It is an index and proves nothing by itself.  Read through here it is what
 * version.json says it is (size and sha256), which makes it as good as the
 * record; who would delete by it asks the catalog too.
 */
#ifndef FDL_REPO_FILES_JSON_H
#define FDL_REPO_FILES_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fdl/repo.h"
#include "util/buf.h"

/* A data file of a table.  Paths are keys: relative to the repository. */
typedef struct fdl_file_entry {
    const char *schema;
    const char *table;
    const char *path; /* when writing, NULL: the table has no file */
    uint64_t bytes;
    uint64_t rows;
    const char *delete_path; /* NULL: all its rows live */
    uint64_t delete_bytes;
    uint64_t delete_rows;
    bool ended; /* not part of the version's last snapshot, but of one it keeps */
} fdl_file_entry;

/* ---- writing: entries in the order of schema and table ------------------------- */

typedef struct fdl_files_writer {
    fdl_buf text;
    char *schema; /* of the table being written; NULL before the first */
    char *table;
    bool has_files; /* it has some already */
} fdl_files_writer;

void fdl_files_writer_init(fdl_files_writer *writer);
void fdl_files_writer_clear(fdl_files_writer *writer);
/* FDL_REFUSED: the document has grown beyond what readers take. */
fdl_code fdl_files_writer_add(fdl_files_writer *writer, const fdl_file_entry *entry, fdl_error *error);
/* The whole document is then in writer->text. */
fdl_code fdl_files_writer_end(fdl_files_writer *writer, fdl_error *error);

/* ---- reading ----------------------------------------------------------------------- */

/* Strings live until the callback returns.  Anything but FDL_OK ends the walk. */
typedef fdl_code (*fdl_file_entry_callback)(void *data, const fdl_file_entry *entry, fdl_error *error);

/*
 * Every file of the document called `name`, in its order; tables without files
 * are passed over.  It may be large, so only one file is held beside the bytes.
 * FDL_FAILED: not such a document.
 */
fdl_code fdl_files_parse(const char *bytes, size_t length, const char *name, fdl_file_entry_callback callback, void *data,
                         fdl_error *error);

/*
 * The same of a version's files.json, read whole and proved against its record
 * before the first call.  FDL_NOT_FOUND: the version has none, or it is not there.
 */
fdl_code fdl_files_read(fdl_repo *repo, const fdl_version *version, fdl_file_entry_callback callback, void *data,
                        fdl_error *error);

#endif
