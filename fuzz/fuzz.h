/*
 * fuzz.h - what the fuzz targets share.
 *
 * A target is one file with LLVMFuzzerTestOneInput: strangers' bytes in, and
 * `must` for what has to hold of whatever was accepted.  libFuzzer finds inputs
 * (`make fuzz`), replay.c runs those that are kept in corpus/<target>/ as a test.
 */
#ifndef FDL_FUZZ_H
#define FDL_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fdl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the run with the line, which libFuzzer and CTest show. */
#define must(condition)                                                                                  \
    do {                                                                                                 \
        if (!(condition)) {                                                                              \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);               \
            abort();                                                                                     \
        }                                                                                                \
    } while (0)

#define FUZZ_ID "01a22a39-c60e-74ca-83c9-ac7e85cb2016"

/* A string of the bytes up to the first NUL, in a block of just that size; released with free(). */
char *fuzz_text(const uint8_t *data, size_t size);

/* A repository in memory with fdl.json and HEAD, and one more key with the bytes given. */
fdl_repo *fuzz_repo(const char *key, const void *bytes, size_t size);

/* Writes another key; it must work. */
void fuzz_put(fdl_repo *repo, const char *key, const void *bytes, size_t size);

/* A relative path that leads nowhere else: no empty, "." or ".." part, no first '/', no control character. */
int fuzz_path_is_inside(const char *path);

/* An error is a code with one line for a person. */
void fuzz_check_error(fdl_code code, const fdl_error *error);

#endif
