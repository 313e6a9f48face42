/*
 * files_json.c - the text of files.json, a line a file.
 */
#include "repo/files_json.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "repo/layout.h"
#include "util/text.h"

void fdl_files_writer_init(fdl_files_writer *writer) {
    *writer = (fdl_files_writer){0};
    fdl_buf_init(&writer->text, FDL_LIMIT_FILES_BYTES);
}

void fdl_files_writer_clear(fdl_files_writer *writer) {
    fdl_buf_clear(&writer->text);
    free(writer->schema);
    free(writer->table);
    *writer = (fdl_files_writer){0};
}

/* Most names are written as they are; the rest is jansson's. */
static bool is_plain(const char *string) {
    for (; *string; string++)
        if (*string < ' ' || *string > '~' || *string == '"' || *string == '\\')
            return false;
    return true;
}

static fdl_code add_string(fdl_buf *text, const char *string, fdl_error *error) {
    if (is_plain(string))
        return fdl_buf_add_format(text, error, "\"%s\"", string);
    json_t *value = json_string(string);
    char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    fdl_code code = quoted ? fdl_buf_add_str(text, quoted, error)
                           : fdl_fail(error, FDL_FAILED, FDL_FILE_FILES, "a name is not valid UTF-8");
    free(quoted);
    json_decref(value);
    return code;
}

/* Files of one table follow each other, so a table ends where another begins. */
static fdl_code end_table(fdl_files_writer *writer, fdl_error *error) {
    if (!writer->table)
        return FDL_OK;
    return fdl_buf_add_str(&writer->text, writer->has_files ? "\n    ] }" : "] }", error);
}

static fdl_code begin_table(fdl_files_writer *writer, const fdl_file_entry *entry, fdl_error *error) {
    fdl_code code = end_table(writer, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&writer->text, writer->table ? ",\n    { \"schema\": " : "{\n  \"tables\": [\n    { \"schema\": ",
                               error);
    if (code == FDL_OK)
        code = add_string(&writer->text, entry->schema, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&writer->text, ", \"name\": ", error);
    if (code == FDL_OK)
        code = add_string(&writer->text, entry->table, error);
    if (code == FDL_OK)
        code = fdl_buf_add_str(&writer->text, ", \"files\": [", error);
    free(writer->schema);
    free(writer->table);
    writer->schema = writer->table = NULL;
    writer->has_files = false;
    if (code == FDL_OK)
        code = fdl_str_copy(&writer->schema, entry->schema, error);
    return code == FDL_OK ? fdl_str_copy(&writer->table, entry->table, error) : code;
}

static fdl_code add_file(fdl_buf *text, const char *path, uint64_t bytes, uint64_t rows, fdl_error *error) {
    fdl_code code = fdl_buf_add_str(text, "{ \"path\": ", error);
    if (code == FDL_OK)
        code = add_string(text, path, error);
    return code == FDL_OK
               ? fdl_buf_add_format(text, error, ", \"bytes\": %" PRIu64 ", \"rows\": %" PRIu64, bytes, rows)
               : code;
}

fdl_code fdl_files_writer_add(fdl_files_writer *writer, const fdl_file_entry *entry, fdl_error *error) {
    fdl_buf *text = &writer->text;
    fdl_code code = FDL_OK;
    if (!writer->table || strcmp(writer->schema, entry->schema) != 0 || strcmp(writer->table, entry->table) != 0)
        code = begin_table(writer, entry, error);
    if (code != FDL_OK || !entry->path)
        return code;
    code = fdl_buf_add_str(text, writer->has_files ? ",\n      " : "\n      ", error);
    writer->has_files = true;
    if (code == FDL_OK)
        code = add_file(text, entry->path, entry->bytes, entry->rows, error);
    if (code == FDL_OK && entry->delete_path)
        code = fdl_buf_add_str(text, ", \"delete\": ", error);
    if (code == FDL_OK && entry->delete_path)
        code = add_file(text, entry->delete_path, entry->delete_bytes, entry->delete_rows, error);
    if (code == FDL_OK && entry->delete_path)
        code = fdl_buf_add_str(text, " }", error);
    if (code == FDL_OK && entry->ended)
        code = fdl_buf_add_str(text, ", \"ended\": true", error);
    return code == FDL_OK ? fdl_buf_add_str(text, " }", error) : code;
}

fdl_code fdl_files_writer_end(fdl_files_writer *writer, fdl_error *error) {
    if (!writer->table)
        return fdl_buf_add_str(&writer->text, "{\n  \"tables\": []\n}\n", error);
    fdl_code code = end_table(writer, error);
    return code == FDL_OK ? fdl_buf_add_str(&writer->text, "\n  ]\n}\n", error) : code;
}
