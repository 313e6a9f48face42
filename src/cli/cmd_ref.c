/*
 * cmd_ref.c - fdl branch and fdl tag: list, create, delete.
 */
#include <string.h>

#include "cli/cli.h"
#include "repo/layout.h"

static const cli_option options[] = {
    {"delete", 'd', NULL, "delete it"},
    {0},
};

static json_t *ref_json(const fdl_ref *ref) {
    return json_pack("{s:s, s:s, s:s}", "name", cli_short_ref(ref->name), "ref", ref->name, "id", ref->id);
}

static fdl_code list(cli *c, fdl_repo *repo, const char *kind) {
    fdl_ref_list refs = {0};
    char head[FDL_REF_BYTES] = "";
    json_t *items = json_array();
    fdl_code code = fdl_head_read(repo, head, &c->error);
    if (code == FDL_OK)
        code = fdl_ref_list_read(repo, &refs, &c->error);
    for (size_t i = 0; code == FDL_OK && i < refs.count; i++) {
        const fdl_ref *ref = &refs.items[i];
        if (strncmp(ref->name, kind, strlen(kind)) != 0)
            continue;
        if (c->json)
            json_array_append_new(items, ref_json(ref));
        else
            cli_print("%c %-24s %s\n", strcmp(ref->name, head) == 0 ? '*' : ' ', cli_short_ref(ref->name), ref->id);
    }
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:s, s:O}", "head", head, "refs", items));
    json_decref(items);
    fdl_ref_list_clear(&refs);
    return code;
}

static fdl_code change(cli *c, fdl_repo *repo, const char *kind) {
    bool remove = cli_flag(c, "delete");
    const char *what = strcmp(kind, FDL_REF_HEADS) == 0 ? "branch" : "tag";
    fdl_ref ref = {0};
    if (remove && c->operand_count > 2)
        return fdl_fail(&c->error, FDL_USAGE, c->operands[2], "--delete takes a name and no revision, not '%s'",
                        c->operands[2]);
    fdl_code code = remove ? fdl_ref_delete(repo, kind, c->operands[1], &ref, &c->error)
                           : fdl_ref_create(repo, kind, c->operands[1], c->operands[2], &ref, &c->error);
    if (code == FDL_OK && c->json)
        return cli_json(c, json_pack("{s:o, s:s}", remove ? "deleted" : "created", ref_json(&ref), "kind", what));
    if (code == FDL_OK)
        cli_print("%s %s '%s' at %s\n", remove ? "deleted" : "made", what, c->operands[1], ref.id);
    return code;
}

static fdl_code run_refs(cli *c, const char *kind) {
    fdl_repo *repo = NULL;
    fdl_code code = FDL_OK;
    if (c->operand_count == 1 && cli_flag(c, "delete"))
        code = fdl_fail(&c->error, FDL_USAGE, NULL, "name what to delete; see 'fdl %s --help'", c->command->name);
    if (code == FDL_OK)
        code = cli_open(c, &repo);
    if (code == FDL_OK)
        code = c->operand_count == 1 ? list(c, repo, kind) : change(c, repo, kind);
    fdl_repo_free(repo);
    return code;
}

static fdl_code run_branch(cli *c) {
    return run_refs(c, FDL_REF_HEADS);
}

static fdl_code run_tag(cli *c) {
    return run_refs(c, FDL_REF_TAGS);
}

const cli_command cli_cmd_branch = {
    .name = "branch",
    .operands = "<repo> [<name> [<rev>]]",
    .min_operands = 1,
    .max_operands = 3,
    .summary = "List, make or delete branches",
    .details = "A new branch starts at <rev> (HEAD). The branch that HEAD names cannot be deleted.",
    .options = options,
    .run = run_branch,
};

const cli_command cli_cmd_tag = {
    .name = "tag",
    .operands = "<repo> [<name> [<rev>]]",
    .min_operands = 1,
    .max_operands = 3,
    .summary = "List, make or delete tags",
    .details = "A tag is made once and never moves. A version with a tag is never expired.",
    .options = options,
    .run = run_tag,
};
