/*
 * verify.c - looks whether what a repository says is true: ids, parents, seq,
 * sha256 and sizes, data files.  Refs are looked at in verify_refs.c, what else a
 * version carries in verify_carries.c.
 *
 * A fault is a finding and the look goes on; only what keeps us from looking (no
 * permission, no connection, not a repository) is an error.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/verify.h"
#include "repo/expiry.h"
#include "repo/history.h"
#include "repo/layout.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/options.h"
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

fdl_code fdl_verify_add(verify *v, const char *id, fdl_error *error) {
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

typedef struct proof {
    fdl_sha256 hash;
    uint64_t left_bytes; /* of what the record says */
    bool over;           /* more came: it is not what the record says, whatever else comes */
} proof;

static fdl_code hash_sink(void *data, const void *bytes, size_t length, fdl_error *error) {
    proof *p = data;
    p->over = length > p->left_bytes;
    if (p->over)
        return fdl_fail(error, FDL_FAILED, NULL, "larger than its record says");
    p->left_bytes -= length;
    return fdl_sha256_add(&p->hash, bytes, length, error);
}

/* The size of what was larger than its record says, unless the server sends more than it has itself. */
static fdl_code look_at_size(verify *v, const char *key, uint64_t said, fdl_object *object, fdl_error *error) {
    fdl_code code = fdl_store_head(v->store, key, object, error);
    if (code == FDL_OK && object->size_bytes == said)
        code = fdl_fail(error, FDL_FAILED, key, "'%s' comes with more than the %" PRIu64 " bytes it has", key, said);
    return code;
}

static void compare(verify *v, const char *key, uint64_t size, const char *sha256, uint64_t said_size,
                    const char *said_sha256, const char *claim) {
    if (size != said_size)
        fdl_verify_finding(v, key, "'%s' has %" PRIu64 " bytes, %s says %" PRIu64, key, size, claim, said_size);
    else if (strcmp(sha256, said_sha256) != 0)
        fdl_verify_finding(v, key, "'%s' has sha256 %s, %s says %s", key, sha256, claim, said_sha256);
}

fdl_code fdl_verify_object(verify *v, const char *key, uint64_t bytes, const char *sha256, const char *claim,
                           fdl_error *error) {
    char found[FDL_SHA256_BYTES] = "";
    fdl_object object = {0};
    proof p = {.left_bytes = bytes};
    fdl_code code = fdl_sha256_start(&p.hash, error);
    if (code != FDL_OK)
        return code;
    code = fdl_store_get(v->store, key, NULL, hash_sink, &p, &object, error);
    if (p.over)
        code = look_at_size(v, key, bytes, &object, error);
    if (code != FDL_OK || p.over)
        fdl_sha256_drop(&p.hash);
    if (code != FDL_OK)
        return fdl_verify_judge(v, code, key, error);
    if (!p.over)
        code = fdl_sha256_finish(&p.hash, found, error);
    if (code == FDL_OK)
        compare(v, key, object.size_bytes, found, bytes, sha256, claim);
    return code;
}

static fdl_code check_record(verify *v, const char *id, const fdl_file_record *record, bool *sound, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    uint64_t before = v->result->findings;
    fdl_code code = fdl_key_version(key, id, record->path, error);
    if (code == FDL_OK)
        code = fdl_verify_object(v, key, record->bytes, record->sha256, FDL_FILE_VERSION, error);
    *sound = code == FDL_OK && v->result->findings == before;
    return code;
}

