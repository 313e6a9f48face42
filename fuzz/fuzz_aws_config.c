/* fuzz_aws_config.c - AWS's ini files. */
#include "fuzz.h"

#include "store/aws_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    const char *value = NULL;
    size_t length = 0;
    if (fdl_aws_ini_get(text, "default", NULL, "aws_access_key_id", &value, &length)) {
        must(fdl_aws_ini_has(text, "default"));
        must(value >= text && value + length <= text + strlen(text) && !memchr(value, '\n', length));
    }
    if (fdl_aws_ini_get(text, "profile x", "s3", "addressing_style", &value, &length))
        must(value >= text && value + length <= text + strlen(text) && !memchr(value, '\n', length));
    free(text);
    return 0;
}
