/*
 * lake.h - real DuckLake catalogs for tests, in a folder of their own.
 *
 * DuckDB and its ducklake extension write them, so that what is read back is
 * what people's catalogs hold; the ones of strangers are made by spoiling those.
 */
#ifndef FDL_TEST_LAKE_H
#define FDL_TEST_LAKE_H

#include <stddef.h>

#include "catalog/catalog.h"
#include "catalog/duck.h"

/* A folder for the test to work in, its path without a final '/'; removed with all in it. */
char *lake_folder_make(void);
void lake_folder_remove(char *folder);

/* For cmocka: each test gets one of its own, `lake_folder`. */
extern char *lake_folder;
int lake_setup(void **state);
int lake_teardown(void **state);

/* "<folder>/<name>", in a buffer that lives until the eighth call from now. */
const char *lake_path(const char *folder, const char *name);

/* Runs statements, separated by ';', on the lake whose catalog is <folder>/<name> and whose data is <folder>/data/. */
void lake_run(const char *folder, const char *name, const char *sql);

/* The session of the test, with DuckDB's extensions loaded and `address` attached and used, until lake_detach. */
fdl_duck *lake_attach(const char *address, const char *alias, const char *options);
void lake_detach(const char *alias);

/* A session on it, to ask what DuckDB says, until lake_close, which writes all of it to the file. */
fdl_duck *lake_open(const char *folder, const char *name);
void lake_close(void);

/* Runs statements on the DuckDB file itself, attached as "file": how a stranger would write it. */
void lake_spoil(const char *folder, const char *name, const char *sql);

/* The first cell of a query on the lake, as a number; each name in it is found in the lake. */
int64_t lake_count(const char *folder, const char *name, const char *sql);

/* Copies <folder>/<from> to <folder>/<to>. */
void lake_copy(const char *folder, const char *from, const char *to);

/* Fails the test with the error's message when `code` is not FDL_OK. */
void must(fdl_code code, const fdl_error *error);

/* Fails unless `code` and the error are `wanted` and the message holds each of the texts (ended by NULL). */
void must_fail(fdl_code code, fdl_code wanted, const fdl_error *error, ...);

#endif
