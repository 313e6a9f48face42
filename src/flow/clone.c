/*
 * clone.c - makes one repository a mirror of another.
 *
 *   1 fdl.json and HEAD, as they are
 *   2 the history behind every ref asked for, oldest version first:
 *     data files, originals -> catalogs -> dataset, files -> signature ->
 *     version.json; then another look at what gc may have taken meanwhile
 *   3 the refs, by compare-and-swap, then refs.json
 *   4 what was withdrawn there is withdrawn here, of versions too that no ref
 *     of the source leads to any more
 *
 * That is push's order, so a reader of the mirror never sees anything
 * unfinished, and a clone that was stopped goes on where it was: what is there
 * already is not sent again.  What has ended in the mirror stays so, whoever
 * still has it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/catalog.h"
#include "fdl.h"
#include "flow/catalog_get.h"
#include "flow/clone.h"
#include "flow/expired_files.h"
#include "flow/scratch.h"
#include "flow/sources.h"
#include "flow/upload.h"
#include "flow/work.h"
#include "repo/files_json.h"
#include "repo/history.h"
#include "repo/layout.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/json.h"
#include "util/options.h"
#include "util/parallel.h"
#include "util/text.h"

#define HISTORY_LIMIT 10000000

clone_step *fdl_clone_find(const cloning *c, const char *id) {
    uint64_t place = 0;
    return fdl_map_get(&c->places, id, &place) ? &c->steps[place] : NULL;
}

fdl_code fdl_clone_holds(const fdl_keyset *set, const fdl_version *version, const char *name, bool *there, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    *there = false;
    fdl_code code = name ? fdl_key_version(key, version->id, name, error) : FDL_OK;
    return code == FDL_OK && name ? fdl_keyset_has(set, key, there, NULL, error) : code;
}

/* ---- one object ------------------------------------------------------------------ */

/* As push has it: where nothing is listed, only what others sent. */
static fdl_code rely_on(cloning *c, const char *key, uint64_t size_bytes, bool there, fdl_error *error) {
    return c->relying && (there || c->target->can_list) ? fdl_relied_add(&c->relied, "", key, size_bytes, error) : FDL_OK;
}

static fdl_code send(cloning *c, const char *key, const char *path, bool given, fdl_error *error) {
    uint64_t size = 0;
    bool is_data = fdl_str_starts(key, c->config->data_dir); /* expected by then, all of a version's at once */
    fdl_code code = is_data ? FDL_OK : fdl_file_size(path, &size, error);
    if (code == FDL_OK && !is_data)
        fdl_meter_expect(c->meter, 1, size);
    if (code == FDL_OK && fdl_str_starts(key, FDL_KEY_VERSIONS))
        code = rely_on(c, key, size, false, error);
    return code != FDL_OK ? code : fdl_upload(c->target, key, path, given, NULL, &c->result->sent, c->meter, error);
}

static fdl_code prove(const char *key, const char *path, const char *sha256, fdl_error *error) {
    char found[FDL_SHA256_BYTES];
    uint64_t size = 0;
    fdl_code code = fdl_sha256_file(path, found, &size, error);
    if (code == FDL_OK && strcmp(found, sha256) != 0)
        code = fdl_fail(error, FDL_FAILED, key, "'%s' is damaged: its sha256 is %s and should be %s", key, found, sha256);
    return code;
}

/* `sha256` may be NULL: nothing says what it should be.  No more than the limit is taken, UINT64_MAX being none. */
static fdl_code copy_proved(cloning *c, const char *key, uint64_t limit_bytes, const char *sha256, fdl_error *error) {
    fdl_local_file file = {0};
    fdl_code code = fdl_local_file_get(c->source, c->place ? c->place : c->scratch, key, limit_bytes, &file, error);
    if (code == FDL_OK && sha256)
        code = prove(key, file.path, sha256, error);
    if (code == FDL_OK)
        code = send(c, key, file.path, file.temporary && c->place, error);
    fdl_local_file_clear(&file);
    return code;
}

