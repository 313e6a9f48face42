/*
 * replay.c - runs a target on files that are kept: fuzz-<target> FOLDER...
 *
 * For compilers without libFuzzer, and as a test: what was found once stays found.
 */
#include <dirent.h>

#include "fuzz.h"

static void run_file(const char *path) {
    FILE *file = fopen(path, "rb");
    must(file);
    must(fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    must(size >= 0);
    rewind(file);
    uint8_t *bytes = malloc(size > 0 ? (size_t)size : 1); /* a block of just that size: reads past its end are seen */
    must(bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    LLVMFuzzerTestOneInput(bytes, (size_t)size);
    free(bytes);
}

int main(int argc, char **argv) {
    size_t count = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        must(folder);
        for (struct dirent *entry; (entry = readdir(folder));) {
            char path[4096];
            int length = snprintf(path, sizeof path, "%s/%s", argv[i], entry->d_name);
            must(length > 0 && (size_t)length < sizeof path);
            if (entry->d_name[0] == '.')
                continue;
            run_file(path);
            count++;
        }
        closedir(folder);
    }
    printf("%zu inputs replayed\n", count);
    return count > 0 ? 0 : 1; /* an empty corpus tests nothing */
}
