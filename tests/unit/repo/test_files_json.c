/*
 * test_files_json.c - files.json: what is written is read back, others' writing
 * is taken, and a broken or forged one is no list.
 */
#include "lake.h"

#include <jansson.h>

#include "repo/files_json.h"
#include "support/support.h"
#include "util/ident.h"

static fdl_error error;

/* Everything heard, one file a line. */
static char heard[8192];

static fdl_code hear(void *data, const fdl_file_entry *entry, fdl_error *ignored) {
    (void)data, (void)ignored;
    size_t length = strlen(heard);
    snprintf(heard + length, sizeof heard - length, "%s.%s %s %llu %llu%s%s%s\n", entry->schema, entry->table, entry->path,
             (unsigned long long)entry->bytes, (unsigned long long)entry->rows, entry->delete_path ? " - " : "",
             entry->delete_path ? entry->delete_path : "", entry->ended ? " ended" : "");
    return FDL_OK;
}

static fdl_code parse(const char *text) {
    heard[0] = '\0';
    return fdl_files_parse(text, strlen(text), "files.json", hear, NULL, &error);
}

static void what_is_written_is_one_line_a_file_and_read_back(void **state) {
    (void)state;
    const fdl_file_entry entries[] = {
        {.schema = "main", .table = "a", .path = "data/main/a/1.parquet", .bytes = 100, .rows = 10},
        {.schema = "main", .table = "a", .path = "data/main/a/2.parquet", .bytes = 200, .rows = 20,
         .delete_path = "data/main/a/2-delete.parquet", .delete_bytes = 30, .delete_rows = 3},
        {.schema = "main", .table = "a", .path = "data/main/a/0.parquet", .bytes = 1, .rows = 1, .ended = true},
        {.schema = "main", .table = "empty"},
        {.schema = "s \"q\"", .table = "a", .path = "data/s/x.parquet", .bytes = 0, .rows = 0},
    };
    static const char wanted[] =
        "{\n"
        "  \"tables\": [\n"
        "    { \"schema\": \"main\", \"name\": \"a\", \"files\": [\n"
        "      { \"path\": \"data/main/a/1.parquet\", \"bytes\": 100, \"rows\": 10 },\n"
        "      { \"path\": \"data/main/a/2.parquet\", \"bytes\": 200, \"rows\": 20, \"delete\": { \"path\": "
        "\"data/main/a/2-delete.parquet\", \"bytes\": 30, \"rows\": 3 } },\n"
        "      { \"path\": \"data/main/a/0.parquet\", \"bytes\": 1, \"rows\": 1, \"ended\": true }\n"
        "    ] },\n"
        "    { \"schema\": \"main\", \"name\": \"empty\", \"files\": [] },\n"
        "    { \"schema\": \"s \\\"q\\\"\", \"name\": \"a\", \"files\": [\n"
        "      { \"path\": \"data/s/x.parquet\", \"bytes\": 0, \"rows\": 0 }\n"
        "    ] }\n"
        "  ]\n"
        "}\n";
    fdl_files_writer writer;
    fdl_files_writer_init(&writer);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        expect_ok(fdl_files_writer_add(&writer, &entries[i], &error), &error);
    expect_ok(fdl_files_writer_end(&writer, &error), &error);
    assert_string_equal(writer.text.data, wanted);
    expect_ok(parse(writer.text.data), &error);
    assert_string_equal(heard, "main.a data/main/a/1.parquet 100 10\n"
                               "main.a data/main/a/2.parquet 200 20 - data/main/a/2-delete.parquet\n"
                               "main.a data/main/a/0.parquet 1 1 ended\n"
                               "s \"q\".a data/s/x.parquet 0 0\n");
    json_t *document = json_loads(writer.text.data, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document);
    json_decref(document);
    fdl_files_writer_clear(&writer);
}

static void a_version_without_tables_has_an_empty_list(void **state) {
    (void)state;
    fdl_files_writer writer;
    fdl_files_writer_init(&writer);
    expect_ok(fdl_files_writer_end(&writer, &error), &error);
    expect_ok(parse(writer.text.data), &error);
    assert_string_equal(heard, "");
    fdl_files_writer_clear(&writer);
}

static void another_order_other_spaces_and_unknown_fields_are_read(void **state) {
    (void)state;
    expect_ok(parse("{\"made\":{\"by\":[1,\"]\",{}]},\"tables\":[{\"files\":[{\"rows\":2,\"path\":\"d/\\u00e9 \\\"[\",\"bytes\":1,"
                    "\"delete\":null,\"x\":[{}]}\n\t]\r,\"note\":null,\"n\\u0061me\":\"t\",\"schema\":\"s\"}],\"z\":-1.5e3}"),
              &error);
    assert_string_equal(heard, "s.t d/é \"[ 1 2\n");
}

