/*
 * work.h - working catalogs for tests: written through DuckDB as a person does,
 * looked at and spoilt with SQLite itself.
 *
 * A bench is a folder with w.sqlite (the working catalog), data/ and whatever a
 * test freezes and thaws.
 */
#ifndef FDL_TEST_WORK_H
#define FDL_TEST_WORK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "catalog/catalog.h"
#include "catalog/duck.h"
#include "lake.h"

typedef struct bench {
    char *folder;
    char *work;   /* "<folder>/w.sqlite" */
    char *frozen; /* "<folder>/f.duckdb" */
    char *data;   /* "<folder>/data/" */
    char *notes;  /* every warning so far, one a line */
    fdl_context context;
    fdl_freeze_options options; /* data_path and one root, both `data` */
    fdl_freeze_result result;
    fdl_error error;
} bench;

/* cmocka's setup and teardown: `*state` is a bench with an empty working catalog. */
int bench_make(void **state);
int bench_drop(void **state);

/* Runs SQL on w.sqlite attached as "lake" and used, with the statement that checkout prints. */
void bench_run(bench *bench, const char *sql);
/* The same with rows of up to ten inlined, as by default. */
void bench_run_inlining(bench *bench, const char *sql);
/* The first cell of a query on a catalog attached as "lake"; DuckDB or SQLite by its name. */
int64_t bench_ask(bench *bench, const char *catalog, const char *sql);

/* Freezes w.sqlite to f.duckdb; the test fails when it fails. */
void bench_freeze(bench *bench);
/* Freezing is refused, and the message holds each of the texts (ended by NULL). */
void bench_refused(bench *bench, ...);
/* Replaces w.sqlite by what comes out of f.duckdb. */
void bench_thaw(bench *bench);

/* Statements and questions to a SQLite file; its text lives until the next question. */
void sqlite_run(const char *path, const char *sql);
int64_t sqlite_count(const char *path, const char *sql);
const char *sqlite_text(const char *path, const char *sql);
/* A question to a DuckDB file attached as "file". */
int64_t duck_count(const char *path, const char *sql);

#endif
