/*
 * site.c - the pages as files, for any web server.
 */
#include <stdlib.h>
#include <string.h>

#include "fdl.h"
#include "page/page.h"
#include "util/file.h"
#include "util/options.h"
#include "util/text.h"

typedef struct site {
    fdl_repo *repo;
    const char *folder;
    fdl_page_options options;
    size_t pages;
} site;

static fdl_code write_file(const site *s, const char *name, const char *bytes, size_t length, fdl_error *error) {
    char *path = NULL;
    fdl_code code = fdl_str_format(&path, error, "%s/%s", s->folder, name);
    if (code == FDL_OK)
        code = fdl_file_write(path, bytes, length, error);
    free(path);
    return code;
}

static fdl_code write_page(site *s, const char *revision, const char *name, fdl_error *error) {
    char *bytes = NULL;
    size_t length = 0;
    fdl_code code = fdl_page(s->repo, revision, &s->options, &bytes, &length, error);
    if (code == FDL_OK)
        code = write_file(s, name, bytes, length, error);
    s->pages += code == FDL_OK;
    free(bytes);
    return code;
}

static fdl_code write_version(site *s, const char *id, fdl_error *error) {
    char *name = NULL;
    fdl_code code = fdl_str_format(&name, error, "version-%s.html", id);
    if (code == FDL_OK)
        code = write_page(s, id, name, error);
    free(name);
    return code;
}

static fdl_code write_logged(void *data, const fdl_version *version, const fdl_expiry *expiry, fdl_error *error) {
    (void)expiry;
    return write_version(data, version->id, error);
}

/* What branches and tags name need not be in HEAD's history. */
static fdl_code write_refs(site *s, fdl_error *error) {
    fdl_ref_list refs = {0};
    fdl_code code = fdl_refs_json_read(s->repo, &refs, error);
    if (code == FDL_NOT_FOUND)
        return FDL_OK;
    for (size_t i = 0; code == FDL_OK && i < refs.count; i++)
        code = write_version(s, refs.items[i].id, error);
    fdl_ref_list_clear(&refs);
    return code;
}

fdl_code fdl_site(fdl_repo *repo, const char *folder, const fdl_page_options *options, size_t *pages,
                  fdl_error *error) {
    site s = {.repo = repo, .folder = folder, .options = *FDL_OPTIONS(fdl_page_options, options)};
    s.options.files = true;
    fdl_code code = fdl_folder_make(folder, error);
    if (code == FDL_OK)
        code = write_page(&s, NULL, "index.html", error);
    if (code == FDL_OK)
        code = fdl_log(repo, NULL, FDL_PAGE_HISTORY, write_logged, &s, error);
    if (code == FDL_OK)
        code = write_refs(&s, error);
    if (code == FDL_OK)
        code = write_file(&s, "fdl.css", fdl_page_style(), strlen(fdl_page_style()), error);
    if (code == FDL_OK)
        code = write_file(&s, "fdl.js", fdl_page_script(), strlen(fdl_page_script()), error);
    *pages = s.pages;
    return code;
}
