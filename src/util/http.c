/*
 * http.c - HTTP exchanges over libcurl.
 *
 * A client is a stack of idle curl handles.  Each handle keeps its own
 * connections, so taking the handle that was put back last is what keeps a
 * connection alive, and as many threads as like can send at once without
 * sharing anything but the stack.
 *
 * Of redirects we take the next address from curl and the decision ourselves:
 * which headers go along is a question of trust.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "fdl/version.h"
#include "util/curl.h"
#include "util/http.h"
#include "util/text.h"

enum {
    IDLE_LIMIT = 64, /* handles kept for reuse; more are closed */
    REDIRECT_LIMIT = 5,
    TEXT_LIMIT_BYTES = 64 << 10,
    PIECE_BYTES = 256 << 10, /* of curl's buffers: fewer system calls a megabyte */
    ASK_FIRST_BYTES = 1 << 20, /* a larger body is worth the round trip of "Expect: 100-continue" */
};

struct fdl_http {
    fdl_http_limits limits;
    const char *ca_file; /* the environment's */
    const char *ca_variable;
    pthread_mutex_t lock;
    CURL *idle[IDLE_LIMIT];
    size_t idle_count;
};

/* What curl's callbacks share while one request runs. */
typedef struct exchange {
    CURL *curl;
    const fdl_http_request *request;
    fdl_http_response *response;
    bool is_head;
    bool begun; /* headers are complete; what comes is body or trailers */
    uint64_t sent_bytes;
    fdl_code code; /* why we ended it */
    fdl_error *error;
    char curl_says[CURL_ERROR_SIZE];
} exchange;

/* ---- the client ---------------------------------------------------------- */

static CURLcode global_code;

static void init_curl(void) {
    global_code = fdl_curl.global_init(CURL_GLOBAL_DEFAULT);
}

fdl_code fdl_http_open(const fdl_http_limits *limits, fdl_http **out, fdl_error *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static const char *const variables[] = {"AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"};
    fdl_code code = fdl_curl_open(error);
    if (code != FDL_OK)
        return code;
    pthread_once(&once, init_curl);
    if (global_code != CURLE_OK)
        return fdl_fail(error, FDL_FAILED, NULL, "cannot start libcurl: %s", fdl_curl.easy_strerror(global_code));

    fdl_http *http;
    code = fdl_alloc(&http, 1, sizeof *http, error);
    if (code != FDL_OK)
        return code;
    if (pthread_mutex_init(&http->lock, NULL) != 0) {
        free(http);
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    }
    if (limits)
        http->limits = *limits;
    if (http->limits.connect_s <= 0)
        http->limits.connect_s = 20;
    if (http->limits.idle_s <= 0)
        http->limits.idle_s = 60;
    if (http->limits.total_s <= 0)
        http->limits.total_s = 24 * 60 * 60;
    for (size_t i = 0; i < sizeof variables / sizeof *variables && !http->ca_file; i++) {
        const char *file = getenv(variables[i]);
        if (file && *file) {
            http->ca_file = file;
            http->ca_variable = variables[i];
        }
    }
    *out = http;
    return FDL_OK;
}

void fdl_http_free(fdl_http *http) {
    if (!http)
        return;
    for (size_t i = 0; i < http->idle_count; i++)
        fdl_curl.easy_cleanup(http->idle[i]);
    pthread_mutex_destroy(&http->lock);
    free(http);
}

static CURL *take_handle(fdl_http *http) {
    CURL *curl = NULL;
    pthread_mutex_lock(&http->lock);
    if (http->idle_count > 0)
        curl = http->idle[--http->idle_count];
    pthread_mutex_unlock(&http->lock);
    return curl ? curl : fdl_curl.easy_init();
}

static void give_back(fdl_http *http, CURL *curl) {
    fdl_curl.easy_reset(curl); /* forgets the options, keeps the connections */
    pthread_mutex_lock(&http->lock);
    bool kept = http->idle_count < IDLE_LIMIT;
    if (kept)
        http->idle[http->idle_count++] = curl;
    pthread_mutex_unlock(&http->lock);
    if (!kept)
        fdl_curl.easy_cleanup(curl);
}

/* ---- what comes in -------------------------------------------------------- */

void fdl_http_response_clear(fdl_http_response *response) {
    if (!response)
        return;
    fdl_http_headers_clear(&response->headers);
    fdl_buf_clear(&response->text);
}

static bool success(int status) {
    return status >= 200 && status <= 299;
}

