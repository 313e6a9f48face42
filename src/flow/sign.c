/*
 * sign.c - signing a version, and what a signature is worth.
 *
 *   does it fit the bytes?      ssh-keygen -Y check-novalidate
 *   whose key is it?            ssh-keygen -Y find-principals, among those allowed
 *   may they sign versions?     ssh-keygen -Y verify, at the time of the version
 *
 * The time is the version's own: a key that was valid then makes a signature
 * that stays good when the key has been replaced since.
 */
#include "flow/sign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/scratch.h"
#include "repo/layout.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/spawn.h"
#include "util/text.h"

#define SIGNERS_LIMIT_BYTES (1u << 20)
#define PRINCIPALS_LIMIT 64

/* "env" gives ssh-keygen one language, and the time zone that "verify-time" is read in. */
#define SSH_KEYGEN "env", "LC_ALL=C", "TZ=UTC0", "ssh-keygen", "-Y"
#define ENV_NO_SUCH_PROGRAM 127

static fdl_code ssh_keygen(const char *const *argv, const char *input, fdl_spawned *out, fdl_error *error) {
    fdl_code code = fdl_spawn(argv, input, out, error);
    if (code == FDL_OK && out->status == ENV_NO_SUCH_PROGRAM)
        code = fdl_fail(error, FDL_UNSUPPORTED, "ssh-keygen",
                        "cannot run 'ssh-keygen', which makes and judges signatures; install OpenSSH's client");
    return code;
}

/* ---- signing -------------------------------------------------------------------- */

static fdl_code sign(const char *path, const char *key, fdl_error *error) {
    const char *const argv[] = {SSH_KEYGEN, "sign", "-n", FDL_SIGNATURE_NAMESPACE, "-f", key, path, NULL};
    fdl_spawned spawned = {0};
    fdl_code code = ssh_keygen(argv, NULL, &spawned, error);
    if (code == FDL_OK && spawned.status != 0)
        code = fdl_fail(error, FDL_FAILED, key, "cannot sign with '%s': %s", key, fdl_spawned_reason(&spawned));
    fdl_spawned_clear(&spawned);
    return code;
}

/* Whether the signature fits the bytes, whoever made it; `key` says whose it is. */
static fdl_code fits(const char *path, const char *signature, bool *is_fit, char *key, size_t key_bytes, char *reason,
                     size_t reason_bytes, fdl_error *error) {
    const char *const argv[] = {SSH_KEYGEN, "check-novalidate", "-n", FDL_SIGNATURE_NAMESPACE, "-s", signature, NULL};
    fdl_spawned spawned = {0};
    fdl_code code = ssh_keygen(argv, path, &spawned, error);
    if (code == FDL_OK) {
        *is_fit = spawned.status == 0;
        const char *with = strstr(spawned.output, " with ");
        if (*is_fit && with)
            snprintf(key, key_bytes, "%.*s", (int)strcspn(with + 6, "\n"), with + 6);
        if (!*is_fit)
            snprintf(reason, reason_bytes, "%.*s", (int)strcspn(spawned.message, "\n"), spawned.message);
    }
    fdl_spawned_clear(&spawned);
    return code;
}

fdl_code fdl_sign_file(const char *path, const char *key, fdl_error *error) {
    char *signature = NULL;
    char whose[256], reason[512] = "";
    bool is_fit = false;
    fdl_code code = fdl_str_format(&signature, error, "%s.sig", path);
    if (code == FDL_OK && !fdl_file_exists(key))
        code = fdl_fail(error, FDL_NOT_FOUND, key, "cannot sign with '%s': there is no such file", key);
    if (code == FDL_OK)
        code = sign(path, key, error);
    if (code == FDL_OK)
        code = fits(path, signature, &is_fit, whose, sizeof whose, reason, sizeof reason, error);
    if (code == FDL_OK && !is_fit)
        code = fdl_fail(error, FDL_FAILED, key, "the signature made with '%s' does not hold: %s", key, reason);
    if (code == FDL_OK)
        code = fdl_file_sync(signature, error);
    free(signature);
    return code;
}

/* ---- judging ---------------------------------------------------------------------- */

/* The files that ssh-keygen is given. */
typedef struct question {
    char *scratch;
    char *record;    /* version.json */
    char *signature;
    char *expected;  /* the signers of fdl.json, as a file */
    char time[64];   /* "verify-time=20261015090000" */
} question;

static void question_clear(question *q) {
    fdl_scratch_remove(q->scratch);
    free(q->record);
    free(q->signature);
    free(q->expected);
}

static fdl_code write_expected(fdl_repo *repo, const char *path, fdl_error *error) {
    fdl_buf lines;
    const char *line = NULL;
    fdl_buf_init(&lines, SIGNERS_LIMIT_BYTES);
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK; i++) {
        code = fdl_repo_signer(repo, i, &line, error);
        if (code == FDL_OK)
            code = fdl_buf_add_format(&lines, error, "%s\n", line);
    }
    if (code == FDL_NOT_FOUND)
        code = fdl_file_write(path, lines.data ? lines.data : "", lines.length, error);
    fdl_buf_clear(&lines);
    return code;
}

