/*
 * freeze_files.c - where files are, said relative to their table's folder.
 *
 * A published catalog is read under other addresses than the one it was written
 * at, so it names files relative to the data folder alone.  A working catalog
 * may name them by absolute path or URL, in many spellings; what lies in its
 * table's folder, however it is spelt, becomes relative, and the rest stops the
 * freeze: a relative name can only be below the folder of its table.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "catalog/freeze.h"
#include "util/file.h"
#include "util/text.h"

#define PATH_LIMIT_BYTES (1u << 16)
#define EXAMPLES_LIMIT_BYTES 1200u
#define EXAMPLES 5

/* ---- the prefixes that mean the data folder ------------------------------------ */

static bool is_web_url(const char *path) {
    return strncasecmp(path, "http://", 7) == 0 || strncasecmp(path, "https://", 8) == 0;
}

/* A file of this machine; `*path` skips "file://". */
static bool is_local(const char **path) {
    if (fdl_str_starts(*path, "file://"))
        *path += strlen("file://");
    return strstr(*path, "://") == NULL;
}

static int hex_digit(char digit) {
    const char *digits = "0123456789abcdef0123456789ABCDEF";
    const char *found = digit == '\0' ? NULL : strchr(digits, digit);
    return found == NULL ? -1 : (int)(found - digits) % 16;
}

/* Percent-encoding undone; a '%' without two digits behind it stays as it is. */
static fdl_code decode_url(fdl_buf *out, const char *url, fdl_error *error) {
    fdl_code code = FDL_OK;
    out->length = 0;
    while (*url != '\0' && code == FDL_OK) {
        char byte = *url;
        int high = byte == '%' ? hex_digit(url[1]) : -1;
        int low = high >= 0 ? hex_digit(url[2]) : -1;
        if (low >= 0) {
            byte = (char)(high * 16 + low);
            url += 2;
        }
        url++;
        code = fdl_buf_add(out, &byte, 1, error);
    }
    return code;
}

static fdl_code copy_with_slash(char **out, const char *path, fdl_error *error) {
    return fdl_str_format(out, error, "%s%s", path, fdl_str_ends(path, "/") ? "" : "/");
}

static fdl_code read_root(fdl_freeze *freeze, const char *given, fdl_freeze_root *root, fdl_error *error) {
    fdl_code code = FDL_OK;
    root->is_url = is_web_url(given);
    if (root->is_url) {
        code = decode_url(&freeze->scratch, given, error);
        return code == FDL_OK ? copy_with_slash(&root->prefix, freeze->scratch.data, error) : code;
    }
    if (!is_local(&given))
        return copy_with_slash(&root->prefix, given, error);
    char *absolute = NULL;
    code = fdl_path_absolute(given, &absolute, error);
    if (code == FDL_OK)
        code = copy_with_slash(&root->prefix, absolute, error);
    char real[PATH_MAX];
    if (code == FDL_OK && realpath(absolute, real) != NULL)
        code = copy_with_slash(&root->real, real, error);
    free(absolute);
    return code;
}

fdl_code fdl_freeze_roots_read(fdl_freeze *freeze, fdl_error *error) {
    size_t count = freeze->options->root_count;
    fdl_buf_init(&freeze->scratch, PATH_LIMIT_BYTES);
    fdl_buf_init(&freeze->outside.examples, EXAMPLES_LIMIT_BYTES);
    fdl_buf_init(&freeze->misplaced.examples, EXAMPLES_LIMIT_BYTES);
    fdl_buf_init(&freeze->odd.examples, EXAMPLES_LIMIT_BYTES);
    fdl_code code = fdl_alloc(&freeze->roots, count, sizeof *freeze->roots, error);
    for (size_t i = 0; i < count && code == FDL_OK; i++) {
        if (freeze->options->roots[i] == NULL || freeze->options->roots[i][0] == '\0')
            continue;
        code = read_root(freeze, freeze->options->roots[i], &freeze->roots[freeze->root_count], error);
        freeze->root_count++;
    }
    return code;
}

void fdl_freeze_files_clear(fdl_freeze *freeze) {
    for (size_t i = 0; i < freeze->root_count; i++) {
        free(freeze->roots[i].prefix);
        free(freeze->roots[i].real);
    }
    free(freeze->roots);
    fdl_buf_clear(&freeze->scratch);
    fdl_buf_clear(&freeze->outside.examples);
    fdl_buf_clear(&freeze->misplaced.examples);
    fdl_buf_clear(&freeze->odd.examples);
}

/* ---- one absolute path --------------------------------------------------------- */

/* What of `path` comes behind a root; NULL when it is under none. */
static const char *behind_root(const fdl_freeze *freeze, const char *path, bool is_url, bool real) {
    for (size_t i = 0; i < freeze->root_count; i++) {
        const fdl_freeze_root *root = &freeze->roots[i];
        const char *prefix = real ? root->real : root->prefix;
        if (root->is_url == is_url && prefix != NULL && fdl_str_starts(path, prefix))
            return path + strlen(prefix);
    }
    return NULL;
}

