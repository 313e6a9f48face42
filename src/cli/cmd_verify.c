/*
 * cmd_verify.c - fdl verify
 */
#include <string.h>

#include "cli/cli.h"

static const cli_option options[] = {
    {"all", 0, NULL, "every version, every ref, and refs.json"},
    {"data", 0, NULL, "read the data files and originals too: Parquet footers, row counts, sha256"},
    {"allowed-signers", 0, "FILE", "every version must be signed by one of these; a file as ssh-keygen(1) describes it"},
    {0},
};

typedef struct printer {
    json_t *findings; /* NULL: text */
} printer;

static void take(void *data, const char *key, const char *line) {
    printer *p = data;
    if (p->findings)
        json_array_append_new(p->findings, json_pack("{s:s, s:s}", "key", key, "message", line));
    else {
        if (!strstr(line, key)) { /* some faults name the file as it lies on this machine */
            cli_print("'");
            cli_print_text(key, "");
            cli_print("': ");
        }
        cli_print_text(line, "");
        cli_print("\n");
    }
}

static void tell(const fdl_verify_result *result) {
    char versions[64], files[64], findings[64];
    cli_print("%s", cli_count(result->versions, "version", versions));
    if (result->expired > 0)
        cli_print(" (%llu expired)", (unsigned long long)result->expired);
    if (result->records > 0)
        cli_print(" (%llu as records alone)", (unsigned long long)result->records);
    if (result->trusted > 0)
        cli_print(", %llu signed by allowed signers", (unsigned long long)result->trusted);
    cli_print(", %s", cli_count(result->files, "data file", files));
    if (result->orphans > 0)
        cli_print(" (and %llu that no version names)", (unsigned long long)result->orphans);
    cli_print(", %s\n", cli_count(result->findings, "finding", findings));
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    fdl_verify_result result = {0};
    printer p = {.findings = c->json ? json_array() : NULL};
    fdl_verify_options verify = {
        .revision = c->operands[1],
        .all = cli_flag(c, "all"),
        .data = cli_flag(c, "data"),
        .allowed_signers = cli_value(c, "allowed-signers"),
    };
    fdl_code code = FDL_OK;
    if (verify.all && verify.revision)
        code = fdl_fail(&c->error, FDL_USAGE, verify.revision, "--all looks at every version; leave out '%s'",
                        verify.revision);
    if (code == FDL_OK)
        code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = fdl_verify(repo, &verify, take, &p, &result, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:O}", "versions", (json_int_t)result.versions,
                                     "expired", (json_int_t)result.expired, "records", (json_int_t)result.records,
                                     "trusted", (json_int_t)result.trusted, "files", (json_int_t)result.files, "orphans",
                                     (json_int_t)result.orphans, "findings", p.findings));
    else if (code == FDL_OK)
        tell(&result);
    if (code == FDL_OK && result.findings > 0) {
        c->told = true;
        code = FDL_FAILED;
    }
    json_decref(p.findings);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_verify = {
    .name = "verify",
    .operands = "<repo> [<rev>]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "Check that what a repository says is true",
    .details = "Looks at ids, parents, sha256 and sizes, at every data file that a version names, and whether\n"
               "what a version carries beside its catalog says the same. A signature that does not fit is a\n"
               "fault; with --allowed-signers, so is none, and one by somebody else.\n"
               "Each fault is a line; with any, the exit code is 1.",
    .options = options,
    .run = run,
};
