/*
 * cmd_requests.c - fdl requests
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "util/json.h"

static const cli_option options[] = {
    {"message", 'm', "REASON", "why it is rejected; whoever pushed is told"},
    {0},
};

/* ---- list --------------------------------------------------------------------------- */

static void print_request(const json_t *request) {
    size_t i = 0;
    json_t *change = NULL;
    bool waiting = strcmp(fdl_json_text(request, "state"), "waiting") == 0;
    cli_print("request %lld (", (long long)json_integer_value(json_object_get(request, "number")));
    cli_print_text(fdl_json_text(request, "state"), "");
    cli_print("): ");
    cli_print_text(cli_short_ref(fdl_json_text(request, "branch")), "");
    cli_print(" -> ");
    cli_print_text(fdl_json_text(request, "version"), "");
    cli_print("\nBy:        ");
    cli_print_text(fdl_json_text(json_object_get(request, "author"), "name"), "           ");
    cli_print("\nDate:      ");
    cli_print_text(fdl_json_text(request, "created_at"), "           ");
    if (fdl_json_text(request, "reason")[0]) {
        cli_print("\nReason:    ");
        cli_print_text(fdl_json_text(request, "reason"), "           ");
    }
    cli_print("\n\n    ");
    cli_print_text(fdl_json_text(request, "message"), "    ");
    cli_print("\n");
    if (waiting && json_array_size(json_object_get(request, "changes")) > 0)
        cli_print("\n");
    json_array_foreach(json_object_get(request, "changes"), i, change) {
        cli_print("    * ");
        cli_print_text(json_string_value(change) ? json_string_value(change) : "", "      ");
        cli_print("\n");
    }
}

static fdl_code list(cli *c, fdl_repo *repo) {
    char *text = NULL;
    size_t i = 0;
    json_t *request = NULL;
    fdl_code code = fdl_requests(repo, &text, &c->error);
    if (code != FDL_OK)
        return code;
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    free(text);
    if (!json_is_object(document)) {
        json_decref(document);
        return fdl_fail(&c->error, FDL_FAILED, c->operands[0], "'%s' did not answer with a list of requests", c->operands[0]);
    }
    if (c->json)
        return cli_json(c, document);
    json_array_foreach(json_object_get(document, "requests"), i, request) {
        if (i > 0)
            cli_print("\n");
        print_request(request);
    }
    if (i == 0)
        cli_print("no requests\n");
    json_decref(document);
    return FDL_OK;
}

/* ---- decide ------------------------------------------------------------------------- */

static fdl_code read_number(cli *c, const char *text, int64_t *out) {
    char *end = NULL;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (errno || end == text || *end || *out < 1 || *out > 999999999)
        return fdl_fail(&c->error, FDL_USAGE, text, "'%s' is no number of a request", text);
    return FDL_OK;
}

static fdl_code decide(cli *c, fdl_repo *repo, bool approve, int64_t number) {
    fdl_request_record request = {0};
    fdl_code code = approve ? fdl_request_approve(repo, number, &request, &c->error)
                            : fdl_request_reject(repo, number, cli_value(c, "message"), &request, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:I, s:s, s:s, s:s, s:s*}", "number", (json_int_t)number, "branch", request.branch,
                                     "version", request.version, "state", fdl_request_name(request.state), "reason",
                                     request.reason));
    else if (code == FDL_OK && approve)
        cli_print("%s -> %s\n", cli_short_ref(request.branch), request.version);
    else if (code == FDL_OK)
        cli_print("rejected request %lld\n", (long long)number);
    fdl_request_clear(&request);
    return code;
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    int64_t number = 0;
    const char *verb = c->operands[1];
    bool approve = verb && strcmp(verb, "approve") == 0;
    fdl_code code = FDL_OK;
    if (verb && !approve && strcmp(verb, "reject") != 0)
        code = fdl_fail(&c->error, FDL_USAGE, verb, "write approve or reject, not '%s'", verb);
    else if (verb && !c->operands[2])
        code = fdl_fail(&c->error, FDL_USAGE, verb, "name the request to %s by its number", verb);
    else if (verb)
        code = read_number(c, c->operands[2], &number);
    if (code == FDL_OK && cli_value(c, "message") && (!verb || approve))
        code = fdl_fail(&c->error, FDL_USAGE, NULL, "--message is the reason for a rejection");
    if (code == FDL_OK)
        code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = verb ? decide(c, repo, approve, number) : list(c, repo);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_requests = {
    .name = "requests",
    .operands = "<repo> [approve|reject <number>]",
    .min_operands = 1,
    .max_operands = 3,
    .summary = "List pushes that asked for approval, let one through, or turn it down",
    .details = "A host started with --approve keeps pushes instead of moving branches. Approving checks\n"
               "the version again and moves the branch; exit 3 when the branch has moved meanwhile. Works\n"
               "on the repository itself, and over HTTP with a token of role approve in FDL_TOKEN.",
    .options = options,
    .run = run,
};
