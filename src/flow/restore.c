/*
 * restore.c - a new version with an older one's content, on top of a branch.
 *
 *   1 check the older version out into a scratch folder
 *   2 make it go on from the tip of the branch, so that no id is given out twice;
 *     tables that were dropped since are looked up in the versions between
 *   3 its base is the tip: commit and push as for any other work
 *
 * So a restored version is made, checked, published and refused like every
 * other, and nothing is rewritten: it names the files that the older one names.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fdl.h"
#include "flow/catalog_get.h"
#include "flow/opened.h"
#include "flow/scratch.h"
#include "flow/work.h"
#include "repo/dataset.h"
#include "repo/history.h"
#include "repo/record.h"
#include "util/file.h"
#include "util/json.h"
#include "util/options.h"
#include "util/text.h"

/* No other command knows the working catalog, so any number will do. */
#define STAMP 1

typedef struct restore {
    fdl_repo *repo;
    const fdl_context *context;
    const fdl_restore_options *options;
    fdl_restore_result *result;
    char branch[FDL_REF_BYTES];
    fdl_location from;
    fdl_version tip;
    char *scratch;
    char *catalog; /* the working catalog */
    char *frozen;  /* the older version's catalog */
    char *dataset; /* its description */
    json_t *description;
    fdl_work work;
    fdl_idset seen;
} restore;

/* ---- what, and where to ------------------------------------------------------------------ */

static fdl_code find_branch(restore *r, fdl_error *error) {
    const char *name = r->options->branch;
    fdl_ref ref = {0};
    fdl_code code = name ? fdl_ref_name_check(name, error) : fdl_head_read(r->repo, r->branch, error);
    if (code == FDL_OK && name)
        snprintf(r->branch, sizeof r->branch, FDL_REF_HEADS "%s", name);
    if (code == FDL_OK)
        code = fdl_ref_read(r->repo, r->branch, &ref, error);
    if (code == FDL_NOT_FOUND)
        return fdl_fail(error, FDL_NOT_FOUND, r->branch, "branch '%s' of '%s' has no version to put one on",
                        r->branch + strlen(FDL_REF_HEADS), fdl_repo_address(r->repo));
    return code == FDL_OK ? fdl_version_read(r->repo, ref.id, &r->tip, error) : code;
}

static fdl_code find(restore *r, fdl_error *error) {
    fdl_code code = find_branch(r, error);
    if (code == FDL_OK)
        code = fdl_locate(r->repo, r->options->revision, &r->from, error);
    if (code != FDL_OK)
        return code;
    memcpy(r->result->branch, r->branch, sizeof r->result->branch);
    memcpy(r->result->from, r->from.version.id, sizeof r->result->from);
    memcpy(r->result->id, r->tip.id, sizeof r->result->id);
    r->result->seq = r->tip.seq;
    return FDL_OK;
}

/* ---- 1: check out -------------------------------------------------------------------------- */

static fdl_code describe_work(restore *r, fdl_error *error) {
    const fdl_config *config = NULL;
    fdl_work *work = &r->work;
    fdl_code code = fdl_work_init(r->catalog, work, error);
    if (code == FDL_OK)
        code = fdl_folder_make(work->folder, error);
    if (code == FDL_OK)
        code = fdl_repo_config(r->repo, &config, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&work->repo, fdl_repo_address(r->repo), error);
    if (code == FDL_OK)
        code = fdl_str_copy(&work->repo_id, config->id, error);
    if (code != FDL_OK)
        return code;
    memcpy(work->branch, r->branch, sizeof work->branch);
    work->base = fdl_base_of(&r->tip);
    work->stamp = STAMP;
    return FDL_OK;
}

static fdl_code thaw(restore *r, fdl_error *error) {
    char *data_path = NULL, *published = NULL;
    fdl_code code = fdl_catalog_download(r->repo, &r->from.version, r->frozen, error);
    if (code == FDL_OK)
        code = fdl_work_data_path(&r->work, r->repo, &data_path, error);
    if (code == FDL_OK && fdl_repo_is_http(r->repo))
        code = fdl_data_url(r->repo, &published, error);
    if (code == FDL_OK) {
        fdl_thaw_options options = {.data_path = data_path, .published_prefix = published};
        code = fdl_catalog_thaw(r->context, r->frozen, r->catalog, &options, error);
    }
    free(published);
    free(data_path);
    return code;
}

