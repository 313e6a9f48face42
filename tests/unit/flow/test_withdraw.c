/*
 * test_withdraw.c - what a withdrawal takes along, what stays, what is in its
 * way, and what is left when it is stopped or not alone.
 */
#include "history.h"

#include "repo/layout.h"
#include "util/text.h"

static fdl_code withdraw_with(history *h, fdl_withdraw_options options, fdl_withdraw_result *result) {
    return fdl_withdraw(h->repo, &options, result, &h->error);
}

static fdl_code withdraw(history *h, int number) {
    fdl_withdraw_result result = {0};
    const char *revisions[] = {history_id(number)};
    fdl_code code = withdraw_with(
        h, (fdl_withdraw_options){.revisions = revisions, .revision_count = 1, .confirmed = true, .text = "a mistake"},
        &result);
    fdl_withdraw_result_clear(&result);
    return code;
}

static fdl_code withdraw_table(history *h, const char *table) {
    fdl_withdraw_result result = {0};
    fdl_code code = withdraw_with(h, (fdl_withdraw_options){.table = table, .confirmed = true}, &result);
    fdl_withdraw_result_clear(&result);
    return code;
}

/* "1w 2 3": version, 'w' or 'r' for its marker, 'c' when a live one has no catalog, 'x' when a gone one has. */
static void expect_state(history *h, int count, const char *wanted) {
    char text[400] = "";
    size_t length = 0;
    for (int i = 1; i <= count; i++) {
        const char *reason = history_reason(h, i);
        bool catalog = history_has_catalog(h, i);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%d%.1s%s", i > 1 ? " " : "", i, reason,
                                   catalog == (*reason == '\0') ? "" : catalog ? "x" : "c");
    }
    assert_string_equal(text, wanted);
}

static void expect_data(history *h, const char *names, const char *wanted) {
    char text[400] = "", copy[400], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", names);
    for (char *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        if (history_has_data(h, name))
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? " " : "", name);
    assert_string_equal(text, wanted);
}

/* ---- what goes ----------------------------------------------------------------------------- */

static void the_version_and_all_that_name_its_data_go_with_their_tags(void **state) {
    (void)state;
    history h;
    history_open(&h);
    history_version(&h, 1, 0, "a");
    history_version(&h, 2, 1, "a b");
    history_version(&h, 3, 2, "c");
    history_version(&h, 4, 1, "a x"); /* no ref leads to it */
    history_ref(&h, "heads/main", 3);
    history_ref(&h, "tags/v2", 2);
    history_ref(&h, "tags/v3", 3);
    expect(&h, FDL_OK, withdraw(&h, 1));
    expect_state(&h, 4, "1w 2w 3 4w");
    expect_data(&h, "a b c x", "c");
    assert_false(history_has(&h, "refs/tags/v2"));
    assert_true(history_has(&h, "refs/tags/v3"));
    char *refs = history_get(&h, "refs.json");
    assert_null(strstr(refs, "tags/v2"));
    free(refs);
    fdl_expiry expiry = {0};
    expect(&h, FDL_OK, fdl_expiry_read(h.repo, history_id(2), &expiry, &h.error));
    assert_string_equal(expiry.text, "a mistake");
    fdl_expiry_clear(&expiry);
    history_close(&h);
}

static void what_a_branch_reads_unchanged_stays(void **state) {
    (void)state;
    history h;
    fdl_withdraw_result result = {0};
    const char *revisions[] = {history_id(1)};
    history_open(&h);
    history_version(&h, 1, 0, "people.p town.t/d:2");
    history_version(&h, 2, 1, "people.q town.t/d:2");
    history_ref(&h, "heads/main", 2);
    expect(&h, FDL_OK,
           withdraw_with(&h, (fdl_withdraw_options){.revisions = revisions, .revision_count = 1, .confirmed = true},
                         &result));
    expect_state(&h, 2, "1w 2");
    expect_data(&h, "people.p people.q town.t town.d", "people.q town.t town.d");
    assert_int_equal(result.staying, 1);
    assert_string_equal(result.readers[0].key, "data/main/town/t.parquet");
    assert_string_equal(result.readers[0].table, "town");
    assert_string_equal(result.readers[0].id, history_id(2));
    assert_string_equal(result.readers[0].ref, "refs/heads/main");
    fdl_withdraw_result_clear(&result);
    history_close(&h);
}

