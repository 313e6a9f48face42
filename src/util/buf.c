/*
 * buf.c - bytes that grow by doubling, up to the limit they were born with.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buf.h"

void fdl_buf_init(fdl_buf *buf, size_t limit_bytes) {
    *buf = (fdl_buf){.limit = limit_bytes < SIZE_MAX ? limit_bytes : SIZE_MAX - 1};
}

void fdl_buf_clear(fdl_buf *buf) {
    free(buf->data);
    fdl_buf_init(buf, buf->limit);
}

/* Room for `more` bytes and the NUL; nothing changes on failure. */
static fdl_code make_room(fdl_buf *buf, size_t more, fdl_error *error) {
    if (more > buf->limit - buf->length)
        return fdl_fail(error, FDL_REFUSED, NULL, "more than the limit of %zu bytes", buf->limit);
    size_t need = buf->length + more + 1;
    if (need <= buf->capacity)
        return FDL_OK;

    size_t room = buf->capacity < 64 ? 64 : buf->capacity;
    while (room < need)
        room = room > SIZE_MAX / 2 ? need : room * 2;
    if (room > buf->limit + 1)
        room = buf->limit + 1;
    char *data = realloc(buf->data, room);
    if (!data)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    buf->data = data;
    buf->capacity = room;
    return FDL_OK;
}

fdl_code fdl_buf_add(fdl_buf *buf, const void *bytes, size_t length, fdl_error *error) {
    fdl_code code = make_room(buf, length, error);
    if (code != FDL_OK)
        return code;
    if (length > 0)
        memcpy(buf->data + buf->length, bytes, length);
    buf->length += length;
    buf->data[buf->length] = '\0';
    return FDL_OK;
}

fdl_code fdl_buf_add_str(fdl_buf *buf, const char *text, fdl_error *error) {
    return fdl_buf_add(buf, text, strlen(text), error);
}

fdl_code fdl_buf_add_format(fdl_buf *buf, fdl_error *error, const char *format, ...) {
    va_list arguments;
    char usual[256];
    va_start(arguments, format);
    int length = vsnprintf(usual, sizeof usual, format, arguments);
    va_end(arguments);
    if (length < 0)
        return fdl_fail(error, FDL_FAILED, NULL, "out of memory");
    if ((size_t)length < sizeof usual)
        return fdl_buf_add(buf, usual, (size_t)length, error);
    fdl_code code = make_room(buf, (size_t)length, error);
    if (code != FDL_OK)
        return code;

    va_start(arguments, format);
    vsnprintf(buf->data + buf->length, (size_t)length + 1, format, arguments);
    va_end(arguments);
    buf->length += (size_t)length;
    return FDL_OK;
}

char *fdl_buf_detach(fdl_buf *buf, size_t *length) {
    char *data = buf->data ? buf->data : calloc(1, 1);
    if (length)
        *length = buf->length;
    fdl_buf_init(buf, buf->limit);
    return data;
}

fdl_code fdl_buf_sink(void *buf, const void *bytes, size_t length, fdl_error *error) {
    return fdl_buf_add(buf, bytes, length, error);
}
