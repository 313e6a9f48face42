/*
 * doctor_repo.c - a repository as its readers meet it: who we are there, its
 * settings, whether its newest version opens, and its public address.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/doctor.h"
#include "flow/opened.h"
#include "flow/scratch.h"
#include "repo/layout.h"
#include "store/http.h"
#include "store/s3.h"

/* ---- who we are ------------------------------------------------------------------ */

static void look_at_credentials(const doctor *d, const fdl_s3_place *place) {
    const char *region = place->region[0] ? place->region : "not set";
    const char *endpoint = place->endpoint ? place->endpoint : "Amazon's";
    if (place->anonymous)
        fdl_doctor_tell(d, "credentials", FDL_HEALTH_WARNING,
                        "none in %s: only what everybody may do; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
                        "AWS_PROFILE (region %s, endpoint %s)",
                        place->credential_source, region, endpoint);
    else
        fdl_doctor_tell(d, "credentials", FDL_HEALTH_OK, "from %s%s, region %s, endpoint %s", place->credential_source,
                        place->has_session_token ? ", with a session token, which runs out" : "", region, endpoint);
}

static void look_at_token(const doctor *d, fdl_store *store) {
    const char *from = NULL;
    fdl_error error;
    if (fdl_http_who(store, &from, &error) != FDL_OK)
        fdl_doctor_tell(d, "token", FDL_HEALTH_WARNING, "%s", error.message);
    else
        fdl_doctor_tell(d, "token", FDL_HEALTH_OK, "%s%s", from ? "from " : "none",
                        from ? from : "; a host that asks for one gets it from FDL_TOKEN or ~/.netrc");
}

static void look_at_who(const doctor *d, fdl_store *store) {
    fdl_s3_place place;
    if (fdl_s3_describe(store, &place))
        look_at_credentials(d, &place);
    else if (strcmp(store->ops->kind, "http") == 0)
        look_at_token(d, store);
}

/* ---- the newest version ------------------------------------------------------------ */

static fdl_code open_catalog(fdl_repo *repo, const fdl_version *version, fdl_error *error) {
    char *scratch = NULL;
    fdl_opened opened = {0};
    fdl_code code = fdl_scratch_make(&scratch, error);
    if (code == FDL_OK)
        code = fdl_opened_get(repo, scratch, version, &opened, error);
    fdl_opened_clear(&opened);
    fdl_scratch_remove(scratch);
    return code;
}

/* `catalog` gets the key of its catalog, or stays "". */
static void look_at_newest(const doctor *d, fdl_repo *repo, char catalog[FDL_KEY_BYTES]) {
    char branch[FDL_REF_BYTES];
    fdl_ref ref;
    fdl_location location = {0};
    fdl_error error;
    fdl_code code = fdl_head_read(repo, branch, &error);
    if (code == FDL_OK && fdl_ref_read(repo, branch, &ref, &error) == FDL_NOT_FOUND) {
        fdl_doctor_tell(d, "newest version", FDL_HEALTH_OK, "none yet: '%s' waits for the first push", branch);
        return;
    }
    if (code == FDL_OK)
        code = fdl_locate(repo, branch, &location, &error);
    if (code == FDL_OK)
        code = open_catalog(repo, &location.version, &error);
    if (code == FDL_OK)
        code = fdl_key_version(catalog, location.version.id, location.catalog_path, &error);
    if (code == FDL_OK)
        fdl_doctor_tell(d, "newest version", FDL_HEALTH_OK, "'%s' (seq %lld) on '%s' opens, DuckLake %s",
                        location.version.id, (long long)location.version.seq, branch, location.format);
    else
        fdl_doctor_tell(d, "newest version", FDL_HEALTH_BROKEN, "%s", error.message);
    fdl_location_clear(&location);
}

/* ---- the public address -------------------------------------------------------------- */

