/*
 * crypto.h - libcrypto, opened late (util/late.h): each function has its own name in fdl_crypto.
 */
#ifndef FDL_UTIL_CRYPTO_H
#define FDL_UTIL_CRYPTO_H

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "fdl/error.h"

#define FDL_CRYPTO_SYMBOLS(USE) \
    USE(EVP_DigestFinal_ex) USE(EVP_DigestInit_ex) USE(EVP_DigestUpdate) USE(EVP_EncodeBlock) \
    USE(EVP_MD_CTX_free) USE(EVP_MD_CTX_new) USE(EVP_md5) USE(EVP_sha256) USE(HMAC) USE(OPENSSL_hexstr2buf) \
    USE(CRYPTO_free)

typedef struct fdl_crypto_functions {
#define FDL_CRYPTO_SYMBOL(name) __typeof__(name) *name;
    FDL_CRYPTO_SYMBOLS(FDL_CRYPTO_SYMBOL)
#undef FDL_CRYPTO_SYMBOL
} fdl_crypto_functions;

/* Filled once fdl_crypto_open has succeeded. */
extern fdl_crypto_functions fdl_crypto;

fdl_code fdl_crypto_open(fdl_error *error);

#endif
