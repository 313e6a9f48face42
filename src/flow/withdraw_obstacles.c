/*
 * withdraw_obstacles.c - what is in the way of a withdrawal, and what to do about
 * it.
 *
 * A DELETE in DuckLake leaves the rows in their Parquet file and writes down
 * which to leave out.  So a tip that reads a file of a given version through
 * deletes which that one did not have has it in the way: the rows are still in
 * the file, for everybody who reads it past the catalog.  With a table asked for,
 * any file of it that a tip shares with an affected version is in the way.
 * Rewriting the table puts the rows that are left into new files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/duck.h"
#include "flow/withdraw.h"
#include "repo/layout.h"
#include "util/buf.h"
#include "util/text.h"

/* Each one is a line for people; more help nobody. */
#define NOTED_LIMIT 100

/* A read of a given file, by whom. */
typedef struct reader {
    uint32_t file;
    uint32_t place; /* of the version */
    const fdl_wd_read *read;
    bool obstacle;
} reader;

typedef struct readers {
    reader *items; /* sorted by file */
    size_t count;
} readers;

static int by_file(const void *a, const void *b) {
    const reader *left = a, *right = b;
    return left->file != right->file ? (left->file < right->file ? -1 : 1) : 0;
}

static fdl_code collect(const fdl_wd *w, readers *out, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < w->inventory.count; i++) {
        for (size_t j = 0; code == FDL_OK && j < w->reads[i].count; j++) {
            const fdl_wd_read *read = &w->reads[i].items[j];
            if (!w->files[read->file].given)
                continue;
            code = fdl_grow(&out->items, out->count, sizeof *out->items, error);
            if (code == FDL_OK)
                out->items[out->count++] = (reader){.file = read->file, .place = (uint32_t)i, .read = read};
        }
    }
    if (out->count > 0)
        qsort(out->items, out->count, sizeof *out->items, by_file);
    return code;
}

/* ---- is it in the way? -------------------------------------------------------------- */

static bool is_ancestor_or_self(const fdl_wd *w, const char *id, const fdl_stored *of) {
    int64_t seq = INT64_MAX;
    while (of && of->version.id[0] && of->version.seq < seq) {
        if (strcmp(of->id, id) == 0)
            return true;
        seq = of->version.seq;
        of = of->version.parent[0] ? fdl_inventory_find(&w->inventory, of->version.parent) : NULL;
    }
    return false;
}

/*
 * Whether a tip's deletes are other than those of the given version's read.
 * Deletes only grow along a history, so what an ancestor of the given version
 * read through, it had.  `all` is everybody who reads the file.
 */
static bool has_more_deletes(const fdl_wd *w, const reader *tip, const reader *given, const reader *all,
                             size_t all_count) {
    if (tip->read->deletes == FDL_WD_NONE || tip->read->deletes == given->read->deletes)
        return false;
    for (size_t i = 0; i < all_count; i++)
        if (all[i].read->deletes == tip->read->deletes &&
            is_ancestor_or_self(w, w->inventory.items[all[i].place].id, &w->inventory.items[given->place]))
            return false;
    return true;
}

static bool is_tip(const fdl_wd *w, const reader *r) {
    return (w->inventory.items[r->place].flags & (FDL_WD_TIP | FDL_WD_AFFECTED)) == FDL_WD_TIP;
}

/* What makes a tip's read an obstacle. */
typedef enum rule {
    SHARES,     /* an affected version had the file: with a table any way, else through fewer deletes */
    SHARES_OLD, /* any version that is no tip has it */
    READS       /* nothing more */
} rule;

static bool is_in_the_way(const fdl_wd *w, const reader *tip, const reader *all, size_t all_count, rule by) {
    const fdl_wd_file *file = &w->files[tip->file];
    bool found = by == READS;
    for (size_t i = 0; i < all_count && !found; i++) {
        unsigned flags = w->inventory.items[all[i].place].flags;
        if (by == SHARES_OLD)
            found = !is_tip(w, &all[i]);
        else
            found = file->in_table ? (flags & FDL_WD_AFFECTED) != 0
                                   : (flags & FDL_WD_GIVEN) && has_more_deletes(w, tip, &all[i], all, all_count);
    }
    return found;
}