static bool same_id(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void look_at_url(const doctor *d, fdl_repo *repo, const fdl_config *config, const char *key) {
    fdl_repo *there = NULL;
    const fdl_config *told = NULL;
    fdl_error error;
    if (!config->url || strcmp(config->url, fdl_repo_address(repo)) == 0)
        return;
    fdl_code code = fdl_repo_open(d->context, config->url, &there, &error);
    if (code == FDL_OK)
        code = fdl_repo_config(there, &told, &error);
    if (code != FDL_OK)
        fdl_doctor_tell(d, "public address", FDL_HEALTH_WARNING,
                        "'%s', the \"url\" of fdl.json, shows readers nothing from here: %s", config->url, error.message);
    else if (!same_id(told->id, config->id))
        fdl_doctor_tell(d, "public address", FDL_HEALTH_BROKEN,
                        "'%s' is another repository (id '%s'): correct \"url\" in fdl.json, or what is served there",
                        config->url, told->id ? told->id : "none");
    else
        fdl_doctor_tell(d, "public address", FDL_HEALTH_OK, "'%s' shows this repository", config->url);
    if (code == FDL_OK)
        fdl_doctor_web_server(d, "public web server", fdl_repo_store(there), key, false);
    fdl_repo_free(there);
}

/* ---- all of it ------------------------------------------------------------------------ */

/* A public bucket that may not be listed answers 403 where others say 404.  False: there is no answer at all. */
static bool look_at_missing_keys(const doctor *d, fdl_store *store) {
    fdl_object object;
    fdl_error error;
    fdl_code code =
        fdl_store_head(store, "versions/00000000-0000-7000-8000-000000000000/version.json", &object, &error);
    if (code == FDL_DENIED)
        fdl_doctor_tell(d, "missing keys", FDL_HEALTH_WARNING,
                        "the store answers 'no permission' for what is not there; readers then take a missing "
                        "expired.json for absent; permission to list the bucket mends it");
    return code == FDL_NOT_FOUND || code == FDL_DENIED;
}

/* FDL_NOT_FOUND is told as a finding and returned too; all else is a finding. */
static fdl_code look_at_repository(const doctor *d, fdl_repo *repo, fdl_error *error) {
    fdl_store *store = fdl_repo_store(repo);
    const fdl_config *config = NULL;
    char catalog[FDL_KEY_BYTES] = "";
    look_at_who(d, store);
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        fdl_doctor_tell(d, "repository", FDL_HEALTH_OK, "%s%s, format %s, data in '%s'", config->id ? "id " : "without an id",
                        config->id ? config->id : "", config->format, config->data_dir);
    else
        fdl_doctor_tell(d, "repository", code == FDL_NOT_FOUND ? FDL_HEALTH_MISSING : FDL_HEALTH_BROKEN, "%s",
                        error->message);
    if (code == FDL_OK)
        look_at_newest(d, repo, catalog);
    if (code == FDL_OK)
        fdl_doctor_web_server(d, "web server", store, catalog[0] ? catalog : FDL_KEY_CONFIG, true);
    if (code == FDL_OK)
        look_at_url(d, repo, config, catalog[0] ? catalog : FDL_KEY_CONFIG);
    if (look_at_missing_keys(d, store) || code == FDL_OK || code == FDL_NOT_FOUND)
        fdl_doctor_store(d, repo);
    return code == FDL_NOT_FOUND ? code : FDL_OK;
}

fdl_code fdl_doctor_repo(const fdl_context *context, const char *address, fdl_diagnosis_callback callback, void *data,
                         fdl_error *error) {
    doctor d = {.context = context, .callback = callback, .data = data};
    fdl_repo *repo = NULL;
    fdl_code code = fdl_repo_open(context, address, &repo, error);
    if (code == FDL_USAGE)
        return code;
    if (code == FDL_OK) {
        code = look_at_repository(&d, repo, error);
    } else {
        fdl_doctor_tell(&d, code == FDL_DENIED ? "credentials" : "repository", FDL_HEALTH_BROKEN, "%s", error->message);
        code = FDL_OK;
    }
    fdl_repo_free(repo);
    return code;
}