/* The description of a version, proved. */
static fdl_code read_dataset(restore *r, const fdl_version *version, char **bytes, size_t *length, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    return fdl_record_read(r->repo, version, &version->dataset, FDL_LIMIT_DATASET_BYTES, key, bytes, length, error);
}

static fdl_code fetch_dataset(restore *r, fdl_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    fdl_code code = read_dataset(r, &r->from.version, &bytes, &length, error);
    if (code == FDL_OK)
        code = fdl_json_parse(bytes, length, FDL_FILE_DATASET, &r->description, error);
    if (code == FDL_OK)
        code = fdl_file_write(r->dataset, bytes, length, error);
    free(bytes);
    return code;
}

static fdl_code check_out(restore *r, fdl_error *error) {
    fdl_code code = fdl_scratch_make(&r->scratch, error);
    if (code == FDL_OK)
        code = fdl_str_format(&r->catalog, error, "%s/restored.sqlite", r->scratch);
    if (code == FDL_OK)
        code = fdl_str_format(&r->frozen, error, "%s/from.duckdb", r->scratch);
    if (code == FDL_OK)
        code = fdl_str_format(&r->dataset, error, "%s/" FDL_FILE_DATASET, r->scratch);
    if (code == FDL_OK)
        code = describe_work(r, error);
    if (code == FDL_OK)
        code = thaw(r, error);
    if (code == FDL_OK)
        code = fetch_dataset(r, error);
    return code;
}

/* ---- 2: go on from the tip ------------------------------------------------------------------- */

static fdl_code follow(restore *r, const fdl_version *version, bool is_tip, size_t *unseen, fdl_error *error) {
    char *frozen = NULL;
    fdl_code code = is_tip ? fdl_work_file(&r->work, "base.duckdb", &frozen, error)
                           : fdl_str_format(&frozen, error, "%s/between.duckdb", r->scratch);
    if (code == FDL_OK)
        code = fdl_catalog_download(r->repo, version, frozen, error);
    if (code == FDL_OK)
        code = fdl_catalog_follow(r->context, r->catalog, frozen, is_tip, &r->seen, unseen, error);
    if (!is_tip && frozen)
        unlink(frozen);
    free(frozen);
    return code;
}

/* Whether the older version's line leads to this one, too; `line` is where we stand on it. */
static fdl_code is_on_line(restore *r, fdl_version *line, const fdl_version *version, bool *found, fdl_error *error) {
    fdl_code code = FDL_OK;
    while (code == FDL_OK && line->seq > version->seq && line->parent[0])
        code = fdl_parent_read(r->repo, line, line, error);
    *found = strcmp(line->id, version->id) == 0;
    return code;
}

static fdl_code follow_live(restore *r, const fdl_version *version, size_t *unseen, fdl_error *error) {
    fdl_expiry expiry = {0};
    fdl_code code = fdl_expiry_read(r->repo, version->id, &expiry, error);
    if (code == FDL_OK && !expiry.expired)
        code = follow(r, version, false, unseen, error);
    fdl_expiry_clear(&expiry);
    return code;
}

/*
 * The newest version that still has a dropped table tells how far its ids went,
 * back to where both lines of history meet.  Versions that are gone cannot be
 * asked, and no reader can compare with them.
 */
static fdl_code follow_between(restore *r, size_t unseen, fdl_error *error) {
    fdl_version version = {0}, line = {0};
    bool met = false;
    fdl_code code = fdl_version_read(r->repo, r->from.version.id, &line, error);
    if (code == FDL_OK && r->tip.parent[0])
        code = fdl_parent_read(r->repo, &r->tip, &version, error);
    while (code == FDL_OK && unseen > 0 && version.id[0]) {
        code = is_on_line(r, &line, &version, &met, error);
        if (code == FDL_OK && !met)
            code = follow_live(r, &version, &unseen, error);
        if (code == FDL_OK && (met || !version.parent[0]))
            break;
        if (code == FDL_OK)
            code = fdl_parent_read(r->repo, &version, &version, error);
    }
    fdl_version_clear(&line);
    fdl_version_clear(&version);
    return code;
}

