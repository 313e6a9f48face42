/*
 * withdraw_survey.c - which versions a withdrawal concerns, and which files go.
 *
 *   given       the versions the caller names; with a table alone, all that read
 *               files of it which no tip reads, a tip being a version that a
 *               branch points to
 *   going       files of given versions that no tip reads
 *   affected    given versions, and all that name a file that is going
 *
 * All data of affected versions goes but what a version that stays names too.
 * Files that a tip reads just as the given version did stay.  What else may be in
 * the way is told in withdraw_obstacles.c.
 */
#include <stdlib.h>
#include <string.h>

#include "flow/pointers.h"
#include "flow/withdraw.h"
#include "repo/expiry.h"
#include "repo/layout.h"
#include "util/text.h"

#define READERS_LIMIT 1000

const fdl_ref *fdl_wd_branch_of(const fdl_wd *w, const char *id) {
    for (size_t i = 0; i < w->pointers.count; i++)
        if (!fdl_str_starts(w->pointers.items[i].name, FDL_REF_TAGS) && strcmp(w->pointers.items[i].id, id) == 0)
            return &w->pointers.items[i];
    return NULL;
}

bool fdl_wd_has_content(const fdl_stored *stored) {
    for (size_t i = 0; i < stored->file_count; i++)
        if (!fdl_is_memory_of_version(stored->files[i].name))
            return true;
    return false;
}

/* ---- who is there, and who is meant ---------------------------------------------------- */

static fdl_code list(fdl_wd *w, fdl_error *error) {
    fdl_code code = fdl_inventory_read(w->repo, &w->inventory, error);
    if (code == FDL_OK)
        code = fdl_inventory_records(&w->inventory, error);
    if (code == FDL_OK)
        code = fdl_inventory_markers(&w->inventory, error);
    if (code == FDL_OK)
        code = fdl_inventory_bare(&w->inventory, error);
    if (code == FDL_OK)
        code = fdl_pointers_read(w->repo, &w->pointers, error);
    for (size_t i = 0; code == FDL_OK && i < w->pointers.count; i++) {
        fdl_stored *stored = fdl_inventory_find(&w->inventory, w->pointers.items[i].id);
        if (stored && !fdl_str_starts(w->pointers.items[i].name, FDL_REF_TAGS))
            stored->flags |= FDL_WD_TIP;
    }
    for (size_t i = 0; code == FDL_OK && i < w->inventory.count; i++)
        if (fdl_expiry_is_withdrawn(&w->inventory.items[i].expiry) && fdl_wd_has_content(&w->inventory.items[i]))
            w->inventory.items[i].flags |= FDL_WD_FINISH;
    return code;
}

/* One that was withdrawn is done, or is finished anyway. */
static fdl_code name_given(fdl_wd *w, fdl_error *error) {
    for (size_t i = 0; i < w->options->revision_count; i++) {
        fdl_target target = {0};
        fdl_code code = fdl_resolve(w->repo, w->options->revisions[i], &target, error);
        if (code != FDL_OK)
            return code;
        fdl_stored *stored = fdl_inventory_find(&w->inventory, target.id);
        if (!stored || stored->record_ms == 0)
            return fdl_fail(error, FDL_NOT_FOUND, target.id, "no version '%s' in '%s'", target.id,
                            fdl_repo_address(w->repo));
        if (!fdl_expiry_is_withdrawn(&stored->expiry))
            stored->flags |= FDL_WD_GIVEN;
    }
    return FDL_OK;
}

/* ---- given, going, affected --------------------------------------------------------------- */

/* What a stopped run, or the source of this mirror, has deleted already: whoever else names it must be marked too. */
static fdl_code give_what_is_gone(fdl_wd *w, const fdl_wd_reads *reads, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < reads->count; i++) {
        fdl_wd_file *file = &w->files[reads->items[i].file];
        bool there = true;
        code = fdl_wd_is_there(w, file->path, &there, error);
        if (code == FDL_OK && there)
            code = fdl_wd_is_gone_at_source(w, file->path, &file->gone, error);
        file->given = file->given || !there || file->gone;
    }
    return code;
}

static fdl_code mark_given(fdl_wd *w, bool *any, fdl_error *error) {
    fdl_code code = FDL_OK;
    *any = false;
    for (size_t i = 0; code == FDL_OK && i < w->inventory.count; i++) {
        const fdl_wd_reads *reads = &w->reads[i];
        unsigned flags = w->inventory.items[i].flags;
        if (flags & FDL_WD_FINISH)
            code = give_what_is_gone(w, reads, error);
        bool given = (flags & FDL_WD_GIVEN) || (fdl_wd_by_table(w) && !(flags & FDL_WD_FINISH));
        for (size_t j = 0; given && j < reads->count; j++) {
            fdl_wd_file *file = &w->files[reads->items[j].file];
            bool wanted = !w->options->table || w->tables[reads->items[j].table].wanted;
            file->given = file->given || wanted;
            file->in_table = file->in_table || (w->options->table && wanted);
            *any = *any || wanted;
        }
    }
    return code;
}

static void mark_affected(fdl_wd *w) {
    for (size_t i = 0; i < w->inventory.count; i++)
        for (size_t j = 0; j < w->reads[i].count; j++)
            if ((w->inventory.items[i].flags & (FDL_WD_TIP | FDL_WD_GIVEN | FDL_WD_FINISH)) == FDL_WD_TIP)
                w->files[w->reads[i].items[j].file].in_tip = true;
    for (size_t i = 0; i < w->inventory.count; i++) {
        fdl_stored *stored = &w->inventory.items[i];
        for (size_t j = 0; j < w->reads[i].count; j++) {
            const fdl_wd_file *file = &w->files[w->reads[i].items[j].file];
            if (file->given && (!file->in_tip || file->gone))
                stored->flags |= FDL_WD_AFFECTED | (file->in_table && fdl_wd_by_table(w) ? FDL_WD_GIVEN : 0);
        }
        if (stored->flags & (FDL_WD_GIVEN | FDL_WD_FINISH))
            stored->flags |= FDL_WD_AFFECTED;
    }
}

