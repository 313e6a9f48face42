/*
 * dataset.c - the publisher's words and the catalog's figures, joined.
 *
 * The catalog leads: every table and column it has comes out once, in its order.
 * A publisher names them as in SQL, so 'Towns' finds 'towns' when nothing is
 * called exactly that.  Nothing remembers which words were the publisher's; the
 * parent's catalog tells (see dataset.h).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "repo/dataset.h"
#include "util/json.h"
#include "util/text.h"

/* Places in the given file are told as "tables[12].columns[3]". */
#define PLACE_BYTES 80

/* What the two lists hold.  The fields are those fdl fills in; all others are the publisher's. */
typedef struct level {
    const char *list;
    const char *what;
    const char *const *fields;
    bool has_schema;
    const struct level *below;
} level;

static const char *const figures[] = {"rows", "bytes", "files", NULL};
static const char *const table_fields[] = {"schema", "name",  "kind",    "comment", "rows",
                                           "bytes",  "files", "columns", NULL};
static const char *const column_fields[] = {"name", "type", "nullable", "comment", NULL};
static const level columns_level = {"columns", "column", column_fields, false, NULL};
static const level tables_level = {"tables", "table", table_fields, true, &columns_level};

typedef struct join {
    const char *name; /* of the description, for errors */
    bool strict;      /* it is the publisher's own */
} join;

/* One thing as each side has it: an entry, or a list of entries.  Only the catalog's is always there. */
typedef struct sides {
    const json_t *catalog;
    const json_t *given;
    const json_t *words;
    const json_t *parent;
} sides;

/* ---- reading what was given ------------------------------------------------------- */

static fdl_code wrong_type(const join *j, const char *place, const char *field, const char *wanted, fdl_error *error) {
    return fdl_fail(error, FDL_REFUSED, j->name, "'%s': '%s%s%s' is not %s", j->name, place,
                    *place && *field ? "." : "", field, wanted);
}

/* null counts as absent, and absent leaves `*out` as it is. */
static fdl_code get_text(const join *j, const json_t *object, const char *place, const char *field, const char **out,
                         fdl_error *error) {
    const json_t *value = json_object_get(object, field);
    if (value == NULL || json_is_null(value))
        return FDL_OK;
    if (!json_is_string(value))
        return wrong_type(j, place, field, "a string", error);
    *out = json_string_value(value);
    return FDL_OK;
}

static fdl_code get_list(const join *j, const json_t *object, const char *place, const char *field, const json_t **out,
                         fdl_error *error) {
    const json_t *value = json_object_get(object, field);
    *out = json_is_null(value) ? NULL : value;
    return *out == NULL || json_is_array(*out) ? FDL_OK : wrong_type(j, place, field, "a list", error);
}

/* What an entry is about: a table's schema is 'main' unless it says another. */
static fdl_code get_name(const join *j, const level *l, const json_t *entry, const char *place, const char **schema,
                         const char **name, fdl_error *error) {
    *schema = l->has_schema ? "main" : NULL;
    *name = NULL;
    if (!json_is_object(entry))
        return wrong_type(j, place, "", "an object", error);
    fdl_code code = l->has_schema ? get_text(j, entry, place, "schema", schema, error) : FDL_OK;
    if (code == FDL_OK)
        code = get_text(j, entry, place, "name", name, error);
    return code == FDL_OK && *name == NULL ? wrong_type(j, place, "name", "a string", error) : code;
}

/* ---- finding it in the catalog ------------------------------------------------------ */

#define NOWHERE SIZE_MAX

/*
 * Where `items` has the name: spelled so if it is there, else in whatever case.
 * The search begins at `hint`, where two lists in the same order agree.
 */
static size_t find(const json_t *items, size_t hint, const char *schema, const char *name) {
    int (*const spellings[])(const char *, const char *) = {strcmp, strcasecmp};
    size_t count = json_array_size(items);
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            size_t at = (hint + i) % count;
            const json_t *item = json_array_get(items, at);
            if (spellings[pass](fdl_json_text(item, "name"), name) == 0 &&
                (schema == NULL || spellings[pass](fdl_json_text(item, "schema"), schema) == 0))
                return at;
        }
    }
    return NOWHERE;
}

static fdl_code not_there(const join *j, const level *l, const char *of, const char *schema, const char *name,
                          const char *problem, fdl_error *error) {
    return fdl_fail(error, FDL_REFUSED, j->name, "'%s' describes the %s '%s%s%s%s%s', %s", j->name, l->what, of,
                    *of ? "." : "", schema != NULL ? schema : "", schema != NULL ? "." : "", name, problem);
}

