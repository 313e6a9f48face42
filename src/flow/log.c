/*
 * log.c - walks the history from a revision, or from every branch and tag, to
 * the first version.
 *
 * Of the versions that the lines have come to, the one with the highest number is
 * next: every child has a higher one than its parent, so a version comes after
 * all that were built on it.  Costs two small reads a version shown, two more a
 * line, and none for the rest of the history; from afar, ahead.h tells.
 */
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "flow/ahead.h"
#include "util/text.h"

typedef struct line {
    fdl_version version;
    fdl_expiry expiry;
} line;

typedef struct walk {
    fdl_ahead *ahead;
    line *lines; /* where each line is, not shown yet; no version twice */
    size_t count;
} walk;

static bool is_met(const walk *w, const char *id) {
    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->lines[i].version.id, id) == 0)
            return true;
    return false;
}

/* `seq` is what its child says; 0 for a revision or ref. */
static fdl_code add(walk *w, const char *id, int64_t seq, fdl_error *error) {
    if (is_met(w, id))
        return FDL_OK;
    fdl_code code = fdl_grow(&w->lines, w->count, sizeof *w->lines, error);
    if (code != FDL_OK)
        return code;
    line *added = &w->lines[w->count++];
    *added = (line){0};
    return fdl_ahead_take(w->ahead, id, seq, &added->version, &added->expiry, error);
}

/* Ids of the same number tell which is younger: they begin with the time. */
static size_t newest(const walk *w) {
    size_t best = 0;
    for (size_t i = 1; i < w->count; i++) {
        const fdl_version *a = &w->lines[i].version, *b = &w->lines[best].version;
        if (a->seq > b->seq || (a->seq == b->seq && strcmp(a->id, b->id) > 0))
            best = i;
    }
    return best;
}

/* seq falls by one a step, so a cycle in a stranger's parents cannot hold us. */
static fdl_code check_step(const fdl_version *version, int64_t child_seq, fdl_error *error) {
    if (version->seq == child_seq - 1)
        return FDL_OK;
    return fdl_fail(error, FDL_FAILED, version->id, "version '%s' has seq %lld, but its child says it must be %lld",
                    version->id, (long long)version->seq, (long long)child_seq - 1);
}

static void line_clear(line *l) {
    fdl_version_clear(&l->version);
    fdl_expiry_clear(&l->expiry);
}

/* The line goes on at the version's parent, unless it ends there or meets another. */
static fdl_code step(walk *w, size_t place, fdl_error *error) {
    line done = w->lines[place];
    const fdl_version *version = &done.version;
    fdl_code code = FDL_OK;
    w->lines[place] = w->lines[--w->count];
    if (version->parent[0])
        code = add(w, version->parent, version->seq - 1, error);
    for (size_t i = 0; i < w->count && code == FDL_OK && version->parent[0]; i++)
        if (strcmp(w->lines[i].version.id, version->parent) == 0)
            code = check_step(&w->lines[i].version, version->seq, error);
    line_clear(&done);
    return code;
}

static fdl_code go(walk *w, size_t limit, fdl_log_callback callback, void *data, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t shown = 0; code == FDL_OK && w->count > 0 && (limit == 0 || shown < limit); shown++) {
        size_t place = newest(w);
        code = callback(data, &w->lines[place].version, &w->lines[place].expiry, error);
        if (code == FDL_OK && shown + 1 != limit)
            code = step(w, place, error);
    }
    return code;
}

static void clear(walk *w) {
    for (size_t i = 0; i < w->count; i++)
        line_clear(&w->lines[i]);
    free(w->lines);
    fdl_ahead_free(w->ahead);
}

fdl_code fdl_log(fdl_repo *repo, const char *revision, size_t limit, fdl_log_callback callback, void *data,
                 fdl_error *error) {
    walk w = {0};
    fdl_target target = {0};
    fdl_code code = fdl_resolve(repo, revision, &target, error);
    if (code == FDL_OK)
        code = fdl_ahead_open(repo, limit, &w.ahead, error);
    if (code == FDL_OK)
        code = add(&w, target.id, 0, error);
    if (code == FDL_OK)
        code = go(&w, limit, callback, data, error);
    clear(&w);
    return code;
}

fdl_code fdl_log_all(fdl_repo *repo, size_t limit, fdl_log_callback callback, void *data, fdl_error *error) {
    walk w = {0};
    fdl_ref_list refs = {0};
    const fdl_config *config = NULL;
    fdl_code code = fdl_repo_config(repo, &config, error); /* a folder without refs may be no repository */
    if (code == FDL_OK)
        code = fdl_ref_list_read(repo, &refs, error);
    if (code == FDL_OK)
        code = fdl_ahead_open(repo, limit, &w.ahead, error);
    for (size_t i = 0; i < refs.count && code == FDL_OK; i++)
        fdl_ahead_start(w.ahead, refs.items[i].id);
    for (size_t i = 0; i < refs.count && code == FDL_OK; i++)
        code = add(&w, refs.items[i].id, 0, error);
    if (code == FDL_OK)
        code = go(&w, limit, callback, data, error);
    fdl_ref_list_clear(&refs);
    clear(&w);
    return code;
}