static bool redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* Lengths and ranges count the bytes sent, so those must be the bytes stored. */
static fdl_code check_plain(exchange *x) {
    const fdl_http_headers *headers = &x->response->headers;
    const char *encoding = fdl_http_get(headers, "Content-Encoding");
    /* "aws-chunked" is a leftover of some uploaders and changes nothing. */
    if (encoding && *encoding && strcasecmp(encoding, "identity") != 0 && strcasecmp(encoding, "aws-chunked") != 0)
        return fdl_fail(x->error, FDL_FAILED, NULL,
                        "'%s' sends the file compressed (content-encoding '%s'): turn that off for this repository",
                        x->response->host, encoding);
    if (x->request->sink && !x->is_head && !fdl_http_get(headers, "Content-Length") &&
        !fdl_http_get(headers, "Transfer-Encoding"))
        return fdl_fail(x->error, FDL_FAILED, NULL,
                        "'%s' sends a file without saying how long it is, so a cut could not be noticed",
                        x->response->host);
    return FDL_OK;
}

/* A write is never sent on: what it would mean there is not ours to guess. */
static bool follows(const fdl_http_request *request) {
    return request->follow && (strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0);
}

static fdl_code begin(exchange *x) {
    x->begun = true;
    if (follows(x->request) && redirect(x->response->status))
        return FDL_OK;
    fdl_code code = success(x->response->status) ? check_plain(x) : FDL_OK;
    if (code == FDL_OK && x->request->begin)
        code = x->request->begin(x->request->data, x->response, x->error);
    return code;
}

static fdl_code take_header(exchange *x, const char *line, size_t length) {
    const char *colon = memchr(line, ':', length);
    if (!colon || colon == line || *line == ' ' || *line == '\t')
        return FDL_OK;
    const char *value = colon + 1;
    const char *end = line + length;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return fdl_http_add_n(&x->response->headers, line, (size_t)(colon - line), value, (size_t)(end - value), x->error);
}

/* The three digits of "HTTP/1.1 200 OK"; 0 when there are none. */
static int status_of(const char *line, size_t length) {
    const char *space = memchr(line, ' ', length);
    if (!space || space + 4 > line + length)
        return 0;
    int status = 0;
    for (int i = 1; i <= 3; i++) {
        if (space[i] < '0' || space[i] > '9')
            return 0;
        status = status * 10 + (space[i] - '0');
    }
    return status;
}

/* curl hands over one line at a time, the status line and the empty one too, for interim answers (100) as well. */
static size_t on_header(char *bytes, size_t size, size_t count, void *data) {
    exchange *x = data;
    size_t length = size * count;
    while (length > 0 && (bytes[length - 1] == '\r' || bytes[length - 1] == '\n'))
        length--;
    if (x->begun)
        return size * count;
    if (length >= 12 && strncmp(bytes, "HTTP/", 5) == 0) {
        x->response->status = status_of(bytes, length);
        fdl_http_headers_clear(&x->response->headers);
    } else if (length > 0) {
        x->code = take_header(x, bytes, length);
    } else if (x->response->status >= 200) {
        x->code = begin(x);
    }
    return x->code == FDL_OK ? size * count : 0;
}

static fdl_code take_text(exchange *x, const char *bytes, size_t length) {
    fdl_buf *text = &x->response->text;
    size_t room = text->limit - text->length;
    if (length > room && success(x->response->status))
        return fdl_fail(x->error, FDL_REFUSED, NULL, "'%s' answers with more than %zu bytes", x->response->host,
                        text->limit);
    return fdl_buf_add(text, bytes, length < room ? length : room, x->error);
}

static size_t on_body(char *bytes, size_t size, size_t count, void *data) {
    exchange *x = data;
    size_t length = size * count;
    if (x->request->sink && success(x->response->status))
        x->code = x->request->sink(x->request->data, bytes, length, x->error);
    else
        x->code = take_text(x, bytes, length);
    return x->code == FDL_OK ? length : CURL_WRITEFUNC_ERROR;
}

/* ---- what goes out -------------------------------------------------------- */

static void tell_moved(const exchange *x, int64_t bytes) {
    const fdl_http_body *body = x->request->body;
    if (body && body->moved && bytes != 0)
        body->moved(body->moved_data, bytes);
}

