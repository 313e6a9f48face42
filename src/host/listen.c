/*
 * listen.c - an address in words becomes a listening socket.
 */
#include "host/listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/file.h"
#include "util/text.h"

#define DEFAULT_ADDRESS "127.0.0.1:8080"
#define BACKLOG 1024

static fdl_code bad(const char *text, fdl_error *error) {
    return fdl_fail(error, FDL_USAGE, text, "'%s' is no address to listen on; write 127.0.0.1:8080, [::1]:8080 or :8080",
                    text);
}

static fdl_code look_up(const char *text, struct addrinfo **found, fdl_error *error) {
    char host[256] = "";
    const char *colon = strrchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    const char *start = text;
    if (length >= 2 && start[0] == '[' && start[length - 1] == ']') {
        start++;
        length -= 2;
    } else if (memchr(start, ':', length)) { /* an IPv6 address without brackets: which colon is the port's? */
        return bad(text, error);
    }
    size_t digits = colon ? strspn(colon + 1, "0123456789") : 0;
    if (length >= sizeof host || digits < 1 || digits > 5 || colon[1 + digits] || strtol(colon + 1, NULL, 10) > 65535)
        return bad(text, error);
    memcpy(host, start, length);
    struct addrinfo want = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    if (length == 0) /* takes IPv4 too, below */
        want.ai_family = AF_INET6;
    int why = getaddrinfo(length ? host : NULL, colon + 1, &want, found);
    if (why != 0 && length == 0) {
        want.ai_family = AF_INET;
        why = getaddrinfo(NULL, colon + 1, &want, found);
    }
    return why == 0 ? FDL_OK : bad(text, error);
}

static fdl_code open_socket(const char *text, const struct addrinfo *address, int *out, fdl_error *error) {
    int one = 1, zero = 0;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fdl_file_error(error, "listen on", text, errno);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (address->ai_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
    fdl_code code = FDL_OK;
    if (bind(fd, address->ai_addr, address->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0)
        code = errno == EADDRINUSE ? fdl_fail(error, FDL_BUSY, text, "somebody listens on '%s' already", text)
                                   : fdl_file_error(error, "listen on", text, errno);
    if (code == FDL_OK)
        *out = fd;
    else
        close(fd);
    return code;
}

static fdl_code write_url(int fd, bool tls, int *port, char **url, fdl_error *error) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[NI_MAXHOST], service[NI_MAXSERV];
    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0 ||
        getnameinfo((struct sockaddr *)&address, length, host, sizeof host, service, sizeof service,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return fdl_fail(error, FDL_FAILED, NULL, "cannot tell on which port to listen");
    bool six = strchr(host, ':') != NULL;
    *port = (int)strtol(service, NULL, 10);
    return fdl_str_format(url, error, "%s://%s%s%s:%d/", tls ? "https" : "http", six ? "[" : "", host, six ? "]" : "",
                          *port);
}

fdl_code fdl_host_listen(const char *text, bool tls, int *listener, int *port, char **url, fdl_error *error) {
    struct addrinfo *found = NULL;
    int fd = -1;
    text = text ? text : DEFAULT_ADDRESS;
    fdl_code code = look_up(text, &found, error);
    if (code == FDL_OK)
        code = open_socket(text, found, &fd, error);
    if (code == FDL_OK)
        code = write_url(fd, tls, port, url, error);
    if (code == FDL_OK)
        *listener = fd;
    else if (fd >= 0)
        close(fd);
    if (found)
        freeaddrinfo(found);
    return code;
}
