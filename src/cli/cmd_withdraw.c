/*
 * cmd_withdraw.c - fdl withdraw
 */
#include "cli/cli.h"
#include "util/text.h"

static const cli_option options[] = {
    {"yes", 'y', NULL, "do it; without, only the plan is shown"},
    {"table", 0, "S.T", "only the data of this table is concerned; without versions, finds them"},
    {"text", 0, "TEXT", "why; kept in the marker, for readers"},
    {"source", 0, "SHA256", "delete this original file too"},
    {0},
};

/* What no command can reach. */
static const char *const beyond[] = {
    "copies that readers made, and queries that run at this moment",
    "caches and mirrors between here and them; run 'fdl clone' again on each mirror you keep",
    "backups of the store, and data files that are in a push on its way",
    "the original in mirrors that were cloned with --sources; withdraw it there too, with --source",
};

/* The last one, if an original goes. */
static size_t beyond_count(const fdl_withdraw_options *withdraw) {
    return sizeof beyond / sizeof *beyond - (withdraw->source ? 0 : 1);
}

static json_t *versions_json(const fdl_withdraw_result *result) {
    json_t *versions = json_array();
    for (size_t i = 0; i < result->count; i++) {
        const fdl_withdraw_item *item = &result->items[i];
        json_array_append_new(versions,
                              json_pack("{s:s, s:I, s:s, s:b, s:b}", "id", item->id, "seq", (json_int_t)item->seq,
                                        "created_at", item->created_at, "given", item->given, "files_unknown",
                                        item->files_unknown));
    }
    return versions;
}

static json_t *staying_json(const fdl_withdraw_result *result) {
    json_t *staying = json_array();
    for (size_t i = 0; i < result->reader_count; i++) {
        const fdl_withdraw_reader *reader = &result->readers[i];
        json_array_append_new(staying, json_pack("{s:s, s:s, s:s, s:s, s:s}", "key", reader->key, "schema",
                                                 reader->schema, "table", reader->table, "version", reader->id, "ref",
                                                 reader->ref));
    }
    return staying;
}

static json_t *as_json(const fdl_withdraw_options *withdraw, const fdl_withdraw_result *result) {
    json_t *lines = json_array();
    for (size_t i = 0; i < beyond_count(withdraw); i++)
        json_array_append_new(lines, json_string(beyond[i]));
    return json_pack("{s:b, s:s*, s:o, s:o, s:I, s:b, s:o}", "done", withdraw->confirmed, "text", withdraw->text,
                     "versions", versions_json(result), "staying", staying_json(result), "staying_count",
                     (json_int_t)result->staying, "sources_left", result->has_sources, "out_of_reach", lines);
}

static void tell_versions(const fdl_withdraw_options *withdraw, const fdl_withdraw_result *result) {
    for (size_t i = 0; i < result->count; i++) {
        const fdl_withdraw_item *item = &result->items[i];
        cli_print("%s %s (seq %lld, %s)%s%s\n", withdraw->confirmed ? "withdrawn" : "withdraws", item->id,
                  (long long)item->seq, item->created_at, item->given ? "" : ": names a file that goes",
                  item->files_unknown ? ": its files are not known" : "");
    }
}

static void tell_staying(const fdl_withdraw_result *result) {
    for (size_t i = 0; i < result->reader_count; i++) {
        const fdl_withdraw_reader *reader = &result->readers[i];
        cli_print("  stays    ");
        cli_print_text(reader->key, "");
        cli_print(": %s reads it in ", cli_short_ref(reader->ref));
        cli_print_text(reader->schema, "");
        cli_print(".");
        cli_print_text(reader->table, "");
        cli_print("\n");
    }
    if (result->staying > result->reader_count)
        cli_print("  and %llu more\n", (unsigned long long)(result->staying - result->reader_count));
}

static fdl_code tell(cli *c, const fdl_withdraw_options *withdraw, const fdl_withdraw_result *result) {
    char count[64], size[32];
    tell_versions(withdraw, result);
    fdl_code code = cli_print_deletions(c, result->plan);
    if (code != FDL_OK)
        return code;
    tell_staying(result);
    if (result->count == 0 && fdl_plan_count(result->plan) == 0) {
        cli_print("nothing to withdraw\n");
        return FDL_OK;
    }
    cli_print("%s ", cli_count(result->count, "version", count));
    cli_print("%s, %s\n", cli_count(fdl_plan_count(result->plan), "deletion", count),
              fdl_size_text(fdl_plan_bytes(result->plan), size));
    if (!withdraw->confirmed) {
        cli_say(c, "nothing was changed; run it again with --yes");
        return FDL_OK;
    }
    cli_print("out of reach:\n");
    for (size_t i = 0; i < beyond_count(withdraw); i++)
        cli_print("  %s\n", beyond[i]);
    if (result->has_sources)
        cli_print("  original files in sources/, if the data came from there; see --source\n");
    return FDL_OK;
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    fdl_withdraw_result result = {0};
    fdl_withdraw_options withdraw = {
        .revisions = c->operands + 1,
        .revision_count = (size_t)c->operand_count - 1,
        .table = cli_value(c, "table"),
        .text = cli_value(c, "text"),
        .source = cli_value(c, "source"),
        .confirmed = cli_flag(c, "yes"),
    };
    fdl_code code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_withdraw(repo, &withdraw, &result, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json_deletions(c, as_json(&withdraw, &result), result.plan);
    else if (code == FDL_OK)
        code = tell(c, &withdraw, &result);
    fdl_withdraw_result_clear(&result);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_withdraw = {
    .name = "withdraw",
    .operands = "<repo> [<rev>...]",
    .min_operands = 1,
    .max_operands = CLI_OPERANDS_LIMIT,
    .summary = "Take away versions whose data must not be public",
    .details = "First publish a version without the data, on every branch. Then the versions named, and\n"
               "all that name a data file of them that no branch needs any more, are withdrawn: tags\n"
               "on them and the data are deleted at once, readers are told why, 'fdl log' goes on\n"
               "showing them. A DELETE leaves rows in their file; where a branch still reads such a\n"
               "file, nothing is done and the message says how to rewrite the table. What was done\n"
               "is told file by file, with --json as a receipt. A run that was stopped is repeated.",
    .options = options,
    .run = run,
};
