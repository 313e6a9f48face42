/*
 * init.c - makes a repository: fdl.json, then HEAD, each created once.
 *
 * A second init finds fdl.json and changes nothing; one that was stopped
 * between the two is finished by the next.
 */
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "repo/config.h"
#include "repo/layout.h"
#include "store/promises.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/options.h"
#include "util/text.h"

/* With its final '/', so that a reader who only joins strings finds what we find; "" is left for the check to refuse. */
static fdl_code set_folder(json_t *config, const char *field, const char *given, fdl_error *error) {
    bool open = *given && !fdl_str_ends(given, "/");
    return fdl_json_set(config, field, json_sprintf("%s%s", given, open ? "/" : ""), error);
}

static fdl_code config_write(const fdl_init_options *options, char **out, size_t *length, fdl_error *error) {
    char made[FDL_ID_BYTES];
    const char *id = options->id;
    fdl_code code = FDL_OK;
    if (!id) {
        code = fdl_uuid_v4(made, error);
        id = made;
    } else if (!fdl_uuid_valid(id)) {
        code = fdl_fail(error, FDL_USAGE, id, "'%s' is not a UUID (lower case, 8-4-4-4-12 digits)", id);
    }
    if (code != FDL_OK)
        return code;
    json_t *config = json_object();
    if (!config)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    code = fdl_json_set(config, "fdl", json_string(FDL_FORMAT), error);
    if (code == FDL_OK)
        code = fdl_json_set(config, "id", json_string(id), error);
    if (code == FDL_OK)
        code = set_folder(config, "data_dir", options->data_dir ? options->data_dir : "data/", error);
    if (code == FDL_OK && options->url)
        code = set_folder(config, "url", options->url, error);
    if (code == FDL_OK)
        code = fdl_json_write(config, out, length, error);
    json_decref(config);
    return code;
}

/* Creates `key` unless it is there; `*created` says which. */
static fdl_code create_key(fdl_repo *repo, const char *key, const char *bytes, size_t length, bool *created,
                           fdl_error *error) {
    fdl_source source = {.bytes = bytes, .length_bytes = length};
    fdl_code code =
        fdl_store_put(fdl_repo_store(repo), key, &source, (fdl_condition){.kind = FDL_IF_ABSENT}, NULL, error);
    *created = code == FDL_OK;
    if (code == FDL_DENIED) { /* a host lets nobody write it; what is there will do */
        fdl_object object;
        code = fdl_store_head(fdl_repo_store(repo), key, &object, NULL) == FDL_OK ? FDL_CONFLICT : code;
    }
    return code == FDL_CONFLICT ? FDL_OK : code;
}

fdl_code fdl_init(fdl_repo *repo, const fdl_init_options *options, bool *created, fdl_error *error) {
    options = FDL_OPTIONS(fdl_init_options, options);
    const char *branch = options->branch ? options->branch : "main";
    const fdl_config *checked = NULL;
    char *config = NULL, *head = NULL;
    size_t length = 0;
    bool made_config = false, made_head = false;
    fdl_code code = fdl_ref_name_check(branch, error);
    if (code == FDL_OK)
        code = config_write(options, &config, &length, error);
    if (code == FDL_OK)
        code = fdl_config_check(config, length, error);
    if (code == FDL_OK && !fdl_repo_context(repo)->unsafe_no_conditions)
        code = fdl_store_check_conditions(fdl_repo_store(repo), error);
    if (code == FDL_OK)
        code = create_key(repo, FDL_KEY_CONFIG, config, length, &made_config, error);
    if (code == FDL_OK)
        code = fdl_str_format(&head, error, "ref: " FDL_REF_HEADS "%s\n", branch);
    if (code == FDL_OK)
        code = create_key(repo, FDL_KEY_HEAD, head, strlen(head), &made_head, error);
    if (code == FDL_OK) /* what was there already must be a repository we know */
        code = fdl_repo_config(repo, &checked, error);
    if (code == FDL_OK)
        *created = made_config;
    free(head);
    free(config);
    return code;
}
