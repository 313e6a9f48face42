/* curl.c - see curl.h. */
#include "util/curl.h"

#include "util/late.h"

fdl_curl_functions fdl_curl;

fdl_code fdl_curl_open(fdl_error *error) {
    static const fdl_late_symbol symbols[] = {
#define FDL_CURL_SYMBOL(name) {"curl_" #name, &fdl_curl.name},
        FDL_CURL_SYMBOLS(FDL_CURL_SYMBOL)
#undef FDL_CURL_SYMBOL
    };
    static fdl_late library = {.soname = FDL_SONAME_CURL, .symbols = symbols, .count = sizeof symbols / sizeof *symbols};
    return fdl_late_open(&library, error);
}
