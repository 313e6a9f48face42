/*
 * doctor.c - what works here, what is missing, and what to do about it: the
 * DuckDB library and its extensions, ssh-keygen, and whether a repository's
 * store keeps its promises.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/duck.h"
#include "fdl.h"
#include "store/promises.h"
#include "util/text.h"

typedef struct doctor {
    const fdl_context *context;
    fdl_diagnosis_callback callback;
    void *data;
    bool well;
} doctor;

static void tell(doctor *d, const char *name, fdl_health health, const char *detail) {
    d->well = d->well && health != FDL_HEALTH_BAD;
    d->callback(d->data, name, health, detail);
}

/* ---- this machine ----------------------------------------------------------------- */

static void look_at_extension(doctor *d, fdl_duck *duck, const char *name, const char *why) {
    char label[64], detail[FDL_MESSAGE_LIMIT_BYTES];
    fdl_error error;
    snprintf(label, sizeof label, "duckdb extension %s", name);
    if (fdl_duck_load_extension(duck, name, &error) == FDL_OK) {
        tell(d, label, FDL_HEALTH_GOOD, "found");
        return;
    }
    snprintf(detail, sizeof detail, "%.1800s (%s)", error.message, why);
    tell(d, label, FDL_HEALTH_MISSING, detail);
}

static void look_at_duckdb(doctor *d) {
    fdl_duck *duck = NULL;
    fdl_error error;
    char detail[FDL_MESSAGE_LIMIT_BYTES];
    if (fdl_duck_open(d->context, &duck, &error) != FDL_OK) {
        tell(d, "duckdb library", FDL_HEALTH_BAD, error.message);
        return;
    }
    snprintf(detail, sizeof detail, "%s, %.1900s", fdl_duck_version(duck), fdl_duck_library(duck));
    tell(d, "duckdb library", FDL_HEALTH_GOOD, detail);
    look_at_extension(d, duck, "ducklake", "needed for 'commit --flush-inlined'");
    look_at_extension(d, duck, "sqlite_scanner", "needed for 'commit --flush-inlined'");
    fdl_duck_free(duck);
}

static bool on_path(const char *program) {
    const char *path = getenv("PATH");
    char candidate[4096];
    for (const char *from = path ? path : ""; *from;) {
        size_t length = strcspn(from, ":");
        int written = snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, from, program);
        if (written > 0 && (size_t)written < sizeof candidate && access(candidate, X_OK) == 0)
            return true;
        from += length + (from[length] == ':');
    }
    return false;
}

static void look_at_ssh_keygen(doctor *d) {
    if (on_path("ssh-keygen"))
        tell(d, "ssh-keygen", FDL_HEALTH_GOOD, "found");
    else
        tell(d, "ssh-keygen", FDL_HEALTH_MISSING, "not found in PATH; signatures need it (Debian: openssh-client)");
}

/* ---- the repository ------------------------------------------------------------------ */

static void look_at_promises(doctor *d, fdl_store *store) {
    fdl_promises promises;
    fdl_error error;
    bool vouched = false;
    fdl_code code = fdl_store_vouched(store, &vouched, &error);
    if (code == FDL_OK && vouched) {
        tell(d, "store", FDL_HEALTH_GOOD, "a host, which vouches for conditional writes");
        return;
    }
    if (code == FDL_OK)
        code = fdl_store_check_promises(store, &promises, &error);
    if (code == FDL_UNSUPPORTED) {
        tell(d, "store", FDL_HEALTH_GOOD, "read only: a plain web server takes no writes");
        return;
    }
    if (code == FDL_DENIED && strcmp(store->ops->kind, "http") == 0) {
        tell(d, "store", FDL_HEALTH_MISSING, error.message); /* to read, it is good */
        return;
    }
    if (code != FDL_OK) {
        tell(d, "store", FDL_HEALTH_BAD, error.message);
        return;
    }
    for (size_t i = 0; i < FDL_PROMISE_COUNT; i++)
        tell(d, promises.items[i].name, promises.items[i].kept ? FDL_HEALTH_GOOD : FDL_HEALTH_BAD,
             promises.items[i].kept ? "kept" : promises.items[i].detail);
}

/* A public bucket that may not be listed answers 403 where others say 404. */
static void look_at_missing_keys(doctor *d, fdl_store *store) {
    fdl_object object;
    fdl_error error;
    if (fdl_store_head(store, "versions/00000000-0000-7000-8000-000000000000/version.json", &object, &error) ==
        FDL_DENIED)
        tell(d, "missing keys", FDL_HEALTH_MISSING,
             "the store answers 'no permission' for what is not there; readers then take a missing expired.json for "
             "absent; permission to list the bucket mends it");
}

static void look_at_repository(doctor *d, fdl_repo *repo) {
    fdl_store *store = fdl_repo_store(repo);
    const fdl_config *config = NULL;
    fdl_error error;
    if (fdl_repo_config(repo, &config, &error) == FDL_OK)
        tell(d, "repository", FDL_HEALTH_GOOD, config->id ? config->id : "without an id");
    else
        tell(d, "repository", error.code == FDL_NOT_FOUND ? FDL_HEALTH_MISSING : FDL_HEALTH_BAD, error.message);
    look_at_missing_keys(d, store);
    look_at_promises(d, store);
}

bool fdl_doctor(const fdl_context *context, fdl_repo *repo, fdl_diagnosis_callback callback, void *data) {
    doctor d = {.context = context, .callback = callback, .data = data, .well = true};
    look_at_duckdb(&d);
    look_at_ssh_keygen(&d);
    if (repo)
        look_at_repository(&d, repo);
    return d.well;
}
