/*
 * promises.c - trying out whether a store does what it says.
 *
 * A store in an object store is tried under its own ".fdl/doctor-<uuid>/".  One
 * in a folder keeps ".fdl" for itself, so there a second store is opened on the
 * folder ".fdl/doctor-<uuid>" and thrown away after.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/promises.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

enum {
    RACERS = 8,
    RACE_ROUNDS = 3, /* of each kind */
    NAME_LIMIT = 8,  /* keys of one trial */
    KEY_BYTES = 96,
    TEXT_LIMIT_BYTES = 4096,
};

static const fdl_condition always = {.kind = FDL_ALWAYS};
static const fdl_condition if_absent = {.kind = FDL_IF_ABSENT};

/* Where we try, and what is to be removed after. */
typedef struct trial {
    fdl_store *store;
    fdl_store *own;                /* the second store of a folder, else NULL */
    char *folder;                  /* its folder */
    char base[64];                 /* "" or ".fdl/doctor-<uuid>/" */
    const char *names[NAME_LIMIT]; /* written below it, so to be removed */
    size_t name_count;
    fdl_promise *last; /* the promise being tried */
    fdl_error *error;
} trial;

/* ---- the place ------------------------------------------------------------ */

static fdl_code start(trial *t, fdl_store *store, fdl_error *error) {
    char id[37];
    *t = (trial){.store = store, .error = error};
    fdl_code code = fdl_uuid_v4(id, error);
    if (code != FDL_OK)
        return code;
    if (!(store->local && store->address[0] == '/')) {
        snprintf(t->base, sizeof t->base, ".fdl/doctor-%s/", id);
        return FDL_OK;
    }
    code = fdl_str_format(&t->folder, error, "%s.fdl/doctor-%s", store->address, id);
    if (code == FDL_OK)
        code = fdl_store_open_folder(store->context, t->folder, &t->own, error);
    if (code == FDL_OK)
        t->store = t->own;
    return code;
}

static void key_of(const trial *t, const char *name, char out[KEY_BYTES]) {
    snprintf(out, KEY_BYTES, "%s%s", t->base, name);
}

static void remember(trial *t, const char *name) {
    for (size_t i = 0; i < t->name_count; i++) {
        if (strcmp(t->names[i], name) == 0)
            return;
    }
    if (t->name_count < NAME_LIMIT)
        t->names[t->name_count++] = name;
}

/* The first error of the trial is the one to report; here only what stays behind is told. */
static void finish(trial *t) {
    fdl_error ignored;
    char key[KEY_BYTES];
    for (size_t i = 0; i < t->name_count && !t->own; i++) {
        key_of(t, t->names[i], key);
        if (fdl_store_remove(t->store, key, always, &ignored) != FDL_OK)
            fdl_note(t->store->context, FDL_NOTE_WARNING, "could not remove the scratch key '%s': %s", key,
                     ignored.message);
    }
    fdl_store_free(t->own);
    if (t->folder)
        fdl_folder_remove(t->folder, &ignored);
    free(t->folder);
}

/* ---- steps ---------------------------------------------------------------- */

static fdl_condition if_match(const char *etag) {
    return (fdl_condition){.kind = FDL_IF_MATCH, .etag = etag};
}

static fdl_code put(trial *t, const char *name, const char *text, fdl_condition condition, fdl_object *object) {
    char key[KEY_BYTES];
    key_of(t, name, key);
    fdl_source source = {.bytes = text, .length_bytes = strlen(text)};
    fdl_code code = fdl_store_put(t->store, key, &source, condition, object, t->error);
    if (code != FDL_CONFLICT && code != FDL_DENIED) /* else nothing was written, and nothing is to be removed */
        remember(t, name);
    return code;
}

/* The promise is broken; the trial of it ends, and that is no failure. */
static fdl_code broken(trial *t, const char *detail) {
    t->last->kept = false;
    fdl_str_fit(t->last->detail, sizeof t->last->detail, detail);
    return FDL_OK;
}

