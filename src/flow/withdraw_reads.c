/*
 * withdraw_reads.c - what every version reads, each catalog opened once.
 *
 * Paths and tables are written down once and then called by their place, so that
 * a million reads take 12 MB beside the names.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "flow/expired_files.h"
#include "flow/opened.h"
#include "flow/withdraw.h"
#include "util/text.h"

bool fdl_wd_by_table(const fdl_wd *w) {
    return w->options->table && w->options->revision_count == 0;
}

void fdl_wd_clear(fdl_wd *w) {
    for (size_t i = 0; w->reads && i < w->inventory.count; i++)
        free(w->reads[i].items);
    for (size_t i = 0; i < w->file_count; i++)
        free(w->files[i].path);
    for (size_t i = 0; i < w->table_count; i++) {
        free(w->tables[i].schema);
        free(w->tables[i].name);
        free(w->tables[i].uuid);
    }
    free(w->reads);
    free(w->files);
    free(w->tables);
    fdl_map_clear(&w->file_places);
    fdl_keyset_clear(&w->there);
    fdl_keyset_clear(&w->at_source);
    fdl_inventory_clear(&w->inventory);
    fdl_ref_list_clear(&w->pointers);
}

/* ---- names --------------------------------------------------------------------- */

const fdl_wd_file *fdl_wd_file_find(const fdl_wd *w, const char *path) {
    uint64_t place = 0;
    return fdl_map_get(&w->file_places, path, &place) ? &w->files[place] : NULL;
}

static fdl_code file_place(fdl_wd *w, const char *path, int64_t bytes, uint32_t *place, fdl_error *error) {
    uint64_t known = 0;
    if (fdl_map_get(&w->file_places, path, &known)) {
        *place = (uint32_t)known;
        if (bytes > 0) /* a list that expire left does not tell */
            w->files[known].bytes = (uint64_t)bytes;
        return FDL_OK;
    }
    if (w->file_count == FDL_WD_NONE)
        return fdl_fail(error, FDL_FAILED, path, "more files than can be looked after at once");
    fdl_code code = fdl_grow(&w->files, w->file_count, sizeof *w->files, error);
    if (code == FDL_OK)
        code = fdl_map_put(&w->file_places, path, w->file_count, error);
    if (code != FDL_OK)
        return code;
    *place = (uint32_t)w->file_count;
    fdl_wd_file *file = &w->files[w->file_count++];
    *file = (fdl_wd_file){.bytes = bytes > 0 ? (uint64_t)bytes : 0};
    return fdl_str_copy(&file->path, path, error);
}

/* In whatever case: to DuckDB it is the same table. */
static bool is_asked_for(const fdl_wd *w, const char *schema, const char *name) {
    const char *table = w->options->table;
    size_t length = strlen(schema);
    return table && strncasecmp(table, schema, length) == 0 && table[length] == '.' && strcasecmp(table + length + 1, name) == 0;
}

/* Few, so they are looked through; the last one found is mostly the next one asked for. */
static fdl_code table_place(fdl_wd *w, const fdl_lake_read *read, uint32_t *place, fdl_error *error) {
    for (size_t i = w->table_count; i > 0; i--) {
        const fdl_wd_table *table = &w->tables[i - 1];
        *place = (uint32_t)(i - 1);
        if (strcmp(table->name, read->table_name) == 0 && strcmp(table->schema, read->schema_name) == 0 &&
            strcmp(table->uuid, read->table_uuid) == 0)
            return FDL_OK;
    }
    fdl_code code = fdl_grow(&w->tables, w->table_count, sizeof *w->tables, error);
    if (code != FDL_OK)
        return code;
    *place = (uint32_t)w->table_count;
    fdl_wd_table *table = &w->tables[w->table_count++];
    *table = (fdl_wd_table){.wanted = is_asked_for(w, read->schema_name, read->table_name)};
    code = fdl_str_copy(&table->schema, read->schema_name, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&table->name, read->table_name, error);
    return code == FDL_OK ? fdl_str_copy(&table->uuid, read->table_uuid, error) : code;
}

/* A table keeps its UUID under another name.  Lists of files have no UUIDs; there any of its names will do. */
static void want_renamed(fdl_wd *w) {
    for (size_t i = 0; i < w->table_count; i++)
        for (size_t j = 0; w->tables[i].wanted && j < w->table_count; j++)
            if (*w->tables[i].uuid && strcmp(w->tables[i].uuid, w->tables[j].uuid) == 0)
                w->tables[j].wanted = true;
    for (size_t i = 0; i < w->table_count; i++)
        for (size_t j = 0; w->tables[i].wanted && j < w->table_count; j++)
            if (!*w->tables[j].uuid && strcasecmp(w->tables[i].name, w->tables[j].name) == 0 &&
                strcasecmp(w->tables[i].schema, w->tables[j].schema) == 0)
                w->tables[j].wanted = true;
}

/* ---- catalogs ------------------------------------------------------------------- */

typedef struct taking {
    fdl_wd *w;
    fdl_wd_reads *reads;
} taking;

