/*
 * contract_tests.h - what the files of the suite share.
 */
#ifndef FDL_TESTS_STORE_CONTRACT_TESTS_H
#define FDL_TESTS_STORE_CONTRACT_TESTS_H

#include "store/contract.h"

#define contract_test(function) cmocka_unit_test_setup_teardown(function, contract_open, contract_close)

const contract_place *contract_current(void);

/* Set-up and tear-down: `*state` is the store. */
int contract_open(void **state);
int contract_close(void **state);

int contract_run_races(void);
int contract_run_removes(void);

#endif
