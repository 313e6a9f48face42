/*
 * fuzz_etag.c - lists of ETags in If-Match and If-None-Match: one that is in the list is found wherever it stands,
 * and a strong comparison finds nothing that a weak one does not.  Up to the first line break the input is the
 * header, behind it an ETag as a store gives it.
 */
#include "fuzz.h"
#include "host/conditions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char etag[FDL_HTTP_ETAG_BYTES], longer[8192];
    char *text = fuzz_text(data, size);
    char *end = strchr(text, '\n');
    const char *given = end ? end + 1 : "x";
    if (end)
        *end = '\0';
    if (strlen(given) < FDL_ETAG_LIMIT_BYTES) {
        fdl_http_etag(given, etag);
        must(strlen(etag) < sizeof etag && (!*given || etag[0] == '"' || !strncmp(etag, "W/", 2)));
        bool weak = fdl_http_etag_listed(text, etag, true), strong = fdl_http_etag_listed(text, etag, false);
        must(weak || !strong);
        bool plain = *given && !strpbrk(given, "\"\\, \t/") && strlen(text) < 4096;
        if (plain) {
            snprintf(longer, sizeof longer, "\"other\", %s", etag);
            must(fdl_http_etag_listed(longer, etag, true) && fdl_http_etag_listed(longer, etag, false));
        }
    }
    free(text);
    return 0;
}
