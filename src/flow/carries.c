/*
 * carries.c - files.json, catalogs/ and the packed catalog, made while a version is built.
 */
#include "flow/carries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "catalog/file_index.h"
#include "catalog/other_format.h"
#include "repo/layout.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"
#include "util/zstd.h"

fdl_code fdl_carry_record(const char *folder, const char *name, fdl_file_record *out, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_str_format(&path, error, "%s/%s", folder, name);
    if (code == FDL_OK)
        code = fdl_sha256_file(path, out->sha256, &out->bytes, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&out->path, name, error);
    free(path);
    return code;
}

/* Names in a catalog have at most 64 KiB, and may be escaped. */
#define LONGEST_LINE_BYTES (2u << 20)

/* ---- files.json ------------------------------------------------------------------- */

typedef struct file_walk {
    const char *data_dir;
    fdl_file_entry_callback callback;
    void *data;
} file_walk;

static fdl_code take_file(void *data, const fdl_table_file *file, fdl_error *error) {
    const file_walk *w = data;
    char *path = NULL, *delete_path = NULL;
    fdl_code code = FDL_OK;
    if (file->path)
        code = fdl_str_format(&path, error, "%s%s", w->data_dir, file->path);
    if (code == FDL_OK && file->delete_path)
        code = fdl_str_format(&delete_path, error, "%s%s", w->data_dir, file->delete_path);
    if (code == FDL_OK) {
        fdl_file_entry entry = {
            .schema = file->schema_name,
            .table = file->table_name,
            .path = path,
            .bytes = (uint64_t)file->size_bytes,
            .rows = (uint64_t)file->rows,
            .delete_path = delete_path,
            .delete_bytes = (uint64_t)file->delete_size_bytes,
            .delete_rows = (uint64_t)file->delete_rows,
            .ended = file->ended,
        };
        code = w->callback(w->data, &entry, error);
    }
    free(delete_path);
    free(path);
    return code;
}

fdl_code fdl_carry_files(fdl_frozen *frozen, const char *data_dir, fdl_file_entry_callback callback, void *data,
                         fdl_error *error) {
    file_walk w = {.data_dir = data_dir, .callback = callback, .data = data};
    return fdl_frozen_table_files(frozen, take_file, &w, error);
}

static fdl_code add_entry(void *writer, const fdl_file_entry *entry, fdl_error *error) {
    return fdl_files_writer_add(writer, entry, error);
}

static fdl_code write_index(fdl_files_writer *writer, const char *folder, fdl_version *version, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_files_writer_end(writer, error);
    if (code == FDL_OK)
        code = fdl_str_format(&path, error, "%s/%s", folder, FDL_FILE_FILES);
    if (code == FDL_OK)
        code = fdl_file_write(path, writer->text.data, writer->text.length, error);
    if (code == FDL_OK)
        code = fdl_carry_record(folder, FDL_FILE_FILES, &version->files, error);
    free(path);
    return code;
}

fdl_code fdl_carry_index(fdl_repo *repo, fdl_frozen *frozen, const char *folder, fdl_version *version,
                         fdl_error *error) {
    fdl_files_writer writer;
    const fdl_config *config = NULL;
    fdl_files_writer_init(&writer);
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        code = fdl_carry_files(frozen, config->data_dir, add_entry, &writer, error);
    if (code == FDL_OK)
        code = write_index(&writer, folder, version, error);
    if (code == FDL_REFUSED && writer.text.length > FDL_LIMIT_FILES_BYTES - LONGEST_LINE_BYTES) {
        fdl_note(fdl_repo_context(repo), FDL_NOTE_WARNING,
                 "the version has no files.json: it would be larger than %u bytes, which no reader takes",
                 FDL_LIMIT_FILES_BYTES);
        code = FDL_OK;
    }
    fdl_files_writer_clear(&writer);
    return code;
}

/* ---- catalogs/ ------------------------------------------------------------------------ */

static bool has_format(const fdl_version *version, const char *format) {
    bool found = strcmp(version->catalog.format, format) == 0;
    for (size_t i = 0; i < version->other_count; i++)
        found = found || strcmp(version->others[i].format, format) == 0;
    return found;
}

