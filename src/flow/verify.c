/*
 * verify.c - looks whether what a repository says is true: ids, parents, seq,
 * sha256 and sizes, data files, refs, refs.json; what else a version carries is
 * looked at in verify_carries.c.
 *
 * A fault is a finding and the look goes on; only what keeps us from looking (no
 * permission, no connection, not a repository) is an error.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/scratch.h"
#include "flow/verify.h"
#include "repo/layout.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

/* ---- findings ------------------------------------------------------------------ */

void fdl_verify_finding(verify *v, const char *key, const char *format, ...) {
    char line[FDL_MESSAGE_LIMIT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    v->result->findings++;
    v->callback(v->data, key, line);
}

/* Faults of the content are findings; anything else ends the look. */
fdl_code fdl_verify_judge(verify *v, fdl_code code, const char *key, const fdl_error *error) {
    if (code != FDL_FAILED && code != FDL_NOT_FOUND && code != FDL_REFUSED)
        return code;
    fdl_verify_finding(v, key, "%s", error->message);
    return FDL_OK;
}

/* ---- the list of versions -------------------------------------------------------- */

static fdl_code add_id(verify *v, const char *id, fdl_error *error) {
    if (fdl_map_get(&v->known, id, NULL))
        return FDL_OK;
    fdl_code code = fdl_map_put(&v->known, id, v->id_count, error);
    if (code == FDL_OK)
        code = fdl_grow(&v->ids, v->id_count, sizeof *v->ids, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&v->ids[v->id_count], id, error);
    if (code == FDL_OK)
        v->id_count++;
    return code;
}

/* ---- one version's files ------------------------------------------------------------ */

static fdl_code hash_sink(void *data, const void *bytes, size_t length, fdl_error *error) {
    return fdl_sha256_add(data, bytes, length, error);
}

fdl_code fdl_verify_object(verify *v, const char *key, uint64_t bytes, const char *sha256, const char *claim,
                           fdl_error *error) {
    char found[FDL_SHA256_BYTES] = "";
    fdl_object object = {0};
    fdl_sha256 hash = {0};
    fdl_code code = fdl_sha256_start(&hash, error);
    if (code != FDL_OK)
        return code;
    code = fdl_store_get(v->store, key, NULL, hash_sink, &hash, &object, error);
    if (code != FDL_OK) {
        fdl_sha256_drop(&hash);
        return fdl_verify_judge(v, code, key, error);
    }
    code = fdl_sha256_finish(&hash, found, error);
    if (code == FDL_OK && object.size_bytes != bytes)
        fdl_verify_finding(v, key, "'%s' has %" PRIu64 " bytes, %s says %" PRIu64, key, object.size_bytes, claim, bytes);
    else if (code == FDL_OK && strcmp(found, sha256) != 0)
        fdl_verify_finding(v, key, "'%s' has sha256 %s, %s says %s", key, found, claim, sha256);
    return code;
}

fdl_code fdl_verify_record(verify *v, const char *id, const fdl_file_record *record, bool *sound, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    uint64_t before = v->result->findings;
    fdl_code code = fdl_key_version(key, id, record->path, error);
    if (code == FDL_OK)
        code = fdl_verify_object(v, key, record->bytes, record->sha256, FDL_FILE_VERSION, error);
    *sound = code == FDL_OK && v->result->findings == before;
    return code;
}

static fdl_code check_parquet(verify *v, const char *key, const fdl_data_file *file, fdl_error *error) {
    fdl_local_file local = {0};
    int64_t rows = 0;
    fdl_code code = fdl_local_file_get(v->store, v->scratch, key, &local, error);
    if (code == FDL_OK)
        code = fdl_parquet_rows(fdl_repo_context(v->repo), local.path, &rows, error);
    if (code == FDL_OK && rows != file->rows)
        fdl_verify_finding(v, key, "'%s' holds %" PRId64 " rows, the catalog says %" PRId64, key, rows, file->rows);
    fdl_local_file_clear(&local);
    return fdl_verify_judge(v, code, key, error);
}

static fdl_code check_data_file(void *data, const fdl_data_file *file, fdl_error *error) {
    verify *v = data;
    char *key = NULL;
    bool there = false;
    uint64_t size = 0;
    fdl_code code = fdl_str_format(&key, error, "%s%s", v->config->data_dir, file->path);
    if (code == FDL_OK && fdl_map_get(&v->files, key, NULL)) {
        free(key);
        return FDL_OK;
    }
    if (code == FDL_OK)
        code = fdl_map_put(&v->files, key, 0, error);
    if (code == FDL_OK)
        code = fdl_keyset_has(&v->there, key, &there, &size, error);
    if (code == FDL_OK) {
        v->result->files++;
        if (!there)
            fdl_verify_finding(v, key, "'%s' of table '%s.%s' is missing", key, file->schema_name, file->table_name);
        else if (size != (uint64_t)file->size_bytes)
            fdl_verify_finding(v, key, "'%s' has %" PRIu64 " bytes, the catalog says %" PRId64, key, size, file->size_bytes);
        else if (v->options->data && fdl_str_ends(key, ".parquet"))
            code = check_parquet(v, key, file, error);
    }
    free(key);
    return code;
}

/* Which of a version's files are what the record says, so that their content is worth a look. */
typedef struct soundness {
    bool catalog;
    bool dataset;
    bool index;
} soundness;

static void check_story(verify *v, const fdl_version *version, const char *key, const fdl_frozen *frozen) {
    int64_t snapshot = fdl_frozen_snapshot(frozen);
    int64_t said = version->snapshot_id != snapshot ? version->snapshot_id : version->last_snapshot;
    if (said != snapshot)
        fdl_verify_finding(v, key, "'%s' ends with snapshot %" PRId64 ", version.json says %" PRId64, key, snapshot, said);
    if (strcmp(fdl_frozen_format(frozen), version->catalog.format) != 0)
        fdl_verify_finding(v, key, "'%s' is in DuckLake format %s, version.json says %.64s", key,
                           fdl_frozen_format(frozen), version->catalog.format);
}

static fdl_code look_into(verify *v, const fdl_version *version, const soundness *sound, const char *key,
                          const char *catalog, fdl_error *error) {
    fdl_frozen *frozen = NULL;
    fdl_code code = fdl_verify_judge(v, fdl_frozen_open(fdl_repo_context(v->repo), catalog, &frozen, error), key, error);
    if (code == FDL_OK && frozen)
        check_story(v, version, key, frozen);
    if (code == FDL_OK && frozen)
        code = fdl_frozen_files(frozen, v->look ? v->look : check_data_file, v->look ? v->data : v, error);
    if (frozen)
        code = fdl_verify_judge(v, code, key, error);
    if (code == FDL_OK && frozen && sound->dataset)
        code = fdl_verify_dataset(v, version, frozen, error);
    if (code == FDL_OK && frozen && sound->index)
        code = fdl_verify_index(v, version, frozen, error);
    fdl_frozen_free(frozen);
    return code;
}

static fdl_code check_catalog(verify *v, const fdl_version *version, const soundness *sound, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    fdl_local_file local = {0};
    fdl_code code = FDL_OK;
    if (!sound->catalog)
        return fdl_verify_others(v, version, NULL, error);
    code = fdl_key_version(key, version->id, version->catalog.file.path, error);
    if (code == FDL_OK)
        code = fdl_local_file_get(v->store, v->scratch, key, &local, error);
    if (code == FDL_OK)
        code = look_into(v, version, sound, key, local.path, error);
    if (code == FDL_OK)
        code = fdl_verify_others(v, version, local.path, error);
    fdl_local_file_clear(&local);
    return code;
}

/*
 * A mirror holds only the record of versions it was not asked for: no ref names
 * them, and nothing but version.json is there.
 */
static fdl_code is_record_alone(verify *v, const fdl_version *version, bool *alone, fdl_error *error) {
    const char *parts[] = {version->catalog.file.path, version->dataset.path};
    fdl_code code = FDL_OK;
    *alone = true;
    for (size_t i = 0; i < v->refs.count; i++)
        *alone = *alone && strcmp(v->refs.items[i].id, version->id) != 0;
    for (size_t i = 0; code == FDL_OK && *alone && i < sizeof parts / sizeof *parts; i++) {
        char key[FDL_KEY_BYTES];
        bool there = false;
        code = fdl_key_version(key, version->id, parts[i], error);
        if (code == FDL_OK)
            code = fdl_keyset_has(&v->there, key, &there, NULL, error);
        *alone = !there;
    }
    return code;
}

static fdl_code check_content(verify *v, const fdl_version *version, fdl_error *error) {
    soundness sound = {0};
    bool alone = false;
    fdl_code code = is_record_alone(v, version, &alone, error);
    if (code == FDL_OK && alone) {
        v->result->records++;
        return FDL_OK;
    }
    if (code == FDL_OK)
        code = fdl_verify_record(v, version->id, &version->catalog.file, &sound.catalog, error);
    if (code == FDL_OK)
        code = fdl_verify_record(v, version->id, &version->dataset, &sound.dataset, error);
    if (code == FDL_OK && version->files.path)
        code = fdl_verify_record(v, version->id, &version->files, &sound.index, error);
    return code == FDL_OK ? check_catalog(v, version, &sound, error) : code;
}

/* An expired version has no catalog any more, and no ref. */
static fdl_code check_expired(verify *v, const fdl_version *version, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    bool there = false;
    v->result->expired++;
    fdl_code code = fdl_key_version(key, version->id, version->catalog.file.path, error);
    if (code == FDL_OK)
        code = fdl_keyset_has(&v->there, key, &there, NULL, error);
    if (code == FDL_OK && there)
        fdl_verify_finding(v, key, "version '%s' is marked as gone, but '%s' is still there", version->id, key);
    for (size_t i = 0; i < v->refs.count; i++)
        if (strcmp(v->refs.items[i].id, version->id) == 0)
            fdl_verify_finding(v, v->refs.items[i].name, "'%s' points to version '%s', which is marked as gone",
                    v->refs.items[i].name, version->id);
    return code;
}

/* ---- one version ------------------------------------------------------------------------ */

static fdl_code check_parent(verify *v, const fdl_version *version, fdl_error *error) {
    fdl_version parent = {0};
    if (!version->parent[0]) {
        if (version->seq != 1)
            fdl_verify_finding(v, version->id, "version '%s' has no parent, but seq %" PRId64, version->id, version->seq);
        return FDL_OK;
    }
    fdl_code code = fdl_version_read(v->repo, version->parent, &parent, error);
    if (code == FDL_OK && parent.seq + 1 != version->seq)
        fdl_verify_finding(v, version->id, "version '%s' has seq %" PRId64 ", its parent '%s' has %" PRId64, version->id,
                version->seq, version->parent, parent.seq);
    if (code == FDL_OK && v->options->all)
        code = add_id(v, version->parent, error);
    fdl_version_clear(&parent);
    return fdl_verify_judge(v, code, version->parent, error);
}

fdl_code fdl_verify_version(verify *v, const char *id, fdl_error *error) {
    fdl_version version = {0};
    fdl_expiry expiry = {0};
    char *bytes = NULL;
    size_t length = 0;
    fdl_code code = fdl_version_load(v->repo, id, &version, &bytes, &length, error);
    if (code != FDL_OK)
        return fdl_verify_judge(v, code, id, error);
    v->result->versions++;
    code = fdl_verify_signature(v, &version, bytes, length, error);
    if (code == FDL_OK)
        code = check_parent(v, &version, error);
    if (code == FDL_OK)
        code = fdl_verify_judge(v, fdl_expiry_read(v->repo, id, &expiry, error), id, error);
    if (code == FDL_OK)
        code = expiry.expired ? check_expired(v, &version, error) : check_content(v, &version, error);
    fdl_expiry_clear(&expiry);
    fdl_version_clear(&version);
    free(bytes);
    return code;
}

/* ---- --all: refs, refs.json, folders no ref reaches ------------------------------------- */

static fdl_code add_listed(void *data, const fdl_entry *entry, fdl_error *error) {
    verify *v = data;
    char id[FDL_ID_BYTES], key[FDL_KEY_BYTES];
    bool there = false;
    size_t prefix = strlen(FDL_KEY_VERSIONS);
    if (!entry->folder || strlen(entry->key) != prefix + FDL_ID_BYTES)
        return FDL_OK;
    memcpy(id, entry->key + prefix, sizeof id);
    id[FDL_ID_BYTES - 1] = '\0';
    if (!fdl_uuid_valid(id))
        return FDL_OK;
    fdl_code code = fdl_key_version(key, id, FDL_FILE_VERSION, error);
    if (code == FDL_OK)
        code = fdl_keyset_has(&v->there, key, &there, NULL, error);
    if (code == FDL_OK && !there) {
        fdl_note(fdl_repo_context(v->repo), FDL_NOTE_INFO, "'%s' is the rest of a push that was stopped", entry->key);
        return FDL_OK;
    }
    return code == FDL_OK ? add_id(v, id, error) : code;
}

static fdl_code check_refs_json(verify *v, fdl_error *error) {
    bool current = false;
    fdl_code code = fdl_refs_json_current(v->repo, &current, error);
    if (code == FDL_OK && !current)
        fdl_verify_finding(v, FDL_KEY_REFS_JSON, "'refs.json' differs from the refs; any push repairs it");
    return fdl_verify_judge(v, code, FDL_KEY_REFS_JSON, error);
}

static fdl_code choose_versions(verify *v, fdl_error *error) {
    fdl_target target = {0};
    fdl_code code = FDL_OK;
    if (!v->options->all) {
        code = fdl_resolve(v->repo, v->options->revision, &target, error);
        return code == FDL_OK ? add_id(v, target.id, error) : code;
    }
    for (size_t i = 0; code == FDL_OK && i < v->refs.count; i++)
        code = add_id(v, v->refs.items[i].id, error);
    if (code == FDL_OK && v->store->can_list)
        code = fdl_store_list(v->store, FDL_KEY_VERSIONS, FDL_ONE_LEVEL, add_listed, v, error);
    return code == FDL_OK ? check_refs_json(v, error) : code;
}

/* ---- the verb ------------------------------------------------------------------------------ */

void fdl_verify_clear(verify *v) {
    for (size_t i = 0; i < v->id_count; i++)
        free(v->ids[i]);
    free(v->ids);
    fdl_keyset_clear(&v->there);
    fdl_map_clear(&v->files);
    fdl_map_clear(&v->known);
    fdl_ref_list_clear(&v->refs);
    fdl_scratch_remove(v->scratch);
}

fdl_code fdl_verify(fdl_repo *repo, const fdl_verify_options *options, fdl_finding_callback callback, void *data,
                    fdl_verify_result *out, fdl_error *error) {
    verify v = {
        .repo = repo,
        .store = fdl_repo_store(repo),
        .options = options,
        .callback = callback,
        .data = data,
        .result = out,
    };
    memset(out, 0, sizeof *out);
    if (options->allowed_signers && access(options->allowed_signers, R_OK) != 0)
        return fdl_fail(error, FDL_NOT_FOUND, options->allowed_signers, "cannot read the allowed signers '%s'",
                        options->allowed_signers);
    fdl_code code = fdl_repo_config(repo, &v.config, error);
    if (code == FDL_OK)
        code = fdl_scratch_make(&v.scratch, error);
    if (code == FDL_OK)
        code = fdl_verify_judge(&v, fdl_ref_list_read(repo, &v.refs, error), "refs/", error);
    if (code == FDL_OK) /* one listing answers every later question, but only where all is asked for */
        code = options->all ? fdl_keyset_open(v.store, "", &v.there, error) : FDL_OK;
    v.there.store = v.store;
    if (code == FDL_OK)
        code = choose_versions(&v, error);
    for (size_t i = 0; code == FDL_OK && i < v.id_count; i++) /* grows while parents are found */
        code = fdl_verify_version(&v, v.ids[i], error);
    fdl_verify_clear(&v);
    return code;
}
