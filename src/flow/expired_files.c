/*
 * expired_files.c - the files of a version that expired, from its files.json.
 *
 * Where version.json records the list, the list is proved against it.  One that
 * it does not record was left by expire, when it deleted the catalog.
 */
#include "flow/expired_files.h"

#include <stdlib.h>
#include <string.h>

#include "flow/carries.h"
#include "flow/opened.h"
#include "repo/files_json.h"
#include "repo/layout.h"
#include "util/ident.h"
#include "util/text.h"

typedef struct listing {
    const char *data_dir;
    fdl_listed_callback callback;
    void *data;
} listing;

/* Files elsewhere are none that we could delete. */
static fdl_code tell(const listing *l, const fdl_file_entry *entry, const char *path, fdl_error *error) {
    if (!path || !fdl_str_starts(path, l->data_dir))
        return FDL_OK;
    fdl_listed_file file = {.path = path + strlen(l->data_dir), .schema = entry->schema, .table = entry->table};
    return l->callback(l->data, &file, error);
}

static fdl_code take_entry(void *data, const fdl_file_entry *entry, fdl_error *error) {
    fdl_code code = tell(data, entry, entry->path, error);
    return code == FDL_OK ? tell(data, entry, entry->delete_path, error) : code;
}

static bool is_as_recorded(const fdl_version *version, const char *bytes, size_t length) {
    char sha256[FDL_SHA256_BYTES];
    fdl_error ignored;
    return !version->files.path || (fdl_sha256_bytes(bytes, length, sha256, &ignored) == FDL_OK &&
                                    strcmp(sha256, version->files.sha256) == 0);
}

fdl_code fdl_expired_files(fdl_repo *repo, const fdl_version *version, fdl_listed_callback callback, void *data,
                           bool *known, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    char *bytes = NULL;
    size_t length = 0;
    const fdl_config *config = NULL;
    fdl_error broken;
    *known = false;
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        code = fdl_key_version(key, version->id, version->files.path ? version->files.path : FDL_FILE_FILES, error);
    if (code == FDL_OK)
        code = fdl_store_read(fdl_repo_store(repo), key, FDL_LIMIT_FILES_BYTES, &bytes, &length, NULL, error);
    if (code == FDL_OK) {
        listing l = {.data_dir = config->data_dir, .callback = callback, .data = data};
        *known = is_as_recorded(version, bytes, length) &&
                 fdl_files_parse(bytes, length, key, take_entry, &l, &broken) == FDL_OK;
    }
    free(bytes);
    return code == FDL_NOT_FOUND || code == FDL_REFUSED ? FDL_OK : code;
}

/* ---- left behind ------------------------------------------------------------------------ */

static fdl_code add_entry(void *writer, const fdl_file_entry *entry, fdl_error *error) {
    return fdl_files_writer_add(writer, entry, error);
}

static fdl_code compose(fdl_repo *repo, const char *scratch, const fdl_version *version, fdl_files_writer *writer,
                        fdl_error *error) {
    const fdl_config *config = NULL;
    fdl_opened opened = {0};
    fdl_code code = fdl_repo_config(repo, &config, error);
    if (code == FDL_OK)
        code = fdl_opened_get(repo, scratch, version, &opened, error);
    if (code == FDL_OK)
        code = fdl_carry_files(opened.frozen, config->data_dir, add_entry, writer, error);
    if (code == FDL_OK)
        code = fdl_files_writer_end(writer, error);
    fdl_opened_clear(&opened);
    return code;
}

fdl_code fdl_expired_files_leave(fdl_repo *repo, const char *scratch, const fdl_version *version, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    fdl_files_writer writer;
    fdl_error why;
    fdl_files_writer_init(&writer);
    fdl_code code = fdl_key_version(key, version->id, FDL_FILE_FILES, error);
    if (code == FDL_OK && compose(repo, scratch, version, &writer, &why) != FDL_OK) {
        fdl_note(fdl_repo_context(repo), FDL_NOTE_WARNING,
                 "what version '%s' named cannot be listed, so gc spares more for longer: %s", version->id, why.message);
    } else if (code == FDL_OK) {
        fdl_source source = {.bytes = writer.text.data, .length_bytes = writer.text.length};
        code = fdl_store_put(fdl_repo_store(repo), key, &source, (fdl_condition){.kind = FDL_IF_ABSENT}, NULL, error);
        if (code == FDL_CONFLICT) /* another run left the same */
            code = FDL_OK;
    }
    fdl_files_writer_clear(&writer);
    return code;
}
