/*
 * test_parallel.c - a bounded crew over many tasks, and work beside the caller.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "util/aside.h"
#include "util/parallel.h"

#define TASKS 1000

typedef struct work {
    atomic_int done[TASKS];
    atomic_int at_once;
    atomic_int most_at_once;
    size_t fails; /* the task that does; TASKS: none */
} work;

static fdl_code task(void *data, size_t index, fdl_error *error) {
    work *w = data;
    int now = atomic_fetch_add(&w->at_once, 1) + 1;
    for (int most = atomic_load(&w->most_at_once); now > most;)
        if (atomic_compare_exchange_weak(&w->most_at_once, &most, now))
            break;
    atomic_fetch_add(&w->done[index], 1);
    atomic_fetch_sub(&w->at_once, 1);
    return index == w->fails ? fdl_fail(error, FDL_NOT_FOUND, "key", "task %zu", index) : FDL_OK;
}

static void every_task_is_done_once_and_no_more_at_once_than_asked(void **state) {
    (void)state;
    for (int jobs = 1; jobs <= 4; jobs++) {
        work w = {.fails = TASKS};
        fdl_error error;
        assert_int_equal(fdl_parallel(TASKS, jobs, task, &w, &error), FDL_OK);
        for (size_t i = 0; i < TASKS; i++)
            assert_int_equal(atomic_load(&w.done[i]), 1);
        assert_in_range(atomic_load(&w.most_at_once), 1, jobs);
    }
}

static void a_failure_is_returned_with_its_words_and_stops_what_was_not_begun(void **state) {
    (void)state;
    work w = {.fails = 10};
    fdl_error error = {0};
    assert_int_equal(fdl_parallel(TASKS, 4, task, &w, &error), FDL_NOT_FOUND);
    assert_string_equal(error.message, "task 10");
    assert_string_equal(error.key, "key");
    size_t done = 0;
    for (size_t i = 0; i < TASKS; i++)
        done += (size_t)atomic_load(&w.done[i]);
    assert_in_range(done, 11, TASKS);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(atomic_load(&w.done[i]), 1);
}

static pthread_t caller;

static fdl_code on_caller(void *data, size_t index, fdl_error *error) {
    (void)data, (void)index;
    return pthread_equal(caller, pthread_self()) ? FDL_OK : fdl_fail(error, FDL_FAILED, NULL, "another thread");
}

static void one_job_makes_no_thread_and_no_task_is_no_work(void **state) {
    (void)state;
    fdl_error error;
    caller = pthread_self();
    assert_int_equal(fdl_parallel(5, 1, on_caller, NULL, &error), FDL_OK);
    assert_int_equal(fdl_parallel(1, 8, on_caller, NULL, &error), FDL_OK);
    assert_int_equal(fdl_parallel(0, 8, on_caller, NULL, &error), FDL_OK);
}

typedef struct aside_work {
    atomic_bool may_end;
    fdl_code code;
} aside_work;

static fdl_code wait_and_return(void *data, fdl_error *error) {
    aside_work *w = data;
    while (!atomic_load(&w->may_end))
        sched_yield();
    return w->code == FDL_OK ? FDL_OK : fdl_fail(error, w->code, "key", "aside");
}

static void work_aside_goes_on_beside_the_caller_and_its_failure_is_told_once(void **state) {
    (void)state;
    fdl_aside aside = {0};
    fdl_error error = {0};
    assert_int_equal(fdl_aside_end(&aside, &error), FDL_OK); /* none */
    for (int fails = 0; fails <= 1; fails++) {
        aside_work w = {.code = fails ? FDL_REFUSED : FDL_OK};
        fdl_aside_start(&aside, wait_and_return, &w);
        atomic_store(&w.may_end, true); /* only reached if the caller went on */
        assert_int_equal(fdl_aside_end(&aside, &error), w.code);
        assert_int_equal(fdl_aside_end(&aside, &error), FDL_OK);
    }
    assert_string_equal(error.message, "aside");
    assert_string_equal(error.key, "key");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_done_once_and_no_more_at_once_than_asked),
        cmocka_unit_test(a_failure_is_returned_with_its_words_and_stops_what_was_not_begun),
        cmocka_unit_test(one_job_makes_no_thread_and_no_task_is_no_work),
        cmocka_unit_test(work_aside_goes_on_beside_the_caller_and_its_failure_is_told_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
