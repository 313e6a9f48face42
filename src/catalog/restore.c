/*
 * restore.c - a working catalog made from an older version goes on from where
 * its branch is.
 *
 * An older catalog would give out again what was given out since: snapshot and
 * schema versions that readers and DuckLake's caches know with other content,
 * ids of files and tables (too low a file id makes every later commit fail), row
 * ids, column ids.  So each counter is raised to the larger one of both:
 *
 *   snapshot_id, schema_version     one more than either has used
 *   next_catalog_id, next_file_id   in the new snapshot
 *   next_row_id                     in the statistics of each table
 *   column ids                      DuckLake takes the largest plus one, so a
 *                                   column that never lived holds the place
 *
 * Rows and files stay as the older version has them.
 */
#include <string.h>

#include "catalog/catalog.h"
#include "catalog/live.h"
#include "catalog/sqlite_db.h"
#include "catalog/lake_value.h"
#include "util/ident.h"

/* ---- what the other catalog has given out --------------------------------------------- */

typedef struct counters {
    int64_t snapshot_id;
    int64_t schema_version;
    int64_t next_catalog_id;
    int64_t next_file_id;
} counters;

static const char counters_query[] =
    "SELECT max(snapshot_id)::BIGINT, max(schema_version)::BIGINT, max(next_catalog_id)::BIGINT,"
    " max(next_file_id)::BIGINT FROM file_@.main.ducklake_snapshot";

static fdl_code take_counters(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    counters *c = data;
    (void)count, (void)error;
    *c = (counters){cells[0].integer, cells[1].integer, cells[2].integer, cells[3].integer};
    return FDL_OK;
}

/* Ended tables too: what they gave out was given out. */
static const char tables_query[] =
    "SELECT t.table_id::BIGINT, min(t.table_uuid::VARCHAR),"
    " coalesce((SELECT max(s.next_row_id) FROM file_@.main.ducklake_table_stats s WHERE s.table_id = t.table_id), 0)::BIGINT,"
    " coalesce((SELECT max(c.column_id) FROM file_@.main.ducklake_column c WHERE c.table_id = t.table_id), 0)::BIGINT"
    " FROM file_@.main.ducklake_table t GROUP BY t.table_id ORDER BY t.table_id";

enum { TABLE_ID, TABLE_UUID, NEXT_ROW, LAST_COLUMN };

typedef struct raising {
    const fdl_live *other;
    sqlite3 *db;
    fdl_idset *seen;
} raising;

static fdl_code raise_rows(sqlite3 *db, int64_t table_id, int64_t next_row_id, fdl_error *error) {
    return fdl_sqlite_exec(db, error,
                           "UPDATE ducklake_table_stats SET next_row_id = max(next_row_id, %lld) WHERE table_id = %lld;"
                           "INSERT INTO ducklake_table_stats (table_id, record_count, next_row_id, file_size_bytes)"
                           " SELECT %lld, 0, %lld, 0 WHERE %lld > 0 AND NOT EXISTS"
                           " (SELECT 1 FROM ducklake_table_stats WHERE table_id = %lld)",
                           (long long)next_row_id, (long long)table_id, (long long)table_id, (long long)next_row_id,
                           (long long)next_row_id, (long long)table_id);
}

static fdl_code raise_columns(sqlite3 *db, int64_t table_id, int64_t column_id, fdl_error *error) {
    return fdl_sqlite_exec(
        db, error,
        "INSERT INTO ducklake_column (column_id, begin_snapshot, end_snapshot, table_id, column_order, column_name,"
        " column_type, nulls_allowed)"
        " SELECT %lld, (SELECT max(snapshot_id) FROM ducklake_snapshot), (SELECT max(snapshot_id) FROM ducklake_snapshot),"
        " %lld, %lld, 'fdl_taken_' || %lld, 'int32', 1"
        " WHERE %lld > (SELECT max(column_id) FROM ducklake_column WHERE table_id = %lld)",
        (long long)column_id, (long long)table_id, (long long)column_id, (long long)column_id, (long long)column_id,
        (long long)table_id);
}

