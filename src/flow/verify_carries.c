/*
 * verify_carries.c - signature, description, index, originals and other formats:
 * what a version carries beside its catalog must say the same.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/other_format.h"
#include "flow/carries.h"
#include "flow/sign.h"
#include "flow/sources.h"
#include "flow/verify.h"
#include "repo/dataset.h"
#include "repo/layout.h"
#include "util/json.h"
#include "util/text.h"
#include "util/zstd.h"

/* ---- the signature --------------------------------------------------------------- */

/* Without ssh-keygen only who asked for signatures is stopped. */
static fdl_code cannot_judge(verify *v, fdl_code code, const fdl_error *error) {
    if (v->options->allowed_signers)
        return code;
    if (!v->told_unsigned)
        fdl_note(fdl_repo_context(v->repo), FDL_NOTE_WARNING, "%s; signatures are not looked at", error->message);
    v->told_unsigned = true;
    return FDL_OK;
}

fdl_code fdl_verify_signature(verify *v, const fdl_version *version, const char *bytes, size_t length,
                              fdl_error *error) {
    char key[FDL_KEY_BYTES];
    fdl_signature signature = {0};
    fdl_code code = fdl_key_version(key, version->id, FDL_FILE_SIGNATURE, error);
    if (code == FDL_OK)
        code = fdl_signature_read(v->repo, version, bytes, length, v->options->allowed_signers, &signature, error);
    if (code == FDL_UNSUPPORTED)
        return cannot_judge(v, code, error);
    if (code != FDL_OK)
        return code;
    bool must = v->options->allowed_signers != NULL;
    if (signature.state == FDL_SIGNATURE_GOOD)
        v->result->trusted++;
    else if (signature.state == FDL_SIGNATURE_BAD)
        fdl_verify_finding(v, key, "'%s' is not a signature of its version.json: %s", key, signature.reason);
    else if (must && signature.state == FDL_UNSIGNED)
        fdl_verify_finding(v, key, "version '%s' is not signed", version->id);
    else if (must)
        fdl_verify_finding(v, key, "version '%s' is signed by an unknown signer, with %s: %s", version->id, signature.key,
                           signature.reason);
    return FDL_OK;
}

/* ---- dataset.json and the originals ------------------------------------------------ */

/* They may be private or withdrawn, so one that is not there is no fault; one that is there must be right. */
static fdl_code check_source(void *data, const fdl_kept_source *source, fdl_error *error) {
    verify *v = data;
    char key[FDL_SOURCE_KEY_BYTES];
    bool there = false;
    uint64_t size = 0;
    fdl_source_key(key, source->sha256);
    if (fdl_map_get(&v->claims, key, NULL))
        return FDL_OK;
    fdl_code code = fdl_map_put(&v->claims, key, 0, error);
    if (code == FDL_OK)
        code = fdl_keyset_has(&v->there, key, &there, &size, error);
    if (code == FDL_DENIED)
        return FDL_OK;
    if (code != FDL_OK || !there)
        return code;
    if (size != source->bytes)
        fdl_verify_finding(v, key, "'%s' ('%s') has %" PRIu64 " bytes, dataset.json says %" PRIu64, key, source->name, size,
                           source->bytes);
    else if (v->options->data)
        code = fdl_verify_object(v, key, source->bytes, source->sha256, "its name", error);
    return code;
}

static fdl_code read_dataset(verify *v, const char *key, json_t **out, fdl_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    fdl_code code = fdl_store_read(v->store, key, FDL_LIMIT_DATASET_BYTES, &bytes, &length, NULL, error);
    if (code == FDL_OK)
        code = fdl_json_parse(bytes, length, key, out, error);
    if (code == FDL_OK)
        code = fdl_sources_check(*out, key, error);
    free(bytes);
    return code;
}

/* The catalog's figures joined with the document's own words must give the document again. */
fdl_code fdl_verify_dataset(verify *v, const fdl_version *version, fdl_frozen *frozen, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    json_t *dataset = NULL, *tables = NULL, *joined = NULL;
    fdl_code code = fdl_key_version(key, version->id, version->dataset.path, error);
    if (code == FDL_OK)
        code = read_dataset(v, key, &dataset, error);
    if (code == FDL_OK)
        code = fdl_frozen_describe(frozen, &tables, error);
    if (code == FDL_OK)
        code = fdl_dataset_join(dataset, key, NULL, NULL, tables, &joined, error);
    if (code == FDL_OK && !json_equal(joined, dataset))
        fdl_verify_finding(v, key, "'%s' does not describe the tables as the catalog has them", key);
    if (code == FDL_OK)
        code = fdl_sources_each(dataset, check_source, v, error);
    json_decref(joined);
    json_decref(tables);
    json_decref(dataset);
    return fdl_verify_judge(v, code, key, error);
}

/* ---- files.json ------------------------------------------------------------------------ */

/* Each line of the index, with how often it stands there, less how often the catalog says it. */
typedef struct comparison {
    fdl_map lines;
    uint64_t index_count;
    uint64_t matched;
    uint64_t catalog_only;
    char *example; /* a file that only the catalog has */
} comparison;