/* Finds each entry given in the catalog: `beside` has a place for each of the catalog's, for 1 + the index given. */
static fdl_code match(const join *j, const level *l, const sides *lists, const char *prefix, const char *of,
                      size_t *beside, fdl_error *error) {
    fdl_code code = FDL_OK;
    size_t hint = 0, count = json_array_size(lists->given);
    for (size_t i = 0; i < count && code == FDL_OK; i++) {
        const json_t *entry = json_array_get(lists->given, i);
        const char *schema, *name;
        char place[PLACE_BYTES];
        snprintf(place, sizeof place, "%s%s[%zu]", prefix, l->list, i);
        code = get_name(j, l, entry, place, &schema, &name, error);
        if (code != FDL_OK)
            break;
        size_t at = find(lists->catalog, hint, schema, name);
        if (at == NOWHERE)
            code = j->strict ? not_there(j, l, of, schema, name, "which the catalog does not have", error) : FDL_OK;
        else if (beside[at] != 0)
            code = not_there(j, l, of, schema, name, "and does so twice", error);
        else
            beside[at] = i + 1;
        hint = at == NOWHERE ? hint : at + 1;
    }
    return code;
}

/* ---- joining ---------------------------------------------------------------------------- */

static fdl_code choose_comment(const join *j, const sides *s, const char *place, const char **out, fdl_error *error) {
    const char *given = NULL;
    fdl_code code = get_text(j, s->given, place, "comment", &given, error);
    const char *before = json_string_value(json_object_get(s->parent, "comment"));
    const char *words = json_string_value(json_object_get(s->words, "comment"));
    bool is_publishers = given != NULL && (before == NULL || strcmp(given, before) != 0);
    if (words != NULL && !(j->strict && given != NULL))
        *out = words;
    else
        *out = is_publishers ? given : json_string_value(json_object_get(s->catalog, "comment"));
    return code;
}

static bool is_among(const char *field, const char *const *fields) {
    while (*fields != NULL && strcmp(*fields, field) != 0)
        fields++;
    return *fields != NULL;
}

static fdl_code add_others(json_t *to, const json_t *given, const char *const *fields, fdl_error *error) {
    fdl_code code = FDL_OK;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)given, key, value) {
        if (code == FDL_OK && !is_among(key, fields))
            code = fdl_json_set(to, key, json_incref(value), error);
    }
    return code;
}

static fdl_code believe(const json_t *named, json_t *list, fdl_error *error) {
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < json_array_size(named) && code == FDL_OK; i++) {
        const char *name = fdl_json_text(json_array_get(named, i), "name");
        if (find(list, 0, NULL, name) != NOWHERE)
            continue;
        json_t *column = json_object();
        if (json_array_append_new(list, column) != 0)
            code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
        else
            code = fdl_json_set(column, "name", json_string(name), error);
    }
    return code;
}

/*
 * A view's columns are often known only by running it, which we do not.  The
 * publisher may name them then, and is believed.  A name that comes twice is
 * taken once, for match() to notice.
 */
static fdl_code believed_columns(const sides *lists, json_t **out, fdl_error *error) {
    json_t *list = json_array();
    fdl_code code = list != NULL ? FDL_OK : fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    if (code == FDL_OK)
        code = believe(lists->given, list, error);
    if (code == FDL_OK)
        code = believe(lists->words, list, error);
    *out = list;
    return code;
}

static fdl_code join_list(const join *j, const level *l, const sides *lists, const char *prefix, const char *of,
                          json_t **out, fdl_error *error);

/* The list below a table: its columns. */
static fdl_code join_below(const join *j, const level *l, const sides *s, const char *place, json_t **out,
                           fdl_error *error) {
    char *of = NULL;
    json_t *believed = NULL;
    sides lists = {.catalog = json_object_get(s->catalog, l->list),
                   .words = json_object_get(s->words, l->list),
                   .parent = json_object_get(s->parent, l->list)};
    fdl_code code = get_list(j, s->given, place, l->list, &lists.given, error);
    if (code == FDL_OK)
        code = fdl_str_format(&of, error, "%s.%s", fdl_json_text(s->catalog, "schema"), fdl_json_text(s->catalog, "name"));
    if (code == FDL_OK && strcmp(fdl_json_text(s->catalog, "kind"), "view") == 0 && json_array_size(lists.catalog) == 0) {
        code = believed_columns(&lists, &believed, error);
        lists.catalog = believed;
    }
    if (code == FDL_OK) {
        char prefix[PLACE_BYTES + 1];
        snprintf(prefix, sizeof prefix, "%s.", place);
        code = join_list(j, l, &lists, prefix, of, out, error);
    }
    json_decref(believed);
    free(of);
    return code;
}

/* The catalog's fields in order, with the right comment and the joined list below; then the publisher's others. */
static fdl_code join_entry(const join *j, const level *l, const sides *s, const char *place, json_t *entry,
                           fdl_error *error) {
    const char *comment = NULL;
    fdl_code code = choose_comment(j, s, place, &comment, error);
    for (const char *const *field = l->fields; *field != NULL && code == FDL_OK; field++) {
        json_t *value = json_incref(json_object_get(s->catalog, *field));
        if (strcmp(*field, "comment") == 0) {
            json_decref(value);
            value = comment != NULL ? json_string(comment) : NULL;
        } else if (l->below != NULL && strcmp(*field, l->below->list) == 0) {
            json_decref(value);
            value = NULL;
            code = join_below(j, l->below, s, place, &value, error);
        }
        if (code == FDL_OK && value != NULL)
            code = fdl_json_set(entry, *field, value, error);
    }
    return code == FDL_OK ? add_others(entry, s->given, l->fields, error) : code;
}

