/*
 * tokens.c - the token file.
 *
 * A token is looked up by its salted hash, line by line to the last, so that the
 * time tells nothing; a plain line is hashed with a salt when it is read, and
 * its token kept nowhere.
 */
#include "host/tokens.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fdl/host.h"
#include "util/buf.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

#define FILE_LIMIT_BYTES (1u << 20)
#define TOKENS_LIMIT 1000
#define TOKEN_LIMIT_BYTES 256
#define LOOK_AGAIN_MS 1000
#define SALT_BYTES 16
#define HASHED "$sha256$"

static const struct {
    const char *name;
    fdl_host_role role;
} roles[] = {{"read", FDL_ROLE_READ}, {"write", FDL_ROLE_WRITE}, {"approve", FDL_ROLE_APPROVE}};

static fdl_host_role role_of(const char *name) {
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(name, roles[i].name) == 0)
            return roles[i].role;
    return FDL_ROLE_NONE;
}

static fdl_code hash_of(const char *salt, const char *token, char out[65], fdl_error *error) {
    char both[33 + TOKEN_LIMIT_BYTES];
    int length = snprintf(both, sizeof both, "%s%s", salt, token);
    if (length < 0 || (size_t)length >= sizeof both)
        return fdl_fail(error, FDL_USAGE, NULL, "a token has at most %d bytes", TOKEN_LIMIT_BYTES - 1);
    return fdl_sha256_bytes(both, (size_t)length, out, error);
}

/* ---- reading ------------------------------------------------------------------ */

static bool is_hex(const char *text, size_t length) {
    return strlen(text) == length && strspn(text, "0123456789abcdef") == length;
}

/* "<salt>$<hash>" */
static bool take_hash(fdl_host_token *token, char *text) {
    char *hash = strchr(text, '$');
    if (!hash)
        return false;
    *hash++ = '\0';
    return is_hex(text, 2 * SALT_BYTES) && is_hex(hash, 64) && fdl_str_fit(token->salt, sizeof token->salt, text) &&
           fdl_str_fit(token->hash, sizeof token->hash, hash);
}

/* One line without its end; false: it is none.  An empty one, or a comment, leaves the name empty. */
static bool take_line(const fdl_host_tokens *tokens, char *line, fdl_host_token *out) {
    char *rest = NULL;
    *out = (fdl_host_token){0};
    char *name = strtok_r(line, " \r", &rest);
    if (!name || name[0] == '#')
        return true;
    char *role = strtok_r(NULL, " \r", &rest);
    char *secret = strtok_r(NULL, " \r", &rest);
    char *more = strtok_r(NULL, " \r", &rest);
    out->role = role ? role_of(role) : FDL_ROLE_NONE;
    if (!secret || more || out->role == FDL_ROLE_NONE ||
        !fdl_str_fit(out->name, sizeof out->name, name))
        return false;
    if (fdl_str_starts(secret, HASHED))
        return take_hash(out, secret + strlen(HASHED));
    fdl_note(tokens->context, FDL_NOTE_WARNING,
             "the token of '%s' stands in '%s' for all to read: make it anew with --add-token", out->name, tokens->path);
    return fdl_random_hex(SALT_BYTES, out->salt, NULL) == FDL_OK &&
           hash_of(out->salt, secret, out->hash, NULL) == FDL_OK;
}

/* What the file holds; a line that is none fails, but the others are handed out all the same. */
static fdl_code read_tokens(const fdl_host_tokens *tokens, fdl_host_token **items, size_t *count, fdl_error *error) {
    char *text = NULL;
    size_t length;
    fdl_code code = fdl_file_read(tokens->path, FILE_LIMIT_BYTES, &text, &length, error);
    fdl_code found = FDL_OK;
    char *next = text;
    for (int number = 1; code == FDL_OK && next; number++) {
        fdl_host_token token;
        char *line = strsep(&next, "\n");
        if (!take_line(tokens, line, &token))
            found = fdl_fail(error, FDL_FAILED, tokens->path, "line %d of '%s' is no token: write 'name role token'",
                             number, tokens->path);
        else if (token.name[0] && *count == TOKENS_LIMIT)
            code = fdl_fail(error, FDL_FAILED, tokens->path, "'%s' holds more than %d tokens", tokens->path,
                            TOKENS_LIMIT);
        else if (token.name[0] && (code = fdl_grow(items, *count, sizeof **items, error)) == FDL_OK)
            (*items)[(*count)++] = token;
    }
    free(text);
    return code != FDL_OK ? code : found;
}

