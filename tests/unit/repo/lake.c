/*
 * lake.c - see lake.h.
 */
#include "lake.h"

#include "util/buf.h"

void lake_expect(lake *l, fdl_code wanted, fdl_code got, const char *call, const char *file, int line) {
    if (got != wanted) {
        print_error("%s\nis '%s', not '%s': %s\n", call, fdl_code_name(got), fdl_code_name(wanted),
                    got == FDL_OK ? "" : l->error.message);
        _fail(file, line);
    }
    if (got != FDL_OK && l->error.code != got) {
        print_error("%s\nreturned '%s' and filled the error with '%s'\n", call, fdl_code_name(got),
                    fdl_code_name(l->error.code));
        _fail(file, line);
    }
}

void lake_expect_message(lake *l, const char *part, const char *file, int line) {
    if (!strstr(l->error.message, part)) {
        print_error("the message does not speak of \"%s\": %s\n", part, l->error.message);
        _fail(file, line);
    }
}

void lake_open_store(lake *l, fdl_store *store) {
    fdl_store *faulty = NULL;
    memset(l, 0, sizeof *l);
    l->inner = store;
    expect(l, FDL_OK, fdl_store_open_fault(store, &l->fault, &faulty, &l->error));
    expect(l, FDL_OK, fdl_store_open_trace(faulty, &l->trace, &l->store, &l->error));
    expect(l, FDL_OK, fdl_repo_open_store(&l->context, l->store, &l->repo, &l->error));
}

void lake_open(lake *l) {
    fdl_store *store = NULL;
    memset(l, 0, sizeof *l);
    expect(l, FDL_OK, fdl_store_open_memory(NULL, &store, &l->error));
    lake_open_store(l, store);
    lake_put(l, "fdl.json", "{\"fdl\":\"0.1\",\"id\":\"5f0c8a52-6d3e-4f8e-9b1a-2c7d4e9f0a13\",\"data_dir\":\"data/\"}");
    lake_put(l, "HEAD", "ref: refs/heads/main\n");
}

void lake_close(lake *l) {
    fdl_repo_free(l->repo);
    fdl_trace_clear(&l->trace);
    memset(l, 0, sizeof *l);
}

void lake_put_bytes(lake *l, const char *key, const void *bytes, size_t length) {
    fdl_source source = {.bytes = bytes, .length_bytes = length};
    expect(l, FDL_OK, fdl_store_put(l->inner, key, &source, (fdl_condition){.kind = FDL_ALWAYS}, NULL, &l->error));
}

void lake_put(lake *l, const char *key, const char *text) {
    lake_put_bytes(l, key, text, strlen(text));
}

void lake_remove(lake *l, const char *key) {
    expect(l, FDL_OK, fdl_store_remove(l->inner, key, (fdl_condition){.kind = FDL_ALWAYS}, &l->error));
}

bool lake_has(lake *l, const char *key) {
    fdl_object object;
    return fdl_store_head(l->inner, key, &object, NULL) == FDL_OK;
}

char *lake_get(lake *l, const char *key) {
    char *text = NULL;
    size_t length = 0;
    expect(l, FDL_OK, fdl_store_read(l->inner, key, 1u << 20, &text, &length, NULL, &l->error));
    return text;
}

char *lake_calls(lake *l) {
    fdl_buf calls;
    fdl_buf_init(&calls, 1u << 20);
    for (size_t i = 0; i < l->trace.line_count; i++)
        expect(l, FDL_OK, fdl_buf_add_format(&calls, &l->error, "%s\n", l->trace.lines[i]));
    fdl_trace_clear(&l->trace);
    return fdl_buf_detach(&calls, NULL);
}

char *lake_version_text(const char *id, const char *parent, int64_t seq) {
    fdl_version version = {
        .format = (char *)"0.1",
        .seq = seq,
        .created_at = "2026-10-15T09:00:00Z",
        .author_name = (char *)"bob",
        .message = (char *)"Add a note column",
        .catalog = {.format = (char *)"1.0",
                    .storage = (char *)"duckdb-v1.5.0",
                    .file = {.path = (char *)"ducklake.duckdb", .bytes = 4194304, .sha256 = SHA}},
        .dataset = {.path = (char *)"dataset.json", .bytes = 2048, .sha256 = SHA},
        .snapshot_id = 12,
        .first_snapshot = 8,
        .last_snapshot = 12,
    };
    snprintf(version.id, sizeof version.id, "%s", id);
    snprintf(version.parent, sizeof version.parent, "%s", parent ? parent : "");
    char *text = NULL;
    size_t length = 0;
    fdl_error error = {0};
    if (fdl_version_write(&version, &text, &length, &error) != FDL_OK)
        fail_msg("%s", error.message);
    return text;
}

void lake_put_version(lake *l, const char *id, const char *parent, int64_t seq) {
    char key[FDL_KEY_BYTES];
    char *text = lake_version_text(id, parent, seq);
    snprintf(key, sizeof key, "versions/%s/version.json", id);
    lake_put(l, key, text);
    free(text);
}

void lake_put_history(lake *l) {
    lake_put_version(l, ID_A, NULL, 1);
    lake_put_version(l, ID_B, ID_A, 2);
    lake_put_version(l, ID_C, ID_B, 3);
    lake_put(l, "refs/heads/main", ID_C "\n");
}
