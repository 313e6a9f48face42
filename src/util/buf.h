/*
 * buf.h - bytes that grow, up to a limit named at birth.
 *
 * Always NUL-terminated, so `data` is a C string when no NUL was added.  A buf
 * that reached its limit or ran out of memory keeps what it had; the error says
 * which.
 */
#ifndef FDL_UTIL_BUF_H
#define FDL_UTIL_BUF_H

#include <stdarg.h>
#include <stddef.h>

#include "fdl/error.h"

typedef struct fdl_buf {
    char *data; /* NULL while empty */
    size_t length;
    size_t capacity;
    size_t limit;
} fdl_buf;

void fdl_buf_init(fdl_buf *buf, size_t limit_bytes);
void fdl_buf_clear(fdl_buf *buf);

fdl_code fdl_buf_add(fdl_buf *buf, const void *bytes, size_t length, fdl_error *error);
fdl_code fdl_buf_add_str(fdl_buf *buf, const char *text, fdl_error *error);
fdl_code fdl_buf_add_format(fdl_buf *buf, fdl_error *error, const char *format, ...) FDL_PRINTF(3, 4);

/* Hands the bytes over (released with free()) and empties the buf; "" when nothing was added, NULL without memory. */
char *fdl_buf_detach(fdl_buf *buf, size_t *length);

/* A fdl_sink (fdl/store.h) that adds to the fdl_buf given as sink_data. */
fdl_code fdl_buf_sink(void *buf, const void *bytes, size_t length, fdl_error *error);

#endif