fdl_code fdl_clone_copy(cloning *c, const char *key, uint64_t limit_bytes, fdl_error *error) {
    return copy_proved(c, key, limit_bytes, NULL, error);
}

/* ---- 1: settings ------------------------------------------------------------------ */

static fdl_code copy_setting(cloning *c, const char *key, fdl_error *error) {
    fdl_object object;
    fdl_code code = fdl_store_head(c->target, key, &object, error);
    return code == FDL_NOT_FOUND ? fdl_clone_copy(c, key, FDL_CLONE_SMALL_LIMIT_BYTES, error) : code;
}

static fdl_code copy_settings(cloning *c, fdl_error *error) {
    const fdl_config *made = NULL;
    fdl_code code = fdl_repo_config(c->from, &c->config, error);
    if (code == FDL_OK)
        code = copy_setting(c, FDL_KEY_CONFIG, error);
    if (code == FDL_OK)
        code = copy_setting(c, FDL_KEY_HEAD, error);
    if (code == FDL_OK)
        code = fdl_repo_config(c->to, &made, error);
    if (code != FDL_OK)
        return code;
    bool same_id = c->config->id && made->id ? strcmp(c->config->id, made->id) == 0 : c->config->id == made->id;
    if (!same_id || strcmp(c->config->data_dir, made->data_dir) != 0)
        return fdl_fail(error, FDL_CONFLICT, FDL_KEY_CONFIG, "'%s' is another repository than '%s' (fdl.json differs)",
                        fdl_repo_address(c->to), fdl_repo_address(c->from));
    return FDL_OK;
}

/* ---- 2: versions ------------------------------------------------------------------ */

static fdl_code choose_refs(cloning *c, fdl_error *error) {
    if (!c->options->ref)
        return fdl_ref_list_read(c->from, &c->refs, error);
    fdl_target target = {0};
    fdl_code code = fdl_resolve(c->from, c->options->ref, &target, error);
    if (code == FDL_OK)
        code = fdl_alloc(&c->refs.items, 1, sizeof *c->refs.items, error);
    if (code != FDL_OK)
        return code;
    c->refs.count = 1;
    fdl_ref *ref = &c->refs.items[0];
    memcpy(ref->id, target.id, sizeof ref->id);
    if (target.branch[0])
        memcpy(ref->name, target.branch, sizeof ref->name);
    else if (!fdl_str_starts(c->options->ref, FDL_REF_TAGS))
        snprintf(ref->name, sizeof ref->name, FDL_REF_TAGS "%s", c->options->ref);
    else
        fdl_str_fit(ref->name, sizeof ref->name, c->options->ref);
    code = fdl_ref_read(c->from, ref->name, ref, error);
    if (code == FDL_NOT_FOUND)
        code = fdl_fail(error, FDL_USAGE, c->options->ref, "'%s' is neither a branch nor a tag of '%s'",
                        c->options->ref, fdl_repo_address(c->from));
    return code;
}

/* Walks back until a version that another ref has led to already. */
static fdl_code collect(cloning *c, const char *tip, fdl_error *error) {
    char id[FDL_ID_BYTES];
    memcpy(id, tip, sizeof id);
    fdl_code code = FDL_OK;
    int64_t child_seq = 0;
    for (clone_step *known = NULL; code == FDL_OK && id[0]; memcpy(id, c->steps[c->step_count - 1].version.parent, sizeof id)) {
        if ((known = fdl_clone_find(c, id))) {
            known->named = known->named || child_seq == 0;
            known->wanted = known->wanted || known->named;
            break;
        }
        if (c->step_count == HISTORY_LIMIT)
            return fdl_fail(error, FDL_FAILED, id, "more than %d versions", HISTORY_LIMIT);
        code = fdl_grow(&c->steps, c->step_count, sizeof *c->steps, error);
        if (code != FDL_OK)
            break;
        clone_step *next = &c->steps[c->step_count];
        memset(next, 0, sizeof *next);
        code = fdl_version_read(c->from, id, &next->version, error);
        if (code == FDL_OK && child_seq && next->version.seq >= child_seq)
            code = fdl_fail(error, FDL_FAILED, id, "version '%s' is its own descendant", id);
        if (code != FDL_OK) {
            fdl_version_clear(&next->version);
            break;
        }
        next->named = child_seq == 0;
        next->wanted = c->options->all || next->named;
        child_seq = next->version.seq;
        code = fdl_map_put(&c->places, id, c->step_count++, error);
    }
    return code;
}