/* A branch that points to an affected version keeps its data public. */
static fdl_code refuse_pointed(const fdl_wd *w, fdl_error *error) {
    for (size_t i = 0; i < w->pointers.count; i++) {
        const fdl_ref *ref = &w->pointers.items[i];
        const fdl_stored *stored = fdl_inventory_find(&w->inventory, ref->id);
        if (!stored || !(stored->flags & FDL_WD_AFFECTED) || fdl_str_starts(ref->name, FDL_REF_TAGS))
            continue;
        if (!fdl_str_starts(ref->name, FDL_REF_HEADS))
            return fdl_fail(error, FDL_REFUSED, ref->name, "version '%s' waits for approval as '%s'; reject it first",
                            ref->id, ref->name);
        if (w->source)
            return fdl_fail(error, FDL_REFUSED, ref->name,
                            "branch '%s' of '%s' points to version '%s', whose data the source has withdrawn; delete it "
                            "('fdl branch %s -d %s'), then run this again",
                            ref->name + strlen(FDL_REF_HEADS), fdl_repo_address(w->repo), ref->id,
                            fdl_repo_address(w->repo), ref->name + strlen(FDL_REF_HEADS));
        return fdl_fail(error, FDL_REFUSED, ref->name,
                        "branch '%s' still points to version '%s'; publish one without the data first ('fdl restore' can "
                        "put an older one on top), then run this again",
                        ref->name + strlen(FDL_REF_HEADS), ref->id);
    }
    return FDL_OK;
}

/* ---- what goes with them -------------------------------------------------------------------- */

static void mark_named(fdl_wd *w, const fdl_wd_reads *reads, bool affected) {
    for (size_t i = 0; i < reads->count; i++) {
        uint32_t places[] = {reads->items[i].file, reads->items[i].deletes};
        for (size_t j = 0; j < 2; j++) {
            if (places[j] == FDL_WD_NONE)
                continue;
            fdl_wd_file *file = &w->files[places[j]];
            file->affected = file->affected || affected;
            file->kept = file->kept || !affected;
        }
    }
}

static fdl_code add_reader(fdl_wd *w, const fdl_stored *stored, const fdl_wd_read *read, fdl_error *error) {
    fdl_withdraw_result *result = w->result;
    const fdl_wd_table *table = &w->tables[read->table];
    const fdl_ref *ref = fdl_wd_branch_of(w, stored->id);
    if (result->staying++ >= READERS_LIMIT)
        return FDL_OK;
    fdl_code code = fdl_grow(&result->readers, result->reader_count, sizeof *result->readers, error);
    if (code != FDL_OK)
        return code;
    fdl_withdraw_reader *reader = &result->readers[result->reader_count++];
    *reader = (fdl_withdraw_reader){0};
    memcpy(reader->id, stored->id, sizeof reader->id);
    fdl_str_fit(reader->ref, sizeof reader->ref, ref ? ref->name : "");
    code = fdl_str_format(&reader->key, error, "%s%s", w->config->data_dir, w->files[read->file].path);
    if (code == FDL_OK)
        code = fdl_str_copy(&reader->schema, table->schema, error);
    return code == FDL_OK ? fdl_str_copy(&reader->table, table->name, error) : code;
}

/* Each file once, with the first tip that reads it. */
static fdl_code tell_staying(fdl_wd *w, size_t place, fdl_error *error) {
    fdl_code code = FDL_OK;
    const fdl_wd_reads *reads = &w->reads[place];
    for (size_t i = 0; code == FDL_OK && i < reads->count; i++) {
        const fdl_wd_file *file = &w->files[reads->items[i].file];
        if (file->affected && !file->kept)
            code = add_reader(w, &w->inventory.items[place], &reads->items[i], error);
    }
    mark_named(w, reads, false);
    return code;
}

static fdl_code settle_files(fdl_wd *w, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < w->inventory.count; i++)
        if (w->inventory.items[i].flags & FDL_WD_AFFECTED)
            mark_named(w, &w->reads[i], true);
    for (size_t i = 0; code == FDL_OK && i < w->inventory.count; i++)
        if ((w->inventory.items[i].flags & (FDL_WD_TIP | FDL_WD_AFFECTED)) == FDL_WD_TIP)
            code = tell_staying(w, i, error);
    for (size_t i = 0; code == FDL_OK && i < w->inventory.count; i++)
        if (!(w->inventory.items[i].flags & FDL_WD_AFFECTED) && fdl_stored_is_live(&w->inventory.items[i]))
            mark_named(w, &w->reads[i], false);
    return code;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

fdl_code fdl_wd_survey(fdl_wd *w, fdl_error *error) {
    bool any = false;
    fdl_code code = list(w, error);
    if (code == FDL_OK)
        code = name_given(w, error);
    if (code == FDL_OK)
        code = fdl_wd_read_all(w, error);
    if (code == FDL_OK)
        code = mark_given(w, &any, error);
    if (code == FDL_OK && w->options->table && !any)
        code = fdl_fail(error, FDL_NOT_FOUND, w->options->table, "no version concerned has data of a table '%s'",
                        w->options->table);
    if (code == FDL_OK) {
        mark_affected(w);
        code = refuse_pointed(w, error);
    }
    if (code == FDL_OK)
        code = fdl_wd_refuse_obstacles(w, error);
    if (code == FDL_OK)
        fdl_wd_note_hidden(w);
    return code == FDL_OK ? settle_files(w, error) : code;
}
