/*
 * cmd_status.c - fdl status
 */
#include "cli/cli.h"

static json_t *as_json(const cli *c, const fdl_status_result *s) {
    json_t *pending = json_array();
    for (size_t i = 0; i < s->pending_count; i++)
        json_array_append_new(pending, json_string(s->pending[i]));
    return json_pack("{s:s, s:s, s:s?, s:s?, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:s?, s:s*, s:s*}", "work", c->operands[0],
                     "repo", s->repo, "branch", s->branch[0] ? cli_short_ref(s->branch) : NULL, "base",
                     s->base[0] ? s->base : NULL, "base_seq", (json_int_t)s->base_seq, "snapshot",
                     (json_int_t)s->snapshot, "committed_snapshot", (json_int_t)s->committed_snapshot,
                     "uncommitted_snapshots", (json_int_t)(s->snapshot - s->committed_snapshot), "pending", pending,
                     "request", cli_json_request(&s->request),
                     "moved", s->remote_known ? json_boolean(s->moved) : json_null(), "remote",
                     s->remote[0] ? s->remote : NULL, "remote_error", s->remote_error[0] ? s->remote_error : NULL,
                     "attach", s->attach_statement);
}

static void tell(const cli *c, const fdl_status_result *s) {
    char request[96];
    long long uncommitted = (long long)(s->snapshot - s->committed_snapshot);
    cli_print("repository  %s\n", s->repo);
    cli_print("branch      %s\n", s->branch[0] ? cli_short_ref(s->branch) : "(none: a tag or version was checked out)");
    if (s->base[0])
        cli_print("base        %s (seq %lld)\n", s->base, (long long)s->base_seq);
    else
        cli_print("base        (none: the repository was empty)\n");
    if (uncommitted == 0)
        cli_print("committed   everything\n");
    else
        cli_print("committed   all but %lld snapshot%s; 'fdl commit %s -m MSG'\n", uncommitted,
                  uncommitted == 1 ? "" : "s", c->operands[0]);
    if (s->pending_count == 0)
        cli_print("pushed      everything committed\n");
    else
        cli_print("pushed      all but %zu version%s; 'fdl push %s'\n", s->pending_count,
                  s->pending_count == 1 ? "" : "s", c->operands[0]);
    for (size_t i = 0; i < s->pending_count; i++)
        cli_print("            %s\n", s->pending[i]);
    if (s->request.state != FDL_NOT_ASKED) {
        cli_print("waiting     %s is uploaded: %s%s", s->pending[0], cli_request(&s->request, request),
                  s->request.reason[0] ? ": " : "");
        cli_print_text(s->request.reason, "            ");
        cli_print("\n");
    }
    if (s->moved)
        cli_print("moved       the branch now holds %s; a push will be refused\n",
                  s->remote[0] ? s->remote : "nothing: it was deleted");
    if (s->remote_error[0])
        cli_print("moved       not known: %s\n", s->remote_error);
    if (s->attach_statement)
        cli_print("%s\n", s->attach_statement);
}

static fdl_code run(cli *c) {
    fdl_status_result status = {0};
    fdl_code code = fdl_status(&c->context, c->operands[0], &status, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, as_json(c, &status));
    else if (code == FDL_OK)
        tell(c, &status);
    fdl_status_result_clear(&status);
    return code;
}

const cli_command cli_cmd_status = {
    .name = "status",
    .operands = "<work>",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Tell what is not committed, not pushed, or out of date",
    .details = "In a working catalog never run ducklake_delete_orphaned_files with cleanup_all or older_than:\n"
               "it deletes files that other versions need, and nothing in the catalog can stop it.",
    .run = run,
};
