/*
 * hot.h - small files of a folder that were asked for lately, kept with their bytes: refs, most of all.
 *
 * Every reader asks for a ref first, and each time it has to be the one that is there now.  A file that is kept open
 * keeps its number, and what replaces it is another file; so one look at the name, instead of opening, looking, reading
 * and closing, tells whether it is still the same.  A file that was changed in place, as fdl never does, has another
 * time: it is not kept before its time is old enough to tell.
 */
#ifndef FDL_HOST_HOT_H
#define FDL_HOST_HOT_H

#include <pthread.h>

#include "host/root.h"
#include "util/buf.h"

#define FDL_HOST_HOT_FILES 64 /* as many are kept open */
#define FDL_HOST_HOT_BYTES 2048
#define FDL_HOST_HOT_KEY_BYTES 256

typedef struct fdl_host_hot_file {
    pthread_mutex_t lock;
    char key[FDL_HOST_HOT_KEY_BYTES];
    int fd; /* -1: none */
    struct stat info;
    fdl_object object;
    char bytes[FDL_HOST_HOT_BYTES];
} fdl_host_hot_file;

typedef struct fdl_host_hot {
    fdl_host_hot_file files[FDL_HOST_HOT_FILES]; /* a key has one place; the last that was asked for has it */
} fdl_host_hot;

void fdl_host_hot_init(fdl_host_hot *hot);
void fdl_host_hot_clear(fdl_host_hot *hot);

/* Whether the object is kept, and is what lies in the folder at this moment; then `small` has its bytes. */
bool fdl_host_hot_find(fdl_host_hot *hot, const fdl_host_root *root, const char *key, fdl_object *object,
                       fdl_buf *small);

/* Takes `*fd` over (it is -1 then), unless the file is too large or too young. */
void fdl_host_hot_keep(fdl_host_hot *hot, const char *key, int *fd, const struct stat *info, const fdl_object *object,
                       const fdl_buf *small);

#endif