/*
 * What a put with a condition that does not hold came to.  `*ended`: there is
 * nothing more to try, the promise is broken or the store failed.
 */
static fdl_code expect_conflict(trial *t, fdl_code code, const char *detail, bool *ended) {
    *ended = code != FDL_CONFLICT;
    if (code == FDL_CONFLICT)
        return FDL_OK;
    return code == FDL_OK || code == FDL_UNSUPPORTED ? broken(t, code == FDL_OK ? detail : t->error->message) : code;
}

static fdl_code expect_text(trial *t, const char *name, const char *text, const char *detail) {
    char key[KEY_BYTES];
    char *bytes = NULL;
    size_t length = 0;
    key_of(t, name, key);
    fdl_code code = fdl_store_read(t->store, key, TEXT_LIMIT_BYTES, &bytes, &length, NULL, t->error);
    bool same = code == FDL_OK && length == strlen(text) && memcmp(bytes, text, length) == 0;
    free(bytes);
    return same ? FDL_OK : code == FDL_OK || code == FDL_NOT_FOUND ? broken(t, detail) : code;
}

/* A conditional write that must succeed; a store that knows no conditions may say so here. */
static fdl_code expect_put(trial *t, const char *name, const char *text, fdl_condition condition, fdl_object *object,
                           bool *ended) {
    fdl_code code = put(t, name, text, condition, object);
    *ended = code != FDL_OK;
    if (code == FDL_CONFLICT || code == FDL_UNSUPPORTED)
        return broken(t, t->error->message);
    return code;
}

/* ---- the promises --------------------------------------------------------- */

static fdl_code try_create_only(trial *t) {
    bool ended;
    fdl_code code = expect_put(t, "key", "first", if_absent, NULL, &ended);
    if (!ended)
        code = expect_conflict(t, put(t, "key", "second", if_absent, NULL),
                               "a second create-only write went through: a tag could be moved, a version overwritten",
                               &ended);
    return ended ? code : expect_text(t, "key", "first", "a create-only write was refused and yet changed the object");
}

static fdl_code try_if_match(trial *t) {
    fdl_object first;
    fdl_object now;
    bool ended;
    fdl_code code = put(t, "key", "first", always, &first);
    if (code != FDL_OK)
        return code;
    code = expect_put(t, "key", "second", if_match(first.etag), &now, &ended);
    if (!ended)
        code = expect_conflict(t, put(t, "key", "third", if_match(first.etag), NULL),
                               "a write that expected an older state went through: a version could be lost", &ended);
    if (!ended)
        code = expect_conflict(t, put(t, "missing", "third", if_match(first.etag), NULL),
                               "a write that expected a state of a missing object went through", &ended);
    return ended ? code : expect_text(t, "key", "second", "a conditional write was refused and yet changed the object");
}

typedef struct racer {
    trial *trial;
    pthread_mutex_t *gate; /* held until all are ready */
    fdl_condition condition;
    char text[32];
    fdl_code code;
    fdl_error error;
} racer;

static void *run_racer(void *data) {
    racer *r = data;
    char key[KEY_BYTES];
    key_of(r->trial, "race", key);
    fdl_source source = {.bytes = r->text, .length_bytes = strlen(r->text)};
    pthread_mutex_lock(r->gate);
    pthread_mutex_unlock(r->gate);
    r->code = fdl_store_put(r->trial->store, key, &source, r->condition, NULL, &r->error);
    return NULL;
}

/*
 * As many as the machine lets start; two make a race.  Every text is another one:
 * who writes what is there already leaves the ETag as it was, and lets one more win.
 */
