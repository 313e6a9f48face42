/*
 * race.c - sixteen writers on one key, round after round.
 *
 *     race ADDRESS ROUNDS
 *
 * In odd rounds the key is new and all create it; in even ones all have seen the
 * same state and replace it.  Prints the rounds that had not exactly one winner,
 * or left other bytes than the winner's, and ends with 1 when there are any.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fdl/store.h"

#define WRITERS 16

typedef struct writer {
    fdl_store *store;
    pthread_barrier_t *start;
    char key[64];
    char text[64];
    fdl_condition condition;
    fdl_code code;
    fdl_error error;
} writer;

static void *write_once(void *data) {
    writer *w = data;
    fdl_source source = {.bytes = w->text, .length_bytes = strlen(w->text)};
    pthread_barrier_wait(w->start);
    w->code = fdl_store_put(w->store, w->key, &source, w->condition, NULL, &w->error);
    return NULL;
}

/* Prints what is wrong; 0 when nothing is. */
static int judge(writer *writers, int round) {
    int winners = 0;
    int winner = 0;
    for (int i = 0; i < WRITERS; i++) {
        if (writers[i].code == FDL_OK) {
            winners++;
            winner = i;
        } else if (writers[i].code != FDL_CONFLICT) {
            printf("round %d: writer %d: %s\n", round, i, writers[i].error.message);
            return 1;
        }
    }
    char *bytes = NULL;
    size_t length;
    fdl_error error;
    if (fdl_store_read(writers[0].store, writers[0].key, 100, &bytes, &length, NULL, &error) != FDL_OK) {
        printf("round %d: %s\n", round, error.message);
        return 1;
    }
    int wrong = winners != 1 || strcmp(bytes, writers[winner].text) != 0;
    if (wrong)
        printf("round %d: %d winners, and '%s' is there\n", round, winners, bytes);
    free(bytes);
    return wrong;
}

static int run_round(writer *writers, int round, const char *etag) {
    pthread_t threads[WRITERS];
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, WRITERS);
    for (int i = 0; i < WRITERS; i++) {
        writers[i].start = &start;
        writers[i].condition =
            etag ? (fdl_condition){.kind = FDL_IF_MATCH, .etag = etag} : (fdl_condition){.kind = FDL_IF_ABSENT};
        snprintf(writers[i].key, sizeof writers[i].key, "refs/heads/race-%d", (round + 1) / 2);
        snprintf(writers[i].text, sizeof writers[i].text, "round %d writer %d", round, i);
        if (pthread_create(&threads[i], NULL, write_once, &writers[i]) != 0)
            exit(2);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
    return judge(writers, round);
}

int main(int argc, char **argv) {
    static writer writers[WRITERS];
    fdl_error error;
    int wrong = 0;
    long rounds = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
    if (rounds < 1)
        return 2;
    for (int i = 0; i < WRITERS; i++) {
        if (fdl_store_open(NULL, argv[1], &writers[i].store, &error) != FDL_OK) {
            printf("%s\n", error.message);
            return 1;
        }
    }
    for (int round = 1; round <= rounds; round++) {
        fdl_object seen;
        bool create = round % 2 == 1;
        if (!create && fdl_store_head(writers[0].store, writers[0].key, &seen, &error) != FDL_OK)
            wrong++;
        else
            wrong += run_round(writers, round, create ? NULL : seen.etag);
    }
    for (int i = 0; i < WRITERS; i++)
        fdl_store_free(writers[i].store);
    printf("%ld rounds, %d wrong\n", rounds, wrong);
    return wrong > 0;
}