static fdl_code line_of(const fdl_file_entry *entry, char **out, fdl_error *error) {
    return fdl_str_format(out, error, "%s\n%s\n%s\n%" PRIu64 " %" PRIu64 " %s\n%" PRIu64 " %" PRIu64 " %d", entry->schema,
                          entry->table, entry->path, entry->bytes, entry->rows,
                          entry->delete_path ? entry->delete_path : "", entry->delete_bytes, entry->delete_rows,
                          entry->ended);
}

static fdl_code count_entry(void *data, const fdl_file_entry *entry, fdl_error *error) {
    comparison *c = data;
    char *line = NULL;
    uint64_t count = 0;
    fdl_code code = line_of(entry, &line, error);
    if (code == FDL_OK) {
        (void)fdl_map_get(&c->lines, line, &count);
        code = fdl_map_put(&c->lines, line, count + 1, error);
        c->index_count++;
    }
    free(line);
    return code;
}

static fdl_code match(void *data, const fdl_file_entry *entry, fdl_error *error) {
    comparison *c = data;
    char *line = NULL;
    uint64_t count = 0;
    if (!entry->path)
        return FDL_OK;
    fdl_code code = line_of(entry, &line, error);
    if (code == FDL_OK && fdl_map_get(&c->lines, line, &count) && count > 0) {
        code = fdl_map_put(&c->lines, line, count - 1, error);
        c->matched++;
    } else if (code == FDL_OK) {
        c->catalog_only++;
        if (!c->example)
            code = fdl_str_copy(&c->example, entry->path, error);
    }
    free(line);
    return code;
}

fdl_code fdl_verify_index(verify *v, const fdl_version *version, fdl_frozen *frozen, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    comparison c = {0};
    fdl_code code = fdl_key_version(key, version->id, version->files.path, error);
    if (code == FDL_OK)
        code = fdl_files_read(v->repo, version, count_entry, &c, error);
    if (code == FDL_OK)
        code = fdl_carry_files(frozen, v->config->data_dir, match, &c, error);
    if (code == FDL_OK && c.catalog_only > 0)
        fdl_verify_finding(v, key, "'%s' lacks %" PRIu64 " files as the catalog has them, such as '%s'", key, c.catalog_only,
                           c.example);
    else if (code == FDL_OK && c.matched < c.index_count)
        fdl_verify_finding(v, key, "'%s' lists %" PRIu64 " files that the catalog does not have", key,
                           c.index_count - c.matched);
    free(c.example);
    fdl_map_clear(&c.lines);
    return fdl_verify_judge(v, code, key, error);
}

/* ---- the packed catalog ------------------------------------------------------------------ */

static fdl_code unpack_piece(void *data, const void *bytes, size_t length, fdl_error *error) {
    return fdl_unzstd_add(data, bytes, length, error);
}

fdl_code fdl_verify_packed(verify *v, const fdl_version *version, fdl_error *error) {
    char key[FDL_KEY_BYTES], sha256[FDL_SHA256_BYTES] = "";
    fdl_unzstd unzstd = {0};
    uint64_t before = v->result->findings;
    if (!version->packed.path)
        return FDL_OK;
    fdl_code code = fdl_key_version(key, version->id, version->packed.path, error);
    if (code == FDL_OK)
        code = fdl_verify_object(v, key, version->packed.bytes, version->packed.sha256, FDL_FILE_VERSION, error);
    if (code != FDL_OK || v->result->findings > before)
        return code;
    code = fdl_unzstd_start(&unzstd, key, NULL, version->catalog.file.bytes, error);
    if (code == FDL_OK)
        code = fdl_store_get(v->store, key, NULL, unpack_piece, &unzstd, NULL, error);
    if (code == FDL_OK)
        code = fdl_unzstd_finish(&unzstd, sha256, error);
    if (code == FDL_OK && strcmp(sha256, version->catalog.file.sha256) != 0)
        fdl_verify_finding(v, key, "'%s' is not '%s' packed: what comes out has sha256 %s", key,
                           version->catalog.file.path, sha256);
    fdl_unzstd_drop(&unzstd);
    return fdl_verify_judge(v, code, key, error);
}

/* ---- catalogs/ --------------------------------------------------------------------------- */

static fdl_code check_other(verify *v, const fdl_version *version, const fdl_catalog_record *record,
                            const char *catalog, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *difference = NULL;
    fdl_local_file local = {0};
    fdl_code code = fdl_key_version(key, version->id, record->file.path, error);
    if (code == FDL_OK && strcmp(record->format, version->catalog.format) == 0)
        fdl_verify_finding(v, key, "version '%s' carries its main format '%s' twice", version->id, record->format);
    if (code == FDL_OK)
        code = fdl_verify_fetch(v, version->id, &record->file, &local, error);
    if (code == FDL_OK && local.path && catalog && fdl_other_storage(record->format))
        code = fdl_other_check(fdl_repo_context(v->repo), catalog, local.path, record->format, &difference, error);
    if (difference)
        fdl_verify_finding(v, key, "'%s' does not say what the main catalog says: %s", key, difference);
    fdl_local_file_clear(&local);
    free(difference);
    return code;
}

fdl_code fdl_verify_others(verify *v, const fdl_version *version, const char *catalog, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < version->other_count && code == FDL_OK; i++)
        code = check_other(v, version, &version->others[i], catalog, error);
    return code;
}