static size_t on_read(char *out, size_t size, size_t count, void *data) {
    exchange *x = data;
    const fdl_http_body *body = x->request->body;
    uint64_t left = body->length_bytes - x->sent_bytes;
    size_t length = size * count < left ? size * count : (size_t)left;
    if (length == 0)
        return 0;
    if (body->bytes) {
        memcpy(out, (const char *)body->bytes + body->offset_bytes + x->sent_bytes, length);
    } else {
        ssize_t got;
        do {
            got = pread(body->fd, out, length, (off_t)(body->offset_bytes + x->sent_bytes));
        } while (got < 0 && errno == EINTR);
        if (got <= 0) {
            x->code = fdl_fail(x->error, FDL_FAILED, body->path, "cannot read '%s': %s", body->path,
                               got < 0 ? strerror(errno) : "it became shorter while it was sent");
            return CURL_READFUNC_ABORT;
        }
        length = (size_t)got;
    }
    tell_moved(x, (int64_t)length);
    x->sent_bytes += length;
    return length;
}

/* Lets curl send the body again by itself; not installed for requests that must not be sent twice. */
static int on_seek(void *data, curl_off_t offset, int origin) {
    exchange *x = data;
    if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > x->request->body->length_bytes)
        return CURL_SEEKFUNC_FAIL;
    tell_moved(x, (int64_t)offset - (int64_t)x->sent_bytes);
    x->sent_bytes = (uint64_t)offset;
    return CURL_SEEKFUNC_OK;
}

/*
 * When a kept connection dies before the first byte of an answer, curl sends the
 * request again on a new one.  For a request that counts once that is wrong: the
 * server may have done it.  Without a seek function curl cannot send a body
 * twice, and gives up; a request without a body gets a new connection, which
 * curl never retries.
 */
static void set_body(exchange *x) {
    const fdl_http_body *body = x->request->body;
    uint64_t length = body ? body->length_bytes : 0;
    if (body) {
        fdl_curl.easy_setopt(x->curl, CURLOPT_UPLOAD, 1L);
        fdl_curl.easy_setopt(x->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)length);
        fdl_curl.easy_setopt(x->curl, CURLOPT_READFUNCTION, on_read);
        fdl_curl.easy_setopt(x->curl, CURLOPT_READDATA, x);
        fdl_curl.easy_setopt(x->curl, CURLOPT_UPLOAD_BUFFERSIZE, (long)PIECE_BYTES);
    }
    if (x->request->once && length == 0)
        fdl_curl.easy_setopt(x->curl, CURLOPT_FRESH_CONNECT, 1L);
    if (body && !x->request->once) {
        fdl_curl.easy_setopt(x->curl, CURLOPT_SEEKFUNCTION, on_seek);
        fdl_curl.easy_setopt(x->curl, CURLOPT_SEEKDATA, x);
    }
}

static bool goes_to_strangers(const char *name) {
    return strcasecmp(name, "Range") == 0 || strcasecmp(name, "Accept-Encoding") == 0;
}

static bool append_line(struct curl_slist **list, const char *line) {
    struct curl_slist *longer = fdl_curl.slist_append(*list, line);
    if (longer)
        *list = longer;
    return longer != NULL;
}

/* `trusted`: the host is the one the request was made for. */
static fdl_code set_headers(exchange *x, bool trusted, struct curl_slist **list) {
    const fdl_http_body *body = x->request->body;
    bool complete = append_line(list, "Accept-Encoding: identity");
    if (complete && body && body->length_bytes <= (uint64_t)ASK_FIRST_BYTES) /* curl would ask before every PUT */
        complete = append_line(list, "Expect:");
    const fdl_http_headers *headers = x->request->headers;
    for (size_t i = 0; complete && headers && i < headers->count; i++) {
        const fdl_http_header *header = &headers->items[i];
        if (!trusted && !goes_to_strangers(header->name))
            continue;
        char *line;
        /* "Name;" is how curl is told of an empty value. */
        fdl_code code = *header->value ? fdl_str_format(&line, x->error, "%s: %s", header->name, header->value)
                                       : fdl_str_format(&line, x->error, "%s;", header->name);
        if (code != FDL_OK)
            return code;
        complete = append_line(list, line);
        free(line);
    }
    if (!complete)
        return fdl_fail(x->error, FDL_FAILED, NULL, "out of memory");
    fdl_curl.easy_setopt(x->curl, CURLOPT_HTTPHEADER, *list);
    return FDL_OK;
}

