/* late.c - see late.h. */
#include "util/late.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t late_lock = PTHREAD_MUTEX_INITIALIZER;

bool fdl_late_fill(void *handle, const fdl_late_symbol *symbols, size_t count, const char **lacking) {
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(handle, symbols[i].name);
        *lacking = symbols[i].name;
        if (!address)
            return false;
        memcpy(symbols[i].slot, &address, sizeof address);
    }
    return true;
}

static fdl_code open_library(const fdl_late *library, fdl_error *error) {
    void *handle = dlopen(library->soname, RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        return fdl_fail(error, FDL_FAILED, library->soname, "cannot load '%s': %s; install it", library->soname,
                        why ? why : "unknown reason");
    }
    const char *lacking = NULL;
    if (!fdl_late_fill(handle, library->symbols, library->count, &lacking))
        return fdl_fail(error, FDL_FAILED, library->soname, "'%s' lacks '%s': install the release that fdl was built with",
                        library->soname, lacking);
    return FDL_OK;
}

fdl_code fdl_late_open(fdl_late *library, fdl_error *error) {
    pthread_mutex_lock(&late_lock);
    fdl_code code = library->open ? FDL_OK : open_library(library, error);
    library->open = code == FDL_OK;
    pthread_mutex_unlock(&late_lock);
    return code;
}
