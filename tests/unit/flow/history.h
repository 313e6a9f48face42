/*
 * history.h - a repository with a history, in memory, for the tests of the flows
 * that look after it.  Its catalogs are real frozen catalogs, made by DuckDB;
 * their data files hold a byte.
 *
 * The repo sees its store through `trace` and `fault`; the history_ functions
 * reach past both.  `late_ms` is how much later the store's clock goes than the
 * one its objects are dated by: a way to let days pass.
 */
#ifndef FDL_TESTS_FLOW_HISTORY_H
#define FDL_TESTS_FLOW_HISTORY_H

#include "support/support.h"

#include "fdl.h"
#include "store/wrap.h"

#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)

typedef struct history {
    fdl_context context;
    fdl_trace trace;
    fdl_fault fault;
    fdl_store *inner;
    fdl_repo *repo;
    fdl_error error;
    char *folder; /* of this machine, for catalogs on their way */
    struct history_object *saved;
    size_t saved_count;
} history;

/* How late it is; for all histories. */
extern int64_t late_ms;

/* fdl.json and HEAD. */
void history_open(history *h);
void history_close(history *h);

/*
 * A version, complete in the store with all its data files.  `number` is 1 to
 * 99 and makes its id; `parent` is a number too, 0 for none.  `files` are words:
 *     "a"            data/main/t/a.parquet
 *     "people.a"     the same in another table
 *     "a/d:3"        with a delete file d.parquet of 3 rows
 */
const char *history_version(history *h, int number, int parent, const char *files);

/* "019a0000-0000-7000-8000-0000000000NN"; lives for ever. */
const char *history_id(int number);

/* The ref "heads/main" or "tags/v1" now points to a version. */
void history_ref(history *h, const char *name, int number);

/* "refs/requests/<number>": the push of a version onto main, and its state. */
void history_request(history *h, int number, int version, const char *state);

void history_put(history *h, const char *key, const char *text);
void history_remove(history *h, const char *key);
bool history_has(history *h, const char *key);
/* Released with free(). */
char *history_get(history *h, const char *key);

/* Whether "data/main/t/<name>.parquet" is there; "people.a" as above. */
bool history_has_data(history *h, const char *name);
/* Whether a version has its catalog; the reason in its marker, "" when there is none. */
bool history_has_catalog(history *h, int number);
const char *history_reason(history *h, int number);

/* Remembers all objects, and brings them back, with a new repo and no faults. */
void history_save(history *h);
void history_rewind(history *h);

/* Fails the test unless `call` returns `wanted`. */
#define expect(h, wanted, call) expect_code(wanted, call, &(h)->error)

/*
 * Calls `work` with each store call failing in turn, by `kind` and `code`, on a
 * rewound history; then again without a fault, which must be FDL_OK; then
 * `check`.  Ends when no call is left to fail, and says how many there were.
 * Answers are lost of calls that change something.
 */
typedef fdl_code (*history_work)(history *h);
size_t history_sweep(history *h, fdl_fault_kind kind, fdl_code code, history_work work, void (*check)(history *h));

#endif
