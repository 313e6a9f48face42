/*
 * conditions.c - RFC 9110, section 13, for reading.
 */
#include "host/conditions.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "host/microhttpd.h"
#include "util/http.h"
#include "util/text.h"

void fdl_http_etag(const char *store_etag, char out[FDL_HTTP_ETAG_BYTES]) {
    bool quoted = store_etag[0] == '"' || fdl_str_starts(store_etag, "W/");
    snprintf(out, FDL_HTTP_ETAG_BYTES, quoted || !store_etag[0] ? "%s" : "\"%s\"", store_etag);
}

void fdl_http_date_write(int64_t ms, char out[FDL_HTTP_DATE_BYTES]) {
    /* Not strftime: the names are English whatever the locale. */
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm t = {0};
    time_t seconds = (time_t)(ms / 1000);
    if (!gmtime_r(&seconds, &t))
        memset(&t, 0, sizeof t);
    snprintf(out, FDL_HTTP_DATE_BYTES, "%.3s, %02u %.3s %04u %02u:%02u:%02u GMT", days + 3 * t.tm_wday,
             (unsigned)t.tm_mday % 100, months + 3 * t.tm_mon, (unsigned)(t.tm_year + 1900) % 10000,
             (unsigned)t.tm_hour % 100, (unsigned)t.tm_min % 100, (unsigned)t.tm_sec % 100);
}

bool fdl_http_etag_listed(const char *header, const char *http_etag, bool weak) {
    if (!http_etag[0])
        return false;
    bool is_weak = fdl_str_starts(http_etag, "W/");
    if (is_weak && !weak)
        return false;
    const char *bare = is_weak ? http_etag + 2 : http_etag;
    size_t length = strlen(bare);
    for (const char *at = header;;) {
        at += strspn(at, " \t,");
        if (!*at)
            return false;
        if (*at == '*')
            return true;
        bool theirs_weak = fdl_str_starts(at, "W/");
        at += theirs_weak ? 2 : 0;
        /* An ETag in quotes may hold commas; one without ends at the next. */
        const char *end = *at == '"' ? strchr(at + 1, '"') : at + strcspn(at, " \t,");
        if (!end)
            return false;
        end += *at == '"';
        if ((weak || !theirs_weak) && (size_t)(end - at) == length && memcmp(at, bare, length) == 0)
            return true;
        at = end;
    }
}

/* Seconds are all that a date in HTTP has. */
static bool changed_since(int64_t modified_ms, const char *date) {
    int64_t since_ms = fdl_http_date(date);
    return since_ms == 0 || modified_ms == 0 || modified_ms / 1000 > since_ms / 1000;
}

unsigned fdl_host_get_status(const fdl_host_request *request, const char *http_etag, int64_t modified_ms) {
    const char *match = fdl_host_header(request, MHD_HTTP_HEADER_IF_MATCH);
    const char *unmodified = fdl_host_header(request, MHD_HTTP_HEADER_IF_UNMODIFIED_SINCE);
    const char *none_match = fdl_host_header(request, MHD_HTTP_HEADER_IF_NONE_MATCH);
    const char *modified = fdl_host_header(request, MHD_HTTP_HEADER_IF_MODIFIED_SINCE);
    if (match && !fdl_http_etag_listed(match, http_etag, false))
        return MHD_HTTP_PRECONDITION_FAILED;
    if (!match && unmodified && fdl_http_date(unmodified) && changed_since(modified_ms, unmodified))
        return MHD_HTTP_PRECONDITION_FAILED;
    if (none_match)
        return fdl_http_etag_listed(none_match, http_etag, true) ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK;
    return modified && !changed_since(modified_ms, modified) ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK;
}

bool fdl_host_range_holds(const fdl_host_request *request, const char *http_etag, int64_t modified_ms) {
    char date[FDL_HTTP_DATE_BYTES];
    const char *header = fdl_host_header(request, MHD_HTTP_HEADER_IF_RANGE);
    if (!header)
        return true;
    if (header[0] == '"' || fdl_str_starts(header, "W/"))
        return http_etag[0] == '"' && strcmp(header, http_etag) == 0;
    fdl_http_date_write(modified_ms, date);
    return modified_ms > 0 && strcmp(header, date) == 0;
}
