/*
 * http.h - HTTP exchanges over libcurl: one request, one answer, bytes streamed
 * both ways in flat memory.
 *
 * A client keeps connections alive between requests and may be used by several
 * threads at once.  It retries nothing and knows no status: whoever sends
 * decides what a 503 means.  Two things it does know, because only it can see
 * them: whether a failed request can have reached the server at all, and that
 * libcurl by itself sends a request again when a kept connection turns out dead,
 * which a conditional write must not survive twice (`once`).
 *
 * Environment: the usual proxy variables; HOME, for ~/.netrc; AWS_CA_BUNDLE, CURL_CA_BUNDLE and
 * SSL_CERT_FILE name other certificate authorities.
 */
#ifndef FDL_UTIL_HTTP_H
#define FDL_UTIL_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fdl/error.h"
#include "util/buf.h"

/* ---- headers ------------------------------------------------------------ */

/* What a server may send us; ours are far smaller. */
#define FDL_HTTP_HEADER_LIMIT 256
#define FDL_HTTP_HEADERS_LIMIT_BYTES (64u << 10)

typedef struct fdl_http_header {
    char *name;
    char *value;
} fdl_http_header;

/* In the order added.  Zeroed is empty. */
typedef struct fdl_http_headers {
    fdl_http_header *items;
    size_t count;
    size_t total_bytes;
} fdl_http_headers;

/* Copies both; a value with a line break is FDL_FAILED, since it would become a header of its own. */
fdl_code fdl_http_add(fdl_http_headers *headers, const char *name, const char *value, fdl_error *error);
fdl_code fdl_http_add_n(fdl_http_headers *headers, const char *name, size_t name_length, const char *value,
                        size_t value_length, fdl_error *error);
/* The first of that name, any case; NULL when there is none. */
const char *fdl_http_get(const fdl_http_headers *headers, const char *name);
void fdl_http_headers_clear(fdl_http_headers *headers);

/* "Sun, 06 Nov 1994 08:49:37 GMT" in milliseconds since 1970; 0 for NULL and for what is no date. */
int64_t fdl_http_date(const char *text);

/* ---- one exchange -------------------------------------------------------- */

/* The body of a request: memory, or a part of an open file. */
typedef struct fdl_http_body {
    const void *bytes;
    int fd;           /* read with pread where bytes is NULL */
    const char *path; /* what the file is called in errors */
    uint64_t offset_bytes;
    uint64_t length_bytes;
    void (*moved)(void *moved_data, int64_t bytes); /* as fdl_source's (fdl/store.h); may be NULL */
    void *moved_data;
} fdl_http_body;

/* How an exchange ended. */
typedef enum fdl_http_outcome {
    FDL_HTTP_ANSWERED, /* status, headers and the whole body are here */
    FDL_HTTP_NOT_SENT, /* no connection: the server has seen nothing */
    FDL_HTTP_HOPELESS, /* the same, and trying again will not help (certificates, bad addresses) */
    FDL_HTTP_LOST,     /* the connection broke or stalled: the server may have done it */
    FDL_HTTP_STOPPED   /* we ended it: begin or the sink failed, or the answer broke a rule of ours */
} fdl_http_outcome;

typedef struct fdl_http_response {
    fdl_http_outcome outcome;
    int status;
    fdl_http_headers headers;
    fdl_buf text;   /* the body, where it went to no sink */
    char host[256]; /* that answered, for messages */
} fdl_http_response;

void fdl_http_response_clear(fdl_http_response *response);

/*
 * Called once status and headers are here, before the body.  Anything but
 * FDL_OK ends the exchange, which returns that code.
 */
typedef fdl_code (*fdl_http_begin)(void *data, const fdl_http_response *response, fdl_error *error);

/* Takes the body in pieces; an fdl_sink (fdl/store.h) is one. */
typedef fdl_code (*fdl_http_sink)(void *data, const void *bytes, size_t length_bytes, fdl_error *error);

typedef struct fdl_http_request {
    const char *method;
    const char *url;
    const fdl_http_headers *headers;
    const fdl_http_body *body; /* NULL: none */
    bool once;                 /* never send it twice, not even when a kept connection was dead */
    bool follow;               /* redirects of GET and HEAD */
    bool netrc;                /* ~/.netrc may tell who we are, to the host of `url` alone */
    fdl_http_begin begin;      /* may be NULL */
    fdl_http_sink sink;        /* gets the body of a 2xx; NULL: it goes to response->text */
    void *data;                /* for begin and sink */
    size_t text_limit_bytes;   /* of response->text for a 2xx; 0: 64 KiB.  Longer is FDL_REFUSED */
    int idle_limit_s;          /* 0: the client's */
} fdl_http_request;

typedef struct fdl_http fdl_http;

typedef struct fdl_http_limits {
    int connect_s; /* 0: 20 */
    int idle_s;    /* 0: 60; less than 1 byte a second for so long ends it */
    int total_s;   /* 0: 24 hours, against a server that drips for ever */
} fdl_http_limits;

/* `limits` may be NULL. */
fdl_code fdl_http_open(const fdl_http_limits *limits, fdl_http **out, fdl_error *error);
void fdl_http_free(fdl_http *http);

/*
 * Sends and waits for the whole answer.  FDL_OK: answered, with whatever status.
 * Otherwise FDL_FAILED, or what begin or the sink returned; response->outcome
 * tells which kind.  `response` is zeroed first and cleared by the caller in
 * every case.  The body of an answer that is not 2xx is kept up to 64 KiB, the
 * rest dropped.
 *
 * A Content-Encoding on a 2xx is an error: ranges and lengths would mean
 * something else.  Redirects, at most five, never lead from https to http, and
 * only Range and Accept-Encoding go along to another host.
 */
fdl_code fdl_http_send(fdl_http *http, const fdl_http_request *request, fdl_http_response *response, fdl_error *error);

#endif
