/*
 * dbt.c - the descriptions in dbt's manifest.json.
 *
 * Of a file of many megabytes a few fields count, which all versions of its
 * schema have had since there are dbt adapters for DuckDB.  A node whose fields
 * are not of the type we know has nothing to say to us.
 */
#include "repo/dbt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "util/json.h"
#include "util/map.h"
#include "util/text.h"

static const char *text_of(const json_t *object, const char *field) {
    return json_string_value(json_object_get(object, field));
}

static bool is_one_of(const char *text, const char *const *words) {
    while (*words && (!text || strcmp(*words, text) != 0))
        words++;
    return *words != NULL;
}

/* Its schema, name and description will do for a table. */
static bool makes_a_table(const json_t *node) {
    static const char *const kinds[] = {"model", "seed", "snapshot", NULL};
    const char *made_as = text_of(json_object_get(node, "config"), "materialized");
    return is_one_of(text_of(node, "resource_type"), kinds) && text_of(node, "schema") &&
           (text_of(node, "alias") || text_of(node, "name")) && !(made_as && strcmp(made_as, "ephemeral") == 0);
}

static bool is_in(const json_t *node, const char *database) {
    const char *of = text_of(node, "database");
    return !database || (of && strcmp(of, database) == 0);
}

/* "lake" when any node is there, else NULL: all of them. */
static const char *database_of(const json_t *nodes) {
    static const char *const lake = "lake";
    const char *key;
    json_t *node;
    json_object_foreach((json_t *)nodes, key, node) {
        if (makes_a_table(node) && is_in(node, lake))
            return lake;
    }
    return NULL;
}

/* A description without the line ends that YAML leaves behind it; NULL when nothing is left. */
static json_t *comment_of(const json_t *object) {
    const char *text = text_of(object, "description");
    size_t length = text ? strlen(text) : 0;
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        length--;
    return length > 0 ? json_stringn(text, length) : NULL;
}

static fdl_code add_column(json_t *columns, const char *name, json_t *comment, fdl_error *error) {
    json_t *column = json_object();
    if (json_array_append_new(columns, column) != 0) {
        json_decref(comment);
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    }
    fdl_code code = fdl_json_set(column, "comment", comment, error);
    return code == FDL_OK ? fdl_json_set(column, "name", json_string(name), error) : code;
}

static fdl_code read_columns(const json_t *node, json_t *columns, fdl_error *error) {
    fdl_code code = FDL_OK;
    const char *key;
    json_t *column;
    json_object_foreach(json_object_get(node, "columns"), key, column) {
        const char *name = text_of(column, "name");
        json_t *comment = code == FDL_OK ? comment_of(column) : NULL;
        if (comment)
            code = add_column(columns, name ? name : key, comment, error);
    }
    return code;
}

static fdl_code read_node(const json_t *node, json_t *table, fdl_error *error) {
    const char *alias = text_of(node, "alias");
    json_t *comment = comment_of(node), *columns = json_array();
    fdl_code code = comment ? fdl_json_set(table, "comment", comment, error) : FDL_OK;
    if (code == FDL_OK)
        code = fdl_json_set(table, "schema", json_string(text_of(node, "schema")), error);
    if (code == FDL_OK)
        code = fdl_json_set(table, "name", json_string(alias ? alias : text_of(node, "name")), error);
    if (code == FDL_OK)
        code = fdl_json_set(table, "columns", json_incref(columns), error);
    if (code == FDL_OK)
        code = read_columns(node, columns, error);
    json_decref(columns);
    return code;
}

static bool says_something(const json_t *table) {
    return json_object_get(table, "comment") || json_array_size(json_object_get(table, "columns")) > 0;
}

static fdl_code add_table(const char *name, json_t *tables, json_t *table, fdl_map *seen, fdl_error *error) {
    char *full = NULL;
    fdl_code code = fdl_str_format(&full, error, "%s.%s", text_of(table, "schema"), text_of(table, "name"));
    if (code == FDL_OK && fdl_map_get(seen, full, NULL))
        code = fdl_fail(error, FDL_REFUSED, name,
                        "'%s' describes '%s' in two databases; attach the catalog as lake, so that its own is known",
                        name, full);
    if (code == FDL_OK)
        code = fdl_map_put(seen, full, 1, error);
    if (code == FDL_OK && json_array_append(tables, table) != 0)
        code = fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    free(full);
    return code;
}

static fdl_code read_nodes(const json_t *nodes, const char *name, json_t *tables, fdl_error *error) {
    const char *database = database_of(nodes);
    fdl_map seen = {0};
    fdl_code code = FDL_OK;
    const char *key;
    json_t *node;
    json_object_foreach((json_t *)nodes, key, node) {
        if (code != FDL_OK || !makes_a_table(node) || !is_in(node, database))
            continue;
        json_t *table = json_object();
        code = table ? read_node(node, table, error) : fdl_fail(error, FDL_FAILED, NULL, "out of memory");
        if (code == FDL_OK && says_something(table))
            code = add_table(name, tables, table, &seen, error);
        json_decref(table);
    }
    fdl_map_clear(&seen);
    return code;
}

static fdl_code parse(const char *bytes, size_t length, const char *name, json_t **out, fdl_error *error) {
    fdl_code code = fdl_json_parse(bytes, length, name, out, error);
    const char *schema = text_of(json_object_get(*out, "metadata"), "dbt_schema_version");
    if (code == FDL_OK && (!schema || !strstr(schema, "/dbt/manifest/") || !json_is_object(json_object_get(*out, "nodes"))))
        code = fdl_fail(error, FDL_REFUSED, name,
                        "'%s' is not a manifest of dbt; name the folder that dbt writes to, usually target", name);
    return code;
}

fdl_code fdl_dbt_words(const char *bytes, size_t length, const char *name, json_t **out, fdl_error *error) {
    json_t *manifest = NULL, *words = json_object(), *tables = json_array();
    fdl_code code = fdl_json_set(words, "tables", json_incref(tables), error);
    if (code == FDL_OK)
        code = parse(bytes, length, name, &manifest, error);
    if (code == FDL_OK)
        code = read_nodes(json_object_get(manifest, "nodes"), name, tables, error);
    json_decref(tables);
    json_decref(manifest);
    if (code != FDL_OK)
        json_decref(words);
    else
        *out = words;
    return code;
}
