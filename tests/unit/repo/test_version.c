/*
 * test_version.c - version.json written and read, and what a hostile one may
 * not do; and expired.json.
 */
#include "lake.h"

#include <jansson.h>

#include "repo/history.h"

static const char example[] =
    "{\n"
    "  \"fdl\": \"0.1\",\n"
    "  \"id\": \"" ID_B "\",\n"
    "  \"seq\": 2,\n"
    "  \"parents\": [\"" ID_A "\"],\n"
    "  \"created_at\": \"2026-10-15T09:00:00Z\",\n"
    "  \"author\": { \"name\": \"bob\" },\n"
    "  \"message\": \"Add a note column\",\n"
    "  \"catalog\": { \"path\": \"ducklake.duckdb\", \"storage\": \"duckdb-v1.5.0\", "
    "\"bytes\": 4194304, \"sha256\": \"" SHA "\" },\n"
    "  \"dataset\": { \"path\": \"dataset.json\", \"bytes\": 2048, \"sha256\": \"" SHA "\" },\n"
    "  \"ducklake\": { \"format\": \"1.0\", \"snapshot_id\": 12, \"snapshots\": [8, 12] }\n"
    "}\n";

static fdl_code parse(lake *l, const char *text, const char *id, fdl_version *out) {
    return fdl_version_parse(text, strlen(text), id, out, &l->error);
}

static void a_version_is_written_one_field_a_line_in_the_documented_order(void **state) {
    (void)state;
    char *text = lake_version_text(ID_B, ID_A, 2);
    assert_string_equal(text, example);
    free(text);
}

static void the_first_version_has_an_empty_list_of_parents(void **state) {
    (void)state;
    char *text = lake_version_text(ID_A, NULL, 1);
    assert_non_null(strstr(text, "  \"parents\": [],\n"));
    free(text);
}

static void what_is_written_is_read_back_the_same(void **state) {
    (void)state;
    lake l = {0};
    fdl_version version = {0};
    expect(&l, FDL_OK, parse(&l, example, ID_B, &version));
    assert_string_equal(version.format, "0.1");
    assert_string_equal(version.id, ID_B);
    assert_int_equal(version.seq, 2);
    assert_string_equal(version.parent, ID_A);
    assert_string_equal(version.created_at, "2026-10-15T09:00:00Z");
    assert_string_equal(version.author_name, "bob");
    assert_null(version.author_email);
    assert_string_equal(version.message, "Add a note column");
    assert_string_equal(version.catalog.format, "1.0");
    assert_string_equal(version.catalog.storage, "duckdb-v1.5.0");
    assert_string_equal(version.catalog.file.path, "ducklake.duckdb");
    assert_int_equal(version.catalog.file.bytes, 4194304);
    assert_string_equal(version.catalog.file.sha256, SHA);
    assert_string_equal(version.dataset.path, "dataset.json");
    assert_int_equal(version.dataset.bytes, 2048);
    assert_null(version.files.path);
    assert_int_equal(version.other_count, 0);
    assert_int_equal(version.snapshot_id, 12);
    assert_int_equal(version.first_snapshot, 8);
    assert_int_equal(version.last_snapshot, 12);
    char *again = NULL;
    size_t length = 0;
    expect(&l, FDL_OK, fdl_version_write(&version, &again, &length, &l.error));
    assert_string_equal(again, example);
    assert_int_equal(length, strlen(example));
    free(again);
    fdl_version_clear(&version);
}

static void any_text_survives_in_messages_and_names(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "two\nlines\n\ttab\r",
                                        "\"quotes\" and \\ and ' and / and ;",
                                        "日本語 \xf0\x9f\xa6\x86",
                                        "\x01\x1f\x7f\xc2\x85",
                                        "</script>{\"a\":1}",
                                        "%s%n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lake l = {0};
        fdl_version version = {0}, again = {0};
        expect(&l, FDL_OK, parse(&l, example, ID_B, &version));
        free(version.message);
        free(version.author_name);
        version.message = strdup(texts[i]);
        version.author_name = strdup(texts[i]);
        version.author_email = strdup(texts[i]);
        char *bytes = NULL;
        size_t length = 0;
        expect(&l, FDL_OK, fdl_version_write(&version, &bytes, &length, &l.error));
        expect(&l, FDL_OK, fdl_version_parse(bytes, length, ID_B, &again, &l.error));
        assert_string_equal(again.message, texts[i]);
        assert_string_equal(again.author_name, texts[i]);
        assert_string_equal(again.author_email, texts[i]);
        free(bytes);
        fdl_version_clear(&version);
        fdl_version_clear(&again);
    }
}