/* Its other files may be needed by versions that have nothing to do with it. */
static void data_of_a_version_taken_along_stays_where_others_name_it(void **state) {
    (void)state;
    history h;
    history_open(&h);
    history_version(&h, 1, 0, "b");
    history_version(&h, 2, 1, "a b");
    history_version(&h, 3, 2, "a c b");
    history_version(&h, 4, 3, "b");
    history_version(&h, 5, 4, "e");
    history_ref(&h, "heads/main", 5);
    history_version(&h, 6, 1, "c");
    const char *revisions[] = {history_id(2)};
    fdl_withdraw_result result = {0};
    history_ref(&h, "heads/dev", 6);
    history_ref(&h, "heads/old", 4);
    expect(&h, FDL_OK,
           withdraw_with(&h, (fdl_withdraw_options){.revisions = revisions, .revision_count = 1, .confirmed = true},
                         &result));
    expect_state(&h, 6, "1 2w 3w 4 5 6"); /* 'a' goes, and 3 with it; 'b' is what old reads, 'c' what dev reads */
    expect_data(&h, "a b c e", "b c e");
    assert_int_equal(result.count, 2);
    assert_true(result.items[0].given && !result.items[1].given);
    fdl_withdraw_result_clear(&result);
    history_close(&h);
}

static void everything_in_their_folders_that_shows_data_goes_and_their_story_stays(void **state) {
    (void)state;
    history h;
    static const char *const gone[] = {"files.json", "preview.html", "catalogs/0.3.duckdb", "ducklake.duckdb"};
    static const char *const stays[] = {"version.json", "version.json.sig", "dataset.json", "expired.json"};
    char key[FDL_KEY_BYTES];
    history_open(&h);
    history_version(&h, 1, 0, "a");
    history_version(&h, 2, 1, "b");
    history_ref(&h, "heads/main", 2);
    for (size_t i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "versions/%s/%s", history_id(1), i < 3 ? gone[i] : "version.json.sig");
        history_put(&h, key, "x");
    }
    expect(&h, FDL_OK, withdraw(&h, 1));
    for (size_t i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "versions/%s/%s", history_id(1), gone[i]);
        assert_false(history_has(&h, key));
        snprintf(key, sizeof key, "versions/%s/%s", history_id(1), stays[i]);
        assert_true(history_has(&h, key));
    }
    history_close(&h);
}

static void without_yes_nothing_changes_and_the_plan_is_the_same(void **state) {
    (void)state;
    history h;
    fdl_withdraw_result plan = {0}, done = {0};
    const char *revisions[] = {history_id(1)};
    history_open(&h);
    history_version(&h, 1, 0, "a");
    history_version(&h, 2, 1, "a b");
    history_version(&h, 3, 2, "c");
    history_ref(&h, "heads/main", 3);
    history_ref(&h, "tags/v2", 2);
    fdl_trace_clear(&h.trace);
    fdl_withdraw_options options = {.revisions = revisions, .revision_count = 1};
    expect(&h, FDL_OK, withdraw_with(&h, options, &plan));
    assert_int_equal(h.trace.calls[FDL_OP_PUT] + h.trace.calls[FDL_OP_REMOVE] + h.trace.calls[FDL_OP_PURGE], 0);
    options.confirmed = true;
    expect(&h, FDL_OK, withdraw_with(&h, options, &done));
    assert_int_equal(fdl_plan_count(plan.plan), 5); /* a tag, two files, two catalogs */
    assert_int_equal(fdl_plan_count(done.plan), 5);
    assert_int_equal(fdl_plan_bytes(plan.plan), fdl_plan_bytes(done.plan));
    fdl_withdraw_result_clear(&plan);
    fdl_withdraw_result_clear(&done);
    history_close(&h);
}

