/*
 * contract_race.c - the contract under real races: several threads, each with a
 * store of its own on the same place, and all on one store.
 */
#include <pthread.h>

#include "store/contract_tests.h"

#define RACERS 8

static bool one_store_for_all;

/* One thread's part.  cmocka's assertions belong to the main thread: failures are counted and told there. */
typedef struct racer {
    fdl_store *store;
    int number;
    int rounds;
    int wins;
    int failures;
    fdl_error error;
    struct race *race;
} racer;

typedef struct race {
    racer racers[RACERS];
    pthread_barrier_t start; /* every round begins together */
} race;

static void check(racer *r, fdl_code code) {
    r->failures += code != FDL_OK;
}

static void run_race(void **state, void *(*work)(void *racer), race *together) {
    pthread_t threads[RACERS];
    const contract_place *place = contract_current();
    assert_int_equal(pthread_barrier_init(&together->start, NULL, RACERS), 0);
    for (int i = 0; i < RACERS; i++) {
        together->racers[i] = (racer){.store = one_store_for_all ? *state : place->open_again(place->data),
                                      .number = i,
                                      .rounds = place->race_rounds ? place->race_rounds : 20,
                                      .race = together};
        assert_non_null(together->racers[i].store);
    }
    for (int i = 0; i < RACERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &together->racers[i]), 0);
    for (int i = 0; i < RACERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < RACERS; i++) {
        racer *r = &together->racers[i];
        if (r->failures)
            fail_msg("racer %d failed %d times, last: %s", i, r->failures, r->error.message);
        if (!one_store_for_all)
            fdl_store_free(r->store);
    }
    pthread_barrier_destroy(&together->start);
}

static int all_wins(const race *together) {
    int wins = 0;
    for (int i = 0; i < RACERS; i++)
        wins += together->racers[i].wins;
    return wins;
}

/* ---- creations ----------------------------------------------------------- */

static void *create_keys(void *data) {
    racer *r = data;
    for (int round = 0; round < r->rounds; round++) {
        char key[32];
        char text[32];
        snprintf(key, sizeof key, "race/%d/key", round);
        snprintf(text, sizeof text, "racer %d", r->number);
        fdl_source source = {.bytes = text, .length_bytes = strlen(text)};
        pthread_barrier_wait(&r->race->start);
        fdl_code code = fdl_store_put(r->store, key, &source, (fdl_condition){.kind = FDL_IF_ABSENT}, NULL, &r->error);
        r->wins += code == FDL_OK;
        check(r, code == FDL_CONFLICT ? FDL_OK : code);

        /* Winner or not: what is there now is some racer's, whole. */
        char *bytes = NULL;
        size_t length;
        check(r, fdl_store_read(r->store, key, 100, &bytes, &length, NULL, &r->error));
        r->failures += !bytes || length != 7 || (code == FDL_OK && strcmp(bytes, text) != 0);
        free(bytes);
    }
    return NULL;
}

static void test_of_racing_creations_one_wins(void **state) {
    race together = {0};
    run_race(state, create_keys, &together);
    assert_int_equal(all_wins(&together), together.racers[0].rounds);
}

/* ---- compare and swap ---------------------------------------------------- */

/* Adds one to the number at the key unless somebody else does; FDL_CONFLICT when he did. */
static fdl_code add_one(fdl_store *store, const char *key, fdl_error *error) {
    char *bytes = NULL;
    char text[32];
    size_t length;
    fdl_object seen;
    fdl_code code = fdl_store_read(store, key, 100, &bytes, &length, &seen, error);
    if (code != FDL_OK)
        return code;
    snprintf(text, sizeof text, "%08ld", strtol(bytes, NULL, 10) + 1);
    free(bytes);
    fdl_source source = {.bytes = text, .length_bytes = strlen(text)};
    return fdl_store_put(store, key, &source, (fdl_condition){.kind = FDL_IF_MATCH, .etag = seen.etag}, NULL, error);
}

static void *count_up(void *data) {
    racer *r = data;
    pthread_barrier_wait(&r->race->start);
    for (int round = 0; round < r->rounds; round++) {
        fdl_code code = add_one(r->store, "counter", &r->error);
        r->wins += code == FDL_OK;
        check(r, code == FDL_CONFLICT ? FDL_OK : code);
    }
    return NULL;
}

static void test_no_swap_is_lost(void **state) {
    race together = {0};
    fdl_error error;
    char *bytes = NULL;
    size_t length;
    fdl_source zero = {.bytes = "00000000", .length_bytes = 8};
    expect_ok(fdl_store_put(*state, "counter", &zero, (fdl_condition){.kind = FDL_ALWAYS}, NULL, &error), &error);
    run_race(state, count_up, &together);
    expect_ok(fdl_store_read(*state, "counter", 100, &bytes, &length, NULL, &error), &error);
    assert_int_equal(strtol(bytes, NULL, 10), all_wins(&together));
    assert_true(all_wins(&together) > 0);
    free(bytes);
}

