/*
 * duck_load.c - finds libduckdb and opens it, once per process.
 *
 * The library is 70 MB and takes some 55 ms to open, so it is never linked:
 * a command that needs no catalog does not pay for it, and fdl builds on a
 * machine that has none.  A path that was named (by the caller or by
 * $FDL_LIBDUCKDB) is the only one tried, since falling back to another library
 * would hide a typing error; otherwise the usual places are tried in order.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "catalog/duck_api.h"
#include "util/file.h"
#include "util/late.h"
#include "util/text.h"

#define LIBRARY_NAME "libduckdb.so"
#define LOOKED_AT_LIMIT_BYTES 1500u /* leaves room for the rest of the message */

_Static_assert(sizeof(fdl_duck_result) == 48, "fetch_chunk takes the result by value");
_Static_assert(sizeof(fdl_duck_string) == 16, "strings lie in vectors");

/* Written once under the lock, by the first success; never unloaded, since DuckDB's threads and statics may live on. */
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;
static fdl_duck_api loaded_api;
static char *loaded_path;
static bool loaded;

static fdl_code resolve_symbols(void *library, const char *path, fdl_duck_api *api, fdl_error *error) {
    const fdl_late_symbol symbols[] = {
#define FDL_DUCK_SYMBOL(result, name, parameters) {"duckdb_" #name, &api->name},
        FDL_DUCK_SYMBOLS(FDL_DUCK_SYMBOL)
#undef FDL_DUCK_SYMBOL
    };
    const char *lacking = NULL;
    if (!fdl_late_fill(library, symbols, sizeof symbols / sizeof *symbols, &lacking))
        return fdl_fail(error, FDL_FAILED, path, "'%s' is no DuckDB library we know: it lacks '%s'; DuckDB 1.5 has it",
                        path, lacking);
    return FDL_OK;
}

/* The catalogs are written in a storage format that 1.5.0 brought; a 2.x may change the API below us. */
static fdl_code check_version(const char *path, const fdl_duck_api *api, fdl_error *error) {
    const char *version = api->library_version();
    int major = 0;
    int minor = 0;
    /* NOLINTNEXTLINE(cert-err34-c): a number too large is a wrong one all the same */
    if (version == NULL || sscanf(version, "v%d.%d", &major, &minor) != 2 || major != 1 || minor < 5) {
        return fdl_fail(error, FDL_FAILED, path, "'%s' is DuckDB %s; fdl needs 1.5 or a later 1.x", path,
                        version == NULL ? "of an unknown version" : version);
    }
    return FDL_OK;
}

static fdl_code load_from(const char *path, fdl_error *error) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        return fdl_fail(error, FDL_FAILED, path, "cannot load DuckDB from '%s': %s", path,
                        why == NULL ? "unknown reason" : why);
    }
    fdl_duck_api api;
    fdl_code code = resolve_symbols(library, path, &api, error);
    if (code == FDL_OK)
        code = check_version(path, &api, error);
    /* What the loader's own search found has a folder too. */
    Dl_info info;
    if (code == FDL_OK && dladdr(*(void **)&api.library_version, &info) != 0 && info.dli_fname != NULL)
        path = info.dli_fname;
    if (code == FDL_OK)
        code = fdl_str_copy(&loaded_path, path, error);
    if (code != FDL_OK) {
        dlclose(library);
        return code;
    }
    loaded_api = api;
    loaded = true;
    return FDL_OK;
}

/* Folder of the library or program this code is in, without a final '/'; "" when that cannot be told. */
static void own_folder(char out[PATH_MAX], bool of_program) {
    char path[PATH_MAX] = "";
    Dl_info info;
    out[0] = '\0';
    if (of_program) {
        ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
    } else if (dladdr((void *)&load_lock, &info) != 0 && info.dli_fname != NULL) {
        fdl_str_fit(path, sizeof path, info.dli_fname);
    }
    if (strchr(path, '/') == NULL || realpath(path, out) == NULL) {
        out[0] = '\0';
        return;
    }
    *strrchr(out, '/') = '\0';
}

/* Tries one place; a place where nothing is goes into `looked_at` and is FDL_NOT_FOUND. */
static fdl_code try_place(const char *folder, const char *rest, fdl_buf *looked_at, fdl_error *error) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s%s", folder, rest);
    if (length < 0 || (size_t)length >= sizeof path)
        return FDL_NOT_FOUND;
    if (fdl_file_exists(path))
        return load_from(path, error);
    fdl_error ignored;
    fdl_buf_add_format(looked_at, &ignored, "%s'%s'", looked_at->length == 0 ? "" : ", ", path);
    return FDL_NOT_FOUND;
}

static fdl_code load_from_usual_places(fdl_error *error) {
    fdl_buf looked_at;
    fdl_buf_init(&looked_at, LOOKED_AT_LIMIT_BYTES);
    char library_folder[PATH_MAX];
    char program_folder[PATH_MAX];
    own_folder(library_folder, false);
    own_folder(program_folder, true);
    if (strcmp(library_folder, program_folder) == 0)
        program_folder[0] = '\0';
    const char *const own[] = {library_folder, program_folder};
    static const char *const below[] = {"/deps/" LIBRARY_NAME, "/fdl/" LIBRARY_NAME, "/../lib/fdl/" LIBRARY_NAME};
    fdl_code code = FDL_NOT_FOUND;
    for (size_t i = 0; i < 6 && code == FDL_NOT_FOUND; i++)
        if (own[i / 3][0] != '\0')
            code = try_place(own[i / 3], below[i % 3], &looked_at, error);
    if (code == FDL_NOT_FOUND) {
        fdl_error ignored;
        void *found = dlopen(LIBRARY_NAME, RTLD_LAZY | RTLD_LOCAL);
        code = found == NULL ? FDL_NOT_FOUND : load_from(LIBRARY_NAME, error);
        if (found != NULL)
            dlclose(found);
        else
            fdl_buf_add_str(&looked_at, ", the loader's own search", &ignored);
    }
    const char *const system[] = {"/usr/local/lib/", "/usr/lib/"};
    for (size_t i = 0; i < 2 && code == FDL_NOT_FOUND; i++)
        code = try_place(system[i], LIBRARY_NAME, &looked_at, error);
    if (code == FDL_NOT_FOUND) {
        code = fdl_fail(error, FDL_FAILED, LIBRARY_NAME,
                        "no DuckDB library found (looked for %s); run 'make', which brings one, or name one with "
                        "--libduckdb or FDL_LIBDUCKDB (docs/internals/catalog.md)",
                        looked_at.data == NULL ? "nothing" : looked_at.data);
    }
    fdl_buf_clear(&looked_at);
    return code;
}

fdl_code fdl_duck_load(const fdl_context *context, const fdl_duck_api **out, const char **path, fdl_error *error) {
    fdl_code code = FDL_OK;
    pthread_mutex_lock(&load_lock);
    if (!loaded) {
        const char *named = context == NULL ? NULL : context->libduckdb;
        if (named == NULL || named[0] == '\0')
            named = getenv("FDL_LIBDUCKDB");
        code = named != NULL && named[0] != '\0' ? load_from(named, error) : load_from_usual_places(error);
    }
    if (code == FDL_OK) {
        *out = &loaded_api;
        *path = loaded_path;
    }
    pthread_mutex_unlock(&load_lock);
    return code;
}