static fdl_code run_race(trial *t, racer racers[RACERS], fdl_condition condition) {
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[RACERS];
    int started = 0;
    remember(t, "race");
    pthread_mutex_lock(&gate);
    for (int i = 0; i < RACERS; i++) {
        racers[i] = (racer){.trial = t, .gate = &gate, .condition = condition, .code = FDL_CONFLICT};
        snprintf(racers[i].text, sizeof racers[i].text, "%s racer %d",
                 condition.kind == FDL_IF_ABSENT ? "creating" : "replacing", i);
    }
    while (started < RACERS && pthread_create(&threads[started], NULL, run_racer, &racers[started]) == 0)
        started++;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_mutex_destroy(&gate);
    return started >= 2 ? FDL_OK : fdl_fail(t->error, FDL_FAILED, NULL, "cannot start threads for a race");
}

static fdl_code race_once(trial *t, fdl_condition condition, bool *ended) {
    racer racers[RACERS];
    int winner = -1;
    int winners = 0;
    *ended = true;
    fdl_code code = run_race(t, racers, condition);
    if (code != FDL_OK)
        return code;
    for (int i = 0; i < RACERS; i++) {
        if (racers[i].code == FDL_OK) {
            winner = i;
            winners++;
        } else if (racers[i].code == FDL_UNSUPPORTED) {
            return broken(t, racers[i].error.message);
        } else if (racers[i].code != FDL_CONFLICT && racers[i].code != FDL_BUSY) {
            return fdl_fail(t->error, racers[i].code, racers[i].error.key, "%s", racers[i].error.message);
        }
    }
    if (winners != 1)
        return broken(t, winners == 0 ? "of writers at the same moment none won"
                                      : "of writers at the same moment more than one won: a version could be lost");
    *ended = false;
    return expect_text(t, "race", racers[winner].text,
                       "another writer's bytes are there than those of the one that won");
}

static fdl_code try_race(trial *t) {
    char key[KEY_BYTES];
    fdl_object now;
    bool ended = false;
    fdl_code code = FDL_OK;
    key_of(t, "race", key);
    for (int round = 0; round < RACE_ROUNDS && code == FDL_OK && !ended && t->last->kept; round++) {
        code = fdl_store_remove(t->store, key, always, t->error);
        if (code == FDL_OK)
            code = race_once(t, if_absent, &ended);
        if (code == FDL_OK && !ended)
            code = fdl_store_head(t->store, key, &now, t->error);
        if (code == FDL_OK && !ended)
            code = race_once(t, if_match(now.etag), &ended);
    }
    return code;
}

static fdl_code count_entry(void *count, const fdl_entry *entry, fdl_error *error) {
    (void)entry;
    (void)error;
    ++*(int *)count;
    return FDL_OK;
}

/* Where nothing can be listed, nothing relies on it. */
static fdl_code try_list(trial *t) {
    char prefix[KEY_BYTES];
    if (!t->store->can_list)
        return FDL_OK;
    key_of(t, "list/", prefix);
    for (int written = 1; written <= 2; written++) {
        int count = 0;
        fdl_code code = put(t, written == 1 ? "list/a" : "list/b", "x", always, NULL);
        if (code == FDL_OK)
            code = fdl_store_list(t->store, prefix, FDL_ALL_LEVELS, count_entry, &count, t->error);
        if (code != FDL_OK)
            return code;
        if (count != written)
            return broken(t, "what was just written is not listed: gc and the list of refs cannot be trusted");
    }
    return FDL_OK;
}

static fdl_code try_range(trial *t) {
    static const char text[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    static const fdl_range ranges[] = {{0, 1}, {10, 26}, {35, 1}, {30, 100}};
    char key[KEY_BYTES];
    key_of(t, "range", key);
    fdl_code code = put(t, "range", text, always, NULL);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges && code == FDL_OK && t->last->kept; i++) {
        fdl_buf got;
        fdl_buf_init(&got, sizeof text);
        size_t rest = sizeof text - 1 - (size_t)ranges[i].offset_bytes;
        size_t length = ranges[i].length_bytes < rest ? (size_t)ranges[i].length_bytes : rest;
        code = fdl_store_get(t->store, key, &ranges[i], fdl_buf_sink, &got, NULL, t->error);
        if (code == FDL_OK && (got.length != length || memcmp(got.data, text + ranges[i].offset_bytes, length) != 0))
            code = broken(t, "a part of an object came as other bytes than were asked for");
        fdl_buf_clear(&got);
    }
    return code;
}

