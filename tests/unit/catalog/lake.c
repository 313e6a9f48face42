/*
 * lake.c - makes DuckLake catalogs for tests with DuckDB itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lake.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/text.h"

void must(fdl_code code, const fdl_error *error) {
    if (code != FDL_OK)
        fail_msg("%s: %s", fdl_code_name(code), error->message);
}

void must_fail(fdl_code code, fdl_code wanted, const fdl_error *error, ...) {
    if (code == FDL_OK)
        fail_msg("it should have failed as '%s'", fdl_code_name(wanted));
    if (code != wanted || error->code != wanted)
        fail_msg("%s instead of %s: %s", fdl_code_name(code), fdl_code_name(wanted), error->message);
    va_list texts;
    va_start(texts, error);
    for (const char *text = va_arg(texts, const char *); text != NULL; text = va_arg(texts, const char *)) {
        if (strstr(error->message, text) == NULL)
            fail_msg("'%s' is not in the message: %s", text, error->message);
    }
    va_end(texts);
}

/* One session for all tests of a program: loading DuckDB's extensions costs more than most of what is done with them. */
static fdl_duck *session;
static bool attached; /* a test that failed left it so */

char *lake_folder_make(void) {
    const char *temporary = getenv("TMPDIR");
    fdl_error error;
    char *folder = NULL;
    must(fdl_str_format(&folder, &error, "%s/fdl-test-XXXXXX", temporary != NULL ? temporary : "/tmp"), &error);
    assert_non_null(mkdtemp(folder));
    must(fdl_folder_make(lake_path(folder, "data"), &error), &error);
    return folder;
}

void lake_folder_remove(char *folder) {
    fdl_error error;
    if (attached) {
        fdl_duck_free(session);
        session = NULL;
        attached = false;
    }
    must(fdl_folder_remove(folder, &error), &error);
    free(folder);
}

char *lake_folder;

int lake_setup(void **state) {
    (void)state;
    lake_folder = lake_folder_make();
    return 0;
}

int lake_teardown(void **state) {
    (void)state;
    lake_folder_remove(lake_folder);
    lake_folder = NULL;
    return 0;
}

const char *lake_path(const char *folder, const char *name) {
    static char paths[8][1024];
    static size_t next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void open_session(void) {
    fdl_error error;
    if (session != NULL)
        return;
    must(fdl_duck_open(NULL, &session, &error), &error);
    must(fdl_duck_load_extension(session, "ducklake", &error), &error);
    must(fdl_duck_load_extension(session, "sqlite_scanner", &error), &error);
}

fdl_duck *lake_attach(const char *address, const char *alias, const char *options) {
    fdl_error error;
    open_session();
    must(fdl_duck_exec(session, &error, "ATTACH '%s' AS %s (%s); USE %s", address, alias, options, alias), &error);
    attached = true;
    return session;
}

/* Detaching brings everything into the file, so that nothing is left in a .wal. */
void lake_detach(const char *alias) {
    fdl_error error;
    must(fdl_duck_exec(session, &error, "USE memory; DETACH %s", alias), &error);
    attached = false;
}

fdl_duck *lake_open(const char *folder, const char *name) {
    char address[1100], options[1200];
    snprintf(address, sizeof address, "ducklake:%s/%s", folder, name);
    snprintf(options, sizeof options, "DATA_PATH '%s/data/', DATA_INLINING_ROW_LIMIT 0, META_BLOCK_SIZE 16384", folder);
    return lake_attach(address, "lake", options);
}

void lake_close(void) {
    lake_detach("lake");
}

void lake_run(const char *folder, const char *name, const char *sql) {
    fdl_error error;
    must(fdl_duck_exec(lake_open(folder, name), &error, "%s", sql), &error);
    lake_close();
}

void lake_spoil(const char *folder, const char *name, const char *sql) {
    fdl_error error;
    must(fdl_duck_exec(lake_attach(lake_path(folder, name), "file", "TYPE duckdb"), &error, "USE memory; %s", sql), &error);
    lake_detach("file");
}

static fdl_code take_count(void *data, const fdl_cell *cells, size_t count, fdl_error *error) {
    (void)count;
    (void)error;
    *(int64_t *)data = cells[0].integer;
    return FDL_OK;
}

int64_t lake_count(const char *folder, const char *name, const char *sql) {
    int64_t count = -1;
    fdl_error error;
    must(fdl_duck_query(lake_open(folder, name), sql, take_count, &count, &error), &error);
    lake_close();
    return count;
}

void lake_copy(const char *folder, const char *from, const char *to) {
    fdl_error error;
    must(fdl_file_remove(lake_path(folder, to), &error), &error);
    must(fdl_file_copy(lake_path(folder, from), lake_path(folder, to), &error), &error);
}