static void text_that_is_no_utf8_cannot_be_written(void **state) {
    (void)state;
    lake l = {0};
    fdl_version version = {0};
    expect(&l, FDL_OK, parse(&l, example, ID_B, &version));
    free(version.message);
    version.message = strdup("caf\xe9");
    char *bytes = NULL;
    size_t length = 0;
    expect(&l, FDL_USAGE, fdl_version_write(&version, &bytes, &length, &l.error));
    expect_message(&l, "message");
    assert_null(bytes);
    fdl_version_clear(&version);
}

static void files_and_other_catalogs_are_written_when_there_are_some(void **state) {
    (void)state;
    lake l = {0};
    fdl_version version = {0}, again = {0};
    expect(&l, FDL_OK, parse(&l, example, ID_B, &version));
    version.files = version.dataset;
    version.files.path = strdup("files.json");
    version.others = calloc(2, sizeof *version.others);
    version.other_count = 2;
    for (size_t i = 0; i < 2; i++) {
        version.others[i].file = version.dataset;
        version.others[i].file.path = strdup(i ? "catalogs/0.4.duckdb" : "catalogs/0.3.duckdb");
        version.others[i].format = strdup(i ? "0.4" : "0.3");
        version.others[i].storage = strdup("duckdb-v1.0.0");
    }
    char *bytes = NULL;
    size_t length = 0;
    expect(&l, FDL_OK, fdl_version_write(&version, &bytes, &length, &l.error));
    const char *files =
        strstr(bytes, "  \"files\": { \"path\": \"files.json\", \"bytes\": 2048, \"sha256\": \"" SHA "\" },\n");
    const char *catalogs =
        strstr(bytes, "  \"catalogs\": [{ \"ducklake\": \"0.3\", \"path\": \"catalogs/0.3.duckdb\", \"storage\": "
                      "\"duckdb-v1.0.0\", \"bytes\": 2048, \"sha256\": \"" SHA "\" }, { \"ducklake\": \"0.4\"");
    assert_non_null(files);
    assert_non_null(catalogs);
    assert_true(strstr(bytes, "\"dataset\"") < files && files < catalogs &&
                catalogs < strstr(bytes, "\"ducklake\": {"));
    expect(&l, FDL_OK, fdl_version_parse(bytes, length, ID_B, &again, &l.error));
    assert_string_equal(again.files.path, "files.json");
    assert_int_equal(again.other_count, 2);
    assert_string_equal(again.others[1].format, "0.4");
    assert_string_equal(again.others[1].file.path, "catalogs/0.4.duckdb");
    free(bytes);
    fdl_version_clear(&version);
    fdl_version_clear(&again);
}

static void unknown_fields_are_passed_over(void **state) {
    (void)state;
    lake l = {0};
    fdl_version version = {0};
    json_t *document = json_loads(example, 0, NULL);
    json_object_set_new(document, "extra", json_pack("{s:[i,n]}", "deep", 1));
    json_object_set_new(json_object_get(document, "author"), "url", json_integer(1));
    json_object_set_new(json_object_get(document, "catalog"), "codec", json_true());
    json_object_set_new(document, "fdl", json_string("0.12"));
    json_object_set_new(document, "files", json_null());
    char *text = json_dumps(document, JSON_COMPACT);
    expect(&l, FDL_OK, parse(&l, text, ID_B, &version));
    assert_string_equal(version.format, "0.12");
    free(text);
    json_decref(document);
    fdl_version_clear(&version);
}

