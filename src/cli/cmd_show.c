/*
 * cmd_show.c - fdl show
 */
#include <string.h>

#include "cli/cli.h"
#include "util/json.h"
#include "util/text.h"

static const cli_option options[] = {
    {"allowed-signers", 0, "FILE", "whose signature is good: a file as ssh-keygen(1) describes it"},
    {0},
};

static unsigned long long count_of(const json_t *object, const char *field) {
    return (unsigned long long)json_integer_value(json_object_get(object, field));
}

static void print_columns(const json_t *table) {
    size_t i = 0;
    json_t *column = NULL;
    json_array_foreach(json_object_get(table, "columns"), i, column) {
        cli_print("    ");
        cli_print_text(fdl_json_text(column, "name"), "");
        cli_print("  ");
        cli_print_text(fdl_json_text(column, "type"), "");
        cli_print("%s", json_is_false(json_object_get(column, "nullable")) ? " NOT NULL" : "");
        if (*fdl_json_text(column, "comment")) {
            cli_print("  -- ");
            cli_print_text(fdl_json_text(column, "comment"), "        ");
        }
        cli_print("\n");
    }
}

static void print_table(const json_t *table) {
    char size[32], rows[64], files[64];
    bool is_view = strcmp(fdl_json_text(table, "kind"), "view") == 0;
    cli_print("\n%s ", is_view ? "view" : "table");
    cli_print_text(fdl_json_text(table, "schema"), "");
    cli_print(".");
    cli_print_text(fdl_json_text(table, "name"), "");
    if (!is_view)
        cli_print(": %s, %s, %s", cli_count(count_of(table, "rows"), "row", rows),
                  cli_count(count_of(table, "files"), "file", files), fdl_size_text(count_of(table, "bytes"), size));
    if (*fdl_json_text(table, "comment")) {
        cli_print("  -- ");
        cli_print_text(fdl_json_text(table, "comment"), "    ");
    }
    cli_print("\n");
    print_columns(table);
}

static void print_line(const char *label, const char *text) {
    cli_print("%-11s", label);
    cli_print_text(text, "           ");
    cli_print("\n");
}

static void print_signature(const fdl_signature *signature) {
    static const char *const words[] = {"none", "good", "unknown signer", "BAD"};
    cli_print("%-11s%s", "signature", words[signature->state]);
    if (signature->state == FDL_SIGNATURE_GOOD) {
        cli_print(": ");
        cli_print_text(signature->principal, "");
    }
    if (signature->key[0])
        cli_print(", %s", signature->key);
    if (signature->state != FDL_UNSIGNED && signature->reason[0]) {
        cli_print("\n           ");
        cli_print_text(signature->reason, "           ");
    }
    if (signature->state == FDL_SIGNATURE_UNKNOWN && signature->expected[0]) {
        cli_print("\n           fdl.json lists this key as '");
        cli_print_text(signature->expected, "");
        cli_print("', which proves nothing");
    }
    cli_print("\n");
}

static void print_formats(const fdl_version *version) {
    for (size_t i = 0; i < version->other_count; i++) {
        cli_print(i == 0 ? "%-11sDuckLake " : ", ", "also in");
        cli_print_text(version->others[i].format, "");
    }
    if (version->other_count > 0)
        cli_print("\n");
}

static void print_sources(const json_t *dataset) {
    char size[32];
    size_t i = 0;
    json_t *source = NULL;
    json_array_foreach(json_object_get(dataset, "sources"), i, source) {
        cli_print("%-11s", i == 0 ? "sources" : "");
        cli_print_text(fdl_json_text(source, "name"), "");
        if (json_is_integer(json_object_get(source, "bytes")))
            cli_print(", %s",
                      fdl_size_text((unsigned long long)json_integer_value(json_object_get(source, "bytes")), size));
        if (*fdl_json_text(source, "sha256")) {
            cli_print(", sha256 ");
            cli_print_text(fdl_json_text(source, "sha256"), "");
        }
        cli_print("\n");
    }
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
    cli_print("%-11s%s, DuckLake %s, sha256 %s\n", "catalog", fdl_size_text(version->catalog.file.bytes, size),
              version->catalog.format, version->catalog.file.sha256);
    print_formats(version);
    print_signature(&shown->signature);
    cli_print("%-11s%lld to %lld\n", "snapshots", (long long)version->first_snapshot,
              (long long)version->last_snapshot);
    if (!dataset && !shown->expiry.expired)
        print_line("contents", "(not in this repository, which holds the record alone)");
    if (*fdl_json_text(dataset, "title"))
        print_line("title", fdl_json_text(dataset, "title"));
    print_sources(dataset);
    json_array_foreach(json_object_get(dataset, "tables"), i, table) print_table(table);
}

static json_t *as_json(const fdl_show_result *shown, json_t *dataset) {
    const fdl_signature *signature = &shown->signature;
    json_t *about = json_pack("{s:s}", "state", fdl_signature_name(signature->state));
    const char *const fields[][2] = {{"principal", signature->principal},
                                     {"key", signature->key},
                                     {"expected", signature->expected},
                                     {"reason", signature->reason}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i][1][0])
            json_object_set_new(about, fields[i][0], json_string(fields[i][1]));
    return json_pack("{s:o, s:o, s:O?}", "version", cli_json_version(&shown->version, &shown->expiry), "signature",
                     about, "dataset", dataset);
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    fdl_show_result shown = {0};
    json_t *dataset = NULL;
    fdl_show_options show = {.allowed_signers = cli_value(c, "allowed-signers")};
    fdl_code code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_show(repo, c->operands[1], &show, &shown, &c->error);
    if (code == FDL_OK && shown.dataset && !(dataset = json_loads(shown.dataset, JSON_REJECT_DUPLICATES, NULL)))
        code = fdl_fail(&c->error, FDL_FAILED, shown.version.id, "the dataset.json of version '%s' is not JSON",
                        shown.version.id);
    if (code == FDL_OK && c->json)
        code = cli_json(c, as_json(&shown, dataset));
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
    .summary = "Show one version: its record, signature, tables, rows and columns",
    .options = options,
    .run = run,
};
