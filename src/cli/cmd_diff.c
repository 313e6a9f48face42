/*
 * cmd_diff.c - fdl diff
 */
#include <string.h>

#include "cli/cli.h"
#include "util/json.h"
#include "util/text.h"

static const cli_option options[] = {
    {"rows", 0, NULL, "show rows too, which reads data files"},
    {"max-count", 'n', "N", "with --rows: show at most N rows a table (20)"},
    {0},
};

static unsigned long long count_of(const json_t *object, const char *field) {
    return (unsigned long long)json_integer_value(json_object_get(object, field));
}

static char sign_of(const json_t *object) {
    if (json_is_null(json_object_get(object, "before")))
        return '+';
    return json_is_null(json_object_get(object, "after")) ? '-' : '*';
}

/* "INTEGER NOT NULL" */
static void print_type(const json_t *column) {
    cli_print_text(fdl_json_text(column, "type"), "      ");
    cli_print("%s", json_is_false(json_object_get(column, "nullable")) ? " NOT NULL" : "");
}

static void print_column(const json_t *column) {
    const json_t *before = json_object_get(column, "before"), *after = json_object_get(column, "after");
    cli_print("    %c ", sign_of(column));
    cli_print_text(fdl_json_text(column, "name"), "      ");
    cli_print("  ");
    print_type(json_is_null(before) ? after : before);
    if (json_is_object(before) && json_is_object(after) &&
        (strcmp(fdl_json_text(before, "type"), fdl_json_text(after, "type")) != 0 ||
         json_is_false(json_object_get(before, "nullable")) != json_is_false(json_object_get(after, "nullable")))) {
        cli_print(" -> ");
        print_type(after);
    }
    cli_print("\n");
}

static void print_files(const json_t *table, char sign, const char *files, const char *bytes) {
    char count[64], size[32];
    if (count_of(table, files) > 0)
        cli_print(", %c%s (%s)", sign, cli_count(count_of(table, files), "file", count),
                  fdl_size_text(count_of(table, bytes), size));
}

static void print_row(const json_t *row) {
    json_int_t more = json_integer_value(json_object_get(row, "more"));
    size_t i = 0;
    json_t *value = NULL;
    cli_print("    %c", more > 0 ? '+' : '-');
    json_array_foreach(json_object_get(row, "values"), i, value) {
        cli_print(i == 0 ? " " : " | ");
        cli_print_text(json_is_string(value) ? json_string_value(value) : "NULL", "      ");
    }
    if (more > 1 || more < -1)
        cli_print("  (%lld times)", (long long)(more > 0 ? more : -more));
    cli_print("\n");
}

static void print_rows(const json_t *rows) {
    size_t i = 0;
    json_t *row = NULL;
    if (json_is_null(rows))
        cli_print("    the columns differ, so no rows are shown\n");
    json_array_foreach(rows, i, row) print_row(row);
}

static void print_table(const json_t *table) {
    const json_t *before = json_object_get(table, "before"), *after = json_object_get(table, "after");
    char rows[64];
    size_t i = 0;
    json_t *column = NULL;
    cli_print("%c %s ", sign_of(table), fdl_json_text(table, "kind"));
    cli_print_text(fdl_json_text(table, "schema"), "");
    cli_print(".");
    cli_print_text(fdl_json_text(table, "name"), "");
    if (strcmp(fdl_json_text(table, "kind"), "view") != 0) {
        cli_print(": ");
        if (json_is_object(before) && json_is_object(after) && count_of(before, "rows") != count_of(after, "rows"))
            cli_print("%llu -> ", count_of(before, "rows"));
        cli_print("%s", cli_count(count_of(json_is_object(after) ? after : before, "rows"), "row", rows));
        print_files(table, '+', "files_added", "bytes_added");
        print_files(table, '-', "files_removed", "bytes_removed");
    }
    cli_print("\n");
    json_array_foreach(json_object_get(table, "columns"), i, column) print_column(column);
    print_rows(json_object_get(table, "rows"));
}

/* What the tables above do not show. */
static bool is_told(const json_t *difference) {
    const char *kind = fdl_json_text(difference, "kind");
    return strcmp(kind, "table") == 0 || (strcmp(kind, "view") == 0 && (count_of(difference, "added") == 0 ||
                                                                         count_of(difference, "removed") == 0));
}

static void tell(const fdl_diff_result *result, const json_t *document) {
    size_t i = 0;
    json_t *item = NULL;
    cli_print("from version %s (seq %lld)\n", result->from.id, (long long)result->from.seq);
    cli_print("to   version %s (seq %lld)\n", result->to.id, (long long)result->to.seq);
    if (json_array_size(json_object_get(document, "tables")) == 0 &&
        json_array_size(json_object_get(document, "differences")) == 0)
        cli_print(strcmp(result->from.dataset.sha256, result->to.dataset.sha256) == 0
                      ? "no difference\n"
                      : "no difference in the catalogs; the descriptions differ, see 'fdl show'\n");
    json_array_foreach(json_object_get(document, "tables"), i, item) print_table(item);
    json_array_foreach(json_object_get(document, "differences"), i, item) {
        if (is_told(item))
            continue;
        cli_print("* ");
        cli_print_text(fdl_json_text(item, "text"), "  ");
        cli_print("\n");
    }
}

static json_t *as_json(const fdl_diff_result *result, const json_t *document) {
    return json_pack("{s:{s:s, s:I}, s:{s:s, s:I}, s:O, s:O}", "from", "id", result->from.id, "seq",
                     (json_int_t)result->from.seq, "to", "id", result->to.id, "seq", (json_int_t)result->to.seq,
                     "tables", json_object_get(document, "tables"), "differences",
                     json_object_get(document, "differences"));
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    fdl_diff_result result = {0};
    json_t *document = NULL;
    long rows = 0;
    fdl_code code = cli_number(c, "max-count", 20, 1, 1000000, &rows);
    if (code == FDL_OK && cli_value(c, "max-count") && !cli_flag(c, "rows"))
        code = fdl_fail(&c->error, FDL_USAGE, NULL, "'-n' counts rows; give it with '--rows'");
    if (code == FDL_OK)
        code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_diff(repo, c->operands[2] ? c->operands[1] : NULL, c->operands[2] ? c->operands[2] : c->operands[1],
                        cli_flag(c, "rows") ? rows : 0, &result, &c->error);
    if (code == FDL_OK && !(document = json_loads(result.document, JSON_REJECT_DUPLICATES, NULL)))
        code = fdl_fail(&c->error, FDL_FAILED, NULL, "out of memory");
    if (code == FDL_OK && c->json)
        code = cli_json(c, as_json(&result, document));
    else if (code == FDL_OK)
        tell(&result, document);
    json_decref(document);
    fdl_diff_result_clear(&result);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_diff = {
    .name = "diff",
    .operands = "<repo> [<rev>] <rev>",
    .min_operands = 2,
    .max_operands = 3,
    .summary = "Show what the second version has that the first has not, and the other way round",
    .details = "With one revision: what that version has changed of its parent.\n"
               "\n"
               "Tables and views added (+), removed (-) and changed (*), with their rows, files and columns, then\n"
               "comments, keys, macros and options. All of it is told from the catalogs; no data file is read, but\n"
               "for --rows, and then only those that one version alone has.",
    .options = options,
    .run = run,
};