fdl_code fdl_verify_fetch(verify *v, const char *id, const fdl_file_record *record, fdl_local_file *out,
                          fdl_error *error) {
    char key[FDL_KEY_BYTES], found[FDL_SHA256_BYTES];
    uint64_t size = 0, before = v->result->findings;
    fdl_code code = fdl_key_version(key, id, record->path, error);
    if (code != FDL_OK)
        return code;
    code = fdl_local_file_get(v->store, v->scratch, key, record->bytes, out, error);
    if (code == FDL_OK)
        code = fdl_file_size(out->path, &size, error);
    if (code == FDL_OK && size == record->bytes)
        code = fdl_sha256_file(out->path, found, &size, error);
    if (code == FDL_OK)
        compare(v, key, size, found, record->bytes, record->sha256, FDL_FILE_VERSION);
    code = fdl_verify_judge(v, code, key, error);
    if (code != FDL_OK || v->result->findings > before)
        fdl_local_file_clear(out);
    return code;
}

/* ---- data files ------------------------------------------------------------------------- */

static fdl_code check_parquet(verify *v, const char *key, const fdl_data_file *file, fdl_error *error) {
    fdl_local_file local = {0};
    int64_t rows = 0;
    fdl_code code = fdl_local_file_get(v->store, v->scratch, key, (uint64_t)file->size_bytes, &local, error);
    if (code == FDL_OK)
        code = fdl_parquet_rows(fdl_repo_context(v->repo), local.path, &rows, error);
    if (code == FDL_OK && rows != file->rows)
        fdl_verify_finding(v, key, "'%s' holds %" PRId64 " rows, the catalog says %" PRId64, key, rows, file->rows);
    fdl_local_file_clear(&local);
    return fdl_verify_judge(v, code, key, error);
}

static fdl_code look_at_file(verify *v, const char *key, const fdl_data_file *file, fdl_error *error) {
    bool there = false;
    uint64_t size = 0;
    fdl_code code = fdl_keyset_has(&v->there, key, &there, &size, error);
    if (code == FDL_OK && !there)
        fdl_verify_finding(v, key, "'%s' of table '%s.%s' is missing", key, file->schema_name, file->table_name);
    else if (code == FDL_OK && size != (uint64_t)file->size_bytes)
        fdl_verify_finding(v, key, "'%s' has %" PRIu64 " bytes, the catalog says %" PRId64, key, size, file->size_bytes);
    else if (code == FDL_OK && v->options->data && fdl_str_ends(key, ".parquet"))
        code = check_parquet(v, key, file, error);
    return code;
}

/* Many versions name a file; what each says of it is looked at once. */
static fdl_code check_data_file(void *data, const fdl_data_file *file, fdl_error *error) {
    verify *v = data;
    char *key = NULL, *claim = NULL;
    fdl_code code = fdl_str_format(&key, error, "%s%s", v->config->data_dir, file->path);
    if (code == FDL_OK)
        code = fdl_str_format(&claim, error, "%s\n%" PRId64 " %" PRId64, key, file->size_bytes, file->rows);
    if (code == FDL_OK && !fdl_map_get(&v->claims, claim, NULL)) {
        code = fdl_map_put(&v->claims, claim, 0, error);
        if (code == FDL_OK)
            code = fdl_map_put(&v->files, key, 0, error);
        if (code == FDL_OK)
            code = look_at_file(v, key, file, error);
    }
    free(claim);
    free(key);
    return code;
}

/* ---- one version's content --------------------------------------------------------------- */

