/* microhttpd.c - see microhttpd.h. */
#include "host/microhttpd.h"

#include "util/late.h"

fdl_mhd_functions fdl_mhd;

fdl_code fdl_mhd_open(fdl_error *error) {
    static const fdl_late_symbol symbols[] = {
#define FDL_MHD_SYMBOL(name) {"MHD_" #name, &fdl_mhd.name},
        FDL_MHD_SYMBOLS(FDL_MHD_SYMBOL)
#undef FDL_MHD_SYMBOL
    };
    static fdl_late library = {.soname = FDL_SONAME_MICROHTTPD, .symbols = symbols, .count = sizeof symbols / sizeof *symbols};
    return fdl_late_open(&library, error);
}
