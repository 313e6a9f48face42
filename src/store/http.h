/*
 * http.h - what an fdl host can do beyond the store contract: answer a question.
 */
#ifndef FDL_STORE_HTTP_H
#define FDL_STORE_HTTP_H

#include "fdl/store.h"

/*
 * Sends `method` to "<key>?<word>" ("" is the root) with a JSON body (NULL:
 * none), once, and hands out the answer's body, released with free().
 * FDL_UNSUPPORTED: this store is no host, or one that does not know the word.
 */
fdl_code fdl_http_ask(fdl_store *store, const char *method, const char *key, const char *word, const char *body,
                      char **out, size_t *length_bytes, fdl_error *error);

#endif
