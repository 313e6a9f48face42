/* crypto.c - see crypto.h. */
#include "util/crypto.h"

#include "util/late.h"

fdl_crypto_functions fdl_crypto;

fdl_code fdl_crypto_open(fdl_error *error) {
    static const fdl_late_symbol symbols[] = {
#define FDL_CRYPTO_SYMBOL(name) {#name, &fdl_crypto.name},
        FDL_CRYPTO_SYMBOLS(FDL_CRYPTO_SYMBOL)
#undef FDL_CRYPTO_SYMBOL
    };
    static fdl_late library = {.soname = FDL_SONAME_CRYPTO, .symbols = symbols, .count = sizeof symbols / sizeof *symbols};
    return fdl_late_open(&library, error);
}