/* Oldest first, so that a version in the mirror always has its ancestors there. */
static int by_seq(const void *a, const void *b) {
    int64_t left = (*(clone_step *const *)a)->version.seq, right = (*(clone_step *const *)b)->version.seq;
    return left < right ? -1 : left > right;
}

/* The data files a version names that the target lacks. */
typedef struct wanted_file {
    char *key;
    uint64_t size_bytes;
} wanted_file;

typedef struct wanted_files {
    cloning *c;
    wanted_file *items;
    size_t count;
    fdl_map asked; /* a file may be named more than once */
} wanted_files;

static void wanted_clear(wanted_files *wanted) {
    for (size_t i = 0; i < wanted->count; i++)
        free(wanted->items[i].key);
    free(wanted->items);
    fdl_map_clear(&wanted->asked);
}

static fdl_code want(wanted_files *wanted, const char *key, uint64_t size_bytes, fdl_error *error) {
    bool there = false;
    uint64_t size = 0;
    if (fdl_map_get(&wanted->asked, key, NULL))
        return FDL_OK;
    fdl_code code = fdl_map_put(&wanted->asked, key, 0, error);
    if (code == FDL_OK)
        code = fdl_keyset_has(&wanted->c->data, key, &there, &size, error);
    if (code == FDL_OK && there && size != size_bytes)
        code = fdl_fail(error, FDL_FAILED, key, "'%s' has %llu bytes in '%s', its catalog says %llu", key,
                        (unsigned long long)size, fdl_repo_address(wanted->c->to), (unsigned long long)size_bytes);
    if (code == FDL_OK && wanted->c->relying && !fdl_fileset_has(&wanted->c->looked, key)) {
        code = rely_on(wanted->c, key, size_bytes, there, error);
        if (code == FDL_OK)
            code = fdl_fileset_add(&wanted->c->looked, key, error);
    }
    if (code == FDL_OK && !there)
        code = fdl_grow(&wanted->items, wanted->count, sizeof *wanted->items, error);
    if (code == FDL_OK && !there) {
        wanted->items[wanted->count] = (wanted_file){.size_bytes = size_bytes};
        code = fdl_str_copy(&wanted->items[wanted->count].key, key, error);
        wanted->count += code == FDL_OK;
    }
    return code;
}

static fdl_code want_file(void *data, const fdl_data_file *file, fdl_error *error) {
    wanted_files *wanted = data;
    char *key = NULL;
    fdl_code code = fdl_str_format(&key, error, "%s%s", wanted->c->config->data_dir, file->path);
    if (code == FDL_OK)
        code = want(wanted, key, (uint64_t)file->size_bytes, error);
    free(key);
    return code;
}

static fdl_code want_entry(void *data, const fdl_file_entry *entry, fdl_error *error) {
    wanted_files *wanted = data;
    const char *data_dir = wanted->c->config->data_dir;
    if (!fdl_str_starts(entry->path, data_dir) || (entry->delete_path && !fdl_str_starts(entry->delete_path, data_dir)))
        return fdl_fail(error, FDL_FAILED, entry->path, "files.json names '%s', which is not in '%s'", entry->path,
                        data_dir);
    fdl_code code = want(wanted, entry->path, entry->bytes, error);
    return code == FDL_OK && entry->delete_path ? want(wanted, entry->delete_path, entry->delete_bytes, error) : code;
}