static void another_id_inside_is_a_failure_that_names_both(void **state) {
    (void)state;
    lake l = {0};
    fdl_version version = {0};
    expect(&l, FDL_FAILED, parse(&l, example, ID_A, &version));
    expect_message(&l, ID_A);
    expect_message(&l, ID_B);
    assert_string_equal(l.error.key, "versions/" ID_A "/version.json");
    assert_null(version.message);
}

static void an_unknown_major_format_is_told_before_anything_else(void **state) {
    (void)state;
    lake l = {0};
    fdl_version version = {0};
    expect(&l, FDL_FAILED, parse(&l, "{\"fdl\":\"1.0\",\"id\":\"new style\"}", ID_A, &version));
    expect_message(&l, "'1.0'");
    expect_message(&l, "'" FDL_FORMAT "'");
}

/* One field set to a value (NULL: removed); `where` is "a" or "a.b". */
static void refuses(const char *where, const char *value) {
    lake l = {0};
    fdl_version version = {0};
    json_t *document = json_loads(example, 0, NULL);
    json_t *object = document;
    const char *dot = strchr(where, '.');
    char parent[32];
    if (dot) {
        snprintf(parent, sizeof parent, "%.*s", (int)(dot - where), where);
        object = json_object_get(document, parent);
        if (!object) { /* an optional one */
            object = json_pack("{s:s, s:i, s:s}", "path", "files.json", "bytes", 1, "sha256", SHA);
            json_object_set_new(document, parent, object);
        }
    }
    const char *field = dot ? dot + 1 : where;
    if (value)
        json_object_set_new(object, field, json_loads(value, JSON_DECODE_ANY, NULL));
    else
        json_object_del(object, field);
    char *text = json_dumps(document, 0);
    fdl_code code = parse(&l, text, ID_B, &version);
    if (code != FDL_FAILED)
        fail_msg("%s = %s is taken (%s)", where, value ? value : "nothing", fdl_code_name(code));
    expect_message(&l, field);
    expect_message(&l, "versions/" ID_B "/version.json");
    assert_string_equal(l.error.key, "versions/" ID_B "/version.json");
    assert_null(version.message);
    free(text);
    json_decref(document);
}

static void every_required_field_is_required(void **state) {
    (void)state;
    static const char *const fields[] = {"fdl",
                                         "id",
                                         "seq",
                                         "parents",
                                         "created_at",
                                         "author",
                                         "message",
                                         "catalog",
                                         "dataset",
                                         "ducklake",
                                         "author.name",
                                         "catalog.path",
                                         "catalog.bytes",
                                         "catalog.sha256",
                                         "catalog.storage",
                                         "dataset.path",
                                         "dataset.bytes",
                                         "dataset.sha256",
                                         "ducklake.format",
                                         "ducklake.snapshot_id",
                                         "ducklake.snapshots",
                                         "files.path",
                                         "files.bytes",
                                         "files.sha256"};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        refuses(fields[i], NULL);
        refuses(fields[i], "true");
        refuses(fields[i], "{}");
    }
}

