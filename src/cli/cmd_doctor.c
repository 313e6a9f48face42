/*
 * cmd_doctor.c - fdl doctor
 */
#include "cli/cli.h"

typedef struct printer {
    json_t *checks; /* NULL: text */
} printer;

static const char *const words[] = {[FDL_HEALTH_GOOD] = "good", [FDL_HEALTH_MISSING] = "missing", [FDL_HEALTH_BAD] = "bad"};

static void take(void *data, const char *name, fdl_health health, const char *detail) {
    printer *p = data;
    if (p->checks)
        json_array_append_new(p->checks,
                              json_pack("{s:s, s:s, s:s}", "name", name, "health", words[health], "detail", detail));
    else {
        cli_print("%-8s %-32s ", words[health], name);
        cli_print_text(detail, "");
        cli_print("\n");
    }
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    printer p = {.checks = c->json ? json_array() : NULL};
    bool well = true;
    fdl_code code = c->operand_count > 0 ? cli_open(c, &repo) : FDL_OK;
    if (code == FDL_OK)
        well = fdl_doctor(&c->context, repo, take, &p);
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:b, s:O}", "well", well, "checks", p.checks));
    if (code == FDL_OK && !well) {
        c->told = true;
        code = FDL_FAILED;
    }
    json_decref(p.checks);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_doctor = {
    .name = "doctor",
    .operands = "[<repo>]",
    .min_operands = 0,
    .max_operands = 1,
    .summary = "Look whether everything needed is here and a store keeps its promises",
    .details = "Looks for the DuckDB library, its extensions and ssh-keygen. With <repo> it also tries, in a\n"
               "scratch key below .fdl/ that it deletes again, whether the store keeps conditional writes.",
    .run = run,
};
