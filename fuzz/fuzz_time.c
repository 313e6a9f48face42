/* fuzz_time.c - instants. */
#include "fuzz.h"

#include "util/ident.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    char written[32];
    int64_t ms = 0, again = 0;
    if (fdl_time_parse(text, &ms)) {
        fdl_time_write(ms, written);
        must(fdl_time_parse(written, &again) && again == ms);
    }
    free(text);
    return 0;
}
