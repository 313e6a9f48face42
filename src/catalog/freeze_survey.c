/*
 * freeze_survey.c - what is in the working catalog, and may it be published?
 *
 * Everything that can be told without copying is told here: the format, tables
 * and columns nobody would read, rows that were never written to a file, keys
 * that would become public.  What passes is known by its ids.
 */
#include <stdlib.h>
#include <string.h>

#include "catalog/freeze.h"
#include "catalog/sqlite_db.h"
#include "util/text.h"

#define SQL_LIMIT_BYTES (1u << 16)
#define NAMES_LIMIT_BYTES 1200u
#define NAMES 10

/* ---- format and snapshots --------------------------------------------------------- */

/* The global option; NULL when it is not there or twice.  Released with free(). */
static fdl_code read_option(const fdl_freeze *freeze, const char *key, char **out, fdl_error *error) {
    sqlite3_stmt *statement = NULL;
    bool row = false;
    *out = NULL;
    fdl_code code =
        fdl_sqlite_prepare(freeze->db, &statement, error,
                           "SELECT value, count(*) FROM ducklake_metadata WHERE key = %Q AND scope IS NULL", key);
    if (code == FDL_OK)
        code = fdl_sqlite_step(statement, &row, error);
    if (code == FDL_OK && sqlite3_column_int64(statement, 1) == 1)
        code = fdl_str_copy(out, (const char *)sqlite3_column_text(statement, 0), error);
    sqlite3_finalize(statement);
    return code;
}

static fdl_code check_format(const fdl_freeze *freeze, fdl_error *error) {
    char *version = NULL;
    char *data_path = NULL;
    fdl_code code = read_option(freeze, "version", &version, error);
    if (code == FDL_OK)
        code = read_option(freeze, "data_path", &data_path, error);
    if (code == FDL_OK && (version == NULL || data_path == NULL))
        code = fdl_fail(error, FDL_REFUSED, freeze->path, "'%s' is not a DuckLake catalog: its metadata is incomplete",
                        freeze->path);
    if (code == FDL_OK && strcmp(version, FDL_DUCKLAKE_FORMAT) != 0)
        code = fdl_fail(error, FDL_REFUSED, freeze->path,
                        "'%s' has the DuckLake format '%s', and only " FDL_DUCKLAKE_FORMAT " can be published; "
                        "attach it once with AUTOMATIC_MIGRATION in a DuckDB that writes " FDL_DUCKLAKE_FORMAT,
                        freeze->path, version);
    free(version);
    free(data_path);
    return code;
}

/* The keys of encrypted files stand next to their paths. */
static fdl_code check_encryption(const fdl_freeze *freeze, fdl_error *error) {
    int64_t found = 0;
    if (freeze->options->allow_encrypted)
        return FDL_OK;
    fdl_code code = fdl_sqlite_integer(
        freeze->db,
        "SELECT EXISTS (SELECT 1 FROM ducklake_metadata WHERE key = 'encrypted' AND lower(value) <> 'false') OR "
        "EXISTS (SELECT 1 FROM ducklake_data_file WHERE encryption_key IS NOT NULL AND end_snapshot IS NULL)",
        0, &found, error);
    if (code == FDL_OK && found != 0)
        code = fdl_fail(error, FDL_REFUSED, freeze->path,
                        "'%s' is encrypted, and the keys lie in the catalog: who can read the version can decrypt it; "
                        "if that is meant, commit with --allow-encrypted",
                        freeze->path);
    return code;
}

static fdl_code read_snapshots(fdl_freeze *freeze, fdl_error *error) {
    fdl_code code = fdl_sqlite_integer(freeze->db, "SELECT max(snapshot_id) FROM ducklake_snapshot", -1,
                                       &freeze->last_snapshot, error);
    if (code == FDL_OK && freeze->last_snapshot < 0)
        code = fdl_fail(error, FDL_REFUSED, freeze->path, "'%s' is not a DuckLake catalog: it has no snapshot",
                        freeze->path);
    int64_t from = freeze->options->keep_from;
    freeze->first_snapshot = from < 0 || from > freeze->last_snapshot ? freeze->last_snapshot : from;
    return code;
}

/* ---- tables nobody would read -------------------------------------------------------- */

