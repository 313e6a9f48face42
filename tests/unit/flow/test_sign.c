/*
 * test_sign.c - what a signature is worth, as ssh-keygen judges it, and what
 * cannot sign.
 */
#include "history.h"

#include <sys/stat.h>
#include <unistd.h>

#include "flow/sign.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/spawn.h"

#define RECORD "{\"any\": \"bytes\"}\n"
#define SIGNATURE "versions/019a0000-0000-7000-8000-000000000001/version.json.sig"

typedef struct desk {
    history h;
    char *record;    /* a file with RECORD in it */
    char *signature; /* where its signature comes */
    char *key, *other;
    char *allowed;
    fdl_version version;
    fdl_signature found;
} desk;

static void run(desk *d, const char *const *argv) {
    fdl_spawned spawned = {0};
    expect(&d->h, FDL_OK, fdl_spawn(argv, NULL, &spawned, &d->h.error));
    if (spawned.status != 0)
        fail_msg("%s: %s", argv[0], spawned.message);
    fdl_spawned_clear(&spawned);
}

static char *make_key(desk *d, const char *name, const char *passphrase) {
    char *path = test_path(d->h.folder, name);
    const char *const argv[] = {"ssh-keygen", "-q",       "-t", "ed25519", "-C", name, "-N",
                                passphrase,   "-f", path, NULL};
    run(d, argv);
    return path;
}

static void write_text(desk *d, const char *path, const char *text) {
    expect(&d->h, FDL_OK, fdl_file_write(path, text, strlen(text), &d->h.error));
}

/* A line of allowed signers: who, and the public part of a key. */
static void allow(desk *d, const char *who, const char *key) {
    char path[4096], *bytes = NULL;
    size_t length = 0;
    fdl_buf line;
    fdl_buf_init(&line, 1u << 16);
    snprintf(path, sizeof path, "%s.pub", key);
    expect(&d->h, FDL_OK, fdl_file_read(path, 1u << 16, &bytes, &length, &d->h.error));
    expect(&d->h, FDL_OK, fdl_buf_add_format(&line, &d->h.error, "%s %.*s", who, (int)length, bytes));
    expect(&d->h, FDL_OK, fdl_file_write(d->allowed, line.data, line.length, &d->h.error));
    fdl_buf_clear(&line);
    free(bytes);
}

static int open_desk(void **state) {
    desk *d = calloc(1, sizeof *d);
    assert_non_null(d);
    history_open(&d->h);
    d->record = test_path(d->h.folder, "version.json");
    d->signature = test_path(d->h.folder, "version.json.sig");
    d->allowed = test_path(d->h.folder, "allowed");
    d->key = make_key(d, "ada", "");
    d->other = make_key(d, "eve", "");
    write_text(d, d->record, RECORD);
    memcpy(d->version.id, history_id(1), sizeof d->version.id);
    snprintf(d->version.created_at, sizeof d->version.created_at, "2026-10-15T23:59:59.5Z");
    *state = d;
    return 0;
}

static int close_desk(void **state) {
    desk *d = *state;
    free(d->other);
    free(d->key);
    free(d->allowed);
    free(d->signature);
    free(d->record);
    history_close(&d->h);
    free(d);
    return 0;
}

/* The signature lies in the repository as version 1's. */
static void publish(desk *d) {
    char *bytes = NULL;
    size_t length = 0;
    expect(&d->h, FDL_OK, fdl_file_read(d->signature, 1u << 16, &bytes, &length, &d->h.error));
    history_put(&d->h, SIGNATURE, bytes);
    free(bytes);
}

static void sign(desk *d, const char *key) {
    unlink(d->signature);
    expect(&d->h, FDL_OK, fdl_sign_file(d->record, key, &d->h.error));
    publish(d);
}

static fdl_signature_state judge(desk *d, const char *bytes, const char *allowed) {
    expect(&d->h, FDL_OK,
           fdl_signature_read(d->h.repo, &d->version, bytes, strlen(bytes), allowed, &d->found, &d->h.error));
    return d->found.state;
}

static void a_signature_fits_its_very_bytes_alone(void **state) {
    desk *d = *state;
    assert_int_equal(judge(d, RECORD, NULL), FDL_UNSIGNED);
    assert_string_equal(d->found.key, "");
    sign(d, d->key);
    allow(d, "ada", d->key);
    assert_int_equal(judge(d, RECORD, d->allowed), FDL_SIGNATURE_GOOD);
    assert_string_equal(d->found.principal, "ada");
    assert_int_equal(strncmp(d->found.key, "ED25519 key SHA256:", 19), 0);
    assert_string_equal(d->found.reason, "");
    assert_int_equal(judge(d, RECORD " ", d->allowed), FDL_SIGNATURE_BAD);
    assert_string_not_equal(d->found.reason, "");
    assert_int_equal(judge(d, "", d->allowed), FDL_SIGNATURE_BAD);
}