/* ---- by table -------------------------------------------------------------------------------- */

static void a_table_finds_its_versions_and_spares_those_it_does_not_concern(void **state) {
    (void)state;
    history h;
    history_open(&h);
    history_version(&h, 1, 0, "town.x");
    history_version(&h, 2, 1, "people.p town.x");
    history_version(&h, 3, 2, "people.p town.y");
    history_version(&h, 4, 3, "people.q town.y");
    history_version(&h, 5, 4, "people.q town.z");
    history_ref(&h, "heads/main", 5);
    expect(&h, FDL_OK, withdraw_table(&h, "main.people"));
    expect_state(&h, 5, "1 2w 3w 4 5");
    expect_data(&h, "people.p people.q town.x town.y town.z", "people.q town.x town.y town.z");
    history_close(&h);
}

static void a_file_of_the_table_that_a_branch_shares_is_in_the_way(void **state) {
    (void)state;
    history h;
    history_open(&h);
    history_version(&h, 1, 0, "people.p people.r town.x");
    history_version(&h, 2, 1, "people.r people.q town.x");
    history_ref(&h, "heads/main", 2);
    expect(&h, FDL_REFUSED, withdraw_table(&h, "main.people"));
    expect_said(history_id(2), &h.error);
    expect_said("'refs/heads/main'", &h.error);
    expect_said("data/main/people/r.parquet", &h.error);
    expect_said("'main.people'", &h.error);
    expect_said("DELETE FROM lake.\"main\".\"people\"", &h.error);
    expect_said("--allow-empty", &h.error);
    expect_state(&h, 2, "1 2");
    expect_data(&h, "people.p people.r people.q town.x", "people.p people.r people.q town.x");
    history_close(&h);
}

static void a_table_that_was_never_rewritten_is_in_the_way(void **state) {
    (void)state;
    history h;
    history_open(&h);
    history_version(&h, 1, 0, "people.p");
    history_version(&h, 2, 1, "people.p town.x");
    history_ref(&h, "heads/main", 2);
    expect(&h, FDL_REFUSED, withdraw_table(&h, "main.people"));
    expect_said("people/p.parquet", &h.error);
    expect(&h, FDL_NOT_FOUND, withdraw_table(&h, "main.nobody"));
    expect(&h, FDL_USAGE, withdraw_table(&h, "people"));
    history_close(&h);
}

static void another_branch_that_still_has_the_table_is_in_the_way(void **state) {
    (void)state;
    history h;
    history_open(&h);
    history_version(&h, 1, 0, "people.p");
    history_version(&h, 2, 1, "people.q");
    history_version(&h, 3, 1, "people.p town.x");
    history_ref(&h, "heads/main", 2);
    history_ref(&h, "heads/dev", 3);
    expect(&h, FDL_REFUSED, withdraw_table(&h, "main.people"));
    expect_said("'refs/heads/dev'", &h.error);
    expect_state(&h, 3, "1 2 3");
    history_close(&h);
}

/* ---- what is in the way ------------------------------------------------------------------------ */

static void a_branch_that_points_to_it_stops_it(void **state) {
    (void)state;
    history h;
    history_open(&h);
    history_version(&h, 1, 0, "a");
    history_version(&h, 2, 1, "b");
    history_ref(&h, "heads/main", 2);
    history_ref(&h, "heads/dev", 1);
    expect(&h, FDL_REFUSED, withdraw(&h, 1));
    expect_said("'dev'", &h.error);
    expect_state(&h, 2, "1 2");
    expect_data(&h, "a b", "a b");
    history_close(&h);
}

static void a_push_that_waits_for_approval_stops_it(void **state) {
    (void)state;
    history h;
    history_open(&h);
    history_version(&h, 1, 0, "a");
    history_version(&h, 2, 1, "b");
    history_ref(&h, "heads/main", 2);
    history_request(&h, 4, 1, "waiting");
    expect(&h, FDL_REFUSED, withdraw(&h, 1));
    expect_said("'refs/requests/4'", &h.error);
    history_close(&h);
}