/* Every column of the file's table is one we know, and none is missing. */
static fdl_code check_columns(const fdl_freeze *freeze, const fdl_lake_table *table, fdl_error *error) {
    sqlite3_stmt *statement = NULL;
    size_t known = 0;
    bool row = true;
    fdl_code code =
        fdl_sqlite_prepare(freeze->db, &statement, error, "SELECT name FROM pragma_table_xinfo(%Q)", table->name);
    while (code == FDL_OK && row) {
        code = fdl_sqlite_step(statement, &row, error);
        const char *name = code == FDL_OK && row ? (const char *)sqlite3_column_text(statement, 0) : NULL;
        if (name != NULL && fdl_lake_column_find(table, name) < 0)
            code = fdl_fail(error, FDL_REFUSED, freeze->path,
                            "'%s' has a column '%s' that DuckLake " FDL_DUCKLAKE_FORMAT
                            " does not know and a version cannot carry",
                            table->name, name);
        known += name != NULL;
    }
    sqlite3_finalize(statement);
    if (code == FDL_OK && known != table->column_count)
        code = fdl_fail(error, FDL_REFUSED, freeze->path,
                        "'%s' is not a DuckLake catalog of format " FDL_DUCKLAKE_FORMAT ": '%s' lacks columns",
                        freeze->path, table->name);
    return code;
}

/* Another program's table may be there, but not with rows: they would be lost without a word. */
static fdl_code check_stranger(const fdl_freeze *freeze, const char *name, fdl_error *error) {
    sqlite3_stmt *statement = NULL;
    bool row = false;
    fdl_code code = fdl_sqlite_prepare(freeze->db, &statement, error, "SELECT 1 FROM \"%w\" LIMIT 1", name);
    if (code == FDL_OK)
        code = fdl_sqlite_step(statement, &row, error);
    sqlite3_finalize(statement);
    if (code == FDL_OK && row)
        code = fdl_fail(error, FDL_REFUSED, freeze->path,
                        "'%s' has a table '%s' with rows, which a version cannot carry; move it to a file of its own",
                        freeze->path, name);
    return code;
}

static bool is_inlined(const char *name) {
    return fdl_str_starts(name, "ducklake_inlined_data_") || fdl_str_starts(name, "ducklake_inlined_delete_");
}

static fdl_code check_table(fdl_freeze *freeze, const char *name, size_t *known, fdl_error *error) {
    const fdl_lake_table *table = fdl_lake_table_find(name);
    if (table != NULL) {
        (*known)++;
        return check_columns(freeze, table, error);
    }
    if (fdl_str_starts(name, "sqlite_") || is_inlined(name))
        return FDL_OK;
    return check_stranger(freeze, name, error);
}

static fdl_code check_tables(fdl_freeze *freeze, fdl_error *error) {
    sqlite3_stmt *statement = NULL;
    size_t known = 0;
    bool row = true;
    fdl_code code = fdl_sqlite_prepare(freeze->db, &statement, error,
                                       "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    while (code == FDL_OK && row) {
        code = fdl_sqlite_step(statement, &row, error);
        if (code == FDL_OK && row)
            code = check_table(freeze, (const char *)sqlite3_column_text(statement, 0), &known, error);
    }
    sqlite3_finalize(statement);
    if (code == FDL_OK && known != FDL_LAKE_TABLE_COUNT)
        code = fdl_fail(error, FDL_REFUSED, freeze->path,
                        "'%s' is not a DuckLake catalog of format " FDL_DUCKLAKE_FORMAT ": it has %zu of %d tables",
                        freeze->path, known, FDL_LAKE_TABLE_COUNT);
    return code;
}

/* ---- ids --------------------------------------------------------------------------------- */

/*
 * The tables that give things their ids.  Each row's own rule decides whether
 * the thing is kept, so what it belongs to comes before it; a table is kept by
 * any row of its history that is not over.
 */
static const struct {
    fdl_lake_kind kind;
    const char *table;
    const char *id_column;
    bool one_sequence; /* ids are shared with the others marked so */
} definers[] = {
    {FDL_LAKE_SCHEMA, "ducklake_schema", "schema_id", true},
    {FDL_LAKE_TABLE, "ducklake_table", "table_id", true},
    {FDL_LAKE_VIEW, "ducklake_view", "view_id", true},
    {FDL_LAKE_MACRO, "ducklake_macro", "macro_id", true},
    {FDL_LAKE_MAPPING, "ducklake_column_mapping", "mapping_id", false},
    {FDL_LAKE_PARTITION, "ducklake_partition_info", "partition_id", false},
    {FDL_LAKE_SORT, "ducklake_sort_info", "sort_id", false},
    {FDL_LAKE_FILE, "ducklake_data_file", "data_file_id", false},
};

/* The ids of one table, as they are read. */
typedef struct id_walk {
    fdl_freeze *freeze;
    size_t definer;
    fdl_freeze_rule rule;
    int column;
    fdl_idset *alive;
} id_walk;

