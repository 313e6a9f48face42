/*
 * out.c - results on stdout, for people or as one JSON document; everything
 * else on stderr.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "util/text.h"

void cli_print(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
}

/* Names and messages come from strangers and go to a terminal: they neither steer it nor begin a line of ours. */
void cli_print_text(const char *text, const char *indent) {
    while (*text) {
        size_t length = fdl_utf8_char(text, strnlen(text, 4));
        if (*text == '\n' && *indent)
            printf("\n%s", indent);
        else if (*text == '\t' || (length > 0 && !fdl_utf8_steers(text, length)))
            fwrite(text, 1, length, stdout);
        else
            putchar('?');
        text += length > 0 ? length : 1;
    }
}

void cli_say(const cli *c, const char *format, ...) {
    if (c->quiet)
        return;
    va_list args;
    fflush(stdout); /* where both are one pipe, what was said first comes first */
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

void cli_note(void *data, fdl_note_level level, const char *line) {
    cli *c = data;
    cli_progress_clear(c);
    if (level == FDL_NOTE_WARNING)
        fprintf(stderr, "fdl: warning: %s\n", line);
    else if (level == FDL_NOTE_INFO ? !c->quiet : c->verbose)
        fprintf(stderr, "fdl: %s\n", line);
}

/* Where a character that steers a terminal stands escaped, the document means the same to who parses it. */
void cli_print_json(const char *text) {
    const char *from = text; /* not printed yet */
    for (const char *at = text; *at;) {
        size_t length = fdl_utf8_char(at, strnlen(at, 4)); /* never 0: jansson takes UTF-8 alone */
        unsigned last = (unsigned char)at[length - 1] & 0x7fu;
        if (*at != '\n' && fdl_utf8_steers(at, length)) {
            fwrite(from, 1, (size_t)(at - from), stdout);
            printf("\\u%04x", length == 1 ? last : length == 2 ? 0x80u + last : (at[1] & 1u ? 0x2040u : 0x2000u) + last);
            from = at + length;
        }
        at += length;
    }
    fputs(from, stdout);
}

fdl_code cli_json(cli *c, json_t *document) {
    char *text = document ? json_dumps(document, JSON_INDENT(2)) : NULL;
    json_decref(document);
    if (!text)
        return fdl_fail(&c->error, FDL_FAILED, NULL, "out of memory");
    cli_print_json(text);
    cli_print("\n");
    free(text);
    return FDL_OK;
}

void cli_error(const cli *c) {
    const fdl_error *error = &c->error;
    fprintf(stderr, "fdl: %s\n", error->message);
    if (!c->json)
        return;
    json_t *document = json_pack("{s:{s:s, s:s, s:s*}}", "error", "code", fdl_code_name(error->code), "message",
                                 error->message, "key", error->key[0] ? error->key : NULL);
    char *text = document ? json_dumps(document, JSON_INDENT(2)) : NULL;
    if (text)
        puts(text); /* clean already, as every error is */
    free(text);
    json_decref(document);
}

const char *cli_count(unsigned long long count, const char *one, char out[64]) {
    snprintf(out, 64, "%llu %s%s", count, one, count == 1 ? "" : "s");
    return out;
}

const char *cli_short_ref(const char *full) {
    static const char *const kinds[] = {"refs/heads/", "refs/tags/"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(full, kinds[i], strlen(kinds[i])) == 0)
            return full + strlen(kinds[i]);
    return full;
}

const char *cli_request(const fdl_request *request, char out[96]) {
    if (request->number > 0)
        snprintf(out, 96, "request %lld, %s", (long long)request->number, fdl_request_name(request->state));
    else
        snprintf(out, 96, "the host decides");
    return out;
}

void cli_print_waiting(const char *branch, const char *id, const fdl_request *request) {
    char words[96];
    if (request->number > 0 && request->state == FDL_REQUEST_WAITING)
        snprintf(words, sizeof words, "request %lld", (long long)request->number);
    else
        cli_request(request, words);
    cli_print("%s: %s is uploaded and waits for approval (%s)\n", cli_short_ref(branch), id, words);
}

json_t *cli_json_request(const fdl_request *request) {
    if (request->state == FDL_NOT_ASKED)
        return json_null();
    return json_pack("{s:o, s:s, s:s*}", "number",
                     request->number > 0 ? json_integer((json_int_t)request->number) : json_null(), "state",
                     fdl_request_name(request->state), "reason", request->reason[0] ? request->reason : NULL);
}

/* The record as version.json has it, and the marker when there is one. */
json_t *cli_json_version(const fdl_version *version, const fdl_expiry *expiry) {
    fdl_error error;
    char *bytes = NULL;
    size_t length = 0;
    if (fdl_version_write(version, &bytes, &length, &error) != FDL_OK)
        return NULL;
    json_t *object = json_loadb(bytes, length, 0, NULL);
    free(bytes);
    if (object && expiry->expired)
        json_object_set_new(object, "expired",
                            json_pack("{s:s, s:s, s:s*}", "expired_at", expiry->expired_at, "reason", expiry->reason,
                                      "text", expiry->text));
    return object;
}