static void no_path_leads_out_of_the_versions_folder(void **state) {
    (void)state;
    static const char *const paths[] = {"\"\"",
                                        "\"/etc/passwd\"",
                                        "\"../x\"",
                                        "\"a/../../x\"",
                                        "\"a//b\"",
                                        "\"./a\"",
                                        "\"a/\"",
                                        "\"..\"",
                                        "\"a\\nb\"",
                                        "\"a\\u007f\"",
                                        "\"../019a2f10-0c4d-7e88-a1b2-55c0d9e3f7aa/ducklake.duckdb\""};
    static const char *const fields[] = {"catalog.path", "dataset.path", "files.path"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        for (size_t j = 0; j < sizeof fields / sizeof fields[0]; j++)
            refuses(fields[j], paths[i]);
    char path[FDL_KEY_BYTES] = "\"";
    memset(path + 1, 'a', 1020);
    path[1021] = '"';
    refuses("catalog.path", path);
}

#define THREE "\"" ID_A "\", \"" ID_A "\", \"" ID_A "\""
#define FIFTEEN THREE ", " THREE ", " THREE ", " THREE ", " THREE

static void values_out_of_their_rules_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *field, *value;
    } bad[] = {
        {"seq", "0"},
        {"seq", "-1"},
        {"seq", "1.5"},
        {"seq", "\"2\""},
        {"parents", "[\"\"]"},
        {"parents", "[\"x\"]"},
        {"parents", "[1]"},
        {"parents", "[\"" ID_A "\",\"" ID_C "\"]"},
        {"parents", "[\"" ID_B "\"]"},
        {"parents", "[\"../../../../../../../../../../../../x\"]"},
        {"ancestors", "\"" ID_A "\""},
        {"ancestors", "{}"},
        {"ancestors", "[1]"},
        {"ancestors", "[null]"},
        {"ancestors", "[" FIFTEEN ", \"" ID_A "\"]"},
        {"created_at", "\"yesterday\""},
        {"created_at", "\"2026-10-15T09:00:00+09:00\""},
        {"created_at", "\"2026-13-15T09:00:00Z\""},
        {"created_at", "\"2026-10-15T09:00:00.000000000000000000000Z\""},
        {"author.email", "1"},
        {"catalog.bytes", "-1"},
        {"catalog.bytes", "1.0"},
        {"catalog.sha256", "\"\""},
        {"catalog.sha256", "\"9F2CAB0000000000000000000000000000000000000000000000000000000000\""},
        {"catalog.sha256", "\"9f2cab000000000000000000000000000000000000000000000000000000000\""},
        {"catalog.sha256", "\"9f2cab00000000000000000000000000000000000000000000000000000000000\""},
        {"catalogs", "{}"},
        {"catalogs", "[1]"},
        {"catalogs", "[{}]"},
        {"catalogs", "[{\"ducklake\":\"0.3\",\"path\":\"../x\",\"storage\":\"v\",\"bytes\":1,\"sha256\":\"" SHA "\"}]"},
        {"ducklake.snapshot_id", "-1"},
        {"ducklake.snapshots", "[]"},
        {"ducklake.snapshots", "[1]"},
        {"ducklake.snapshots", "[1,2,3]"},
        {"ducklake.snapshots", "[12,8]"},
        {"ducklake.snapshots", "[-1,8]"},
        {"ducklake.snapshots", "[\"8\",12]"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refuses(bad[i].field, bad[i].value);
}

static void documents_that_are_no_strict_json_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "{",
                                      "null",
                                      "[]",
                                      "\"" ID_B "\"",
                                      "{\"fdl\":\"0.1\",\"fdl\":\"0.1\"}",
                                      "{}{}",
                                      "\xff",
                                      "{\"fdl\":\"\\u0000\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lake l = {0};
        fdl_version version = {0};
        expect(&l, FDL_FAILED, parse(&l, bad[i], ID_B, &version));
        expect_message(&l, "versions/" ID_B "/version.json");
    }
}

static void every_cut_of_a_document_is_refused(void **state) {
    (void)state;
    for (size_t length = 0; length + 2 < strlen(example); length++) {
        fdl_version version = {0};
        fdl_error error = {0};
        char *cut = malloc(length ? length : 1);
        memcpy(cut, example, length);
        assert_int_equal(fdl_version_parse(cut, length, ID_B, &version, &error), FDL_FAILED);
        free(cut);
    }
}

static void an_id_that_is_none_never_becomes_a_key(void **state) {
    (void)state;
    static const char *const bad[] = {"",
                                      "x",
                                      "../../etc",
                                      ID_A "/",
                                      "019A2F10-0C4D-7E88-A1B2-55C0D9E3F7AA",
                                      "019a2f10",
                                      "019a2f100c4d-7e88-a1b2-55c0d9e3f7aa-"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lake l;
        char key[FDL_KEY_BYTES];
        fdl_version version = {0};
        fdl_expiry expiry = {0};
        lake_open(&l);
        expect(&l, FDL_USAGE, fdl_key_version(key, bad[i], "version.json", &l.error));
        expect(&l, FDL_USAGE, fdl_version_read(l.repo, bad[i], &version, &l.error));
        expect(&l, FDL_USAGE, fdl_expiry_read(l.repo, bad[i], &expiry, &l.error));
        lake_close(&l);
    }
}