static void set_options(exchange *x, const fdl_http *http, const char *url) {
    CURL *curl = x->curl;
    long idle_s = x->request->idle_limit_s > 0 ? x->request->idle_limit_s : http->limits.idle_s;
    fdl_curl.easy_setopt(curl, CURLOPT_URL, url);
    fdl_curl.easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    fdl_curl.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    fdl_curl.easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    fdl_curl.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    fdl_curl.easy_setopt(curl, CURLOPT_NOPROGRESS, 1L);
    fdl_curl.easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    fdl_curl.easy_setopt(curl, CURLOPT_BUFFERSIZE, (long)PIECE_BYTES);
    fdl_curl.easy_setopt(curl, CURLOPT_USERAGENT, "fdl/" FDL_VERSION);
    fdl_curl.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)http->limits.connect_s);
    fdl_curl.easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    fdl_curl.easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, idle_s);
    fdl_curl.easy_setopt(curl, CURLOPT_TIMEOUT, (long)http->limits.total_s);
    if (http->ca_file)
        fdl_curl.easy_setopt(curl, CURLOPT_CAINFO, http->ca_file);
    fdl_curl.easy_setopt(curl, CURLOPT_ERRORBUFFER, x->curl_says);
    fdl_curl.easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    fdl_curl.easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    fdl_curl.easy_setopt(curl, CURLOPT_HEADERDATA, x);
    fdl_curl.easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    fdl_curl.easy_setopt(curl, CURLOPT_WRITEDATA, x);
    if (x->is_head)
        fdl_curl.easy_setopt(curl, CURLOPT_NOBODY, 1L);
    set_body(x);
    fdl_curl.easy_setopt(curl, CURLOPT_CUSTOMREQUEST, x->is_head ? NULL : x->request->method);
}

/* ---- how it ended --------------------------------------------------------- */

static fdl_http_outcome outcome_of(const exchange *x, CURLcode result) {
    if (x->code != FDL_OK || result == CURLE_OUT_OF_MEMORY)
        return FDL_HTTP_STOPPED;
    switch (result) {
    case CURLE_OK:
        return FDL_HTTP_ANSWERED;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_BAD_FUNCTION_ARGUMENT:
        return FDL_HTTP_HOPELESS;
    default:
        break;
    }
    long request_bytes = 0;
    fdl_curl.easy_getinfo(x->curl, CURLINFO_REQUEST_SIZE, &request_bytes);
    return request_bytes > 0 ? FDL_HTTP_LOST : FDL_HTTP_NOT_SENT;
}

static fdl_code tell_timeout(exchange *x, const fdl_http *http, const char *host) {
    if (x->response->outcome == FDL_HTTP_NOT_SENT)
        return fdl_fail(x->error, FDL_FAILED, NULL, "cannot connect to '%s' within %d s: check that it is up", host,
                        http->limits.connect_s);
    return fdl_fail(x->error, FDL_FAILED, NULL, "'%s' stopped answering: run it again", host);
}

/* One line for a person; curl's own words only where they say something that ours cannot. */
static fdl_code tell(exchange *x, const fdl_http *http, CURLcode result) {
    const char *host = x->response->host;
    long os_error = 0;
    fdl_curl.easy_getinfo(x->curl, CURLINFO_OS_ERRNO, &os_error);
    switch (result) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return fdl_fail(x->error, FDL_FAILED, NULL, "cannot find the host '%s': check the address and the network",
                        host);
    case CURLE_COULDNT_RESOLVE_PROXY:
        return fdl_fail(x->error, FDL_FAILED, NULL,
                        "cannot find the proxy on the way to '%s': check HTTPS_PROXY and HTTP_PROXY", host);
    case CURLE_COULDNT_CONNECT:
        return fdl_fail(x->error, FDL_FAILED, NULL, "cannot connect to '%s': %s; check that it is up", host,
                        os_error ? strerror((int)os_error) : "no route");
    case CURLE_PEER_FAILED_VERIFICATION:
        return fdl_fail(x->error, FDL_FAILED, NULL,
                        "cannot trust the certificate of '%s' (%s): name its authority in SSL_CERT_FILE", host,
                        x->curl_says);
    case CURLE_SSL_CACERT_BADFILE:
        return fdl_fail(x->error, FDL_FAILED, http->ca_file, "cannot read certificates from '%s': check %s",
                        http->ca_file ? http->ca_file : "the system's store",
                        http->ca_variable ? http->ca_variable : "the system's certificates");
    case CURLE_OPERATION_TIMEDOUT:
        return tell_timeout(x, http, host);
    case CURLE_OUT_OF_MEMORY:
        return fdl_fail(x->error, FDL_FAILED, NULL, "out of memory");
    default:
        return fdl_fail(x->error, FDL_FAILED, NULL, "the connection to '%s' broke (%s): run it again", host,
                        *x->curl_says ? x->curl_says : fdl_curl.easy_strerror(result));
    }
}

/* ---- sending -------------------------------------------------------------- */

/*
 * Writing to a connection that the other side has closed may raise SIGPIPE, and
 * whether it does depends on the TLS library.  The host program's handling of
 * the signal is not ours to change, so this thread looks away meanwhile.
 */
