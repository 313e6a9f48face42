/*
 * contract.h - the promises of fdl/store.h as tests, for every backend.
 *
 * A backend's own test program fills a contract_place, calls contract_run from
 * its main, and adds to the result what its own tests (cmocka groups) return:
 *
 *     int main(void) {
 *         contract_place place = {.name = "folder", .open = open_fresh, ...};
 *         return contract_run(&place) + cmocka_run_group_tests(own, NULL, NULL);
 *     }
 *
 * Every test starts on an empty place of its own.  Races are run with all
 * threads on one store, and, where open_again is given, with a store for each.
 */
#ifndef FDL_TESTS_STORE_CONTRACT_H
#define FDL_TESTS_STORE_CONTRACT_H

#include "fdl/store.h"
#include "support/support.h"

typedef struct contract_place {
    const char *name; /* shown with each test */
    void *data;

    /* A store on a place that holds nothing; called once a test. */
    fdl_store *(*open)(void *data);
    /* One more store on the place last opened; NULL when a place has only one (memory).  Called from one thread. */
    fdl_store *(*open_again)(void *data);
    /* After the stores were freed: clears the place away.  May be NULL. */
    void (*close)(void *data);

    bool nests;         /* "a" and "a/b" may both be objects; false: FDL_CONFLICT */
    bool nests_unsaid;  /* it depends on the server, which does not tell why it refuses */
    bool checks_sha256; /* a put whose bytes do not have the source's sha256 fails */
    bool lets_two_win;  /* its server lets two writers through at the same moment, so nobody counts who wins */
    bool syncs;         /* sync looks for the object (others have nothing to do there) */
    int race_rounds;    /* how often the racing tests go round; 0: 20 */
} contract_place;

/* Runs the suite; returns the number of tests that failed. */
int contract_run(const contract_place *place);

#endif
