/* fuzz_dbt.c - dbt's manifest.json, and its words joined with a catalog's tables. */
#include "fuzz.h"

#include "repo/dataset.h"
#include "repo/dbt.h"
#include "util/json.h"

static const char tables_text[] =
    "{\"tables\": [{\"schema\": \"main\", \"name\": \"towns\", \"kind\": \"table\", \"rows\": 2, \"bytes\": 9, "
    "\"files\": 1, \"columns\": [{\"name\": \"name\", \"type\": \"VARCHAR\", \"nullable\": true}]}, "
    "{\"schema\": \"main\", \"name\": \"v\", \"kind\": \"view\", \"columns\": []}]}";

static fdl_code count(void *data, const char *schema, const char *table, const char *column, fdl_error *error) {
    (void)error;
    must(schema && table && column);
    ++*(size_t *)data;
    return FDL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_t *catalog = json_loads(tables_text, 0, NULL), *words = NULL, *joined = NULL;
    size_t unheard = 0;
    fdl_error error;
    fdl_code code = fdl_dbt_words((const char *)data, size, "manifest.json", &words, &error);
    fuzz_check_error(code, &error);
    if (code == FDL_OK) {
        const json_t *tables = json_object_get(catalog, "tables");
        must(fdl_dataset_join(NULL, "dataset.json", NULL, words, tables, &joined, &error) == FDL_OK);
        must(json_array_size(json_object_get(joined, "tables")) == json_array_size(tables));
        must(fdl_dataset_unheard(words, joined, count, &unheard, &error) == FDL_OK);
    }
    json_decref(joined);
    json_decref(words);
    json_decref(catalog);
    return 0;
}
