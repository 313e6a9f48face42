/*
 * test_freeze_views.c - which views are told to be their author's alone.
 */
#include "work.h"

static void views_that_work_under_any_alias_are_not_mentioned(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE SCHEMA s; CREATE TABLE t(a INT, st STRUCT(x INT)); CREATE TABLE s.u(a INT); "
                 "CREATE VIEW v1 AS SELECT * FROM lake.t; CREATE VIEW v2 AS SELECT lake.main.t.a FROM lake.main.t; "
                 "CREATE VIEW v3 AS SELECT * FROM t; CREATE VIEW v4 AS SELECT u.a, t.st.x FROM s.u, main.t; "
                 "CREATE VIEW v5 AS SELECT count(*) FROM information_schema.tables; "
                 "CREATE VIEW v6 AS WITH c AS (SELECT 'other.t' AS x, * FROM lake.t) SELECT * FROM c WHERE a IN "
                 "(SELECT a FROM s.u); "
                 "CREATE MACRO m1(x) AS x + 1; CREATE MACRO m2(x) AS (SELECT count(*) FROM t WHERE a = x); "
                 "CREATE MACRO m3(x) AS TABLE SELECT * FROM s.u WHERE a = x");
    bench_freeze(b);
    assert_string_equal(b->notes, "");
}

static void views_and_macros_that_keep_an_alias_are_named(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE SCHEMA s; CREATE TABLE t(a INT); ATTACH ':memory:' AS other; CREATE TABLE other.x(a INT); "
                 "CREATE VIEW ok AS SELECT 1 AS a; CREATE VIEW v1 AS SELECT * FROM other.x; "
                 "CREATE VIEW s.\"v'2\" AS SELECT * FROM t WHERE a IN (SELECT a FROM other.main.x); "
                 "CREATE MACRO m1(x) AS (SELECT count(*) FROM lake.t WHERE a = x); "
                 "CREATE MACRO m2(x) AS TABLE SELECT * FROM lake.main.t; USE memory; DETACH other; USE lake");
    bench_freeze(b);
    assert_non_null(strstr(b->notes, "the view 'main.v1' names the catalog 'other'"));
    assert_non_null(strstr(b->notes, "the view 's.v'2' names the catalog 'other'"));
    assert_non_null(strstr(b->notes, "the macro 'main.m1' names the catalog 'lake'"));
    assert_non_null(strstr(b->notes, "the macro 'main.m2' names the catalog 'lake'"));
    assert_null(strstr(b->notes, "main.ok"));
}

static void a_view_that_cannot_be_parsed_stops_nothing(void **state) {
    bench *b = *state;
    bench_run(b, "CREATE VIEW v AS SELECT 1 AS a");
    sqlite_run(b->work, "UPDATE ducklake_view SET sql = 'SELEKT ''; DROP TABLE x; -- {DUCKLAKE_CATALOG}'");
    bench_freeze(b);
    sqlite_run(b->work, "UPDATE ducklake_view SET sql = ''");
    bench_freeze(b);
    sqlite_run(b->work, "UPDATE ducklake_view SET sql = NULL");
    bench_freeze(b);
    assert_string_equal(b->notes, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(views_that_work_under_any_alias_are_not_mentioned, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(views_and_macros_that_keep_an_alias_are_named, bench_make, bench_drop),
        cmocka_unit_test_setup_teardown(a_view_that_cannot_be_parsed_stops_nothing, bench_make, bench_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