static void a_version_that_is_not_there_is_named(void **state) {
    (void)state;
    lake l;
    fdl_version version = {0};
    lake_open(&l);
    expect(&l, FDL_NOT_FOUND, fdl_version_read(l.repo, ID_A, &version, &l.error));
    expect_message(&l, "no version '" ID_A "'");
    lake_put_version(&l, ID_A, NULL, 1);
    expect(&l, FDL_OK, fdl_version_read(l.repo, ID_A, &version, &l.error));
    fdl_version_clear(&version);
    lake_close(&l);
}

static void a_record_larger_than_readers_take_is_neither_read_nor_written(void **state) {
    (void)state;
    lake l;
    fdl_version version = {0};
    size_t length = FDL_LIMIT_VERSION_BYTES + 1;
    char *big = malloc(length);
    memset(big, ' ', length);
    lake_open(&l);
    lake_put_bytes(&l, "versions/" ID_A "/version.json", big, length);
    expect(&l, FDL_REFUSED, fdl_version_read(l.repo, ID_A, &version, &l.error));
    expect(&l, FDL_OK, parse(&l, example, ID_B, &version));
    memset(big, 'x', length);
    big[length - 1] = '\0';
    free(version.message);
    version.message = big;
    char *bytes = NULL;
    expect(&l, FDL_REFUSED, fdl_version_write(&version, &bytes, &length, &l.error));
    expect_message(&l, "version.json");
    fdl_version_clear(&version);
    lake_close(&l);
}

static void a_parent_is_read_and_may_replace_its_child(void **state) {
    (void)state;
    lake l;
    fdl_version version = {0};
    lake_open(&l);
    lake_put_history(&l);
    expect(&l, FDL_OK, fdl_version_read(l.repo, ID_C, &version, &l.error));
    expect(&l, FDL_OK, fdl_parent_read(l.repo, &version, &version, &l.error));
    assert_string_equal(version.id, ID_B);
    fdl_version_clear(&version);
    lake_close(&l);
}

static void a_version_is_in_the_history_of_its_descendants_alone(void **state) {
    (void)state;
    lake l;
    bool found = false;
    lake_open(&l);
    lake_put_history(&l);
    lake_put_version(&l, ID_D, ID_A, 2);
    expect(&l, FDL_OK, fdl_history_has(l.repo, ID_C, ID_C, 3, &found, &l.error));
    assert_true(found);
    expect(&l, FDL_OK, fdl_history_has(l.repo, ID_C, ID_A, 1, &found, &l.error));
    assert_true(found);
    fdl_trace_clear(&l.trace);
    expect(&l, FDL_OK, fdl_history_has(l.repo, ID_C, ID_D, 2, &found, &l.error));
    assert_false(found);
    assert_int_equal(l.trace.calls[FDL_OP_GET], 2); /* none below its number */
    expect(&l, FDL_OK, fdl_history_has(l.repo, ID_A, ID_C, 3, &found, &l.error));
    assert_false(found);
    expect(&l, FDL_NOT_FOUND, fdl_history_has(l.repo, ID_E, ID_C, 3, &found, &l.error));
    lake_close(&l);
}

static void a_history_that_turns_back_on_itself_is_a_failure(void **state) {
    (void)state;
    lake l;
    fdl_version version = {0};
    lake_open(&l);
    lake_put_version(&l, ID_A, ID_C, 3);
    lake_put_version(&l, ID_C, ID_A, 3);
    expect(&l, FDL_OK, fdl_version_read(l.repo, ID_C, &version, &l.error));
    expect(&l, FDL_FAILED, fdl_parent_read(l.repo, &version, &version, &l.error));
    expect_message(&l, ID_A);
    expect_message(&l, ID_C);
    fdl_version_clear(&version);
    lake_close(&l);
}

static void a_missing_parent_is_a_broken_history_not_a_missing_version(void **state) {
    (void)state;
    lake l;
    fdl_version version = {0};
    lake_open(&l);
    lake_put_version(&l, ID_C, ID_A, 2);
    expect(&l, FDL_OK, fdl_version_read(l.repo, ID_C, &version, &l.error));
    expect(&l, FDL_FAILED, fdl_parent_read(l.repo, &version, &version, &l.error));
    expect_message(&l, ID_A);
    expect_message(&l, ID_C);
    fdl_version_clear(&version);
    lake_close(&l);
}