/* Another branch may have given the id to another table, which the UUID tells. */
static fdl_code raise_table(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    const raising *r = data;
    const char *uuid = NULL;
    sqlite3_stmt *same = NULL;
    bool found = false;
    (void)count;
    fdl_code code = fdl_live_text(r->other, &cells[TABLE_UUID], "the UUID of a table", 64, &uuid, error);
    if (code == FDL_OK)
        code = fdl_sqlite_prepare(r->db, &same, error,
                                  "SELECT 1 FROM ducklake_table WHERE table_id = %lld AND lower(table_uuid) = lower(%Q)",
                                  (long long)cells[TABLE_ID].integer, uuid);
    if (code == FDL_OK)
        code = fdl_sqlite_step(same, &found, error);
    sqlite3_finalize(same);
    if (code != FDL_OK || !found)
        return code;
    code = raise_rows(r->db, cells[TABLE_ID].integer, cells[NEXT_ROW].integer, error);
    if (code == FDL_OK)
        code = raise_columns(r->db, cells[TABLE_ID].integer, cells[LAST_COLUMN].integer, error);
    return code == FDL_OK ? fdl_idset_add(r->seen, cells[TABLE_ID].integer, NULL, error) : code;
}

/* ---- our own ------------------------------------------------------------------------------ */

static fdl_code add_snapshot(sqlite3 *db, const counters *other, fdl_error *error) {
    char now[FDL_LAKE_TIME_BYTES];
    fdl_lake_time_write(fdl_now_us(), now);
    return fdl_sqlite_exec(
        db, error,
        "INSERT INTO ducklake_snapshot (snapshot_id, snapshot_time, schema_version, next_catalog_id, next_file_id)"
        " SELECT max(max(snapshot_id), %lld) + 1, %Q, max(max(schema_version), %lld) + 1,"
        " max(max(next_catalog_id), %lld), max(max(next_file_id), %lld) FROM ducklake_snapshot;"
        "INSERT INTO ducklake_snapshot_changes (snapshot_id, changes_made)"
        " SELECT max(snapshot_id), '' FROM ducklake_snapshot",
        (long long)other->snapshot_id, now, (long long)other->schema_version, (long long)other->next_catalog_id,
        (long long)other->next_file_id);
}

/* How many live tables nobody has told of. */
static fdl_code count_unseen(sqlite3 *db, fdl_idset *seen, size_t *unseen, fdl_error *error) {
    sqlite3_stmt *tables = NULL;
    bool row = false;
    fdl_code code =
        fdl_sqlite_prepare(db, &tables, error, "SELECT table_id FROM ducklake_table WHERE end_snapshot IS NULL");
    *unseen = 0;
    while (code == FDL_OK && (code = fdl_sqlite_step(tables, &row, error)) == FDL_OK && row)
        *unseen += !fdl_idset_has(seen, sqlite3_column_int64(tables, 0));
    sqlite3_finalize(tables);
    return code;
}

fdl_code fdl_catalog_follow(const fdl_context *context, const char *path, const char *frozen, bool is_tip,
                            fdl_idset *seen, size_t *unseen, fdl_error *error) {
    fdl_live other = {.path = frozen, .name = "a"};
    fdl_duck *duck = NULL;
    sqlite3 *db = NULL;
    counters tip = {0};
    fdl_code code = fdl_live_open(context, &other, 1, &duck, error);
    if (code == FDL_OK)
        code = fdl_live_query(duck, &other, counters_query, take_counters, &tip, error);
    if (code == FDL_OK)
        code = fdl_sqlite_open(path, FDL_SQLITE_ALONE, &db, error);
    if (code == FDL_OK)
        code = fdl_sqlite_exec(db, error, "BEGIN IMMEDIATE");
    if (code == FDL_OK) {
        raising r = {.other = &other, .db = db, .seen = seen};
        code = fdl_live_query(duck, &other, tables_query, raise_table, &r, error);
    }
    if (code == FDL_OK && is_tip)
        code = add_snapshot(db, &tip, error);
    if (code == FDL_OK)
        code = count_unseen(db, seen, unseen, error);
    if (code == FDL_OK)
        code = fdl_sqlite_exec(db, error, "COMMIT");
    if (sqlite3_close(db) != SQLITE_OK && code == FDL_OK)
        code = fdl_fail(error, FDL_FAILED, path, "cannot close '%s'", path);
    fdl_duck_free(duck);
    return code;
}
