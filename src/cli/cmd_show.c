/*
 * cmd_show.c - fdl show
 */
#include <string.h>

#include "cli/cli.h"

static const char *text_of(const json_t *object, const char *field) {
    const char *text = json_string_value(json_object_get(object, field));
    return text ? text : "";
}

static unsigned long long count_of(const json_t *object, const char *field) {
    return (unsigned long long)json_integer_value(json_object_get(object, field));
}

static void print_columns(const json_t *table) {
    size_t i = 0;
    json_t *column = NULL;
    json_array_foreach(json_object_get(table, "columns"), i, column) {
        cli_print("    ");
        cli_print_text(text_of(column, "name"), "    ");
        cli_print("  ");
        cli_print_text(text_of(column, "type"), "    ");
        cli_print("%s", json_is_false(json_object_get(column, "nullable")) ? " NOT NULL" : "");
        if (*text_of(column, "comment")) {
            cli_print("  -- ");
            cli_print_text(text_of(column, "comment"), "        ");
        }
        cli_print("\n");
    }
}

static void print_table(const json_t *table) {
    char size[32], rows[64], files[64];
    bool is_view = strcmp(text_of(table, "kind"), "view") == 0;
    cli_print("\n%s ", is_view ? "view" : "table");
    cli_print_text(text_of(table, "schema"), "");
    cli_print(".");
    cli_print_text(text_of(table, "name"), "");
    if (!is_view)
        cli_print(": %s, %s, %s", cli_count(count_of(table, "rows"), "row", rows),
                  cli_count(count_of(table, "files"), "file", files), cli_size(count_of(table, "bytes"), size));
    if (*text_of(table, "comment")) {
        cli_print("  -- ");
        cli_print_text(text_of(table, "comment"), "    ");
    }
    cli_print("\n");
    print_columns(table);
}

static void print_line(const char *label, const char *text) {
    cli_print("%-11s", label);
    cli_print_text(text, "           ");
    cli_print("\n");
}

static void tell(const fdl_show_result *shown, const json_t *dataset) {
    const fdl_version *version = &shown->version;
    char size[32];
    size_t i = 0;
    json_t *table = NULL;
    cli_print("version %s (seq %lld)\n", version->id, (long long)version->seq);
    if (shown->expiry.expired)
        cli_print("%s on %s\n", shown->expiry.reason[0] == 'w' ? "withdrawn" : "expired", shown->expiry.expired_at);
    print_line("parent", version->parent[0] ? version->parent : "(none: the first version)");
    print_line("author", version->author_name);
    print_line("date", version->created_at);
    print_line("message", version->message);
    cli_print("%-11s%s, DuckLake %s, sha256 %s\n", "catalog", cli_size(version->catalog.file.bytes, size),
              version->catalog.format, version->catalog.file.sha256);
    cli_print("%-11s%lld to %lld\n", "snapshots", (long long)version->first_snapshot,
              (long long)version->last_snapshot);
    if (!dataset && !shown->expiry.expired)
        print_line("contents", "(not in this repository, which holds the record alone)");
    if (*text_of(dataset, "title"))
        print_line("title", text_of(dataset, "title"));
    json_array_foreach(json_object_get(dataset, "tables"), i, table) print_table(table);
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    fdl_show_result shown = {0};
    json_t *dataset = NULL;
    fdl_code code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_show(repo, c->operands[1], &shown, &c->error);
    if (code == FDL_OK && shown.dataset && !(dataset = json_loads(shown.dataset, JSON_REJECT_DUPLICATES, NULL)))
        code = fdl_fail(&c->error, FDL_FAILED, shown.version.id, "the dataset.json of version '%s' is not JSON",
                        shown.version.id);
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:o, s:O?}", "version", cli_json_version(&shown.version, &shown.expiry),
                                     "dataset", dataset));
    else if (code == FDL_OK)
        tell(&shown, dataset);
    json_decref(dataset);
    fdl_show_result_clear(&shown);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_show = {
    .name = "show",
    .operands = "<repo> [<rev>]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "Show one version: its record, tables, rows and columns",
    .run = run,
};