static fdl_code try_delete(trial *t) {
    char key[KEY_BYTES];
    fdl_object old;
    fdl_object now;
    bool ended;
    key_of(t, "stays", key);
    fdl_code code = put(t, "stays", "old", always, &old);
    if (code == FDL_OK)
        code = put(t, "stays", "new", always, NULL);
    if (code != FDL_OK)
        return code;
    code = expect_conflict(t, fdl_store_remove(t->store, key, if_match(old.etag), t->error),
                           "a delete that expected an older state went through", &ended);
    if (ended)
        return code;
    code = fdl_store_remove(t->store, key, always, t->error);
    if (code != FDL_OK)
        return code;
    code = fdl_store_head(t->store, key, &now, t->error);
    if (code == FDL_OK)
        return broken(t, "what was deleted is still there");
    return code == FDL_NOT_FOUND ? FDL_OK : code;
}

/* ---- all of them ---------------------------------------------------------- */

fdl_code fdl_store_check_promises(fdl_store *store, fdl_promises *out, fdl_error *error) {
    static const struct {
        const char *name;
        fdl_code (*try)(trial *t);
    } promises[FDL_PROMISE_COUNT] = {
        [FDL_PROMISE_CREATE_ONLY] = {"create only", try_create_only},
        [FDL_PROMISE_IF_MATCH] = {"if match", try_if_match},
        [FDL_PROMISE_RACE] = {"race", try_race},
        [FDL_PROMISE_LIST] = {"list after write", try_list},
        [FDL_PROMISE_RANGE] = {"range", try_range},
        [FDL_PROMISE_DELETE] = {"delete", try_delete},
    };
    trial t;
    memset(out, 0, sizeof *out);
    out->all_kept = true;
    fdl_code code = start(&t, store, error);
    for (int i = 0; i < FDL_PROMISE_COUNT && code == FDL_OK; i++) {
        t.last = &out->items[i];
        *t.last = (fdl_promise){.name = promises[i].name, .kept = true};
        code = promises[i].try(&t);
        out->all_kept = out->all_kept && t.last->kept;
    }
    finish(&t);
    return code;
}

fdl_code fdl_store_check_conditions(fdl_store *store, fdl_error *error) {
    if (store->local)
        return FDL_OK;
    trial t;
    fdl_promise promise = {.kept = true};
    fdl_object first;
    bool ended = false, vouched = false;
    fdl_code code = fdl_store_vouched(store, &vouched, error);
    if (code != FDL_OK || vouched)
        return code;
    code = start(&t, store, error);
    if (code != FDL_OK)
        return code;
    t.last = &promise;
    code = expect_put(&t, "key", "first", if_absent, &first, &ended);
    if (!ended)
        code = expect_conflict(&t, put(&t, "key", "second", if_absent, NULL), "it ignores 'If-None-Match: *'", &ended);
    if (!ended)
        code = expect_put(&t, "key", "second", if_match(first.etag), NULL, &ended);
    if (!ended)
        code = expect_conflict(&t, put(&t, "key", "third", if_match(first.etag), NULL), "it ignores If-Match", &ended);
    if (!ended)
        code = expect_conflict(&t, put(&t, "missing", "third", if_match(first.etag), NULL),
                               "it ignores If-Match on a missing object", &ended);
    finish(&t);
    if (code == FDL_OK && !promise.kept)
        code = fdl_fail(error, FDL_REFUSED, NULL,
                        "'%s' does not keep conditional writes (%s), so two writers could lose a version; use another "
                        "store, or --unsafe-no-conditions if nobody else ever writes",
                        store->address, promise.detail);
    return code;
}