static fdl_code copy_wanted(void *data, size_t index, fdl_error *error) {
    wanted_files *wanted = data;
    return fdl_clone_copy(wanted->c, wanted->items[index].key, wanted->items[index].size_bytes, error);
}

/* The index tells it without DuckDB; it is as good as the record that proves it. */
static fdl_code list_wanted(cloning *c, const fdl_version *version, const char *catalog, wanted_files *wanted,
                            fdl_error *error) {
    fdl_frozen *frozen = NULL;
    fdl_code code = fdl_files_read(c->from, version, want_entry, wanted, error);
    if (code != FDL_NOT_FOUND)
        return code;
    code = fdl_frozen_open(fdl_repo_context(c->from), catalog, &frozen, error);
    if (code == FDL_OK)
        code = fdl_frozen_files(frozen, want_file, wanted, error);
    fdl_frozen_free(frozen);
    return code;
}

static fdl_code copy_data(cloning *c, const fdl_version *version, const char *catalog, fdl_error *error) {
    wanted_files wanted = {.c = c};
    fdl_code code = FDL_OK;
    if (!c->data_open)
        code = fdl_keyset_open(c->target, c->config->data_dir, &c->data, error);
    c->data_open = c->data_open || code == FDL_OK;
    if (code == FDL_OK && !c->place)
        code = fdl_store_place(c->target, &c->place, error);
    if (code == FDL_OK)
        code = list_wanted(c, version, catalog, &wanted, error);
    for (size_t i = 0; i < wanted.count; i++)
        fdl_meter_expect(c->meter, 1, wanted.items[i].size_bytes);
    if (code == FDL_OK)
        code = fdl_parallel(wanted.count, fdl_repo_context(c->from)->jobs, copy_wanted, &wanted, error);
    for (size_t i = 0; code == FDL_OK && i < wanted.count; i++)
        code = fdl_keyset_add(&c->data, wanted.items[i].key, wanted.items[i].size_bytes, error);
    wanted_clear(&wanted);
    return code;
}

static fdl_code copy_version_file(cloning *c, const fdl_version *version, const char *name, uint64_t limit_bytes,
                                  const char *sha256, bool must, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    bool there = false;
    uint64_t size = 0;
    fdl_code code = fdl_key_version(key, version->id, name, error);
    if (code == FDL_OK)
        code = fdl_keyset_has(&c->there, key, &there, &size, error);
    if (code == FDL_OK && there)
        code = rely_on(c, key, size, true, error);
    else if (code == FDL_OK)
        code = copy_proved(c, key, limit_bytes, sha256, error);
    return code == FDL_NOT_FOUND && !must ? FDL_OK : code;
}

static fdl_code copy_record(cloning *c, const fdl_version *version, const fdl_file_record *record, bool must,
                            fdl_error *error) {
    return record->path ? copy_version_file(c, version, record->path, record->bytes, record->sha256, must, error) : FDL_OK;
}

/* What is missing or damaged is so in the source, where readers take the catalog itself, as they will here. */
static fdl_code copy_packed(cloning *c, const fdl_version *version, bool *sound, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    fdl_local_file file = {0};
    fdl_code code = fdl_key_version(key, version->id, version->packed.path, error);
    if (code == FDL_OK)
        code = fdl_local_file_get(c->source, c->scratch, key, version->packed.bytes, &file, error);
    *sound = code == FDL_OK && prove(key, file.path, version->packed.sha256, error) == FDL_OK;
    if (*sound)
        code = send(c, key, file.path, false, error);
    else if (code == FDL_NOT_FOUND || c->source->local)
        code = FDL_OK;
    fdl_local_file_clear(&file);
    return code;
}

