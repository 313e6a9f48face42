/*
 * tokens.h - who asks, by the token file.
 *
 *   name role $sha256$<salt>$<sha256 of salt and token, in hex>
 *   name role token                                               (accepted, with a warning)
 *
 * Read again when it changes, looked at no more than once a second, so that a
 * token is revoked by taking its line out.
 */
#ifndef FDL_HOST_TOKENS_H
#define FDL_HOST_TOKENS_H

#include <pthread.h>
#include <sys/stat.h>

#include "fdl/context.h"
#include "host/request.h"

typedef struct fdl_host_token {
    char name[FDL_HOST_NAME_BYTES];
    fdl_host_role role;
    char salt[33];
    char hash[65]; /* of the salt's text and the token */
} fdl_host_token;

typedef struct fdl_host_tokens {
    const fdl_context *context;
    const char *path; /* NULL: no token is known */
    pthread_rwlock_t lock; /* guards what follows */
    fdl_host_token *items;
    size_t count;
    struct stat seen;
    int64_t looked_ms;
} fdl_host_tokens;

/* A file that cannot be read, or a line that is none, is FDL_FAILED here; later a warning, and such a line is no token. */
fdl_code fdl_host_tokens_open(fdl_host_tokens *tokens, const fdl_context *context, const char *path, fdl_error *error);
void fdl_host_tokens_close(fdl_host_tokens *tokens);

/* FDL_ROLE_NONE: nobody's token.  `who` gets the name. */
fdl_host_role fdl_host_tokens_find(fdl_host_tokens *tokens, const char *token, char who[FDL_HOST_NAME_BYTES]);

#endif
