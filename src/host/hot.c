/* hot.c - see hot.h. */
#include "host/hot.h"

#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/text.h"

void fdl_host_hot_init(fdl_host_hot *hot) {
    for (size_t i = 0; i < FDL_HOST_HOT_FILES; i++) {
        pthread_mutex_init(&hot->files[i].lock, NULL);
        hot->files[i].fd = -1;
    }
}

void fdl_host_hot_clear(fdl_host_hot *hot) {
    for (size_t i = 0; i < FDL_HOST_HOT_FILES; i++) {
        if (hot->files[i].fd >= 0)
            close(hot->files[i].fd);
        pthread_mutex_destroy(&hot->files[i].lock);
    }
}

static fdl_host_hot_file *place_of(fdl_host_hot *hot, const char *key) {
    uint32_t sum = 2166136261u; /* FNV-1a: spreads, and need not withstand anybody */
    for (const char *at = key; *at; at++)
        sum = (sum ^ (unsigned char)*at) * 16777619u;
    return &hot->files[sum % FDL_HOST_HOT_FILES];
}

static bool same_time(struct timespec a, struct timespec b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_mode == b->st_mode && a->st_nlink == b->st_nlink &&
           a->st_size == b->st_size && same_time(a->st_mtim, b->st_mtim) && same_time(a->st_ctim, b->st_ctim);
}

/* Under the lock: while the file is open, no other can have its number. */
static bool is_there(const fdl_host_hot_file *file, const fdl_host_root *root, const char *key) {
    struct stat now;
    return file->fd >= 0 && strcmp(file->key, key) == 0 && fdl_host_root_look(root, key, &now) &&
           same_file(&file->info, &now);
}

bool fdl_host_hot_find(fdl_host_hot *hot, const fdl_host_root *root, const char *key, fdl_object *object,
                       fdl_buf *small) {
    fdl_host_hot_file *file = place_of(hot, key);
    pthread_mutex_lock(&file->lock);
    bool found = is_there(file, root, key);
    if (found) {
        fdl_buf_init(small, FDL_HOST_HOT_BYTES);
        found = fdl_buf_add(small, file->bytes, (size_t)file->object.size_bytes, NULL) == FDL_OK;
        *object = file->object;
    }
    pthread_mutex_unlock(&file->lock);
    return found;
}

void fdl_host_hot_keep(fdl_host_hot *hot, const char *key, int *fd, const struct stat *info, const fdl_object *object,
                       const fdl_buf *small) {
    fdl_host_hot_file *file = place_of(hot, key);
    if (!small->data || small->length > FDL_HOST_HOT_BYTES || (uint64_t)info->st_size != small->length ||
        !fdl_file_time_tells(info->st_mtim.tv_sec, info->st_mtim.tv_nsec) ||
        !fdl_file_time_tells(info->st_ctim.tv_sec, info->st_ctim.tv_nsec) || strlen(key) >= sizeof file->key)
        return;
    pthread_mutex_lock(&file->lock);
    if (file->fd >= 0)
        close(file->fd);
    (void)fdl_str_fit(file->key, sizeof file->key, key);
    file->fd = *fd;
    file->info = *info;
    file->object = *object;
    memcpy(file->bytes, small->data, small->length);
    pthread_mutex_unlock(&file->lock);
    *fd = -1;
}
