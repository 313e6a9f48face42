/*
 * dataset.h - dataset.json: the publisher's free fields, and the tables as the
 * catalog has them.
 */
#ifndef FDL_REPO_DATASET_H
#define FDL_REPO_DATASET_H

#include <jansson.h>
#include <stdbool.h>

#include "fdl/repo.h"

/*
 * Joins a description with the catalog's tables: first the free fields of
 * `given` (NULL: nothing), as they are and in their order, then "tables" as
 * fdl_frozen_describe made `tables`, each with the further fields that `given`
 * has on it and on its columns.  Rows, bytes, files and types come from the
 * catalog alone; a comment given wins over the catalog's.
 *
 * `parent_tables` tells whose words `given` are:
 *   NULL      the publisher's own file.  A table or column it names and the
 *             catalog does not have is FDL_REFUSED, naming it.
 *   not NULL  the parent's dataset.json, carried over; the parent's catalog as
 *             fdl_frozen_describe has it.  What is gone is dropped.  A comment
 *             that the parent's catalog had too was never the publisher's, so
 *             it goes on following the catalog.
 *
 * `words` (NULL: none) are those of a tool that describes tables, in the same
 * shape, each comment a string: they win over the catalog's comments and over
 * what is carried over, not over the publisher's own file.  What they say of a
 * table or column that is not there is passed over (see fdl_dataset_unheard).
 *
 * `name` is what `given` is called in errors.  FDL_REFUSED, naming the field,
 * for one of the wrong type or a table or column described twice.
 */
fdl_code fdl_dataset_join(const json_t *given, const char *name, const json_t *parent_tables, const json_t *words,
                          const json_t *tables, json_t **out, fdl_error *error);

/* Calls for each column that `words` describe and a table of the joined `dataset` does not have. */
typedef fdl_code (*fdl_unheard_callback)(void *data, const char *schema, const char *table, const char *column,
                                         fdl_error *error);
fdl_code fdl_dataset_unheard(const json_t *words, const json_t *dataset, fdl_unheard_callback callback, void *data,
                             fdl_error *error);

/*
 * The bytes of a version's dataset.json, proved against its record; NULL when it
 * is not there: an expired version may have lost it, and a mirror may hold only
 * the record.  Released with free().
 */
fdl_code fdl_dataset_read(fdl_repo *repo, const fdl_version *version, char **out, fdl_error *error);

/*
 * Whether two dataset.json describe alike: everything but the figures that fdl
 * fills in (rows, bytes, files).
 */
bool fdl_dataset_same(const json_t *a, const json_t *b);

#endif