static fdl_code add_id(void *data, sqlite3_value **row, fdl_error *error) {
    const id_walk *walk = data;
    fdl_freeze *freeze = walk->freeze;
    const fdl_freeze_rule *rule = &walk->rule;
    fdl_lake_kind kind = definers[walk->definer].kind;
    bool has_end = rule->end >= 0 && sqlite3_value_type(row[rule->end]) != SQLITE_NULL;
    bool keeps = false;
    bool is_new = true;
    if (sqlite3_value_type(row[walk->column]) != SQLITE_INTEGER)
        return fdl_fail(error, FDL_REFUSED, freeze->path, "'%s' has a row without a '%s'; '%s' is damaged",
                        rule->table->name, definers[walk->definer].id_column, freeze->path);
    int64_t id = sqlite3_value_int64(row[walk->column]);
    fdl_code code = fdl_idset_add(&freeze->known[kind], id, NULL, error);
    if (code == FDL_OK && kind == FDL_LAKE_TABLE)
        keeps = !has_end || sqlite3_value_int64(row[rule->end]) > freeze->first_snapshot;
    else if (code == FDL_OK)
        code = fdl_freeze_keeps(freeze, rule, row, &keeps, error);
    if (code == FDL_OK && keeps)
        code = fdl_idset_add(&freeze->kept[kind], id, NULL, error);
    if (code == FDL_OK && definers[walk->definer].one_sequence && !has_end)
        code = fdl_idset_add(walk->alive, id, &is_new, error);
    if (code == FDL_OK && !is_new)
        code = fdl_fail(error, FDL_REFUSED, freeze->path,
                        "two things that live have the id %lld, one in '%s'; '%s' is damaged", (long long)id,
                        rule->table->name, freeze->path);
    return code;
}

static fdl_code read_ids(fdl_freeze *freeze, size_t definer, fdl_idset *alive, fdl_error *error) {
    id_walk walk = {.freeze = freeze, .definer = definer, .alive = alive};
    walk.rule = fdl_freeze_rule_of(fdl_lake_table_find(definers[definer].table));
    walk.column = fdl_lake_column_find(walk.rule.table, definers[definer].id_column);
    fdl_buf columns;
    fdl_buf_init(&columns, SQL_LIMIT_BYTES);
    fdl_code code = fdl_lake_column_list(&columns, walk.rule.table, error);
    if (code == FDL_OK)
        code = fdl_sqlite_walk(freeze->db, columns.data, walk.rule.table->name, add_id, &walk, error);
    fdl_buf_clear(&columns);
    return code;
}

static fdl_code read_all_ids(fdl_freeze *freeze, fdl_error *error) {
    fdl_idset alive = {0};
    int64_t twice = 0;
    fdl_code code = FDL_OK;
    for (size_t i = 0; i < sizeof definers / sizeof *definers && code == FDL_OK; i++)
        code = read_ids(freeze, i, &alive, error);
    fdl_idset_clear(&alive);
    if (code == FDL_OK)
        code = fdl_sqlite_integer(freeze->db,
                                  "SELECT column_id FROM ducklake_column WHERE end_snapshot IS NULL "
                                  "GROUP BY table_id, column_id HAVING count(*) > 1 LIMIT 1",
                                  -1, &twice, error);
    if (code == FDL_OK && twice >= 0)
        code = fdl_fail(error, FDL_REFUSED, freeze->path, "two columns of one table have the id %lld; '%s' is damaged",
                        (long long)twice, freeze->path);
    return code;
}

/* ---- rows that are in no file --------------------------------------------------------------- */

/* The id behind "ducklake_inlined_data_" or "ducklake_inlined_delete_". */
static int64_t inlined_table_id(const char *name, bool *is_delete) {
    *is_delete = fdl_str_starts(name, "ducklake_inlined_delete_");
    return strtoll(name + strlen(*is_delete ? "ducklake_inlined_delete_" : "ducklake_inlined_data_"), NULL, 10);
}

