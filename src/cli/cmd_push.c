/*
 * cmd_push.c - fdl push
 */
#include "cli/cli.h"
#include "util/text.h"

static const cli_option options[] = {
    {"branch", 'b', "NAME", "the branch to move or create, instead of the one checked out"},
    {"unsafe-no-conditions", 0, NULL, "accept a store that ignores conditional writes: two writers can lose work"},
    {0},
};

static json_t *as_json(const fdl_push_result *result) {
    json_t *pushed = json_array();
    for (size_t i = 0; i < result->pushed_count; i++)
        json_array_append_new(pushed, json_string(result->pushed[i]));
    json_t *document = json_pack("{s:s, s:o, s:I, s:I}", "branch", cli_short_ref(result->branch), "pushed", pushed,
                     "uploaded_files", (json_int_t)result->sent.files, "uploaded_bytes",
                     (json_int_t)result->sent.bytes);
    if (document && result->waiting[0]) {
        json_object_set_new(document, "waiting", json_string(result->waiting));
        json_object_set_new(document, "request", cli_json_request(&result->request));
    }
    return document;
}

static void tell(const fdl_push_result *result) {
    char size[32], versions[64], files[64];
    if (result->pushed_count == 0 && !result->waiting[0])
        cli_print("nothing to push\n");
    for (size_t i = 0; i < result->pushed_count; i++)
        cli_print("%s -> %s\n", cli_short_ref(result->branch), result->pushed[i]);
    if (result->waiting[0])
        cli_print_waiting(result->branch, result->waiting, &result->request);
    if (result->waiting[0] && result->behind_count > 0)
        cli_print("%s behind it on this machine; push again when it is on the branch\n",
                  cli_count(result->behind_count, "version", versions));
    if (result->pushed_count > 0 || result->sent.files > 0)
        cli_print("%s%s%s uploaded, %s\n",
                  result->pushed_count > 0 ? cli_count(result->pushed_count, "version", versions) : "",
                  result->pushed_count > 0 ? ", " : "",
                  cli_count(result->sent.files, "file", files), fdl_size_text(result->sent.bytes, size));
}

static fdl_code run(cli *c) {
    fdl_push_result result = {0};
    fdl_push_options push = {.branch = cli_value(c, "branch")};
    c->context.unsafe_no_conditions = cli_flag(c, "unsafe-no-conditions");
    fdl_code code = fdl_push(&c->context, c->operands[0], &push, &result, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, as_json(&result));
    else if (code == FDL_OK)
        tell(&result);
    fdl_push_result_clear(&result);
    return code;
}

const cli_command cli_cmd_push = {
    .name = "push",
    .operands = "<work>",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Publish the versions committed and move the branch",
    .details = "Uploads what is missing in an order that never shows a reader anything unfinished, and\n"
               "moves the branch last, only if it still holds what was checked out. Otherwise exit 3:\n"
               "the versions are kept, and the message says how to redo the work. A push that was\n"
               "stopped is simply run again.\n"
               "\n"
               "To an http(s):// host with the token in FDL_TOKEN, or with what ~/.netrc has for that host;\n"
               "data files go straight to the store behind the host where it gives out addresses for them.\n"
               "A host that asks somebody first answers with the number of a request: the version then\n"
               "waits, 'fdl status' tells what became of it, and a later push goes on from there.",
    .options = options,
    .run = run,
};