/* Under the lock.  A file that is gone, or cannot be read, holds no token. */
static fdl_code read_again(fdl_host_tokens *tokens, fdl_error *error) {
    free(tokens->items);
    tokens->items = NULL;
    tokens->count = 0;
    return read_tokens(tokens, &tokens->items, &tokens->count, error);
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

fdl_code fdl_host_tokens_open(fdl_host_tokens *tokens, const fdl_context *context, const char *path, fdl_error *error) {
    *tokens = (fdl_host_tokens){.context = context, .path = path};
    pthread_rwlock_init(&tokens->lock, NULL);
    if (!path)
        return FDL_OK;
    if (stat(path, &tokens->seen) != 0)
        return fdl_file_error(error, "read", path, errno);
    tokens->looked_ms = fdl_now_ms();
    return read_again(tokens, error);
}

void fdl_host_tokens_close(fdl_host_tokens *tokens) {
    free(tokens->items);
    tokens->items = NULL;
    pthread_rwlock_destroy(&tokens->lock);
}

static void look_again(fdl_host_tokens *tokens) {
    fdl_error error;
    int64_t now = fdl_now_ms();
    pthread_rwlock_wrlock(&tokens->lock);
    if (now - tokens->looked_ms >= LOOK_AGAIN_MS || now < tokens->looked_ms) {
        struct stat now_there = {0};
        (void)stat(tokens->path, &now_there);
        tokens->looked_ms = now;
        if (!same_file(&now_there, &tokens->seen)) {
            tokens->seen = now_there;
            if (read_again(tokens, &error) != FDL_OK)
                fdl_note(tokens->context, FDL_NOTE_WARNING, "%s", error.message);
        }
    }
    pthread_rwlock_unlock(&tokens->lock);
}

/* ---- looking up ----------------------------------------------------------------- */

/* Takes as long for every pair. */
static bool same_hash(const char *a, const char *b) {
    unsigned char differs = 0;
    for (size_t i = 0; i < 64; i++)
        differs |= (unsigned char)(a[i] ^ b[i]);
    return differs == 0;
}

fdl_host_role fdl_host_tokens_find(fdl_host_tokens *tokens, const char *token, char who[FDL_HOST_NAME_BYTES]) {
    fdl_host_role role = FDL_ROLE_NONE;
    if (!tokens->path)
        return role;
    pthread_rwlock_rdlock(&tokens->lock);
    int64_t age_ms = fdl_now_ms() - tokens->looked_ms;
    pthread_rwlock_unlock(&tokens->lock);
    if (age_ms >= LOOK_AGAIN_MS || age_ms < 0)
        look_again(tokens);
    pthread_rwlock_rdlock(&tokens->lock);
    for (size_t i = 0; i < tokens->count; i++) {
        char hash[65];
        const fdl_host_token *known = &tokens->items[i];
        if (hash_of(known->salt, token, hash, NULL) == FDL_OK && same_hash(hash, known->hash)) {
            role = known->role;
            (void)fdl_str_fit(who, FDL_HOST_NAME_BYTES, known->name);
        }
    }
    pthread_rwlock_unlock(&tokens->lock);
    return role;
}

/* ---- a new one ------------------------------------------------------------------ */

/* Whether the file, open for appending, has that name already, and ends within a line. */
static fdl_code look_at(const char *file, const char *name, bool *open_line, fdl_error *error) {
    fdl_host_token token;
    char *text = NULL;
    size_t length = 0;
    fdl_host_tokens quiet = {.path = file};
    fdl_code code = fdl_file_read(file, FILE_LIMIT_BYTES, &text, &length, error);
    *open_line = length > 0 && text[length - 1] != '\n';
    char *next = text;
    while (code == FDL_OK && next) {
        char *line = strsep(&next, "\n");
        if (take_line(&quiet, line, &token) && strcmp(token.name, name) == 0)
            code = fdl_fail(error, FDL_CONFLICT, name, "'%s' has a token of '%s' already; take its line out first", file,
                            name);
    }
    free(text);
    return code;
}

static bool is_name(const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if (!isgraph((unsigned char)name[i]) || strchr("#$\"\\", name[i]))
            return false;
    return length > 0 && length < FDL_HOST_NAME_BYTES;
}

fdl_code fdl_host_token_add(const char *file, const char *name, const char *role, char token[FDL_HOST_TOKEN_BYTES],
                            fdl_error *error) {
    char salt[2 * SALT_BYTES + 1], hash[65], secret[41];
    fdl_buf line;
    int fd = -1;
    bool open_line = false;
    fdl_buf_init(&line, 1024);
    fdl_code code = FDL_OK;
    if (!is_name(name))
        return fdl_fail(error, FDL_USAGE, name, "'%s' cannot name a token: at most 63 letters, digits and signs", name);
    if (role_of(role) == FDL_ROLE_NONE)
        return fdl_fail(error, FDL_USAGE, role, "'%s' is no role; use read, write or approve", role);
    fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return fdl_file_error(error, "write", file, errno);
    code = look_at(file, name, &open_line, error);
    if (code == FDL_OK)
        code = fdl_random_hex(20, secret, error);
    if (code == FDL_OK)
        code = fdl_random_hex(SALT_BYTES, salt, error);
    if (code != FDL_OK)
        goto done;
    snprintf(token, FDL_HOST_TOKEN_BYTES, "fdl_%s", secret);
    code = hash_of(salt, token, hash, error);
    if (code == FDL_OK)
        code = fdl_buf_add_format(&line, error, "%s%s %s " HASHED "%s$%s\n", open_line ? "\n" : "", name, role, salt,
                                  hash);
    if (code == FDL_OK)
        code = fdl_fd_write(fd, file, line.data, line.length, error);
    if (code == FDL_OK) {
        code = fdl_fd_finish(fd, file, error);
        fd = -1;
    }
done:
    if (fd >= 0)
        close(fd);
    fdl_buf_clear(&line);
    return code;
}