/* The folder's real path and the name as it is: a link to a file is a file of its folder. */
static fdl_code real_path(fdl_buf *out, const char *absolute, bool *found, fdl_error *error) {
    char real[PATH_MAX];
    char *folder = NULL;
    fdl_code code = fdl_path_folder(absolute, &folder, error);
    *found = code == FDL_OK && realpath(folder, real) != NULL;
    free(folder);
    out->length = 0;
    if (code != FDL_OK || !*found)
        return code;
    code = fdl_buf_add_str(out, strcmp(real, "/") == 0 ? "" : real, error);
    return code == FDL_OK ? fdl_buf_add_str(out, strrchr(absolute, '/'), error) : code;
}

static fdl_code local_under_data(fdl_freeze *freeze, const char *path, const char **rest, fdl_error *error) {
    char *absolute = NULL;
    fdl_code code = fdl_path_absolute(path, &absolute, error);
    fdl_buf *kept = &freeze->scratch;
    kept->length = 0;
    if (code == FDL_OK)
        code = fdl_buf_add_str(kept, absolute, error);
    if (code == FDL_OK)
        *rest = behind_root(freeze, kept->data, false, false);
    bool found = false;
    if (code == FDL_OK && *rest == NULL)
        code = real_path(kept, absolute, &found, error);
    if (code == FDL_OK && found)
        *rest = behind_root(freeze, kept->data, false, true);
    /* The file itself may be reached through a link from outside. */
    char real[PATH_MAX];
    if (code == FDL_OK && *rest == NULL && realpath(absolute, real) != NULL) {
        kept->length = 0;
        code = fdl_buf_add_str(kept, real, error);
        *rest = code == FDL_OK ? behind_root(freeze, kept->data, false, true) : NULL;
    }
    free(absolute);
    return code;
}

/* The path under the data folder, in a scratch buffer or in `path`; `*rest` is NULL when it is not there. */
static fdl_code under_data(fdl_freeze *freeze, const char *path, const char **rest, fdl_error *error) {
    fdl_code code = FDL_OK;
    *rest = NULL;
    if (is_web_url(path)) {
        if (strpbrk(path, "?#") != NULL)
            return FDL_OK;
        code = decode_url(&freeze->scratch, path, error);
        *rest = code == FDL_OK ? behind_root(freeze, freeze->scratch.data, true, false) : NULL;
    } else if (is_local(&path)) {
        code = local_under_data(freeze, path, rest, error);
    } else {
        *rest = behind_root(freeze, path, false, false);
    }
    return code;
}

/* ---- judging --------------------------------------------------------------------- */

static void note_misfit(fdl_freeze_misfits *misfits, const char *path) {
    fdl_error ignored; /* an example less is no failure */
    if (misfits->count < EXAMPLES)
        fdl_buf_add_format(&misfits->examples, &ignored, "%s'%s'", misfits->count == 0 ? "" : ", ", path);
    misfits->count++;
}

/* Names that a URL changes the meaning of, or a pattern: a reader over HTTP may not find the file. */
static void note_odd(fdl_freeze *freeze, const char *folder, const char *path) {
    fdl_error ignored;
    if (strpbrk(path, "%?#*") == NULL && strpbrk(folder, "%?#*") == NULL)
        return;
    if (freeze->odd.count == 0)
        fdl_buf_add_format(&freeze->odd.examples, &ignored, "'%s%s'", folder, path);
    freeze->odd.count++;
}

static fdl_code judge(const fdl_freeze *freeze, const fdl_freeze_misfits *misfits, const char *where,
                      fdl_error *error) {
    const char *examples = misfits->examples.length == 0 ? "" : misfits->examples.data;
    return fdl_fail(error, FDL_REFUSED, freeze->path,
                    "%zu file%s %s: %s%s; move each into its table's folder and add it from there", misfits->count,
                    misfits->count == 1 ? " lies" : "s lie", where, examples, misfits->count > EXAMPLES ? ", ..." : "");
}

fdl_code fdl_freeze_files_judge(fdl_freeze *freeze, fdl_error *error) {
    if (freeze->outside.count > 0)
        return judge(freeze, &freeze->outside, "outside the data folder", error);
    if (freeze->misplaced.count > 0)
        return judge(freeze, &freeze->misplaced, "in the data folder, but not in its table's folder", error);
    return FDL_OK;
}

fdl_code fdl_freeze_file(fdl_freeze *freeze, int64_t table_id, bool relative, const char *path, size_t length,
                         const char **text, size_t *text_length, fdl_error *error) {
    const char *folder = fdl_lake_folder_of(&freeze->folders, table_id);
    if (folder == NULL)
        return fdl_fail(error, FDL_REFUSED, freeze->path, "file '%s' belongs to table %lld, which does not exist", path,
                        (long long)table_id);
    *text = path;
    *text_length = length;
    if (!relative) {
        const char *rest = NULL;
        fdl_code code = strlen(path) == length ? under_data(freeze, path, &rest, error) : FDL_OK;
        if (code != FDL_OK)
            return code;
        if (rest != NULL && fdl_lake_path_valid(rest, strlen(rest)) && !fdl_str_starts(rest, folder)) {
            note_misfit(&freeze->misplaced, path);
            return FDL_OK;
        }
        *text = rest == NULL || !fdl_str_starts(rest, folder) ? "" : rest + strlen(folder);
        *text_length = strlen(*text);
    }
    if (!fdl_lake_path_valid(*text, *text_length)) {
        note_misfit(&freeze->outside, path);
        return FDL_OK;
    }
    note_odd(freeze, folder, *text);
    return FDL_OK;
}