/* What `items` say of the same thing, or NULL. */
static const json_t *counterpart(const json_t *items, size_t hint, const level *l, const json_t *item) {
    size_t at = find(items, hint, l->has_schema ? fdl_json_text(item, "schema") : NULL, fdl_json_text(item, "name"));
    return at != NOWHERE ? json_array_get(items, at) : NULL;
}

/* Entry `at` of the catalog's list, beside entry `given` - 1 of the given one (0: none). */
static fdl_code add_entry(const join *j, const level *l, const sides *lists, const char *prefix, size_t at,
                          size_t given, json_t *list, fdl_error *error) {
    const json_t *item = json_array_get(lists->catalog, at);
    sides s = {.catalog = item,
               .given = given > 0 ? json_array_get(lists->given, given - 1) : NULL,
               .words = counterpart(lists->words, at, l, item),
               .parent = counterpart(lists->parent, at, l, item)};
    char place[PLACE_BYTES];
    snprintf(place, sizeof place, "%s%s[%zu]", prefix, l->list, given > 0 ? given - 1 : 0);
    json_t *entry = json_object();
    if (json_array_append_new(list, entry) != 0)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    return join_entry(j, l, &s, place, entry, error);
}

static fdl_code join_list(const join *j, const level *l, const sides *lists, const char *prefix, const char *of,
                          json_t **out, fdl_error *error) {
    size_t *beside = NULL;
    json_t *list = json_array();
    size_t count = json_array_size(lists->catalog);
    fdl_code code = list == NULL ? fdl_fail(error, FDL_FAILED, NULL, "out of memory")
                                 : fdl_alloc(&beside, count, sizeof *beside, error);
    if (code == FDL_OK)
        code = match(j, l, lists, prefix, of, beside, error);
    for (size_t i = 0; i < count && code == FDL_OK; i++)
        code = add_entry(j, l, lists, prefix, i, beside[i], list, error);
    free(beside);
    if (code != FDL_OK)
        json_decref(list);
    else
        *out = list;
    return code;
}

fdl_code fdl_dataset_join(const json_t *given, const char *name, const json_t *parent_tables, const json_t *words,
                          const json_t *tables, json_t **out, fdl_error *error) {
    static const char *const own[] = {"tables", NULL};
    join j = {.name = name, .strict = parent_tables == NULL};
    sides lists = {.catalog = tables, .words = json_object_get(words, "tables"), .parent = parent_tables};
    json_t *joined = NULL;
    json_t *dataset = json_object();
    if (dataset == NULL)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    fdl_code code = get_list(&j, given, "", "tables", &lists.given, error);
    if (code == FDL_OK)
        code = add_others(dataset, given, own, error);
    if (code == FDL_OK)
        code = join_list(&j, &tables_level, &lists, "", "", &joined, error);
    if (code == FDL_OK)
        code = fdl_json_set(dataset, "tables", joined, error);
    if (code != FDL_OK)
        json_decref(dataset);
    else
        *out = dataset;
    return code;
}

fdl_code fdl_dataset_unheard(const json_t *words, const json_t *dataset, fdl_unheard_callback callback, void *data,
                             fdl_error *error) {
    const json_t *tables = json_object_get(dataset, "tables"), *table, *column;
    fdl_code code = FDL_OK;
    size_t i, k;
    json_array_foreach(json_object_get(words, "tables"), i, table) {
        const json_t *found = counterpart(tables, i, &tables_level, table);
        json_array_foreach(json_object_get(table, "columns"), k, column) {
            if (code == FDL_OK && found != NULL &&
                counterpart(json_object_get(found, "columns"), k, &columns_level, column) == NULL)
                code = callback(data, fdl_json_text(found, "schema"), fdl_json_text(found, "name"), fdl_json_text(column, "name"), error);
        }
    }
    return code;
}

/* ---- comparing -------------------------------------------------------------------------- */

/* A copy without the figures; NULL without memory. */
static json_t *words_of(const json_t *dataset) {
    json_t *copy = json_deep_copy(dataset);
    json_t *tables = json_object_get(copy, "tables");
    for (size_t i = 0; i < json_array_size(tables); i++) {
        for (const char *const *figure = figures; *figure != NULL; figure++)
            json_object_del(json_array_get(tables, i), *figure);
    }
    return copy;
}

bool fdl_dataset_same(const json_t *a, const json_t *b) {
    json_t *words_a = words_of(a), *words_b = words_of(b);
    bool same = json_equal(words_a, words_b);
    json_decref(words_a);
    json_decref(words_b);
    return same;
}
