/*
 * pages.c - see pages.h.
 */
#include "host/pages.h"

#include <stdlib.h>
#include <string.h>

#include "fdl/page.h"
#include "host/answer.h"
#include "host/host.h"
#include "util/ident.h"
#include "util/text.h"
#include "util/url.h"

/* ---- where the reader sees us ------------------------------------------------------ */

/* As the request says; one that says it oddly gets the address that we listen on. */
static fdl_code root_of(const fdl_host_request *request, char **out, fdl_error *error) {
    const char *name = fdl_host_header(request, MHD_HTTP_HEADER_HOST);
    const char *scheme = request->host->options.tls_key ? "https" : "http";
    fdl_url url = {0};
    fdl_error odd;
    fdl_code code = fdl_str_format(out, error, "%s://%s/", scheme, name ? name : "");
    if (code == FDL_OK && (!name || fdl_url_parse(*out, &url, &odd) != FDL_OK || strcmp(url.path, "/") != 0)) {
        free(*out);
        *out = NULL;
        code = fdl_str_copy(out, request->host->url, error);
    }
    fdl_url_clear(&url);
    return code;
}

/* What fdl.json says of it is right also behind a proxy. */
static fdl_code choose_root(const fdl_host_request *request, char **out, fdl_error *error) {
    const fdl_config *config = NULL;
    fdl_code code = fdl_repo_config(request->repo, &config, error);
    if (code == FDL_OK && !config->url)
        code = root_of(request, out, error);
    return code;
}

/* ---- answers ------------------------------------------------------------------------- */

static void add_headers(fdl_host_request *request) {
    fdl_answer_header(request, "Content-Security-Policy", fdl_page_policy());
    fdl_answer_header(request, "Referrer-Policy", "no-referrer");
}

/* "" is the newest version, "version=<id>" another. */
static fdl_code wanted(const fdl_host_request *request, const char **id, fdl_error *error) {
    static const char word[] = "version=";
    *id = NULL;
    if (!request->query[0])
        return FDL_OK;
    *id = request->query + sizeof word - 1;
    return fdl_str_starts(request->query, word) && fdl_uuid_valid(*id)
               ? FDL_OK
               : fdl_fail(error, FDL_NOT_FOUND, NULL, "there is no page of that name; '?version=ID' is one of a version");
}

fdl_code fdl_host_page_answer(fdl_host_request *request, fdl_error *error) {
    const char *id = NULL;
    char *root = NULL, *page = NULL;
    size_t length = 0;
    fdl_code code = wanted(request, &id, error);
    if (code == FDL_OK)
        code = choose_root(request, &root, error);
    fdl_page_options options = {.root = root};
    if (code == FDL_OK)
        code = fdl_page(request->repo, id, &options, &page, &length, error);
    if (code == FDL_OK)
        code = fdl_answer_bytes(request, MHD_HTTP_OK, "text/html; charset=utf-8", page, length, error);
    if (code == FDL_OK)
        add_headers(request);
    free(page);
    free(root);
    return code;
}

fdl_code fdl_host_page_file_answer(fdl_host_request *request, fdl_error *error) {
    bool is_style = fdl_str_ends(request->key, ".css");
    const char *bytes = is_style ? fdl_page_style() : fdl_page_script();
    fdl_code code = fdl_answer_bytes(request, MHD_HTTP_OK, is_style ? "text/css" : "text/javascript", bytes,
                                     strlen(bytes), error);
    if (code == FDL_OK)
        add_headers(request);
    return code;
}