/*
 * Whether the tip has that content already, file by file: commit would compare
 * the rows of every file that differs, and an undo has no time for that.
 */
static fdl_code is_same(restore *r, bool *same, fdl_error *error) {
    char *bytes = NULL, *tip = NULL, *difference = NULL;
    size_t length = 0;
    json_t *description = NULL;
    fdl_code code = fdl_work_file(&r->work, "base.duckdb", &tip, error);
    if (code == FDL_OK)
        code = fdl_frozen_same(r->context, tip, r->frozen, same, &difference, error);
    if (code == FDL_OK && *same)
        code = read_dataset(r, &r->tip, &bytes, &length, error);
    if (code == FDL_OK && *same)
        code = fdl_json_parse(bytes, length, FDL_FILE_DATASET, &description, error);
    if (code == FDL_OK && *same)
        *same = fdl_dataset_same(description, r->description);
    json_decref(description);
    free(difference);
    free(bytes);
    free(tip);
    return code;
}

static fdl_code go_on_from_tip(restore *r, fdl_error *error) {
    size_t unseen = 0;
    fdl_code code = follow(r, &r->tip, true, &unseen, error);
    if (code == FDL_OK && unseen > 0)
        code = follow_between(r, unseen, error);
    if (code == FDL_OK)
        code = fdl_catalog_stamp(r->catalog, STAMP, error);
    return code == FDL_OK ? fdl_work_save(&r->work, error) : code;
}

/* ---- 3: commit and push ------------------------------------------------------------------------ */

/* The scratch folder goes, so there is nothing to redo the work in. */
static fdl_code moved_meanwhile(restore *r, fdl_error *error) {
    return fdl_fail(error, FDL_CONFLICT, r->branch,
                    "branch '%s' of '%s' has moved on from '%s' meanwhile, and nothing was restored; look at it, then "
                    "run it again",
                    r->branch + strlen(FDL_REF_HEADS), fdl_repo_address(r->repo), r->tip.id);
}

static fdl_code publish(restore *r, fdl_error *error) {
    fdl_commit_options commit = {
        .message = r->options->message,
        .author_name = r->options->author_name,
        .author_email = r->options->author_email,
        .dataset_path = r->dataset,
        .allow_empty = true, /* that it differs is known */
    };
    fdl_commit_result made = {0};
    fdl_push_result pushed = {0};
    fdl_code code = fdl_commit(r->context, r->catalog, &commit, &made, error);
    if (code == FDL_OK && made.made)
        code = fdl_push(r->context, r->catalog, NULL, &pushed, error);
    if (code == FDL_CONFLICT)
        code = moved_meanwhile(r, error);
    if (code == FDL_OK && made.made) {
        r->result->made = true;
        memcpy(r->result->id, made.id, sizeof r->result->id);
        r->result->seq = made.seq;
        r->result->request = pushed.request;
    }
    fdl_push_result_clear(&pushed);
    return code;
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static void restore_clear(restore *r) {
    fdl_location_clear(&r->from);
    fdl_version_clear(&r->tip);
    fdl_work_clear(&r->work);
    fdl_idset_clear(&r->seen);
    json_decref(r->description);
    free(r->catalog);
    free(r->frozen);
    free(r->dataset);
    fdl_scratch_remove(r->scratch);
}

fdl_code fdl_restore(fdl_repo *repo, const fdl_restore_options *options, fdl_restore_result *out, fdl_error *error) {
    options = FDL_OPTIONS(fdl_restore_options, options);
    restore r = {.repo = repo, .context = fdl_repo_context(repo), .options = options, .result = out};
    memset(out, 0, sizeof *out);
    fdl_code code = !options->message || !*options->message
                        ? fdl_fail(error, FDL_USAGE, NULL, "a version needs a message; give one with -m")
                        : FDL_OK;
    if (code == FDL_OK)
        code = find(&r, error);
    bool same = code == FDL_OK && strcmp(r.from.version.id, r.tip.id) == 0;
    if (code == FDL_OK && !same)
        code = check_out(&r, error);
    if (code == FDL_OK && !same)
        code = go_on_from_tip(&r, error);
    if (code == FDL_OK && !same)
        code = is_same(&r, &same, error);
    if (code == FDL_OK && !same)
        code = publish(&r, error);
    restore_clear(&r);
    return code;
}
