/*
 * dataset.h - dataset.json: the publisher's free fields, and the tables as the
 * catalog has them.
 */
#ifndef FDL_REPO_DATASET_H
#define FDL_REPO_DATASET_H

#include <jansson.h>
#include <stdbool.h>

#include "fdl/error.h"

/*
 * Joins a description with the catalog's tables.  `given` (NULL: nothing) is
 * the publisher's file or the parent's dataset.json; its free fields are kept
 * as they are, its comments and other fields on tables and columns too.
 * `tables` is what fdl_frozen_describe made; rows, bytes, files and types come
 * from there alone.  With `strict` a table or column that `given` names and the
 * catalog does not have is FDL_REFUSED, naming it; without (a parent's file) it
 * is dropped.  `name` is what `given` is called in errors.
 */
fdl_code fdl_dataset_join(const json_t *given, const char *name, const json_t *tables, bool strict, json_t **out,
                          fdl_error *error);

/*
 * Whether two dataset.json describe alike: everything but the figures that fdl
 * fills in (rows, bytes, files).
 */
bool fdl_dataset_same(const json_t *a, const json_t *b);

#endif