/* ---- expired.json ------------------------------------------------------- */

static void a_version_without_a_marker_is_alive(void **state) {
    (void)state;
    lake l;
    fdl_expiry expiry = {0};
    lake_open(&l);
    expect(&l, FDL_OK, fdl_expiry_read(l.repo, ID_A, &expiry, &l.error));
    assert_false(expiry.expired);
    fdl_expiry_clear(&expiry);
    lake_close(&l);
}

static void a_marker_tells_when_and_why(void **state) {
    (void)state;
    lake l;
    fdl_expiry expiry = {0};
    lake_open(&l);
    lake_put(&l, "versions/" ID_A "/expired.json",
             "{\"expired_at\": \"2026-12-01T00:00:00Z\", \"reason\": \"withdrawn\", \"text\": \"names\", \"by\": 1}");
    expect(&l, FDL_OK, fdl_expiry_read(l.repo, ID_A, &expiry, &l.error));
    assert_true(expiry.expired);
    assert_string_equal(expiry.expired_at, "2026-12-01T00:00:00Z");
    assert_string_equal(expiry.reason, "withdrawn");
    assert_string_equal(expiry.text, "names");
    fdl_expiry_clear(&expiry);
    lake_close(&l);
}

static void a_broken_marker_never_passes_for_none(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "{}",
        "null",
        "{\"expired_at\":\"2026-12-01T00:00:00Z\"}",
        "{\"reason\":\"retention\"}",
        "{\"expired_at\":\"now\",\"reason\":\"retention\"}",
        "{\"expired_at\":\"2026-12-01T00:00:00Z\",\"reason\":\"a very long reason indeed\"}",
        "{\"expired_at\":\"2026-12-01T00:00:00Z\",\"reason\":\"retention\",\"text\":1}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lake l;
        fdl_expiry expiry = {0};
        lake_open(&l);
        lake_put(&l, "versions/" ID_A "/expired.json", bad[i]);
        expect(&l, FDL_FAILED, fdl_expiry_read(l.repo, ID_A, &expiry, &l.error));
        expect_message(&l, "versions/" ID_A "/expired.json");
        lake_close(&l);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_version_is_written_one_field_a_line_in_the_documented_order),
        cmocka_unit_test(the_first_version_has_an_empty_list_of_parents),
        cmocka_unit_test(what_is_written_is_read_back_the_same),
        cmocka_unit_test(any_text_survives_in_messages_and_names),
        cmocka_unit_test(text_that_is_no_utf8_cannot_be_written),
        cmocka_unit_test(files_and_other_catalogs_are_written_when_there_are_some),
        cmocka_unit_test(unknown_fields_are_passed_over),
        cmocka_unit_test(another_id_inside_is_a_failure_that_names_both),
        cmocka_unit_test(an_unknown_major_format_is_told_before_anything_else),
        cmocka_unit_test(every_required_field_is_required),
        cmocka_unit_test(no_path_leads_out_of_the_versions_folder),
        cmocka_unit_test(values_out_of_their_rules_are_refused),
        cmocka_unit_test(documents_that_are_no_strict_json_are_refused),
        cmocka_unit_test(every_cut_of_a_document_is_refused),
        cmocka_unit_test(an_id_that_is_none_never_becomes_a_key),
        cmocka_unit_test(a_version_that_is_not_there_is_named),
        cmocka_unit_test(a_record_larger_than_readers_take_is_neither_read_nor_written),
        cmocka_unit_test(a_parent_is_read_and_may_replace_its_child),
        cmocka_unit_test(a_version_is_in_the_history_of_its_descendants_alone),
        cmocka_unit_test(a_history_that_turns_back_on_itself_is_a_failure),
        cmocka_unit_test(a_missing_parent_is_a_broken_history_not_a_missing_version),
        cmocka_unit_test(a_version_without_a_marker_is_alive),
        cmocka_unit_test(a_marker_tells_when_and_why),
        cmocka_unit_test(a_broken_marker_never_passes_for_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