static void rows_that_were_only_deleted_are_in_the_way(void **state) {
    (void)state;
    history h;
    history_open(&h);
    history_version(&h, 1, 0, "people.p");
    history_version(&h, 2, 1, "people.p/d:3");
    history_ref(&h, "heads/main", 2);
    expect(&h, FDL_REFUSED, withdraw(&h, 1));
    expect_said(history_id(2), &h.error);
    expect_said("data/main/people/p.parquet", &h.error);
    expect_said("CALL ducklake_rewrite_data_files('lake', 'people', schema => 'main'", &h.error);
    expect_said("--allow-empty", &h.error);
    expect_state(&h, 2, "1 2");
    history_version(&h, 3, 2, "people.q");
    history_ref(&h, "heads/main", 3);
    expect(&h, FDL_OK, withdraw(&h, 1));
    expect_state(&h, 3, "1w 2w 3");
    expect_data(&h, "people.p people.d people.q", "people.q");
    history_close(&h);
}

/* Whose deletes are the larger number says nothing about which rows they are. */
static void deletes_of_another_branch_are_in_the_way_even_if_fewer(void **state) {
    (void)state;
    history h;
    history_open(&h);
    history_version(&h, 1, 0, "p");
    history_version(&h, 2, 1, "p/d2:9");
    history_version(&h, 3, 1, "p/d3:1");
    history_version(&h, 4, 2, "q");
    history_ref(&h, "heads/main", 4);
    history_ref(&h, "heads/dev", 3);
    expect(&h, FDL_REFUSED, withdraw(&h, 2));
    expect_said(history_id(3), &h.error);
    history_close(&h);
}

static void a_restored_version_reads_less_and_is_not_in_the_way(void **state) {
    (void)state;
    history h;
    history_open(&h);
    history_version(&h, 1, 0, "p/d1:1");
    history_version(&h, 2, 1, "p/d2:5 x");
    history_version(&h, 3, 2, "p/d1:1");
    history_ref(&h, "heads/main", 3);
    expect(&h, FDL_OK, withdraw(&h, 2));
    expect_state(&h, 3, "1 2w 3");
    expect_data(&h, "p d1 d2 x", "p d1");
    history_close(&h);
}

static void remember_note(void *data, fdl_note_level level, const char *line) {
    (void)level;
    snprintf(data, 4000, "%s", line);
}

static void every_table_in_the_way_is_told(void **state) {
    (void)state;
    history h;
    char note[4000] = "";
    history_open(&h);
    h.context = (fdl_context){.note = remember_note, .note_data = note};
    history_version(&h, 1, 0, "a b people.p");
    history_version(&h, 2, 1, "a/d1:1 b/d2:1 people.p/d3:1");
    history_ref(&h, "heads/main", 2);
    expect(&h, FDL_REFUSED, withdraw(&h, 1));
    bool people_first = strstr(h.error.message, "people/p.parquet") != NULL;
    const char *of_people = people_first ? h.error.message : note, *of_t = people_first ? note : h.error.message;
    assert_non_null(strstr(of_people, "data/main/people/p.parquet' of table 'main.people'"));
    assert_non_null(strstr(of_t, ".parquet' (and 1 more) of table 'main.t'"));
    history_close(&h);
}

/* ---- what had expired ---------------------------------------------------------------------------- */

static void expire_by_hand(history *h, int number, const char *files) {
    char key[FDL_KEY_BYTES], text[500];
    expect(h, FDL_OK, fdl_expiry_write(h->repo, history_id(number), FDL_REASON_RETENTION, 1, NULL, NULL, &h->error));
    snprintf(key, sizeof key, "versions/%s/ducklake.duckdb", history_id(number));
    history_remove(h, key);
    snprintf(key, sizeof key, "versions/%s/files.json", history_id(number));
    snprintf(text, sizeof text, "{\"tables\":[{\"schema\":\"main\",\"name\":\"people\",\"files\":[%s]}]}",
             files ? files : "");
    if (files)
        history_put(h, key, text);
}