static fdl_code enter(const char *folder, const char *name, const char *format, fdl_version *version,
                      fdl_error *error) {
    fdl_code code = fdl_grow(&version->others, version->other_count, sizeof *version->others, error);
    if (code != FDL_OK)
        return code;
    fdl_catalog_record *record = &version->others[version->other_count++];
    *record = (fdl_catalog_record){0};
    code = fdl_carry_record(folder, name, &record->file, error);
    if (code == FDL_OK)
        code = fdl_str_copy(&record->format, format, error);
    if (code == FDL_OK)
        code = fdl_str_format(&record->storage, error, "duckdb-%s", fdl_other_storage(format));
    return code;
}

/* Where the main catalog is, and where what is made of it shall be, in a folder that is there. */
static fdl_code find_places(const char *folder, const fdl_version *version, const char *name, char **main_catalog,
                            char **path, fdl_error *error) {
    char *catalogs = NULL;
    fdl_code code = fdl_str_format(&catalogs, error, "%s/" FDL_FOLDER_CATALOGS, folder);
    if (code == FDL_OK)
        code = fdl_folder_make(catalogs, error);
    if (code == FDL_OK)
        code = fdl_str_format(main_catalog, error, "%s/%s", folder, version->catalog.file.path);
    if (code == FDL_OK)
        code = fdl_str_format(path, error, "%s/%s", folder, name);
    free(catalogs);
    return code;
}

fdl_code fdl_carry_packed(const char *folder, fdl_version *version, fdl_error *error) {
    char *main_catalog = NULL, *path = NULL;
    uint64_t size = 0;
    fdl_code code = find_places(folder, version, FDL_FILE_PACKED, &main_catalog, &path, error);
    if (code == FDL_OK)
        code = fdl_zstd_file(main_catalog, path, error);
    if (code == FDL_OK)
        code = fdl_file_size(path, &size, error);
    if (code == FDL_OK && version->catalog.file.bytes > fdl_unzstd_limit(size))
        code = fdl_file_remove(path, error); /* readers would take it for a bomb */
    else if (code == FDL_OK)
        code = fdl_carry_record(folder, FDL_FILE_PACKED, &version->packed, error);
    free(path);
    free(main_catalog);
    return code;
}

static fdl_code carry_format(fdl_repo *repo, const char *folder, const char *format, fdl_version *version,
                             fdl_error *error) {
    char name[64];
    char *main_catalog = NULL, *path = NULL, *obstacle = NULL;
    snprintf(name, sizeof name, FDL_FOLDER_CATALOGS "/%.32s.duckdb", format);
    fdl_code code = find_places(folder, version, name, &main_catalog, &path, error);
    if (code == FDL_OK)
        code = fdl_other_write(fdl_repo_context(repo), main_catalog, format, path, &obstacle, error);
    if (code == FDL_OK && obstacle)
        fdl_note(fdl_repo_context(repo), FDL_NOTE_WARNING,
                 "the version carries no '%s': DuckLake %s cannot say %s", name, format, obstacle);
    else if (code == FDL_OK)
        code = enter(folder, name, format, version, error);
    free(obstacle);
    free(path);
    free(main_catalog);
    return code;
}

static fdl_code carry_if_due(fdl_repo *repo, const char *folder, const fdl_catalog_format *format, fdl_version *version,
                             fdl_error *error) {
    if (!fdl_catalog_format_is_due(format, fdl_now_ms()) || has_format(version, format->ducklake))
        return FDL_OK;
    if (fdl_other_storage(format->ducklake))
        return carry_format(repo, folder, format->ducklake, version, error);
    fdl_note(fdl_repo_context(repo), FDL_NOTE_WARNING,
             "fdl.json asks for catalogs in DuckLake format '%s', which this fdl cannot write", format->ducklake);
    return FDL_OK;
}

fdl_code fdl_carry_formats(fdl_repo *repo, const char *folder, fdl_version *version, fdl_error *error) {
    for (size_t i = 0;; i++) {
        fdl_catalog_format format = {0};
        fdl_code code = fdl_repo_catalog_format(repo, i, &format, error);
        if (code == FDL_NOT_FOUND) /* that was the last one */
            return FDL_OK;
        if (code == FDL_OK)
            code = carry_if_due(repo, folder, &format, version, error);
        if (code != FDL_OK)
            return code;
    }
}
