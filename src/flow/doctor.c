/*
 * doctor.c - what works on this machine, what is missing, and what to do about
 * it: DuckDB's library and extensions, the DuckDB a person has, ssh-keygen.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/duck.h"
#include "fdl.h"
#include "flow/doctor.h"
#include "flow/releases.h"
#include "util/crypto.h"
#include "util/curl.h"
#include "util/file.h"
#include "util/spawn.h"
#include "util/text.h"

const char *fdl_health_name(fdl_health health) {
    static const char *const names[] = {[FDL_HEALTH_OK] = "ok",
                                        [FDL_HEALTH_WARNING] = "warning",
                                        [FDL_HEALTH_MISSING] = "missing",
                                        [FDL_HEALTH_BROKEN] = "broken"};
    return names[health];
}

void fdl_doctor_tell(const doctor *d, const char *name, fdl_health health, const char *format, ...) {
    char detail[2 * FDL_MESSAGE_LIMIT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    d->callback(d->data, name, health, detail);
}

/* ---- DuckDB's library -------------------------------------------------------------- */

/* "/usr/lib/fdl/x" of "/usr/bin/../lib/fdl/x"; as it is when that cannot be had. */
static void told_path(const char *path, char out[PATH_MAX]) {
    char *absolute = NULL;
    fdl_error ignored;
    if (fdl_path_absolute(path, &absolute, &ignored) != FDL_OK || !fdl_str_fit(out, PATH_MAX, absolute))
        fdl_str_fit(out, PATH_MAX, path);
    free(absolute);
}

static void look_at_extension(const doctor *d, fdl_duck *duck, const char *name, const char *why) {
    char label[64], path[PATH_MAX] = "", told[PATH_MAX];
    fdl_error error;
    snprintf(label, sizeof label, "extension %s", name);
    if (fdl_duck_load_extension(duck, name, &error) != FDL_OK)
        fdl_doctor_tell(d, label, FDL_HEALTH_MISSING, "%s; %s", error.message, why);
    else if (fdl_duck_find_extension(duck, name, path, &error) == FDL_OK && strchr(path, '/')) {
        told_path(path, told);
        fdl_doctor_tell(d, label, FDL_HEALTH_OK, "'%s', %s", told, why);
    } else
        fdl_doctor_tell(d, label, FDL_HEALTH_OK, "as installed in DuckDB, %s", why);
}

/* `platform` stays "" without a library. */
static void look_at_library(const doctor *d, char platform[64]) {
    fdl_duck *duck = NULL;
    char path[PATH_MAX];
    fdl_error error;
    if (fdl_duck_open(d->context, &duck, &error) != FDL_OK) {
        fdl_doctor_tell(d, "duckdb library", FDL_HEALTH_BROKEN, "%s", error.message);
        return;
    }
    told_path(fdl_duck_library(duck), path);
    fdl_doctor_tell(d, "duckdb library", FDL_HEALTH_OK, "%s, '%s'", fdl_duck_version(duck), path);
    look_at_extension(d, duck, "ducklake", "to compare rows and for --flush-inlined");
    look_at_extension(d, duck, "sqlite_scanner", "for --flush-inlined");
    look_at_extension(d, duck, "httpfs", "for --flush-inlined in a bucket or behind a web server");
    (void)fdl_duck_platform(duck, platform, &error);
    fdl_duck_free(duck);
}

/* ---- the DuckDB of whoever pastes statements ----------------------------------------- */

static bool on_path(const char *program, char out[PATH_MAX]) {
    const char *path = getenv("PATH");
    for (const char *from = path ? path : ""; *from;) {
        size_t length = strcspn(from, ":");
        int written = snprintf(out, PATH_MAX, "%.*s/%s", (int)length, from, program);
        if (written > 0 && written < PATH_MAX && access(out, X_OK) == 0)
            return true;
        from += length + (from[length] == ':');
    }
    return false;
}

/* "v1.5.5" of "v1.5.5 (Variegata) 7dbb2e646f"; false when the program says something else. */
static bool ask_release(const char *program, char out[32]) {
    const char *const argv[] = {program, "--version", NULL};
    fdl_spawned said = {0};
    fdl_error ignored;
    out[0] = '\0';
    if (fdl_spawn(argv, "/dev/null", &said, &ignored) == FDL_OK && said.status == 0 && said.output[0] == 'v')
        snprintf(out, 32, "%.*s", (int)strcspn(said.output, " \r\n"), said.output);
    fdl_spawned_clear(&said);
    return out[0] != '\0';
}

