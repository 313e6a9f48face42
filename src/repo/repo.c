/*
 * repo.c - a repository is an address until somebody asks it something.
 *
 * Opening reads nothing.  fdl.json is read the first time its content matters,
 * and not at all on the way from a ref to a catalog's URL.
 */
#include <stdlib.h>
#include <string.h>

#include "repo/internal.h"
#include "util/buf.h"
#include "util/text.h"
#include "util/url.h"

#define URL_LIMIT_BYTES 16384u

fdl_code fdl_repo_open_store(const fdl_context *context, fdl_store *store, fdl_repo **out, fdl_error *error) {
    fdl_repo *repo = NULL;
    fdl_code code = fdl_alloc(&repo, 1, sizeof *repo, error);
    if (code != FDL_OK) {
        fdl_store_free(store);
        return code;
    }
    repo->context = context;
    repo->store = store;
    *out = repo;
    return FDL_OK;
}

fdl_code fdl_repo_open(const fdl_context *context, const char *address, fdl_repo **out, fdl_error *error) {
    fdl_store *store = NULL;
    fdl_code code = fdl_store_open(context, address, &store, error);
    return code == FDL_OK ? fdl_repo_open_store(context, store, out, error) : code;
}

void fdl_repo_free(fdl_repo *repo) {
    if (!repo)
        return;
    fdl_store_free(repo->store);
    fdl_config_file_clear(&repo->config);
    free(repo);
}

fdl_store *fdl_repo_store(fdl_repo *repo) {
    return repo->store;
}

const fdl_context *fdl_repo_context(const fdl_repo *repo) {
    return repo->context;
}

const char *fdl_repo_address(const fdl_repo *repo) {
    return repo->store->address;
}

fdl_code fdl_not_a_repository(const fdl_repo *repo, fdl_error *error) {
    const char *address = fdl_repo_address(repo);
    return fdl_fail(error, FDL_NOT_FOUND, address, "'%s' is not a repository; make one with 'fdl init %s'", address,
                    address);
}

fdl_code fdl_repo_config(fdl_repo *repo, const fdl_config **out, fdl_error *error) {
    if (!repo->config.document) {
        char *bytes = NULL;
        size_t length = 0;
        fdl_error rule = {0};
        fdl_code code =
            fdl_document_read(repo, FDL_KEY_CONFIG, FDL_LIMIT_CONFIG_BYTES, &bytes, &length, NULL, error);
        if (code == FDL_NOT_FOUND)
            return fdl_not_a_repository(repo, error);
        if (code == FDL_OK) {
            code = fdl_config_parse(bytes, length, &repo->config, &rule);
            /* What somebody typed would be a usage error; what stands in a file is a broken file. */
            if (code != FDL_OK)
                code = fdl_fail(error, FDL_FAILED, FDL_KEY_CONFIG, "%s%s",
                                code == FDL_USAGE ? "'" FDL_KEY_CONFIG "' is broken: " : "", rule.message);
        }
        free(bytes);
        if (code != FDL_OK)
            return code;
    }
    *out = &repo->config.fields;
    return FDL_OK;
}

/* ---- addresses ---------------------------------------------------------- */

fdl_code fdl_key_url(const char *root, const char *key, char **out, fdl_error *error) {
    bool encode = fdl_str_starts(root, "http://") || fdl_str_starts(root, "https://");
    fdl_buf url;
    fdl_buf_init(&url, URL_LIMIT_BYTES);
    fdl_code code = fdl_buf_add_str(&url, root, error);
    if (code == FDL_OK)
        code = encode ? fdl_url_add_path(&url, key, error) : fdl_buf_add_str(&url, key, error);
    if (code == FDL_OK) {
        *out = fdl_buf_detach(&url, NULL);
        if (!*out)
            code = fdl_fail(error, FDL_FAILED, key, "out of memory");
    }
    fdl_buf_clear(&url);
    return code;
}

fdl_code fdl_version_url(fdl_repo *repo, const char *id, const char *path, char **out, fdl_error *error) {
    char key[FDL_KEY_BYTES];
    fdl_code code = fdl_key_version(key, id, path, error);
    return code == FDL_OK ? fdl_key_url(fdl_repo_address(repo), key, out, error) : code;
}

fdl_code fdl_data_url(fdl_repo *repo, char **out, fdl_error *error) {
    const fdl_config *config = NULL;
    fdl_code code = fdl_repo_config(repo, &config, error);
    return code == FDL_OK ? fdl_key_url(fdl_repo_address(repo), config->data_dir, out, error) : code;
}