static void data_of_an_expired_version_goes_by_its_list(void **state) {
    (void)state;
    history h;
    history_open(&h);
    history_version(&h, 1, 0, "people.p people.r");
    history_version(&h, 2, 1, "people.r");
    history_ref(&h, "heads/main", 2);
    expire_by_hand(&h, 1, "{\"path\":\"data/main/people/p.parquet\",\"bytes\":1,\"rows\":10},"
                          "{\"path\":\"data/main/people/r.parquet\",\"bytes\":1,\"rows\":10}");
    expect(&h, FDL_OK, withdraw(&h, 1));
    expect_data(&h, "people.p people.r", "people.r");
    assert_string_equal(history_reason(&h, 1), "withdrawn");
    history_close(&h);
}

static void a_table_finds_expired_versions_whose_data_is_still_there(void **state) {
    (void)state;
    history h;
    history_open(&h);
    history_version(&h, 1, 0, "people.o");
    history_version(&h, 2, 1, "people.p");
    history_version(&h, 3, 2, "people.q");
    history_ref(&h, "heads/main", 3);
    expire_by_hand(&h, 1, "{\"path\":\"data/main/people/o.parquet\",\"bytes\":1,\"rows\":10}");
    expire_by_hand(&h, 2, "{\"path\":\"data/main/people/p.parquet\",\"bytes\":1,\"rows\":10}");
    history_remove(&h, "data/main/people/o.parquet"); /* gc had it */
    expect(&h, FDL_OK, withdraw_table(&h, "main.people"));
    expect_data(&h, "people.o people.p people.q", "people.q");
    assert_string_equal(history_reason(&h, 1), "retention");
    assert_string_equal(history_reason(&h, 2), "withdrawn");
    history_close(&h);
}

/* A bucket that keeps old versions of objects has them of what gc and expire deleted, too. */
static void what_is_gone_already_is_purged_from_a_bucket(void **state) {
    static const char *const wanted[] = {"data/main/people/p.parquet", "/ducklake.duckdb", "/files.json"};
    (void)state;
    history h;
    size_t found = 0;
    history_open(&h);
    history_version(&h, 1, 0, "people.p");
    history_version(&h, 2, 1, "people.r");
    history_ref(&h, "heads/main", 2);
    expire_by_hand(&h, 1, "{\"path\":\"data/main/people/p.parquet\",\"bytes\":1,\"rows\":10}");
    history_remove(&h, "data/main/people/p.parquet");
    fdl_repo_store(h.repo)->local = false;
    expect(&h, FDL_OK, withdraw(&h, 1));
    for (size_t i = 0; i < h.trace.line_count && found < 3; i++) { /* in this order, or a run that is stopped forgets some */
        const char *line = h.trace.lines[i];
        found += strncmp(line, "purge ", 6) == 0 && fdl_str_ends(line, wanted[found]);
    }
    assert_int_equal(found, 3);
    assert_string_equal(history_reason(&h, 1), "withdrawn");
    history_close(&h);
}

static void an_expired_version_without_a_list_is_marked_and_said_to_be_unknown(void **state) {
    (void)state;
    history h;
    fdl_withdraw_result result = {0};
    const char *revisions[] = {history_id(1)};
    history_open(&h);
    history_version(&h, 1, 0, "p");
    history_version(&h, 2, 1, "q");
    history_ref(&h, "heads/main", 2);
    expire_by_hand(&h, 1, NULL);
    expect(&h, FDL_OK,
           withdraw_with(&h, (fdl_withdraw_options){.revisions = revisions, .revision_count = 1, .confirmed = true},
                         &result));
    assert_true(result.items[0].files_unknown);
    assert_string_equal(history_reason(&h, 1), "withdrawn");
    expect_data(&h, "p q", "p q");
    fdl_withdraw_result_clear(&result);
    history_close(&h);
}

/* ---- in which order --------------------------------------------------------------------------------- */

static long place_of(const history *h, const char *line, bool last) {
    long found = -1;
    for (size_t i = 0; i < h->trace.line_count && (last || found < 0); i++)
        if (strncmp(h->trace.lines[i], line, strlen(line)) == 0)
            found = (long)i;
    return found;
}