static void one_for_another_purpose_or_none_at_all_is_bad(void **state) {
    desk *d = *state;
    const char *const other_purpose[] = {"ssh-keygen", "-Y", "sign", "-n", "git", "-f", d->key, d->record, NULL};
    allow(d, "ada", d->key);
    run(d, other_purpose);
    publish(d);
    assert_int_equal(judge(d, RECORD, d->allowed), FDL_SIGNATURE_BAD);
    static const char *const garbage[] = {"", "no signature\n", "-----BEGIN SSH SIGNATURE-----\n",
                                          "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"};
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        history_put(&d->h, SIGNATURE, garbage[i]);
        assert_int_equal(judge(d, RECORD, d->allowed), FDL_SIGNATURE_BAD);
    }
    char *large = malloc(70000);
    assert_non_null(large);
    memset(large, 'x', 70000);
    large[69999] = '\0';
    history_put(&d->h, SIGNATURE, large);
    assert_int_equal(judge(d, RECORD, d->allowed), FDL_SIGNATURE_BAD);
    free(large);
}

static void a_key_is_good_where_it_may_sign_versions_at_their_time(void **state) {
    desk *d = *state;
    static const struct {
        const char *who;
        fdl_signature_state wanted;
    } lines[] = {
        {"ada", FDL_SIGNATURE_GOOD},
        {"*@example.org,ada", FDL_SIGNATURE_GOOD},
        {"ada namespaces=\"git,fdl-version\"", FDL_SIGNATURE_GOOD},
        {"ada namespaces=\"fdl-*\"", FDL_SIGNATURE_GOOD},
        {"ada namespaces=\"git\"", FDL_SIGNATURE_UNKNOWN},
        {"ada valid-after=\"20261015\",valid-before=\"20261016\"", FDL_SIGNATURE_GOOD}, /* replaced since: it was good then */
        {"ada valid-before=\"20261015\"", FDL_SIGNATURE_UNKNOWN},
        {"ada valid-after=\"20261016\"", FDL_SIGNATURE_UNKNOWN},
        {"ada cert-authority", FDL_SIGNATURE_UNKNOWN},
    };
    sign(d, d->key);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        allow(d, lines[i].who, d->key);
        if (judge(d, RECORD, d->allowed) != lines[i].wanted)
            fail_msg("%s: %s, %s", lines[i].who, fdl_signature_name(d->found.state), d->found.reason);
        assert_int_equal(d->found.principal[0] != '\0', d->found.state == FDL_SIGNATURE_GOOD);
    }
    allow(d, "eve", d->other);
    assert_int_equal(judge(d, RECORD, d->allowed), FDL_SIGNATURE_UNKNOWN);
    write_text(d, d->allowed, "");
    assert_int_equal(judge(d, RECORD, d->allowed), FDL_SIGNATURE_UNKNOWN);
    write_text(d, d->allowed, "\x01 no key at all\n");
    assert_int_equal(judge(d, RECORD, d->allowed), FDL_SIGNATURE_UNKNOWN);
    expect(&d->h, FDL_NOT_FOUND,
           fdl_signature_read(d->h.repo, &d->version, RECORD, strlen(RECORD), "/no/such/file", &d->found, &d->h.error));
}

static void what_cannot_sign_says_so_and_leaves_nothing(void **state) {
    desk *d = *state;
    char *locked = make_key(d, "locked", "right"), *ask = test_path(d->h.folder, "ask");
    write_text(d, ask, "#!/bin/sh\necho wrong\n");
    assert_int_equal(chmod(ask, 0700), 0);
    setenv("SSH_ASKPASS", ask, 1);
    setenv("SSH_ASKPASS_REQUIRE", "force", 1);
    unsetenv("SSH_AUTH_SOCK");
    expect(&d->h, FDL_FAILED, fdl_sign_file(d->record, locked, &d->h.error));
    expect_said("passphrase", &d->h.error);
    write_text(d, locked, "no key\n");
    expect(&d->h, FDL_FAILED, fdl_sign_file(d->record, locked, &d->h.error));
    expect_said("cannot sign with", &d->h.error);
    expect(&d->h, FDL_FAILED, fdl_sign_file(d->record, d->h.folder, &d->h.error));
    expect(&d->h, FDL_NOT_FOUND, fdl_sign_file(d->record, "/no/such/key", &d->h.error));
    assert_false(fdl_file_exists(d->signature));
    free(ask);
    free(locked);
}

int main(void) {
#define T(name) cmocka_unit_test_setup_teardown(name, open_desk, close_desk)
    const struct CMUnitTest tests[] = {
        T(a_signature_fits_its_very_bytes_alone),
        T(one_for_another_purpose_or_none_at_all_is_bad),
        T(a_key_is_good_where_it_may_sign_versions_at_their_time),
        T(what_cannot_sign_says_so_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