/* Which of a version's files are what the record says, so that their content is worth a look. */
typedef struct soundness {
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

static fdl_code look_into(verify *v, const fdl_version *version, const soundness *sound, fdl_frozen *frozen,
                          const char *key, fdl_error *error) {
    char *sql = NULL;
    check_story(v, version, key, frozen);
    fdl_code code = fdl_frozen_find_sql(frozen, &sql, error);
    if (sql != NULL)
        fdl_verify_finding(v, key, "%s in '%s' would run SQL at its readers; a catalog has plain tables alone", sql, key);
    free(sql);
    if (code == FDL_OK)
        code = fdl_frozen_files(frozen, v->look ? v->look : check_data_file, v->look ? v->data : v, error);
    code = fdl_verify_judge(v, code, key, error);
    if (code == FDL_OK && sound->dataset)
        code = fdl_verify_dataset(v, version, frozen, error);
    if (code == FDL_OK && sound->index)
        code = fdl_verify_index(v, version, frozen, error);
    return code;
}

static fdl_code check_catalog(verify *v, const fdl_version *version, const soundness *sound, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    fdl_local_file local = {0};
    fdl_frozen *frozen = NULL;
    fdl_code code = fdl_key_version(key, version->id, version->catalog.file.path, error);
    if (code == FDL_OK)
        code = fdl_verify_fetch(v, version->id, &version->catalog.file, &local, error);
    if (code == FDL_OK && local.path)
        code = fdl_verify_judge(v, fdl_frozen_open(fdl_repo_context(v->repo), local.path, &frozen, error), key, error);
    if (code == FDL_OK && frozen)
        code = look_into(v, version, sound, frozen, key, error);
    bool readable = frozen != NULL;
    fdl_frozen_free(frozen);
    if (code == FDL_OK)
        code = fdl_verify_packed(v, version, error);
    if (code == FDL_OK)
        code = fdl_verify_others(v, version, readable ? local.path : NULL, error);
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
        code = check_record(v, version->id, &version->dataset, &sound.dataset, error);
    if (code == FDL_OK && version->files.path)
        code = check_record(v, version->id, &version->files, &sound.index, error);
    return code == FDL_OK ? check_catalog(v, version, &sound, error) : code;
}

static fdl_code check_gone(verify *v, const fdl_version *version, const fdl_file_record *record, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    bool there = false;
    fdl_code code = fdl_key_version(key, version->id, record->path, error);
    if (code == FDL_OK)
        code = fdl_keyset_has(&v->there, key, &there, NULL, error);
    if (code == FDL_OK && there)
        fdl_verify_finding(v, key, "version '%s' is marked as gone, but '%s' is still there", version->id, key);
    return code;
}

/* An expired version has no catalog any more, and no ref. */
static fdl_code check_expired(verify *v, const fdl_version *version, fdl_error *error) {
    v->result->expired++;
    fdl_code code = check_gone(v, version, &version->catalog.file, error);
    if (code == FDL_OK && version->packed.path)
        code = check_gone(v, version, &version->packed, error);
    for (size_t i = 0; code == FDL_OK && i < version->other_count; i++)
        code = check_gone(v, version, &version->others[i].file, error);
    for (size_t i = 0; i < v->refs.count; i++)
        if (strcmp(v->refs.items[i].id, version->id) == 0)
            fdl_verify_finding(v, v->refs.items[i].name, "'%s' points to version '%s', which is marked as gone",
                               v->refs.items[i].name, version->id);
    return code;
}

/* Of a version whose marker cannot be understood, nobody knows what should be there. */
static fdl_code check_rest(verify *v, const fdl_version *version, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    fdl_expiry expiry = {0};
    uint64_t before = v->result->findings;
    fdl_code code = fdl_key_version(key, version->id, FDL_FILE_EXPIRED, error);
    if (code == FDL_OK)
        code = fdl_verify_judge(v, fdl_expiry_read(v->repo, version->id, &expiry, error), key, error);
    if (code == FDL_OK && v->result->findings == before)
        code = expiry.expired ? check_expired(v, version, error) : check_content(v, version, error);
    fdl_expiry_clear(&expiry);
    return code;
}

/* ---- one version ------------------------------------------------------------------------ */

/*
 * The marker of what was withdrawn stays when gc prunes what no ref leads to, so that mirrors hear of it; its parent may
 * have gone by then.
 */
static bool may_lack_parent(verify *v, const fdl_version *version) {
    fdl_error ignored;
    fdl_expiry expiry = {0};
    bool reached = true;
    if (v->options->all && fdl_expiry_read(v->repo, version->id, &expiry, &ignored) == FDL_OK &&
        fdl_expiry_is_withdrawn(&expiry) &&
        fdl_refs_reach(v->repo, &v->refs, version, &reached, &ignored) != FDL_OK)
        reached = true;
    fdl_expiry_clear(&expiry);
    return !reached;
}

/* One that cannot be read is told once: where all are looked at, when its turn comes. */
static fdl_code check_parent(verify *v, const fdl_version *version, const char *key, fdl_error *error) {
    char parent_key[FDL_KEY_BYTES];
    fdl_version parent = {0};
    if (!version->parent[0]) {
        if (version->seq != 1)
            fdl_verify_finding(v, key, "version '%s' has no parent, but seq %" PRId64, version->id, version->seq);
        return FDL_OK;
    }
    fdl_code code = fdl_key_version(parent_key, version->parent, FDL_FILE_VERSION, error);
    if (code != FDL_OK)
        return code;
    code = fdl_version_read(v->repo, version->parent, &parent, error);
    if (code == FDL_NOT_FOUND && may_lack_parent(v, version))
        return FDL_OK;
    if (code == FDL_NOT_FOUND) {
        fdl_verify_finding(v, parent_key, "version '%s' is not there, and '%s' names it as its parent", version->parent,
                           version->id);
        return FDL_OK;
    }
    if (code == FDL_OK && parent.seq + 1 != version->seq)
        fdl_verify_finding(v, key, "version '%s' has seq %" PRId64 ", its parent '%s' has %" PRId64, version->id,
                           version->seq, version->parent, parent.seq);
    fdl_version_clear(&parent);
    if (v->options->all && (code == FDL_OK || code == FDL_FAILED || code == FDL_REFUSED))
        return fdl_verify_add(v, version->parent, error);
    return fdl_verify_judge(v, code, parent_key, error);
}

fdl_code fdl_verify_version(verify *v, const char *id, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    fdl_version version = {0};
    char *bytes = NULL;
    size_t length = 0;
    fdl_code code = fdl_key_version(key, id, FDL_FILE_VERSION, error);
    if (code != FDL_OK)
        return code;
    code = fdl_version_load(v->repo, id, &version, &bytes, &length, error);
    if (code == FDL_NOT_FOUND)
        return fdl_verify_dangling(v, id, key);
    if (code != FDL_OK)
        return fdl_verify_judge(v, code, key, error);
    v->result->versions++;
    code = fdl_verify_signature(v, &version, bytes, length, error);
    if (code == FDL_OK)
        code = check_parent(v, &version, key, error);
    if (code == FDL_OK)
        code = check_rest(v, &version, error);
    fdl_version_clear(&version);
    free(bytes);
    return code;
}

/* ---- the verb ------------------------------------------------------------------------------ */

void fdl_verify_clear(verify *v) {
    for (size_t i = 0; i < v->id_count; i++)
        free(v->ids[i]);
    free(v->ids);
    fdl_keyset_clear(&v->there);
    fdl_map_clear(&v->claims);
    fdl_map_clear(&v->files);
    fdl_map_clear(&v->known);
    fdl_ref_list_clear(&v->refs);
    fdl_scratch_remove(v->scratch);
}

fdl_code fdl_verify(fdl_repo *repo, const fdl_verify_options *options, fdl_finding_callback callback, void *data,
                    fdl_verify_result *out, fdl_error *error) {
    options = FDL_OPTIONS(fdl_verify_options, options);
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
        code = fdl_verify_refs(&v, error);
    if (code == FDL_OK) /* one listing answers every later question, but only where all is asked for */
        code = options->all ? fdl_keyset_open(v.store, "", &v.there, error) : FDL_OK;
    v.there.store = v.store;
    if (code == FDL_OK)
        code = fdl_verify_choose(&v, error);
    for (size_t i = 0; code == FDL_OK && i < v.id_count; i++) /* grows while parents are found */
        code = fdl_verify_version(&v, v.ids[i], error);
    out->files = v.files.count;
    if (code == FDL_OK && options->all)
        code = fdl_verify_orphans(&v, error);
    fdl_verify_clear(&v);
    return code;
}