static CURLcode perform(CURL *curl) {
    static const struct timespec at_once = {0, 0};
    sigset_t pipe;
    sigset_t before;
    sigset_t pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    CURLcode result = fdl_curl.easy_perform(curl);
    if (!sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

/* "http://host:port/..." -> "host:port" */
static void name_host(fdl_http_response *response, const char *url) {
    const char *start = strstr(url, "://");
    start = start ? start + 3 : url;
    snprintf(response->host, sizeof response->host, "%.*s", (int)strcspn(start, "/?#"), start);
}

static void start_response(fdl_http_response *response, const fdl_http_request *request) {
    fdl_http_response_clear(response);
    *response = (fdl_http_response){.outcome = FDL_HTTP_STOPPED};
    fdl_buf_init(&response->text, request->text_limit_bytes ? request->text_limit_bytes : TEXT_LIMIT_BYTES);
    name_host(response, request->url);
}

/* One hop.  `*next` gets the address a redirect leads to, released with free(). */
static fdl_code send_to(fdl_http *http, const char *url, bool trusted, const fdl_http_request *request,
                        fdl_http_response *response, char **next, fdl_error *error) {
    struct curl_slist *list = NULL;
    exchange x = {.request = request, .response = response, .error = error};
    x.is_head = strcmp(request->method, "HEAD") == 0;
    x.curl = take_handle(http);
    if (!x.curl)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    set_options(&x, http, url);
    if (request->netrc && trusted)
        fdl_curl.easy_setopt(x.curl, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
    fdl_code code = set_headers(&x, trusted, &list);
    if (code != FDL_OK)
        goto done;

    CURLcode result = perform(x.curl);
    response->outcome = outcome_of(&x, result);
    if (response->outcome != FDL_HTTP_ANSWERED || !success(response->status))
        tell_moved(&x, -(int64_t)x.sent_bytes);
    if (response->outcome != FDL_HTTP_ANSWERED) {
        code = x.code != FDL_OK ? x.code : tell(&x, http, result);
        goto done;
    }
    char *target = NULL;
    if (redirect(response->status))
        fdl_curl.easy_getinfo(x.curl, CURLINFO_REDIRECT_URL, &target);
    code = fdl_str_copy(next, target, error);
done:
    give_back(http, x.curl);
    fdl_curl.slist_free_all(list);
    return code;
}

static bool same_origin(const char *a, const char *b) {
    const char *end_a = strstr(a, "://");
    const char *end_b = strstr(b, "://");
    if (!end_a || !end_b)
        return false;
    size_t length_a = (size_t)(end_a - a) + 3 + strcspn(end_a + 3, "/?#");
    size_t length_b = (size_t)(end_b - b) + 3 + strcspn(end_b + 3, "/?#");
    return length_a == length_b && strncasecmp(a, b, length_a) == 0;
}

static fdl_code check_hop(const char *from, const char *to, int hops, fdl_http_response *response, fdl_error *error) {
    response->outcome = FDL_HTTP_STOPPED;
    if (hops >= REDIRECT_LIMIT)
        return fdl_fail(error, FDL_FAILED, NULL, "'%s' redirects more than %d times: check the address", response->host,
                        REDIRECT_LIMIT);
    if (strncasecmp(to, "http://", 7) != 0 && strncasecmp(to, "https://", 8) != 0)
        return fdl_fail(error, FDL_FAILED, NULL, "'%s' redirects to '%.100s', which is no web address: not followed",
                        response->host, to);
    if (strncasecmp(from, "https:", 6) == 0 && strncasecmp(to, "https:", 6) != 0)
        return fdl_fail(error, FDL_FAILED, NULL, "'%s' redirects from https to an address that is not: not followed",
                        response->host);
    return FDL_OK;
}

fdl_code fdl_http_send(fdl_http *http, const fdl_http_request *request, fdl_http_response *response, fdl_error *error) {
    char *url = NULL;
    char *next = NULL;
    fdl_code code = FDL_OK;
    *response = (fdl_http_response){0};
    for (int hops = 0;; hops++) {
        start_response(response, request);
        const char *here = url ? url : request->url;
        name_host(response, here);
        code = send_to(http, here, same_origin(here, request->url), request, response, &next, error);
        if (code != FDL_OK || !follows(request) || !next)
            break;
        code = check_hop(here, next, hops, response, error);
        if (code != FDL_OK)
            break;
        free(url);
        url = next;
        next = NULL;
    }
    free(url);
    free(next);
    return code;
}