/* Whether a table of inlined rows holds one that lives: rows not ended, deletes from files that are kept. */
static fdl_code has_live_rows(fdl_freeze *freeze, const char *name, bool is_delete, bool *out, fdl_error *error) {
    sqlite3_stmt *statement = NULL;
    bool row = true;
    *out = false;
    fdl_code code =
        is_delete ? fdl_sqlite_prepare(freeze->db, &statement, error, "SELECT DISTINCT file_id FROM \"%w\"", name)
                  : fdl_sqlite_prepare(freeze->db, &statement, error,
                                       "SELECT 1 FROM \"%w\" WHERE end_snapshot IS NULL OR end_snapshot > %lld LIMIT 1",
                                       name, (long long)freeze->first_snapshot);
    while (code == FDL_OK && row && !*out) {
        code = fdl_sqlite_step(statement, &row, error);
        if (code == FDL_OK && row)
            *out = !is_delete || fdl_idset_has(&freeze->kept[FDL_LAKE_FILE], sqlite3_column_int64(statement, 0));
    }
    sqlite3_finalize(statement);
    return code;
}

/* 'main.towns' for a table's id. */
static fdl_code add_table_name(fdl_freeze *freeze, fdl_buf *names, size_t position, int64_t table_id,
                               fdl_error *error) {
    sqlite3_stmt *statement = NULL;
    bool row = false;
    fdl_code code = fdl_sqlite_prepare(freeze->db, &statement, error,
                                       "SELECT s.schema_name, t.table_name FROM ducklake_table t "
                                       "JOIN ducklake_schema s ON s.schema_id = t.schema_id WHERE t.table_id = %lld "
                                       "ORDER BY t.end_snapshot IS NULL DESC, s.end_snapshot IS NULL DESC LIMIT 1",
                                       (long long)table_id);
    if (code == FDL_OK)
        code = fdl_sqlite_step(statement, &row, error);
    if (code == FDL_OK && row && position < NAMES)
        code = fdl_buf_add_format(names, error, "%s'%.100s.%.100s'", position == 0 ? "" : ", ",
                                  sqlite3_column_text(statement, 0), sqlite3_column_text(statement, 1));
    sqlite3_finalize(statement);
    return code;
}

static fdl_code check_inlined_table(fdl_freeze *freeze, const char *name, fdl_idset *tables, fdl_buf *names,
                                    fdl_error *error) {
    bool is_delete = false;
    bool live = false;
    bool is_new = false;
    int64_t table_id = inlined_table_id(name, &is_delete);
    if (!fdl_idset_has(&freeze->kept[FDL_LAKE_TABLE], table_id))
        return FDL_OK;
    fdl_code code = has_live_rows(freeze, name, is_delete, &live, error);
    if (code == FDL_OK && live)
        code = fdl_idset_add(tables, table_id, &is_new, error);
    return code == FDL_OK && is_new ? add_table_name(freeze, names, tables->count - 1, table_id, error) : code;
}

static fdl_code check_inlined(fdl_freeze *freeze, fdl_error *error) {
    sqlite3_stmt *statement = NULL;
    fdl_idset tables = {0};
    fdl_buf names;
    bool row = true;
    fdl_buf_init(&names, NAMES_LIMIT_BYTES * 2);
    fdl_code code = fdl_sqlite_prepare(
        freeze->db, &statement, error,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'ducklake_inlined_d%%' ORDER BY name");
    while (code == FDL_OK && row) {
        code = fdl_sqlite_step(statement, &row, error);
        const char *name = code == FDL_OK && row ? (const char *)sqlite3_column_text(statement, 0) : NULL;
        if (name != NULL && fdl_lake_table_find(name) == NULL && is_inlined(name))
            code = check_inlined_table(freeze, name, &tables, &names, error);
    }
    sqlite3_finalize(statement);
    if (code == FDL_OK && tables.count > 0)
        code = fdl_fail(error, FDL_REFUSED, freeze->path,
                        "rows of %s%s are still in the catalog itself and would be lost; run "
                        "CALL ducklake_flush_inlined_data('lake'); or commit with --flush-inlined",
                        names.data, tables.count > NAMES ? ", ..." : "");
    fdl_idset_clear(&tables);
    fdl_buf_clear(&names);
    return code;
}

/* ---- the story --------------------------------------------------------------------------------- */

fdl_code fdl_freeze_survey(fdl_freeze *freeze, fdl_error *error) {
    fdl_code code = check_format(freeze, error);
    if (code == FDL_OK)
        code = check_tables(freeze, error);
    if (code == FDL_OK)
        code = check_encryption(freeze, error);
    if (code == FDL_OK)
        code = read_snapshots(freeze, error);
    if (code == FDL_OK)
        code = fdl_lake_folders_read(freeze->db, freeze->first_snapshot, &freeze->folders, error);
    if (code == FDL_OK)
        code = read_all_ids(freeze, error);
    if (code == FDL_OK)
        code = check_inlined(freeze, error);
    return code == FDL_OK ? fdl_freeze_roots_read(freeze, error) : code;
}