static fdl_code offer_packed(cloning *c, const fdl_version *version, bool sound, fdl_error *error) {
    bool there = false;
    fdl_code code = fdl_clone_holds(&c->there, version, version->packed.path, &there, error);
    if (code == FDL_OK && there)
        return copy_record(c, version, &version->packed, true, error);
    if (code == FDL_OK && sound)
        code = copy_packed(c, version, &sound, error);
    if (code == FDL_OK && version->packed.path && !sound)
        fdl_note(fdl_repo_context(c->from), FDL_NOTE_WARNING,
                 "'%s' of version '%s' is left out: it is missing or damaged in '%s'", version->packed.path, version->id,
                 fdl_repo_address(c->from));
    return code;
}

/* ---- originals ------------------------------------------------------------------------ */

/* They may be private, or withdrawn; a version is whole without them. */
static fdl_code copy_source(void *data, const fdl_kept_source *source, fdl_error *error) {
    cloning *c = data;
    char key[FDL_SOURCE_KEY_BYTES];
    bool there = false;
    fdl_source_key(key, source->sha256);
    if (fdl_map_get(&c->asked, key, NULL))
        return FDL_OK;
    fdl_code code = fdl_map_put(&c->asked, key, 0, error);
    if (code == FDL_OK)
        code = fdl_keyset_has(&c->kept, key, &there, NULL, error);
    if (code == FDL_OK && !there)
        code = copy_proved(c, key, source->bytes, source->sha256, error);
    if (code == FDL_NOT_FOUND || code == FDL_DENIED) {
        fdl_note(fdl_repo_context(c->from), FDL_NOTE_WARNING, "the original '%s' is left out: %s", source->name,
                 error->message);
        code = FDL_OK;
    }
    return code;
}

static fdl_code copy_sources(cloning *c, const fdl_version *version, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *bytes = NULL;
    size_t length = 0;
    json_t *dataset = NULL;
    fdl_code code = c->kept_open ? FDL_OK : fdl_keyset_open(c->target, FDL_KEY_SOURCES, &c->kept, error);
    c->kept_open = c->kept_open || code == FDL_OK;
    if (code == FDL_OK)
        code = fdl_key_version(key, version->id, version->dataset.path, error);
    if (code == FDL_OK)
        code = fdl_store_read(c->source, key, FDL_LIMIT_DATASET_BYTES, &bytes, &length, NULL, error);
    if (code == FDL_OK)
        code = fdl_json_parse(bytes, length, key, &dataset, error);
    if (code == FDL_OK)
        code = fdl_sources_each(dataset, copy_source, c, error);
    json_decref(dataset);
    free(bytes);
    return code;
}

/* ---- one version ----------------------------------------------------------------------- */

/* The catalog is proved against version.json before anything it names is fetched. */
static fdl_code copy_content(cloning *c, const fdl_version *version, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *catalog = NULL;
    bool there = false, packed = false;
    uint64_t size = 0;
    fdl_code code = fdl_key_version(key, version->id, version->catalog.file.path, error);
    if (code == FDL_OK)
        code = fdl_keyset_has(&c->there, key, &there, &size, error);
    if (code == FDL_OK && there)
        code = rely_on(c, key, size, true, error);
    if (code == FDL_OK)
        code = fdl_str_format(&catalog, error, "%s/%s.duckdb", c->scratch, version->id);
    if (code == FDL_OK)
        code = fdl_catalog_download_mirrored(c->from, version, catalog, &packed, error);
    if (code == FDL_OK)
        code = copy_data(c, version, catalog, error);
    for (size_t i = 0; code == FDL_OK && i < version->other_count; i++)
        code = copy_record(c, version, &version->others[i].file, true, error);
    if (code == FDL_OK)
        code = offer_packed(c, version, packed, error);
    if (code == FDL_OK && !there)
        code = send(c, key, catalog, false, error);
    if (catalog)
        unlink(catalog);
    free(catalog);
    return code;
}

static fdl_code remove_file(cloning *c, const fdl_version *version, const char *name, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    bool there = false;
    fdl_code code = fdl_key_version(key, version->id, name, error);
    if (code == FDL_OK)
        code = fdl_keyset_has(&c->there, key, &there, NULL, error);
    return code == FDL_OK && there ? fdl_store_remove(c->target, key, (fdl_condition){.kind = FDL_ALWAYS}, error) : code;
}

