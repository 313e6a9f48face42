/*
 * dbt.h - what a dbt project says about its tables.
 */
#ifndef FDL_REPO_DBT_H
#define FDL_REPO_DBT_H

#include <jansson.h>
#include <stddef.h>

#include "fdl/error.h"

#define FDL_DBT_MANIFEST "manifest.json"
#define FDL_LIMIT_DBT_BYTES (256u << 20)

/*
 * The descriptions of models, seeds and snapshots in a manifest.json, and of
 * their columns, in the shape of dataset.json: {"tables": [{schema, name,
 * comment?, columns: [{name, comment}]}]}.  What has no description is left
 * out, and so are ephemeral models, which make no table.
 *
 * dbt may write to several databases.  When one of them is called "lake", as
 * fdl names the catalog in the statements it prints, only its tables count.
 *
 * `name` is what the file is called in errors.  FDL_REFUSED: it is no manifest
 * of dbt, or two databases describe a table of the same name.
 */
fdl_code fdl_dbt_words(const char *bytes, size_t length, const char *name, json_t **out, fdl_error *error);

#endif
