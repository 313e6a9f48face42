/*
 * protect.c - a working catalog that cannot delete what older versions need.
 *
 * To DuckLake a file that the last snapshot does not name is rubbish; to FDL it
 * is the content of an older version.  Four stored options and some triggers
 * keep its clean-up from acting on that:
 *
 *   delete_older_than, expire_older_than   a hundred years, so that CHECKPOINT
 *       and the clean-up functions find nothing old enough.  Much more would
 *       reach back before Christ, and such dates compare wrongly as text.
 *       ducklake_set_option on these two fails and says why: the next CHECKPOINT
 *       would take every file that only older versions name for an orphan.
 *   ducklake_files_scheduled_for_deletion  stays empty: the trigger ignores
 *       what merge, rewrite and expire put there.
 *   data_inlining_row_limit = 0            no rows in the catalog itself, also
 *       when the ATTACH option is forgotten: a stored option wins.
 *   hive_file_pattern = false              partition values do not become
 *       percent-escaped folder names, about which web servers disagree.
 *
 * Not stopped by any of this: ducklake_delete_orphaned_files with cleanup_all or
 * an older_than of its own.
 */
#include <string.h>

#include "catalog/protect.h"
#include "catalog/sqlite_db.h"

static const char *const options[][2] = {
    {"delete_older_than", "36500 days"},
    {"expire_older_than", "36500 days"},
    {"data_inlining_row_limit", "0"},
    {"hive_file_pattern", "false"},
};

#define KEEP_AGES(event, row)                                                                                          \
    "CREATE TRIGGER fdl_keep_ages_on_" event " BEFORE " event " ON ducklake_metadata "                                 \
    "WHEN " row ".key IN ('delete_older_than', 'expire_older_than') "                                                  \
    "BEGIN SELECT RAISE(ABORT, 'fdl keeps delete_older_than and expire_older_than as they are: "                       \
    "clean-up would delete files of other versions'); END;"

bool fdl_lake_is_protection(const char *key, size_t length) {
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strlen(options[i][0]) == length && memcmp(options[i][0], key, length) == 0)
            return true;
    return false;
}

fdl_code fdl_lake_protect(sqlite3 *db, fdl_error *error) {
    fdl_code code = fdl_sqlite_exec(db, error,
                                    "DROP TRIGGER IF EXISTS fdl_keep_ages_on_insert;"
                                    "DROP TRIGGER IF EXISTS fdl_keep_ages_on_update");
    for (size_t i = 0; i < sizeof options / sizeof *options && code == FDL_OK; i++) {
        code = fdl_sqlite_exec(db, error,
                               "DELETE FROM ducklake_metadata WHERE key = %Q AND scope IS NULL;"
                               "INSERT INTO ducklake_metadata (key, value) VALUES (%Q, %Q)",
                               options[i][0], options[i][0], options[i][1]);
    }
    if (code == FDL_OK) {
        code =
            fdl_sqlite_exec(db, error,
                            "DELETE FROM ducklake_files_scheduled_for_deletion;"
                            "CREATE TRIGGER IF NOT EXISTS fdl_schedule_no_deletion "
                            "BEFORE INSERT ON ducklake_files_scheduled_for_deletion "
                            "BEGIN SELECT RAISE(IGNORE); END;" KEEP_AGES("insert", "NEW") KEEP_AGES("update", "OLD"));
    }
    return code;
}