/* As expire leaves it, so that a gc or withdraw here knows what the version named. */
static fdl_code leave_list(cloning *c, const fdl_version *version, fdl_error *error) {
    bool listed = version->files.path != NULL, catalog = false;
    fdl_code code = listed ? FDL_OK : fdl_clone_holds(&c->there, version, version->catalog.file.path, &catalog, error);
    return code == FDL_OK && catalog ? fdl_expired_files_leave(c->to, c->scratch, version, error) : code;
}

static fdl_code remove_catalogs(cloning *c, const fdl_version *version, fdl_error *error) {
    fdl_code code = leave_list(c, version, error);
    if (code == FDL_OK)
        code = remove_file(c, version, version->catalog.file.path, error);
    if (code == FDL_OK && version->packed.path)
        code = remove_file(c, version, version->packed.path, error);
    for (size_t i = 0; code == FDL_OK && i < version->other_count; i++)
        code = remove_file(c, version, version->others[i].file.path, error);
    return code;
}

/* Where a catalog is there and a ref leads to it, so is its data, and gc keeps both. */
static fdl_code look_at_target(cloning *c, clone_step *s, fdl_error *error) {
    bool there = false;
    fdl_code code = fdl_clone_holds(&c->there, &s->version, s->version.catalog.file.path, &there, error);
    if (code == FDL_OK && !there)
        code = fdl_clone_holds(&c->there, &s->version, FDL_FILE_EXPIRED, &s->ended, error);
    c->relying = !s->ended && !(there && s->held);
    return code;
}

/* What a gc beside us took before it could see version.json; now it does, and leaves alone what is sent again. */
static fdl_code send_gone(cloning *c, fdl_error *error) {
    fdl_relied gone = c->relied;
    c->relied = (fdl_relied){0};
    c->relying = false;
    fdl_code code = fdl_relied_look(c->to, &gone, error);
    for (size_t i = 0; code == FDL_OK && i < gone.count; i++) {
        if (fdl_str_starts(gone.items[i].key, c->config->data_dir))
            fdl_meter_expect(c->meter, 1, gone.items[i].size_bytes);
        code = fdl_clone_copy(c, gone.items[i].key, UINT64_MAX, error);
    }
    fdl_relied_clear(&gone);
    return code;
}

static fdl_code copy_version(cloning *c, clone_step *s, fdl_error *error) {
    const fdl_version *version = &s->version;
    uint64_t before = c->result->sent.files;
    bool expired = false, withdrawn = false, must = false;
    c->relying = false;
    fdl_code code = fdl_clone_marker(c, version, &expired, &withdrawn, error);
    if (code == FDL_OK && !expired && s->wanted)
        code = look_at_target(c, s, error);
    must = s->named && !expired && !s->ended;
    if (code == FDL_OK && expired && !withdrawn)
        code = remove_catalogs(c, version, error);
    if (code == FDL_OK && !expired && !s->ended && s->wanted && c->options->sources)
        code = copy_sources(c, version, error);
    if (code == FDL_OK && c->relying)
        code = copy_content(c, version, error);
    s->whole = code == FDL_OK && !expired && !s->ended && s->wanted;
    if (code == FDL_NOT_FOUND && !s->named) { /* the source is itself a mirror that holds only the record */
        fdl_note(fdl_repo_context(c->from), FDL_NOTE_WARNING, "%s; only its record is copied", error->message);
        c->relying = false;
        fdl_relied_clear(&c->relied);
        code = FDL_OK;
    }
    if (code == FDL_OK && s->wanted)
        code = copy_record(c, version, &version->dataset, must, error);
    if (code == FDL_OK && s->wanted && !s->ended)
        code = copy_record(c, version, &version->files, must, error);
    if (code == FDL_OK)
        code = copy_version_file(c, version, FDL_FILE_SIGNATURE, FDL_CLONE_SMALL_LIMIT_BYTES, NULL, false, error);
    if (code == FDL_OK)
        code = copy_version_file(c, version, FDL_FILE_VERSION, FDL_CLONE_SMALL_LIMIT_BYTES, NULL, true, error);
    if (code == FDL_OK)
        code = send_gone(c, error);
    if (c->result->sent.files > before)
        c->result->versions++;
    return code;
}