/* ---- reading what is being replaced -------------------------------------- */

/* State n of the object: n times STATE_BYTES, all of them the nth letter. */
#define STATES 5
#define STATE_BYTES 300000

static void put_state(racer *r, char *room, int n) {
    size_t length = (size_t)n * STATE_BYTES;
    memset(room, 'a' + n, length);
    fdl_source source = {.bytes = room, .length_bytes = length};
    check(r, fdl_store_put(r->store, "object", &source, (fdl_condition){.kind = FDL_ALWAYS}, NULL, &r->error));
}

static void read_state(racer *r) {
    char *bytes = NULL;
    size_t length = 0;
    fdl_object object = {0};
    check(r, fdl_store_read(r->store, "object", STATES * STATE_BYTES, &bytes, &length, &object, &r->error));
    size_t n = length / STATE_BYTES;
    bool whole = bytes && n >= 1 && n <= STATES && length == n * STATE_BYTES && object.size_bytes == length;
    for (size_t i = 0; whole && i < length; i++)
        whole = bytes[i] == (char)('a' + n);
    r->failures += !whole;
    free(bytes);
}

static void *replace_or_read(void *data) {
    racer *r = data;
    char *room = malloc(STATES * STATE_BYTES);
    r->failures += !room;
    pthread_barrier_wait(&r->race->start);
    for (int round = 0; room && round < r->rounds; round++) {
        if (r->number < 2)
            put_state(r, room, 1 + (round + r->number) % STATES);
        else
            read_state(r);
    }
    free(room);
    return NULL;
}

static void test_a_reader_meets_one_state_while_others_replace_it(void **state) {
    race together = {0};
    fdl_error error;
    char *bytes = malloc(STATE_BYTES);
    assert_non_null(bytes);
    memset(bytes, 'a' + 1, STATE_BYTES);
    fdl_source first = {.bytes = bytes, .length_bytes = STATE_BYTES};
    expect_ok(fdl_store_put(*state, "object", &first, (fdl_condition){.kind = FDL_ALWAYS}, NULL, &error), &error);
    free(bytes);
    run_race(state, replace_or_read, &together);
}

/* ---- listing what is being changed --------------------------------------- */

static fdl_code count_stay(void *data, const fdl_entry *entry, fdl_error *error) {
    (void)error;
    *(int *)data += strstr(entry->key, "stay") != NULL;
    return FDL_OK;
}

static void *come_and_go(void *data) {
    racer *r = data;
    pthread_barrier_wait(&r->race->start);
    for (int round = 0; round < r->rounds; round++) {
        if (r->number < 4) {
            char key[40];
            snprintf(key, sizeof key, "d/%d/come-and-go", round % 7);
            fdl_source source = {.bytes = key, .length_bytes = strlen(key)};
            check(r, fdl_store_put(r->store, key, &source, (fdl_condition){.kind = FDL_ALWAYS}, NULL, &r->error));
            check(r, fdl_store_remove(r->store, key, (fdl_condition){.kind = FDL_ALWAYS}, &r->error));
            continue;
        }
        int found = 0;
        check(r, fdl_store_list(r->store, "d/", FDL_ALL_LEVELS, count_stay, &found, &r->error));
        r->failures += found != 7;
    }
    return NULL;
}

static void test_a_listing_misses_nothing_that_stays_while_others_come_and_go(void **state) {
    race together = {0};
    fdl_error error;
    for (int i = 0; i < 7; i++) {
        char key[40];
        snprintf(key, sizeof key, "d/%d/stay", i);
        fdl_source source = {.bytes = key, .length_bytes = strlen(key)};
        expect_ok(fdl_store_put(*state, key, &source, (fdl_condition){.kind = FDL_ALWAYS}, NULL, &error), &error);
    }
    run_race(state, come_and_go, &together);
}

static int run_group(const char *name) {
    const struct CMUnitTest winners[] = {
        contract_test(test_of_racing_creations_one_wins),
        contract_test(test_no_swap_is_lost),
    };
    const struct CMUnitTest readers[] = {
        contract_test(test_a_reader_meets_one_state_while_others_replace_it),
        contract_test(test_a_listing_misses_nothing_that_stays_while_others_come_and_go),
    };
    int failed = 0;
    if (!contract_current()->lets_two_win)
        failed += _cmocka_run_group_tests(name, winners, sizeof winners / sizeof *winners, NULL, NULL);
    return failed + _cmocka_run_group_tests(name, readers, sizeof readers / sizeof *readers, NULL, NULL);
}

int contract_run_races(void) {
    one_store_for_all = true;
    int failed = run_group("races on one store");
    one_store_for_all = false;
    return contract_current()->open_again ? failed + run_group("races of stores") : failed;
}
