/*
 * cmd_log.c - fdl log
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/graph.h"
#include "repo/layout.h"
#include "util/text.h"

static const cli_option options[] = {
    {"graph", 0, NULL, "a line a version, beside lines that show where branches part"},
    {"all", 0, NULL, "start from every branch and tag instead of one revision"},
    {"max-count", 'n', "N", "show at most N versions"},
    {0},
};

typedef struct printer {
    json_t *versions; /* NULL: text */
    bool first;
    bool as_graph;
    graph graph;
    char head[FDL_REF_BYTES];
    fdl_ref_list refs;
} printer;

/* " (HEAD -> main, tag: v1)", as git does. */
static void print_refs(const printer *p, const char *id) {
    const char *before = " (";
    for (size_t i = 0; i < p->refs.count; i++) {
        const fdl_ref *ref = &p->refs.items[i];
        if (strcmp(ref->id, id) != 0)
            continue;
        const char *kind = strcmp(ref->name, p->head) == 0 ? "HEAD -> " : fdl_str_starts(ref->name, FDL_REF_TAGS) ? "tag: " : "";
        cli_print("%s%s%s", before, kind, cli_short_ref(ref->name));
        before = ", ";
    }
    if (*before == ',')
        cli_print(")");
}

static void print_version(printer *p, const fdl_version *version, const fdl_expiry *expiry) {
    if (!p->first)
        cli_print("\n");
    p->first = false;
    cli_print("version %s (seq %lld)", version->id, (long long)version->seq);
    print_refs(p, version->id);
    cli_print("\n");
    if (expiry->expired) {
        cli_print("%s %s", expiry->reason[0] == 'w' ? "Withdrawn:" : "Expired:  ", expiry->expired_at);
        if (expiry->text) {
            cli_print(" ");
            cli_print_text(expiry->text, "           ");
        }
        cli_print("\n");
    }
    cli_print("Author:    ");
    cli_print_text(version->author_name, "           ");
    if (version->author_email) {
        cli_print(" <");
        cli_print_text(version->author_email, "");
        cli_print(">");
    }
    cli_print("\nDate:      %s\n\n    ", version->created_at);
    cli_print_text(version->message, "    ");
    cli_print("\n");
}

/* "* 01a22a39-cfa2 (HEAD -> main) Kyoto counted again - Ada, 2026-11-30 02:12" */
static fdl_code print_line(printer *p, const fdl_version *version, const fdl_expiry *expiry, fdl_error *error) {
    char subject[FDL_MESSAGE_LIMIT_BYTES];
    fdl_code code = cli_graph_before(&p->graph, version->id, error);
    if (code != FDL_OK)
        return code;
    cli_print("%.13s", version->id);
    print_refs(p, version->id);
    if (expiry->expired)
        cli_print(" [%s]", expiry->reason[0] == 'w' ? "withdrawn" : "expired");
    cli_print(" ");
    snprintf(subject, sizeof subject, "%.*s", (int)strcspn(version->message, "\n"), version->message);
    cli_print_text(subject, "");
    cli_print(" - ");
    cli_print_text(version->author_name, "");
    cli_print(", %.10s %.5s\n", version->created_at, version->created_at + 11);
    cli_graph_after(&p->graph, version->parent);
    return FDL_OK;
}

static fdl_code take(void *data, const fdl_version *version, const fdl_expiry *expiry, fdl_error *error) {
    printer *p = data;
    if (!p->versions && p->as_graph)
        return print_line(p, version, expiry, error);
    if (!p->versions) {
        print_version(p, version, expiry);
        return FDL_OK;
    }
    if (json_array_append_new(p->versions, cli_json_version(version, expiry)) != 0)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    return FDL_OK;
}

/* From refs.json, in one read however many there are.  A history reads as well without. */
static void read_refs(printer *p, fdl_repo *repo) {
    fdl_error ignored;
    if (fdl_head_read(repo, p->head, &ignored) == FDL_OK)
        (void)fdl_refs_json_read(repo, &p->refs, &ignored);
}

static fdl_code run(cli *c) {
    fdl_repo *repo = NULL;
    long limit = 0;
    bool all = cli_flag(c, "all");
    printer p = {.versions = c->json ? json_array() : NULL, .first = true, .as_graph = cli_flag(c, "graph")};
    fdl_code code = cli_number(c, "max-count", 0, 1, LONG_MAX, &limit);
    if (code == FDL_OK && all && c->operands[1])
        code = fdl_fail(&c->error, FDL_USAGE, c->operands[1], "'--all' shows every branch: leave '%s' out, or '--all'",
                        c->operands[1]);
    if (code == FDL_OK)
        code = cli_open(c, &repo);
    if (code == FDL_OK && !c->json)
        read_refs(&p, repo);
    if (code == FDL_OK && all)
        code = fdl_log_all(repo, (size_t)limit, take, &p, &c->error);
    else if (code == FDL_OK)
        code = fdl_log(repo, c->operands[1], (size_t)limit, take, &p, &c->error);
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:O}", "versions", p.versions));
    free(p.graph.lines);
    fdl_ref_list_clear(&p.refs);
    json_decref(p.versions);
    fdl_repo_free(repo);
    return code;
}

const cli_command cli_cmd_log = {
    .name = "log",
    .operands = "<repo> [<rev>]",
    .min_operands = 1,
    .max_operands = 2,
    .summary = "Show the history of a version, newest first",
    .details = "Branches and tags, as refs.json tells them, stand beside the versions they point to. Versions\n"
               "that expired or were withdrawn are shown and marked. With --graph each is one line, and lines at\n"
               "its left show what was made from what; 'fdl log <repo> --graph --all' draws all of history.\n"
               "A version stands above its parent; else the higher number comes first.",
    .options = options,
    .run = run,
};
