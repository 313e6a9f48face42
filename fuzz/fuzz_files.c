/* fuzz_files.c - files.json: what is taken can be written and taken again. */
#include "fuzz.h"

#include "repo/files_json.h"

typedef struct seen {
    size_t count;
    fdl_files_writer *writer; /* NULL: only count */
} seen;

static fdl_code see(void *data, const fdl_file_entry *entry, fdl_error *error) {
    seen *s = data;
    s->count++;
    must(entry->schema && entry->table && fuzz_path_is_inside(entry->path));
    must(!entry->delete_path || fuzz_path_is_inside(entry->delete_path));
    return s->writer ? fdl_files_writer_add(s->writer, entry, error) : FDL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fdl_files_writer writer;
    seen first = {.writer = &writer}, second = {0};
    fdl_error error;
    fdl_files_writer_init(&writer);
    fdl_code code = fdl_files_parse((const char *)data, size, "files.json", see, &first, &error);
    fuzz_check_error(code, &error);
    if (code == FDL_OK) {
        must(fdl_files_writer_end(&writer, &error) == FDL_OK);
        must(fdl_files_parse(writer.text.data, writer.text.length, "files.json", see, &second, &error) == FDL_OK);
        must(first.count == second.count);
    }
    fdl_files_writer_clear(&writer);
    return 0;
}
