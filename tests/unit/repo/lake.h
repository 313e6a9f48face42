/*
 * lake.h - a small repository for the tests of this folder, in memory or in a
 * folder, written key by key so that each test can break exactly one thing.
 */
#ifndef FDL_TESTS_REPO_LAKE_H
#define FDL_TESTS_REPO_LAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "repo/layout.h"
#include "store/wrap.h"

/* Version ids, in the order of their time; A and B share their first 8 characters, C and D more. */
#define ID_A "019a2f10-0c4d-7e88-a1b2-55c0d9e3f7aa"
#define ID_B "019a2f10-7b21-7f3a-9c55-2f0d8e1a4b6c"
#define ID_C "019a3c4e-0000-7000-8000-00000000000c"
#define ID_D "019a3c4e-0000-7000-8000-00000000000d"
#define ID_E "019a4444-0000-7000-8000-00000000000e"
#define SHA "9f2cab0000000000000000000000000000000000000000000000000000000000"

/* The repo sees its store through `trace` and `fault`; the lake_ functions below reach past both. */
typedef struct lake {
    fdl_context context;
    fdl_trace trace;
    fdl_fault fault;
    fdl_store *store; /* the repo's */
    fdl_store *inner; /* the one it wraps */
    fdl_repo *repo;
    fdl_error error;
} lake;

/* fdl.json and HEAD, in memory. */
void lake_open(lake *l);
/* Over a store that is made already; nothing is put into it. */
void lake_open_store(lake *l, fdl_store *store);
void lake_close(lake *l);

void lake_put(lake *l, const char *key, const char *text);
void lake_put_bytes(lake *l, const char *key, const void *bytes, size_t length);
void lake_remove(lake *l, const char *key);
bool lake_has(lake *l, const char *key);
/* Released with free(). */
char *lake_get(lake *l, const char *key);

/* A sound version.json with that id; `parent` may be NULL.  Released with free(). */
char *lake_version_text(const char *id, const char *parent, int64_t seq);
void lake_put_version(lake *l, const char *id, const char *parent, int64_t seq);
/* A, B and C, each the parent of the next, and main at C. */
void lake_put_history(lake *l);

/* What was asked of the store since the last time, one call a line; it forgets all of it.  Released with free(). */
char *lake_calls(lake *l);

/* Fails the test with the error's line unless `got` is `wanted`. */
#define expect(l, wanted, got) lake_expect(l, wanted, got, #got, __FILE__, __LINE__)
void lake_expect(lake *l, fdl_code wanted, fdl_code got, const char *call, const char *file, int line);

/* Whether the last error's message has `part` in it; the test fails otherwise. */
#define expect_message(l, part) lake_expect_message(l, part, __FILE__, __LINE__)
void lake_expect_message(lake *l, const char *part, const char *file, int line);

#endif