/* Marks the tips that are in the way; how many there are. */
static size_t mark_obstacles(const fdl_wd *w, const readers *all, rule by) {
    size_t found = 0;
    for (size_t start = 0, end = 0; start < all->count; start = end) {
        while (end < all->count && all->items[end].file == all->items[start].file)
            end++;
        for (size_t i = start; i < end; i++) {
            reader *r = &all->items[i];
            r->obstacle = is_tip(w, r) && is_in_the_way(w, r, &all->items[start], end - start, by);
            found += r->obstacle;
        }
    }
    return found;
}

/* ---- what to do about it --------------------------------------------------------------- */

static fdl_code add_named(fdl_buf *sql, const char *before, const fdl_wd_table *table, fdl_error *error) {
    fdl_code code = fdl_buf_add_format(sql, error, "%slake.", before);
    if (code == FDL_OK)
        code = fdl_sql_name(sql, table->schema, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(sql, ".", error);
    return code == FDL_OK ? fdl_sql_name(sql, table->name, error) : code;
}

static fdl_code add_whole_rewrite(fdl_buf *sql, const fdl_wd_table *table, fdl_error *error) {
    fdl_code code = add_named(sql, "BEGIN; CREATE TEMP TABLE rewritten AS FROM ", table, error);
    if (code == FDL_OK)
        code = add_named(sql, "; DELETE FROM ", table, error);
    if (code == FDL_OK)
        code = add_named(sql, "; INSERT INTO ", table, error);
    return code == FDL_OK ? fdl_buf_add_str(sql, " FROM rewritten; COMMIT;", error) : code;
}

static fdl_code add_deletes_rewrite(fdl_buf *sql, const fdl_wd_table *table, fdl_error *error) {
    fdl_code code = fdl_buf_add_str(sql, "CALL ducklake_rewrite_data_files('lake', ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(sql, table->name, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(sql, ", schema => ", error);
    if (code == FDL_OK)
        code = fdl_sql_literal(sql, table->schema, error);
    return code == FDL_OK ? fdl_buf_add_str(sql, ", delete_threshold => 0);", error) : code;
}

/* `r` is the first of `count` readers in the way in one version and table. */
static fdl_code describe(const fdl_wd *w, const reader *r, size_t count, fdl_error *error) {
    const fdl_wd_table *table = &w->tables[r->read->table];
    const fdl_stored *stored = &w->inventory.items[r->place];
    const fdl_wd_file *file = &w->files[r->file];
    const fdl_ref *ref = fdl_wd_branch_of(w, stored->id);
    char more[64] = "";
    fdl_buf statement;
    fdl_buf_init(&statement, 1 << 20);
    if (count > 1)
        snprintf(more, sizeof more, " (and %zu more)", count - 1);
    fdl_code code =
        file->in_table ? add_whole_rewrite(&statement, table, error) : add_deletes_rewrite(&statement, table, error);
    if (code == FDL_OK)
        code = fdl_fail(error, FDL_REFUSED, file->path,
                        "version '%s' ('%s') still reads the file '%s%s'%s of table '%s.%s'%s; rewrite the table with: %s  "
                        "then commit with --allow-empty (the rows are equal), push, and run this again",
                        stored->id, ref ? ref->name : "", w->config->data_dir, file->path, more, table->schema,
                        table->name, file->in_table ? "" : ", and only leaves out rows that are still in it",
                        statement.data);
    fdl_buf_clear(&statement);
    return code;
}

/* ---- all of them ------------------------------------------------------------------------ */

/*
 * With a table alone, nothing is concerned while the tips still read all of it;
 * then they are what is in the way.
 */
static void find_obstacles(const fdl_wd *w, readers *all) {
    bool concerned = !fdl_wd_by_table(w);
    for (size_t i = 0; i < w->inventory.count && !concerned; i++)
        concerned = (w->inventory.items[i].flags & FDL_WD_AFFECTED) != 0;
    if (concerned)
        mark_obstacles(w, all, SHARES);
    else if (mark_obstacles(w, all, SHARES_OLD) == 0)
        mark_obstacles(w, all, READS);
    size_t kept = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].obstacle)
            all->items[kept++] = all->items[i];
    all->count = kept;
}