static void tags_then_data_then_markers_then_catalogs(void **state) {
    (void)state;
    history h;
    char marker[FDL_KEY_BYTES], catalog[FDL_KEY_BYTES];
    history_open(&h);
    history_version(&h, 1, 0, "a b");
    history_version(&h, 2, 1, "c");
    history_ref(&h, "heads/main", 2);
    history_ref(&h, "tags/v1", 1);
    snprintf(marker, sizeof marker, "put versions/%s/expired.json", history_id(1));
    snprintf(catalog, sizeof catalog, "purge versions/%s/ducklake.duckdb", history_id(1));
    fdl_trace_clear(&h.trace);
    expect(&h, FDL_OK, withdraw(&h, 1));
    long order[] = {place_of(&h, "remove refs/tags/v1", true), place_of(&h, "purge data/", false),
                    place_of(&h, "purge data/", true),        place_of(&h, marker, false),
                    place_of(&h, catalog, true),               place_of(&h, "put refs.json", true)};
    for (size_t i = 0; i + 1 < sizeof order / sizeof *order; i++)
        assert_true(order[i] >= 0 && order[i] < order[i + 1]);
    history_close(&h);
}

/* ---- not alone ---------------------------------------------------------------------------------------- */

static void a_version_comes(void *data) {
    history *h = data;
    h->fault = (fdl_fault){0};
    history_version(h, 9, 1, "a x");
}

static void a_version_that_came_meanwhile_and_names_what_is_gone_goes_too(void **state) {
    (void)state;
    history h;
    fdl_withdraw_result result = {0};
    const char *revisions[] = {history_id(1)};
    history_open(&h);
    history_version(&h, 1, 0, "a");
    history_version(&h, 2, 1, "c");
    history_ref(&h, "heads/main", 2);
    h.fault = (fdl_fault){.ops = 1u << FDL_OP_PURGE,
                          .prefix = "data/",
                          .at = 1,
                          .kind = FDL_FAULT_HOOK_BEFORE,
                          .hook = a_version_comes,
                          .hook_data = &h};
    expect(&h, FDL_OK,
           withdraw_with(&h, (fdl_withdraw_options){.revisions = revisions, .revision_count = 1, .confirmed = true},
                         &result));
    assert_string_equal(history_reason(&h, 9), "withdrawn");
    assert_false(history_has_catalog(&h, 9));
    assert_int_equal(result.count, 2);
    fdl_withdraw_result_clear(&result);
    history_close(&h);
}

static void a_tag_comes(void *data) {
    history_ref(data, "tags/late", 1);
}

static void a_branch_comes(void *data) {
    history_ref(data, "heads/late", 1);
}

static void a_ref_that_came_meanwhile_is_removed_or_told(void **state) {
    (void)state;
    history h;
    for (int round = 0; round < 2; round++) {
        history_open(&h);
        history_version(&h, 1, 0, "a");
        history_version(&h, 2, 1, "c");
        history_ref(&h, "heads/main", 2);
        h.fault = (fdl_fault){.ops = 1u << FDL_OP_PURGE,
                              .prefix = "data/",
                              .at = 1,
                              .kind = FDL_FAULT_HOOK_BEFORE,
                              .hook = round == 0 ? a_tag_comes : a_branch_comes,
                              .hook_data = &h};
        expect(&h, round == 0 ? FDL_OK : FDL_REFUSED, withdraw(&h, 1));
        expect_state(&h, 2, "1w 2");
        assert_false(history_has(&h, "refs/tags/late"));
        history_close(&h);
    }
}

/* ---- stopped -------------------------------------------------------------------------------------------- */

static void open_for_sweep(history *h) {
    history_open(h);
    history_version(h, 1, 0, "a b");
    history_version(h, 2, 1, "a c b");
    history_version(h, 3, 2, "b e");
    history_ref(h, "heads/main", 3);
    history_ref(h, "tags/v2", 2);
    history_put(h, "versions/019a0000-0000-7000-8000-000000000002/preview.html", "x");
    history_save(h);
}