static fdl_code mark_held(cloning *c, fdl_error *error) {
    fdl_ref_list refs = {0};
    fdl_code code = fdl_ref_list_read(c->to, &refs, error);
    for (size_t i = 0; code == FDL_OK && i < refs.count; i++)
        for (clone_step *s = fdl_clone_find(c, refs.items[i].id); s && !s->held; s = fdl_clone_find(c, s->version.parent))
            s->held = true;
    fdl_ref_list_clear(&refs);
    return code;
}

static fdl_code copy_versions(cloning *c, fdl_error *error) {
    clone_step **order = NULL;
    fdl_code code = choose_refs(c, error);
    for (size_t i = 0; code == FDL_OK && i < c->refs.count; i++)
        code = collect(c, c->refs.items[i].id, error);
    if (code == FDL_OK)
        code = mark_held(c, error);
    if (code == FDL_OK)
        code = fdl_alloc(&order, c->step_count, sizeof *order, error);
    for (size_t i = 0; code == FDL_OK && i < c->step_count; i++)
        order[i] = &c->steps[i];
    if (code == FDL_OK)
        qsort(order, c->step_count, sizeof *order, by_seq);
    if (code == FDL_OK)
        code = fdl_keyset_open(c->target, FDL_KEY_VERSIONS, &c->there, error);
    if (code == FDL_OK)
        code = fdl_keyset_open(c->source, FDL_KEY_VERSIONS, &c->offered, error);
    for (size_t i = 0; code == FDL_OK && i < c->step_count; i++)
        code = copy_version(c, order[i], error);
    free(order);
    return code;
}

/* ---- the verb ------------------------------------------------------------------------- */

static void clone_clear(cloning *c) {
    fdl_meter_end(c->meter);
    fdl_scratch_remove(c->scratch);
    free(c->place);
    for (size_t i = 0; i < c->step_count; i++)
        fdl_version_clear(&c->steps[i].version);
    free(c->steps);
    free(c->withdrawn);
    fdl_map_clear(&c->places);
    fdl_relied_clear(&c->relied);
    fdl_fileset_clear(&c->looked);
    fdl_keyset_clear(&c->data);
    fdl_keyset_clear(&c->kept);
    fdl_map_clear(&c->asked);
    fdl_keyset_clear(&c->there);
    fdl_keyset_clear(&c->offered);
    fdl_ref_list_clear(&c->refs);
}

fdl_code fdl_clone(fdl_repo *from, fdl_repo *to, const fdl_clone_options *options, fdl_clone_result *out,
                   fdl_error *error) {
    options = FDL_OPTIONS(fdl_clone_options, options);
    cloning c = {
        .from = from,
        .to = to,
        .source = fdl_repo_store(from),
        .target = fdl_repo_store(to),
        .options = options,
        .result = out,
    };
    memset(out, 0, sizeof *out);
    if (strcmp(fdl_repo_address(from), fdl_repo_address(to)) == 0)
        return fdl_fail(error, FDL_USAGE, fdl_repo_address(to), "'%s' cannot be cloned onto itself",
                        fdl_repo_address(to));
    fdl_code code = fdl_scratch_make(&c.scratch, error);
    c.meter = fdl_meter_start(fdl_repo_context(from), "copying");
    if (code == FDL_OK)
        code = copy_settings(&c, error);
    if (code == FDL_OK)
        code = copy_versions(&c, error);
    if (code == FDL_OK)
        code = fdl_clone_refs(&c, error);
    if (code == FDL_OK)
        code = fdl_clone_withdraw(&c, error);
    clone_clear(&c);
    return code;
}
