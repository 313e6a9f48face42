/* common.c - see fuzz.h. */
#include "fuzz.h"

static const fdl_context context;

char *fuzz_text(const uint8_t *data, size_t size) {
    size_t length = strnlen((const char *)data, size);
    char *text = malloc(length + 1);
    must(text);
    memcpy(text, data, length);
    text[length] = '\0';
    return text;
}

void fuzz_put(fdl_repo *repo, const char *key, const void *bytes, size_t size) {
    fdl_error error;
    fdl_source source = {.bytes = size ? bytes : "", .length_bytes = size};
    must(fdl_store_put(fdl_repo_store(repo), key, &source, (fdl_condition){0}, NULL, &error) == FDL_OK);
}

fdl_repo *fuzz_repo(const char *key, const void *bytes, size_t size) {
    static const char config[] = "{\"fdl\": \"0.1\", \"data_dir\": \"data/\"}";
    static const char head[] = "ref: refs/heads/main\n";
    fdl_store *store = NULL;
    fdl_repo *repo = NULL;
    fdl_error error;
    must(fdl_store_open_memory(&context, &store, &error) == FDL_OK);
    must(fdl_repo_open_store(&context, store, &repo, &error) == FDL_OK);
    fuzz_put(repo, "fdl.json", config, sizeof config - 1);
    fuzz_put(repo, "HEAD", head, sizeof head - 1);
    if (key)
        fuzz_put(repo, key, bytes, size);
    return repo;
}

int fuzz_path_is_inside(const char *path) {
    if (!*path)
        return 0;
    for (const char *part = path;; part++) {
        size_t length = strcspn(part, "/");
        if (length == 0 || strncmp(part, "..", length) == 0) /* "." and ".." both begin so */
            return 0;
        for (size_t i = 0; i < length; i++)
            if ((unsigned char)part[i] < 0x20 || part[i] == 0x7f)
                return 0;
        part += length;
        if (!*part)
            return 1;
    }
}

void fuzz_check_error(fdl_code code, const fdl_error *error) {
    if (code == FDL_OK)
        return;
    must(error->code == code);
    must(*error->message);
    for (const char *c = error->message; *c; c++)
        must((unsigned char)*c >= 0x20 && *c != 0x7f);
}
