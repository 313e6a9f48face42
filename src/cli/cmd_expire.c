/*
 * cmd_expire.c - fdl expire
 */
#include <limits.h>
#include <string.h>

#include "cli/cli.h"
#include "util/text.h"
#include "util/ident.h"

static const cli_option options[] = {
    {"keep", 0, "N", "keep the newest N versions of every branch"},
    {"before", 0, "DATE", "expire only what was made before this day (2026-01-31) or time, in UTC"},
    {"branch", 0, "NAME", "expire only what is in the history of this branch"},
    {"dry-run", 'n', NULL, "only tell what would expire"},
    {0},
};

/* A day means its first moment. */
static fdl_code take_date(cli *c, int64_t *ms) {
    const char *text = cli_value(c, "before");
    char time[64] = "";
    *ms = 0;
    if (!text)
        return FDL_OK;
    if (strlen(text) < sizeof time - 16)
        snprintf(time, sizeof time, "%s%s", text, strlen(text) == 10 ? "T00:00:00Z" : "");
    if (!fdl_time_parse(time, ms) || *ms <= 0)
        return fdl_fail(&c->error, FDL_USAGE, text, "--before takes a day such as 2026-01-31, or a time such as "
                        "2026-01-31T12:00:00Z, not '%s'", text);
    return FDL_OK;
}

static const char *word_of(fdl_expire_outcome outcome) {
    return outcome == FDL_OUTCOME_KEPT ? "kept" : outcome == FDL_OUTCOME_FINISHED ? "finished" : "expired";
}

static json_t *as_json(const fdl_expire_options *expire, const fdl_expire_result *result) {
    json_t *versions = json_array();
    for (size_t i = 0; i < result->count; i++) {
        const fdl_expire_item *item = &result->items[i];
        json_array_append_new(versions, json_pack("{s:s, s:I, s:s, s:s}", "id", item->id, "seq", (json_int_t)item->seq,
                                                  "created_at", item->created_at, "outcome", word_of(item->outcome)));
    }
    return json_pack("{s:b, s:o}", "dry_run", expire->dry_run, "versions", versions);
}

static void tell(const cli *c, const fdl_expire_options *expire, const fdl_expire_result *result) {
    char count[64], size[32];
    size_t gone = 0;
    for (size_t i = 0; i < result->count; i++) {
        const fdl_expire_item *item = &result->items[i];
        bool only_would = expire->dry_run && item->outcome != FDL_OUTCOME_KEPT;
        cli_print("%s %s (seq %lld, %s)\n", only_would ? "would expire" : word_of(item->outcome), item->id,
                  (long long)item->seq, item->created_at);
        gone += item->outcome != FDL_OUTCOME_KEPT;
    }
    if (gone == 0)
        cli_print("nothing to expire\n");
    else
        cli_print("%s %s, catalogs of %s\n", cli_count(gone, "version", count),
                  expire->dry_run ? "would expire" : gone == 1 ? "has expired" : "have expired",
                  fdl_size_text(result->plan ? fdl_plan_bytes(result->plan) : 0, size));
    if (gone > 0 && !expire->dry_run)
        cli_say(c, "data files that no version needs any more are deleted by 'fdl gc %s'", c->operands[0]);
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    fdl_expire_options expire = {.branch = cli_value(c, "branch"), .dry_run = cli_flag(c, "dry-run")};
    fdl_expire_result result = {0};
    long keep = 0;
    fdl_code code = cli_number(c, "keep", -1, 0, LONG_MAX, &keep);
    if (code == FDL_OK)
        code = take_date(c, &expire.before_ms);
    if (code == FDL_OK && keep < 0 && expire.before_ms == 0)
        code = fdl_fail(&c->error, FDL_USAGE, NULL, "say how many versions to keep, with --keep N");
    expire.keep = keep < 0 ? 0 : keep;
    if (code == FDL_OK)
        code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_expire(repo, &expire, &result, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json_deletions(c, as_json(&expire, &result), result.plan);
    else if (code == FDL_OK)
        tell(c, &expire, &result);
    fdl_expire_result_clear(&result);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_expire = {
    .name = "expire",
    .operands = "<repo>",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "End the time of old versions",
    .details = "Versions older than the newest N of every branch expire, unless a branch or tag points to\n"
               "them; with --before, only those made before that day. Their catalogs are deleted, and\n"
               "readers are told why; 'fdl log' goes on showing them. Data files stay for 'fdl gc'.\n"
               "A run that was stopped is simply repeated.",
    .options = options,
    .run = run,
};
