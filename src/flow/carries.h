/*
 * carries.h - what a version carries beside its catalog: the index of its data
 * files, the catalog in other DuckLake formats.
 *
 * Each is made from the frozen catalog in the folder where the version is being
 * built, and entered in its record.
 */
#ifndef FDL_FLOW_CARRIES_H
#define FDL_FLOW_CARRIES_H

#include "catalog/catalog.h"
#include "fdl/repo.h"
#include "repo/files_json.h"

/* Every file of a frozen catalog as files.json lists it, tables without files among them. */
fdl_code fdl_carry_files(fdl_frozen *frozen, const char *data_dir, fdl_file_entry_callback callback, void *data,
                         fdl_error *error);

/* files.json.  A catalog of so many files that no reader would take the index has none; that is noted. */
fdl_code fdl_carry_index(fdl_repo *repo, fdl_frozen *frozen, const char *folder, fdl_version *version,
                         fdl_error *error);

/*
 * catalogs/<format>.duckdb, for each format that fdl.json asks for today.  One
 * that fdl cannot write, or that cannot say something of this catalog, is left
 * out with a warning.
 */
fdl_code fdl_carry_formats(fdl_repo *repo, const char *folder, fdl_version *version, fdl_error *error);

/* The catalog packed, for readers who want all of it. */
fdl_code fdl_carry_packed(const char *folder, fdl_version *version, fdl_error *error);

/* The record of "<folder>/<name>": its path, size and sha256. */
fdl_code fdl_carry_record(const char *folder, const char *name, fdl_file_record *out, fdl_error *error);

#endif