static int by_table(const void *a, const void *b) {
    const reader *left = a, *right = b;
    if (left->place != right->place)
        return left->place < right->place ? -1 : 1;
    if (left->read->table != right->read->table)
        return left->read->table < right->read->table ? -1 : 1;
    return by_file(a, b);
}

/* A line for each version and table: the first is the error, the others are notes. */
static fdl_code tell(const fdl_wd *w, const readers *obstacles, fdl_error *error) {
    fdl_error other;
    size_t told = 0;
    for (size_t start = 0, end = 0; start < obstacles->count && told < NOTED_LIMIT; start = end, told++) {
        const reader *first = &obstacles->items[start];
        while (end < obstacles->count && obstacles->items[end].place == first->place &&
               obstacles->items[end].read->table == first->read->table)
            end++;
        fdl_code code = describe(w, first, end - start, told == 0 ? error : &other);
        if (code != FDL_REFUSED)
            return code;
        if (told > 0)
            fdl_note(fdl_repo_context(w->repo), FDL_NOTE_WARNING, "%s", other.message);
    }
    return told > 0 ? FDL_REFUSED : FDL_OK;
}

/* ---- what else may hold them ------------------------------------------------------------- */

static void mark_going(fdl_wd *w) {
    for (size_t i = 0; i < w->inventory.count; i++)
        for (size_t j = 0; (w->inventory.items[i].flags & FDL_WD_GIVEN) && j < w->reads[i].count; j++) {
            const fdl_wd_file *file = &w->files[w->reads[i].items[j].file];
            fdl_wd_table *table = &w->tables[w->reads[i].items[j].table];
            table->going = table->going || (file->given && !file->in_tip && *table->uuid);
        }
    for (size_t i = 0; i < w->table_count; i++)
        for (size_t j = 0; w->tables[i].going && j < w->table_count; j++)
            w->tables[j].going = w->tables[j].going || strcmp(w->tables[i].uuid, w->tables[j].uuid) == 0;
}

/*
 * A merge or an UPDATE puts rows of a withdrawn version into a new file, where a
 * later DELETE leaves them.  Nothing tells that file from others of its table, so
 * it is no obstacle; but whoever wants such rows gone must be told.
 */
void fdl_wd_note_hidden(fdl_wd *w) {
    if (w->source || w->options->table)
        return;
    mark_going(w);
    for (size_t i = 0; i < w->inventory.count; i++) {
        const fdl_stored *stored = &w->inventory.items[i];
        for (size_t j = 0; !(stored->flags & FDL_WD_AFFECTED) && j < w->reads[i].count; j++) {
            const fdl_wd_read *read = &w->reads[i].items[j];
            fdl_wd_table *table = &w->tables[read->table];
            if (read->deletes == FDL_WD_NONE || w->files[read->file].given || !table->going)
                continue;
            fdl_note(fdl_repo_context(w->repo), FDL_NOTE_WARNING,
                     "version '%s', which stays, leaves out rows of the file '%s%s' of table '%s.%s'; if they came from a "
                     "withdrawn version by a merge or an UPDATE, 'fdl withdraw %s --table %s.%s' gets them out",
                     stored->id, w->config->data_dir, w->files[read->file].path, table->schema, table->name,
                     fdl_repo_address(w->repo), table->schema, table->name);
            table->going = false; /* told once */
        }
    }
}

/* ---- the verb's part --------------------------------------------------------------------- */

fdl_code fdl_wd_refuse_obstacles(const fdl_wd *w, fdl_error *error) {
    readers all = {0};
    fdl_code code = collect(w, &all, error);
    if (code == FDL_OK) {
        find_obstacles(w, &all);
        if (all.count > 0)
            qsort(all.items, all.count, sizeof *all.items, by_table);
        code = tell(w, &all, error);
    }
    free(all.items);
    return code;
}
