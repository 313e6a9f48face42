/*
 * curl.h - libcurl, opened late (util/late.h): `curl_easy_cleanup` is fdl_curl.easy_cleanup.
 */
#ifndef FDL_UTIL_CURL_H
#define FDL_UTIL_CURL_H

#include <curl/curl.h>

#include "fdl/error.h"

#define FDL_CURL_SYMBOLS(USE) \
    USE(easy_cleanup) USE(easy_getinfo) USE(easy_init) USE(easy_perform) USE(easy_reset) USE(easy_setopt) \
    USE(easy_strerror) USE(free) USE(getdate) USE(global_init) USE(slist_append) USE(slist_free_all) USE(url) \
    USE(url_cleanup) USE(url_get) USE(url_set)

typedef struct fdl_curl_functions {
#define FDL_CURL_SYMBOL(name) __typeof__(curl_##name) *name;
    FDL_CURL_SYMBOLS(FDL_CURL_SYMBOL)
#undef FDL_CURL_SYMBOL
} fdl_curl_functions;

/* Filled once fdl_curl_open has succeeded. */
extern fdl_curl_functions fdl_curl;

fdl_code fdl_curl_open(fdl_error *error);

#endif