static void what_is_no_list_of_files_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "", "[]", "{}", "{\"tables\":{}}", "{\"tables\":[}", "{\"tables\":[]", "{\"tables\":[]} x", "{\"tables\":[],}",
        "{\"tables\":[1]}", "{\"tables\":[{\"schema\":\"s\",\"name\":\"t\"}]}",
        "{\"tables\":[{\"schema\":1,\"name\":\"t\",\"files\":[]}]}",
        "{\"tables\":[],\"tables\":[]}",
        "{\"tables\":[{\"schema\":\"s\",\"name\":\"t\",\"name\":\"u\",\"files\":[]}]}",
        "{\"tables\":[{\"schema\":\"s\",\"name\":\"t\",\"files\":[{\"path\":\"p\",\"bytes\":1}]}]}",
        "{\"tables\":[{\"schema\":\"s\",\"name\":\"t\",\"files\":[{\"path\":\"p\",\"bytes\":-1,\"rows\":1}]}]}",
        "{\"tables\":[{\"schema\":\"s\",\"name\":\"t\",\"files\":[{\"path\":\"p\",\"bytes\":1,\"rows\":1,\"rows\":2}]}]}",
        "{\"tables\":[{\"schema\":\"s\",\"name\":\"t\",\"files\":[{\"path\":\"../p\",\"bytes\":1,\"rows\":1}]}]}",
        "{\"tables\":[{\"schema\":\"s\",\"name\":\"t\",\"files\":[{\"path\":\"p\",\"bytes\":1,\"rows\":1,\"delete\":7}]}]}",
        "{\"tables\":[{\"schema\":\"s\",\"name\":\"t\",\"files\":[{\"path\":\"p\",\"bytes\":1,\"rows\":1},]}]}",
        "{\"tables\":[{\"schema\":\"s\",\"name\":\"t\",\"files\":[] \"x\":1}]}",
        "{\"tables\":[{\"schema\":\"s", "{\"a\\", "{\"tables\" []}", "{tables:[]}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (parse(texts[i]) != FDL_FAILED)
            fail_msg("taken: %s", texts[i]);
        expect_said("files.json", &error);
    }
    expect_code(FDL_FAILED, parse("{\n\"tables\": [\n7\n]\n}"), &error);
    expect_said("line 3", &error);
}

static fdl_code stop(void *data, const fdl_file_entry *entry, fdl_error *out) {
    (void)data;
    return fdl_fail(out, FDL_CONFLICT, entry->path, "enough");
}

static void a_callback_ends_the_walk(void **state) {
    (void)state;
    static const char text[] = "{\"tables\":[{\"schema\":\"s\",\"name\":\"t\",\"files\":[{\"path\":\"p\",\"bytes\":1,\"rows\":1}]}]}";
    expect_code(FDL_CONFLICT, fdl_files_parse(text, strlen(text), "files.json", stop, NULL, &error), &error);
}

static void one_that_differs_from_the_record_is_not_read(void **state) {
    (void)state;
    static const char text[] = "{\"tables\":[]}";
    lake l;
    lake_open(&l);
    fdl_version version = {.id = ID_A};
    expect(&l, FDL_NOT_FOUND, fdl_files_read(l.repo, &version, hear, NULL, &l.error));
    version.files.path = (char *)"files.json";
    expect(&l, FDL_NOT_FOUND, fdl_files_read(l.repo, &version, hear, NULL, &l.error));
    lake_put(&l, "versions/" ID_A "/files.json", text);
    memcpy(version.files.sha256, SHA, sizeof version.files.sha256);
    expect(&l, FDL_FAILED, fdl_files_read(l.repo, &version, hear, NULL, &l.error));
    expect_message(&l, "is damaged");
    expect_ok(fdl_sha256_bytes(text, strlen(text), version.files.sha256, &error), &error);
    expect(&l, FDL_OK, fdl_files_read(l.repo, &version, hear, NULL, &l.error));
    lake_close(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_one_line_a_file_and_read_back),
        cmocka_unit_test(a_version_without_tables_has_an_empty_list),
        cmocka_unit_test(another_order_other_spaces_and_unknown_fields_are_read),
        cmocka_unit_test(what_is_no_list_of_files_is_refused),
        cmocka_unit_test(a_callback_ends_the_walk),
        cmocka_unit_test(one_that_differs_from_the_record_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