/* What the statements of fdl make it load, split by whether it lies where that DuckDB looks. */
static void list_extensions(const char *release, const char *platform, fdl_buf *there, fdl_buf *absent) {
    static const char *const names[] = {"ducklake", "sqlite_scanner", "httpfs", "aws"};
    const char *home = getenv("HOME");
    char path[PATH_MAX];
    fdl_error ignored;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int length = snprintf(path, sizeof path, "%s/.duckdb/extensions/%s/%s/%s.duckdb_extension", home ? home : "",
                              release, platform, names[i]);
        fdl_buf *list = length > 0 && length < PATH_MAX && fdl_file_exists(path) ? there : absent;
        (void)fdl_buf_add_format(list, &ignored, "%s%s", list->length ? ", " : "", names[i]);
    }
}

static void look_at_program(const doctor *d, const char *platform) {
    char path[PATH_MAX], release[32];
    if (!on_path("duckdb", path)) {
        fdl_doctor_tell(d, "duckdb program", FDL_HEALTH_MISSING,
                        "no 'duckdb' in PATH; fdl does without, and its statements run in any DuckDB, such as Python's");
        return;
    }
    if (!ask_release(path, release)) {
        fdl_doctor_tell(d, "duckdb program", FDL_HEALTH_WARNING, "'%s' does not tell its version; try '%s --version'",
                        path, path);
        return;
    }
    const char *format = fdl_format_of_release(release);
    if (!format || strcmp(format, "1.0") != 0) {
        fdl_doctor_tell(d, "duckdb program", FDL_HEALTH_WARNING,
                        "%s, '%s', reads DuckLake %s: take 1.5.2 or later, or 'fdl attach --duckdb %s' where "
                        "\"catalog_formats\" in fdl.json asks for that format",
                        release, path, format ? format : "of a format not known", release + 1);
        return;
    }
    fdl_buf there, absent;
    fdl_buf_init(&there, 256);
    fdl_buf_init(&absent, 256);
    list_extensions(release, platform, &there, &absent);
    fdl_doctor_tell(d, "duckdb program", FDL_HEALTH_OK, "%s, '%s', reads DuckLake %s; extensions installed for it: %s%s%s",
                    release, path, format, there.data ? there.data : "none",
                    absent.data ? "; it fetches when first needed: " : "", absent.data ? absent.data : "");
    fdl_buf_clear(&there);
    fdl_buf_clear(&absent);
}

/* ---- libraries that are opened late ------------------------------------------------------ */

static void look_at_late(const doctor *d, const char *name, fdl_code (*open)(fdl_error *error), fdl_health without,
                         const char *why) {
    fdl_error error;
    if (open(&error) == FDL_OK)
        fdl_doctor_tell(d, name, FDL_HEALTH_OK, "loads, %s", why);
    else
        fdl_doctor_tell(d, name, without, "%s; %s", error.message, why);
}

/* ---- the rest ------------------------------------------------------------------------- */

static void look_at_ssh_keygen(const doctor *d) {
    char path[PATH_MAX];
    if (on_path("ssh-keygen", path))
        fdl_doctor_tell(d, "ssh-keygen", FDL_HEALTH_OK, "'%s', to sign versions and check signatures", path);
    else
        fdl_doctor_tell(d, "ssh-keygen", FDL_HEALTH_MISSING,
                        "not in PATH; signatures need it: install OpenSSH's client (Debian: openssh-client)");
}

void fdl_doctor_machine(const fdl_context *context, fdl_diagnosis_callback callback, void *data) {
    doctor d = {.context = context, .callback = callback, .data = data};
    char platform[64] = "";
    fdl_doctor_tell(&d, "fdl", FDL_HEALTH_OK, "%s, writes format %s", fdl_version_string(), FDL_FORMAT);
    look_at_late(&d, "libcrypto", fdl_crypto_open, FDL_HEALTH_BROKEN, "for every checksum");
    look_at_late(&d, "libcurl", fdl_curl_open, FDL_HEALTH_MISSING, "for buckets, the web, and public addresses");
    look_at_library(&d, platform);
    look_at_program(&d, platform);
    look_at_ssh_keygen(&d);
}
