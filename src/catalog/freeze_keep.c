/*
 * freeze_keep.c - which rows of the working catalog belong to the version.
 *
 * A row that ended is history, and history is what the versions are for: it
 * goes, and so does everything that belongs to something that goes.  The
 * exceptions are the rows DuckLake itself looks back at when it goes on from
 * here (FDL_LAKE_KEEP_HISTORY); docs/internals/catalog.md says which and why.
 */
#include <string.h>

#include "catalog/freeze.h"
#include "catalog/protect.h"

fdl_freeze_rule fdl_freeze_rule_of(const fdl_lake_table *table) {
    return (fdl_freeze_rule){
        .table = table,
        .end = fdl_lake_column_find(table, "end_snapshot"),
        .owner = table->owner_column == NULL ? -1 : fdl_lake_column_find(table, table->owner_column),
        .mapping = strcmp(table->name, "ducklake_data_file") == 0 ? fdl_lake_column_find(table, "mapping_id") : -1,
    };
}

static const char *const kind_names[] = {
    [FDL_LAKE_NOTHING] = "nothing", [FDL_LAKE_SCHEMA] = "schema",
    [FDL_LAKE_TABLE] = "table",     [FDL_LAKE_VIEW] = "view",
    [FDL_LAKE_MACRO] = "macro",     [FDL_LAKE_FILE] = "data file",
    [FDL_LAKE_MAPPING] = "mapping", [FDL_LAKE_PARTITION] = "partition key",
    [FDL_LAKE_SORT] = "sort key",   [FDL_LAKE_OBJECT] = "object",
    [FDL_LAKE_SCOPE] = "scope",
};

static fdl_code dangling(const fdl_freeze *freeze, const fdl_lake_table *table, fdl_lake_kind kind, int64_t id,
                         fdl_error *error) {
    return fdl_fail(error, FDL_REFUSED, freeze->path,
                    "a row of '%s' belongs to %s %lld, which does not exist; '%s' is damaged", table->name,
                    kind_names[kind], (long long)id, freeze->path);
}

/* Whether a set of that kind has the id; an object is any of four. */
static bool has(fdl_idset *sets, fdl_lake_kind kind, int64_t id) {
    if (kind != FDL_LAKE_OBJECT)
        return fdl_idset_has(&sets[kind], id);
    return fdl_idset_has(&sets[FDL_LAKE_TABLE], id) || fdl_idset_has(&sets[FDL_LAKE_VIEW], id) ||
           fdl_idset_has(&sets[FDL_LAKE_SCHEMA], id) || fdl_idset_has(&sets[FDL_LAKE_MACRO], id);
}

/* Options: global ones but for our protection, and those of schemas and tables that are kept. */
static fdl_code keeps_option(fdl_freeze *freeze, sqlite3_value **row, bool *keeps, fdl_error *error) {
    const char *key = (const char *)sqlite3_value_text(row[0]);
    const char *scope = (const char *)sqlite3_value_text(row[2]);
    int64_t id = sqlite3_value_int64(row[3]);
    if (scope == NULL)
        *keeps = key != NULL && !fdl_lake_is_protection(key, strlen(key));
    else if (strcmp(scope, "schema") == 0)
        *keeps = has(freeze->kept, FDL_LAKE_SCHEMA, id);
    else if (strcmp(scope, "table") == 0)
        *keeps = has(freeze->kept, FDL_LAKE_TABLE, id);
    else
        return fdl_fail(error, FDL_REFUSED, freeze->path, "the option '%s' has the scope '%s', which is not known",
                        key == NULL ? "" : key, scope);
    return FDL_OK;
}

/* A number that decides about a row; `*present` is false for NULL and for a column the table does not have. */
static fdl_code number_at(const fdl_freeze *freeze, const fdl_lake_table *table, sqlite3_value **row, int column,
                          bool *present, int64_t *out, fdl_error *error) {
    int type = column < 0 ? SQLITE_NULL : sqlite3_value_type(row[column]);
    *present = type == SQLITE_INTEGER;
    *out = *present ? sqlite3_value_int64(row[column]) : 0;
    if (type != SQLITE_INTEGER && type != SQLITE_NULL)
        return fdl_fail(error, FDL_REFUSED, freeze->path, "'%s.%s' holds a value that is not BIGINT", table->name,
                        table->columns[column].name);
    return FDL_OK;
}

/* Rows that belong to something, once it is known that they are not history. */
static fdl_code keeps_owned(fdl_freeze *freeze, const fdl_freeze_rule *rule, sqlite3_value **row, bool ended, bool *keeps,
                            fdl_error *error) {
    const fdl_lake_table *table = rule->table;
    bool owned = false;
    bool mapped = false;
    int64_t owner = 0;
    int64_t mapping = 0;
    fdl_code code = number_at(freeze, table, row, rule->owner, &owned, &owner, error);
    if (code == FDL_OK)
        code = number_at(freeze, table, row, rule->mapping, &mapped, &mapping, error);
    if (code != FDL_OK)
        return code;
    /* Schema versions from before format 1.0 belong to no table, and to all. */
    *keeps = owned ? has(freeze->kept, table->owner, owner) : strcmp(table->name, "ducklake_schema_versions") == 0;
    if (!*keeps && !ended && (!owned || !has(freeze->known, table->owner, owner)))
        return dangling(freeze, table, table->owner, owner, error);
    if (*keeps && mapped && !has(freeze->kept, FDL_LAKE_MAPPING, mapping))
        return dangling(freeze, table, FDL_LAKE_MAPPING, mapping, error);
    return FDL_OK;
}

fdl_code fdl_freeze_keeps(fdl_freeze *freeze, const fdl_freeze_rule *rule, sqlite3_value **row, bool *keeps,
                          fdl_error *error) {
    bool ended = false;
    int64_t end = 0;
    fdl_code code = number_at(freeze, rule->table, row, rule->end, &ended, &end, error);
    ended = ended && end <= freeze->first_snapshot;
    *keeps = false;
    if (code != FDL_OK || (rule->table->keep == FDL_LAKE_KEEP_CURRENT && ended))
        return code;
    if (rule->table->keep == FDL_LAKE_KEEP_SNAPSHOTS)
        *keeps = sqlite3_value_int64(row[0]) >= freeze->first_snapshot;
    else if (rule->table->owner == FDL_LAKE_SCOPE)
        code = keeps_option(freeze, row, keeps, error);
    else if (rule->table->owner == FDL_LAKE_NOTHING)
        *keeps = true;
    else
        code = keeps_owned(freeze, rule, row, ended, keeps, error);
    return code;
}
