/*
 * cmd_doctor.c - fdl doctor
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "host/microhttpd.h"

typedef struct printer {
    json_t *checks; /* NULL: text */
    unsigned counts[FDL_HEALTH_BROKEN + 1];
} printer;

static void take(void *data, const char *name, fdl_health health, const char *detail) {
    printer *p = data;
    p->counts[health]++;
    if (p->checks) {
        json_array_append_new(p->checks, json_pack("{s:s, s:s, s:s}", "name", name, "health", fdl_health_name(health),
                                                   "detail", detail));
        return;
    }
    cli_print("%-8s %-24s ", fdl_health_name(health), name);
    cli_print_text(detail, "");
    cli_print("\n");
}

/* The one library that only the host needs. */
static void look_at_server(printer *p) {
    fdl_error error;
    if (fdl_mhd_open(&error) == FDL_OK)
        take(p, "libmicrohttpd", FDL_HEALTH_OK, "loads, for 'fdl serve'");
    else
        take(p, "libmicrohttpd", FDL_HEALTH_MISSING, error.message);
}

/* Whose name the versions made here bear. */
static fdl_code look_at_author(cli *c, printer *p) {
    char detail[FDL_MESSAGE_LIMIT_BYTES];
    char *name = NULL, *email = NULL;
    const char *from = "";
    fdl_code code = cli_author_found(c, &name, &email, &from);
    if (code == FDL_OK) {
        snprintf(detail, sizeof detail, "%s%s%s%s, from %s%s", name, email ? " <" : "", email ? email : "",
                 email ? ">" : "", from,
                 email ? ""
                       : "; say who commits with 'git config --global user.name' and user.email, or FDL_AUTHOR_NAME and "
                         "FDL_AUTHOR_EMAIL");
        take(p, "author", email ? FDL_HEALTH_OK : FDL_HEALTH_WARNING, detail);
    }
    free(name);
    free(email);
    return code;
}

static void sum_up(const printer *p, bool found) {
    char broken[64], warnings[64];
    cli_print("%s, %s, %u missing: %s\n", cli_count(p->counts[FDL_HEALTH_BROKEN], "fault", broken),
              cli_count(p->counts[FDL_HEALTH_WARNING], "warning", warnings), p->counts[FDL_HEALTH_MISSING],
              p->counts[FDL_HEALTH_BROKEN] ? "mend what is broken"
              : found                      ? "what is needed works"
                                           : "what is needed works, but there is no repository");
}

static fdl_code run(cli *c) {
    printer p = {.checks = c->json ? json_array() : NULL};
    fdl_doctor_machine(&c->context, take, &p);
    look_at_server(&p);
    fdl_code code = look_at_author(c, &p);
    if (code == FDL_OK && c->operand_count > 0)
        code = fdl_doctor_repo(&c->context, c->operands[0], take, &p, &c->error);
    bool missing = code == FDL_NOT_FOUND; /* the place that was named is looked at all the same */
    code = missing ? FDL_OK : code;
    bool broken = p.counts[FDL_HEALTH_BROKEN] > 0;
    if (code == FDL_OK && c->json)
        code = cli_json(c, json_pack("{s:b, s:O}", "well", !broken && !missing, "checks", p.checks));
    else if (code == FDL_OK)
        sum_up(&p, !missing);
    if (code == FDL_OK && (broken || missing)) {
        c->told = true;
        code = broken ? FDL_FAILED : FDL_NOT_FOUND;
    }
    json_decref(p.checks);
    return code;
}

const cli_command cli_cmd_doctor = {
    .name = "doctor",
    .operands = "[<repo>]",
    .min_operands = 0,
    .max_operands = 1,
    .summary = "Tell what works here, what is missing, and what to do about it",
    .details = "A line each: 'ok'; 'warning', it works and there is something to know; 'missing', what needs it\n"
               "will not work; 'broken', it is needed and does not work. Exit 1 when something is broken, 5 when\n"
               "<repo> is none: the place is looked at all the same, so it can be tried before 'fdl init'.\n"
               "\n"
               "Looks at the libraries and extensions that are loaded when they are needed, the duckdb program,\n"
               "ssh-keygen, and who commits. With <repo>, also at where credentials come from (never at what\n"
               "they are), the newest version, which is fetched and opened, the web server that shows it and the\n"
               "public address in fdl.json, the clock, room and permissions in a folder, whether a bucket keeps\n"
               "old objects, and, in a scratch key below .fdl/ that it deletes again, whether the store keeps\n"
               "conditional writes.",
    .run = run,
};