static fdl_code ask(fdl_repo *repo, const fdl_version *version, const char *bytes, size_t length, const char *signature,
                    size_t signature_length, question *q, fdl_error *error) {
    char instant[FDL_TIME_BYTES];
    int64_t ms = 0;
    (void)fdl_time_parse(version->created_at, &ms);
    fdl_time_write(ms / 1000 * 1000, instant);
    snprintf(q->time, sizeof q->time, "verify-time=%.4s%.2s%.2s%.2s%.2s%.2s", instant, instant + 5, instant + 8,
             instant + 11, instant + 14, instant + 17);
    fdl_code code = fdl_scratch_make(&q->scratch, error);
    if (code == FDL_OK)
        code = fdl_str_format(&q->record, error, "%s/%s", q->scratch, FDL_FILE_VERSION);
    if (code == FDL_OK)
        code = fdl_file_write(q->record, bytes, length, error);
    if (code == FDL_OK)
        code = fdl_str_format(&q->signature, error, "%s/%s", q->scratch, FDL_FILE_SIGNATURE);
    if (code == FDL_OK)
        code = fdl_file_write(q->signature, signature, signature_length, error);
    if (code == FDL_OK)
        code = fdl_str_format(&q->expected, error, "%s/signers", q->scratch);
    return code == FDL_OK ? write_expected(repo, q->expected, error) : code;
}

/* Who of `signers` has the key, one a line; "" when nobody has. */
static fdl_code find_principals(const question *q, const char *signers, fdl_spawned *out, fdl_error *error) {
    const char *const argv[] = {SSH_KEYGEN, "find-principals", "-s", q->signature, "-f", signers, "-O", q->time, NULL};
    fdl_code code = ssh_keygen(argv, q->record, out, error);
    if (code == FDL_OK && out->status != 0)
        out->output[0] = '\0';
    return code;
}

/* A line may allow its key for other namespaces only, or at other times. */
static fdl_code may_sign(const question *q, const char *signers, const char *principal, fdl_signature *out,
                         fdl_error *error) {
    const char *const argv[] = {SSH_KEYGEN, "verify", "-n", FDL_SIGNATURE_NAMESPACE, "-f",    signers, "-I",
                                principal,  "-s",     q->signature,                  "-O", q->time, NULL};
    fdl_spawned spawned = {0};
    fdl_code code = ssh_keygen(argv, q->record, &spawned, error);
    if (code == FDL_OK && spawned.status == 0) {
        out->state = FDL_SIGNATURE_GOOD;
        out->reason[0] = '\0';
        snprintf(out->principal, sizeof out->principal, "%s", principal);
    }
    fdl_spawned_clear(&spawned);
    return code;
}

static fdl_code judge_signer(const question *q, const char *signers, fdl_signature *out, fdl_error *error) {
    fdl_spawned found = {0};
    char *rest = NULL;
    snprintf(out->reason, sizeof out->reason, "'%s' does not list its key", signers);
    fdl_code code = find_principals(q, signers, &found, error);
    char *name = code == FDL_OK ? strtok_r(found.output, "\n", &rest) : NULL;
    for (int i = 0; name && i < PRINCIPALS_LIMIT && code == FDL_OK && out->state != FDL_SIGNATURE_GOOD; i++) {
        snprintf(out->reason, sizeof out->reason, "'%s' lists its key as '%s', but not to sign versions", signers, name);
        code = may_sign(q, signers, name, out, error);
        name = strtok_r(NULL, "\n", &rest);
    }
    fdl_spawned_clear(&found);
    return code;
}

static fdl_code judge(const question *q, const char *allowed_signers, fdl_signature *out, fdl_error *error) {
    fdl_spawned expected = {0};
    bool is_fit = false;
    out->state = FDL_SIGNATURE_BAD;
    fdl_code code = fits(q->record, q->signature, &is_fit, out->key, sizeof out->key, out->reason, sizeof out->reason,
                         error);
    if (code != FDL_OK || !is_fit)
        return code;
    out->state = FDL_SIGNATURE_UNKNOWN;
    code = find_principals(q, q->expected, &expected, error);
    if (code == FDL_OK)
        snprintf(out->expected, sizeof out->expected, "%.*s", (int)strcspn(expected.output, "\n"), expected.output);
    fdl_spawned_clear(&expected);
    if (code == FDL_OK && allowed_signers)
        return judge_signer(q, allowed_signers, out, error);
    snprintf(out->reason, sizeof out->reason, "nobody said whom to trust; give --allowed-signers");
    return code;
}

fdl_code fdl_signature_read(fdl_repo *repo, const fdl_version *version, const char *bytes, size_t length,
                            const char *allowed_signers, fdl_signature *out, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *signature = NULL;
    size_t signature_length = 0;
    question q = {0};
    memset(out, 0, sizeof *out);
    if (allowed_signers && access(allowed_signers, R_OK) != 0)
        return fdl_fail(error, FDL_NOT_FOUND, allowed_signers, "cannot read the allowed signers '%s'", allowed_signers);
    fdl_code code = fdl_key_version(key, version->id, FDL_FILE_SIGNATURE, error);
    if (code == FDL_OK)
        code = fdl_store_read(fdl_repo_store(repo), key, FDL_LIMIT_SIGNATURE_BYTES, &signature, &signature_length, NULL,
                              error);
    if (code == FDL_NOT_FOUND || code == FDL_DENIED) { /* a bucket that may not be listed says 403 for what is not there */
        snprintf(out->reason, sizeof out->reason, "it has no signature");
        return FDL_OK;
    }
    if (code == FDL_REFUSED) { /* too large to be one */
        out->state = FDL_SIGNATURE_BAD;
        snprintf(out->reason, sizeof out->reason, "%.500s", error->message);
        return FDL_OK;
    }
    if (code == FDL_OK)
        code = ask(repo, version, bytes, length, signature, signature_length, &q, error);
    if (code == FDL_OK)
        code = judge(&q, allowed_signers, out, error);
    question_clear(&q);
    free(signature);
    return code;
}

const char *fdl_signature_name(fdl_signature_state state) {
    static const char *const names[] = {"unsigned", "good", "unknown", "bad"};
    return (size_t)state < sizeof names / sizeof *names ? names[state] : "bad";
}