static fdl_code withdraw_first(history *h) {
    return withdraw(h, 1);
}

static void check_first(history *h) {
    expect_state(h, 3, "1w 2w 3");
    expect_data(h, "a b c e", "b e");
    assert_false(history_has(h, "refs/tags/v2"));
    assert_false(history_has(h, "versions/019a0000-0000-7000-8000-000000000002/preview.html"));
    char *refs = history_get(h, "refs.json");
    assert_null(strstr(refs, "tags/v2"));
    free(refs);
}

static void stopped_anywhere_it_can_be_repeated(void **state) {
    (void)state;
    history h;
    open_for_sweep(&h);
    size_t calls = history_sweep(&h, FDL_FAULT_FAIL, FDL_FAILED, withdraw_first, check_first);
    print_message("%zu calls failed in turn\n", calls);
    assert_true(calls > 30);
    assert_true(history_sweep(&h, FDL_FAULT_LOSE_ANSWER, FDL_OK, withdraw_first, check_first) > 6);
    history_close(&h);
}

/* Another one's run finds what is unfinished, too. */
static void what_a_stopped_run_left_is_finished_by_any_other(void **state) {
    (void)state;
    history h;
    open_for_sweep(&h);
    expect(&h, FDL_OK, fdl_expiry_write(h.repo, history_id(1), FDL_REASON_WITHDRAWN, 1, NULL, NULL, &h.error));
    expect(&h, FDL_OK, fdl_expiry_write(h.repo, history_id(2), FDL_REASON_WITHDRAWN, 1, NULL, NULL, &h.error));
    history_remove(&h, "data/main/t/a.parquet");
    history_remove(&h, "data/main/t/c.parquet");
    history_remove(&h, "versions/019a0000-0000-7000-8000-000000000001/ducklake.duckdb");
    expect(&h, FDL_OK, withdraw(&h, 1));
    check_first(&h);
    history_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_and_all_that_name_its_data_go_with_their_tags),
        cmocka_unit_test(what_a_branch_reads_unchanged_stays),
        cmocka_unit_test(data_of_a_version_taken_along_stays_where_others_name_it),
        cmocka_unit_test(everything_in_their_folders_that_shows_data_goes_and_their_story_stays),
        cmocka_unit_test(without_yes_nothing_changes_and_the_plan_is_the_same),
        cmocka_unit_test(a_table_finds_its_versions_and_spares_those_it_does_not_concern),
        cmocka_unit_test(a_file_of_the_table_that_a_branch_shares_is_in_the_way),
        cmocka_unit_test(a_table_that_was_never_rewritten_is_in_the_way),
        cmocka_unit_test(another_branch_that_still_has_the_table_is_in_the_way),
        cmocka_unit_test(a_branch_that_points_to_it_stops_it),
        cmocka_unit_test(a_push_that_waits_for_approval_stops_it),
        cmocka_unit_test(rows_that_were_only_deleted_are_in_the_way),
        cmocka_unit_test(deletes_of_another_branch_are_in_the_way_even_if_fewer),
        cmocka_unit_test(a_restored_version_reads_less_and_is_not_in_the_way),
        cmocka_unit_test(every_table_in_the_way_is_told),
        cmocka_unit_test(data_of_an_expired_version_goes_by_its_list),
        cmocka_unit_test(a_table_finds_expired_versions_whose_data_is_still_there),
        cmocka_unit_test(what_is_gone_already_is_purged_from_a_bucket),
        cmocka_unit_test(an_expired_version_without_a_list_is_marked_and_said_to_be_unknown),
        cmocka_unit_test(tags_then_data_then_markers_then_catalogs),
        cmocka_unit_test(a_version_that_came_meanwhile_and_names_what_is_gone_goes_too),
        cmocka_unit_test(a_ref_that_came_meanwhile_is_removed_or_told),
        cmocka_unit_test(stopped_anywhere_it_can_be_repeated),
        cmocka_unit_test(what_a_stopped_run_left_is_finished_by_any_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
