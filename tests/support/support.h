/*
 * support.h - what tests of every folder use: cmocka in the one order it can be
 * included in, expectations that print the error's line, scratch folders, and
 * work done in other processes.
 */
#ifndef FDL_TESTS_SUPPORT_H
#define FDL_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fdl/error.h"

/* Fails the test, printing the error's line, unless `call` returns `wanted` and `error` agrees. */
#define expect_code(wanted, call, error) test_expect(wanted, call, error, #call, __FILE__, __LINE__)
#define expect_ok(call, error) test_expect(FDL_OK, call, error, #call, __FILE__, __LINE__)
void test_expect(fdl_code wanted, fdl_code got, const fdl_error *error, const char *call, const char *file, int line);

/* Fails the test unless the error's message has `part` in it. */
#define expect_said(part, error) test_expect_said(part, error, __FILE__, __LINE__)
void test_expect_said(const char *part, const fdl_error *error, const char *file, int line);

/* A new empty folder below $TMPDIR or /tmp; dropping removes it with all in it and frees the path. */
char *test_scratch_make(void);
void test_scratch_drop(char *path);

/* "<folder>/<name>", released with free(). */
char *test_path(const char *folder, const char *name);

/*
 * Mounts a small, empty file system in memory (tmpfs) on `folder`, in a mount
 * namespace of this process alone; works for root and where user namespaces are
 * allowed.  False when the machine does neither.  Call it in a forked child.
 */
bool test_mount_small(const char *folder, size_t size_bytes);

/*
 * Runs `work(data, number)` in `count` processes at once, which start together,
 * and waits for all.  Each returns 0 when it is satisfied; the test fails with
 * the first number that was not.  cmocka's assertions do not work in there.
 */
void test_in_processes(int count, int (*work)(void *data, int number), void *data);

/* Zeroed memory that forked processes share; released by test_shared_drop. */
void *test_shared_make(size_t size_bytes);
void test_shared_drop(void *memory, size_t size_bytes);

#endif
