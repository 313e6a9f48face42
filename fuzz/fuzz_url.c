/* fuzz_url.c - addresses, and keys written into them. */
#include "fuzz.h"

#include "util/buf.h"
#include "util/url.h"

/* Percent-decoding as RFC 3986 has it, written apart from what is tested. */
static size_t decode(const char *text, char *out) {
    size_t n = 0;
    for (; *text; text++) {
        unsigned byte = (unsigned char)*text;
        if (byte == '%') {
            must(sscanf(text + 1, "%2x", &byte) == 1);
            text += 2;
        }
        out[n++] = (char)byte;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    fdl_url url = {0};
    fdl_buf written;
    fdl_error error;
    fdl_code code = fdl_url_parse(text, &url, &error);
    fuzz_check_error(code, &error);
    if (code == FDL_OK) {
        must(*url.authority && url.path[0] == '/');
        must(!strpbrk(url.path, "?# ") && !strpbrk(url.authority, "/@?# "));
    }
    fdl_url_clear(&url);
    fdl_buf_init(&written, 3 * size + 16);
    if (fdl_url_add_path(&written, text, &error) == FDL_OK && written.length > 0) {
        char *back = malloc(written.length + 1);
        must(back);
        must(decode(written.data, back) == strlen(text) && memcmp(back, text, strlen(text)) == 0);
        free(back);
    }
    fdl_buf_clear(&written);
    free(text);
    return 0;
}