static fdl_code take_read(void *data, const fdl_lake_read *read, fdl_error *error) {
    const taking *t = data;
    fdl_wd_read item = {.deletes = FDL_WD_NONE};
    fdl_code code = file_place(t->w, read->path, read->size_bytes, &item.file, error);
    if (code == FDL_OK && read->delete_path)
        code = file_place(t->w, read->delete_path, read->delete_size_bytes, &item.deletes, error);
    if (code == FDL_OK)
        code = table_place(t->w, read, &item.table, error);
    if (code == FDL_OK)
        code = fdl_grow(&t->reads->items, t->reads->count, sizeof *t->reads->items, error);
    if (code == FDL_OK)
        t->reads->items[t->reads->count++] = item;
    return code;
}

static fdl_code read_catalog(fdl_wd *w, size_t place, fdl_error *error) {
    taking t = {.w = w, .reads = &w->reads[place]};
    fdl_opened opened = {0};
    fdl_code code = fdl_opened_get(w->repo, w->scratch, &w->inventory.items[place].version, &opened, error);
    if (code == FDL_OK)
        code = fdl_frozen_reads(opened.frozen, take_read, &t, error);
    fdl_opened_clear(&opened);
    return code;
}

/* ---- versions that had expired ----------------------------------------------------- */

bool fdl_wd_may_keep_old(const fdl_wd *w) {
    return !w->store->local;
}

static fdl_code is_in(const fdl_wd *w, fdl_store *store, fdl_keyset *set, bool *open, const char *path, bool *there,
                      fdl_error *error) {
    char *key = NULL;
    fdl_code code = *open ? FDL_OK : fdl_keyset_open(store, w->config->data_dir, set, error);
    *open = *open || code == FDL_OK;
    if (code == FDL_OK)
        code = fdl_str_format(&key, error, "%s%s", w->config->data_dir, path);
    if (code == FDL_OK)
        code = fdl_keyset_has(set, key, there, NULL, error);
    free(key);
    return code;
}

fdl_code fdl_wd_is_there(fdl_wd *w, const char *path, bool *there, fdl_error *error) {
    return is_in(w, w->store, &w->there, &w->there_open, path, there, error);
}

fdl_code fdl_wd_is_gone_at_source(fdl_wd *w, const char *path, bool *gone, fdl_error *error) {
    bool there = true;
    fdl_code code = w->source ? is_in(w, w->source, &w->at_source, &w->at_source_open, path, &there, error) : FDL_OK;
    *gone = !there;
    return code;
}

/*
 * What gc has deleted is no concern any more, unless a bucket may have kept an old version of it.  What a live
 * version names too is, there or not: a withdrawal that was stopped has deleted it.
 */
static fdl_code take_listed(void *data, const fdl_listed_file *listed, fdl_error *error) {
    const taking *t = data;
    bool there = fdl_wd_may_keep_old(t->w) || fdl_map_get(&t->w->file_places, listed->path, NULL);
    fdl_lake_read read = {.path = listed->path, .schema_name = listed->schema, .table_name = listed->table,
                          .table_uuid = ""};
    fdl_code code = there ? FDL_OK : fdl_wd_is_there(t->w, listed->path, &there, error);
    return code == FDL_OK && there ? take_read(data, &read, error) : code;
}

static fdl_code read_list(fdl_wd *w, size_t place, fdl_error *error) {
    taking t = {.w = w, .reads = &w->reads[place]};
    fdl_stored *stored = &w->inventory.items[place];
    bool known = false;
    fdl_code code = fdl_expired_files(w->repo, &stored->version, take_listed, &t, &known, error);
    if (code == FDL_OK && !known && (stored->flags & FDL_WD_GIVEN)) {
        stored->flags |= FDL_WD_UNKNOWN;
        fdl_note(fdl_repo_context(w->repo), FDL_NOTE_WARNING,
                 "which files version '%s' named is not known any more; when this is done, 'fdl gc %s --grace 0s' "
                 "deletes all that no version needs",
                 stored->id, fdl_repo_address(w->repo));
    }
    return code;
}

/* ---- all ---------------------------------------------------------------------------- */

static bool is_concerned(const fdl_stored *stored) {
    return (stored->flags & (FDL_WD_GIVEN | FDL_WD_FINISH)) != 0;
}

static fdl_code read_live(fdl_wd *w, size_t place, fdl_error *error) {
    fdl_code code = read_catalog(w, place, error);
    return code == FDL_NOT_FOUND && is_concerned(&w->inventory.items[place]) ? read_list(w, place, error) : code;
}

fdl_code fdl_wd_read_all(fdl_wd *w, fdl_error *error) {
    fdl_code code = w->inventory.count > 0 ? fdl_alloc(&w->reads, w->inventory.count, sizeof *w->reads, error) : FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < w->inventory.count; i++)
        if (fdl_stored_is_live(&w->inventory.items[i]))
            code = read_live(w, i, error);
    for (size_t i = 0; code == FDL_OK && i < w->inventory.count; i++) {
        const fdl_stored *stored = &w->inventory.items[i];
        bool expired = stored->record_ms != 0 && strcmp(stored->expiry.reason, FDL_REASON_RETENTION) == 0;
        if (!fdl_stored_is_live(stored) && (is_concerned(stored) || expired)) /* it may name what goes */
            code = read_list(w, i, error);
    }
    want_renamed(w);
    return code;
}
