/* fuzz_dataset.c - a publisher's dataset.json, and one that is carried over. */
#include "fuzz.h"

#include "flow/sources.h"
#include "repo/dataset.h"
#include "util/json.h"

static const char tables_text[] =
    "{\"tables\": [{\"schema\": \"main\", \"name\": \"towns\", \"kind\": \"table\", \"rows\": 2, \"bytes\": 9, "
    "\"files\": 1, \"columns\": [{\"name\": \"name\", \"type\": \"VARCHAR\", \"nullable\": true}, "
    "{\"name\": \"people\", \"type\": \"INTEGER\", \"nullable\": true, \"comment\": \"counted\"}]}, "
    "{\"schema\": \"main\", \"name\": \"v\", \"kind\": \"view\", \"columns\": []}]}";

static fdl_code count_source(void *data, const fdl_kept_source *source, fdl_error *error) {
    (void)error;
    must(strlen(source->sha256) == 64 && strspn(source->sha256, "0123456789abcdef") == 64);
    ++*(size_t *)data;
    return FDL_OK;
}

static void join(const json_t *given, const json_t *parent, const json_t *tables) {
    json_t *joined = NULL;
    fdl_error error;
    fdl_code code = fdl_dataset_join(given, "dataset.json", parent, NULL, tables, &joined, &error);
    fuzz_check_error(code, &error);
    if (code == FDL_OK) {
        const json_t *first = json_array_get(json_object_get(joined, "tables"), 0);
        must(json_array_size(json_object_get(joined, "tables")) == json_array_size(tables));
        must(json_integer_value(json_object_get(first, "rows")) == 2);
        must(strcmp(json_string_value(json_object_get(first, "name")), "towns") == 0);
        must(fdl_dataset_same(joined, joined));
    }
    json_decref(joined);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_t *catalog = json_loads(tables_text, 0, NULL), *given = NULL;
    const json_t *tables = json_object_get(catalog, "tables");
    size_t sources = 0;
    fdl_error error;
    fdl_code code = fdl_json_parse((const char *)data, size, "dataset.json", &given, &error);
    fuzz_check_error(code, &error);
    if (code == FDL_OK) {
        join(given, NULL, tables);
        join(given, tables, tables);
        code = fdl_sources_check(given, "dataset.json", &error);
        fuzz_check_error(code, &error);
        must(fdl_sources_each(given, count_source, &sources, &error) == FDL_OK);
    }
    json_decref(given);
    json_decref(catalog);
    return 0;
}
