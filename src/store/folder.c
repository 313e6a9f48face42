/*
 * folder.c - a store in a folder of this machine: reading and listing.
 *
 * An object is a file that never changes under its name; a new state of a key
 * is another file that takes the name.  So whoever opened one reads one state to
 * its end, whatever happens meanwhile.
 *
 * The ETag of a small object is made of its bytes: a ref that went from A to B
 * and back is the only way to meet one twice, and no accident of inode numbers
 * or clocks can make two contents look alike.  For a large one that would cost a
 * read of everything; there it is made of what the file system changes whenever
 * the file is written or replaced.
 *
 * Symlinked folders (a data folder on a bigger disk) are part of the repository
 * and followed.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/backends.h"
#include "store/folder.h"
#include "util/file.h"
#include "util/ident.h"
#include "util/text.h"

#define SMALL_LIMIT_BYTES ((size_t)1 << 20)
#define TINY_LIMIT_BYTES 48u

/* ---- one object --------------------------------------------------------- */

fdl_code fdl_folder_path(const fdl_store *store, const char *key, char **path, fdl_error *error) {
    size_t scratch = strlen(FDL_SCRATCH_NAME);
    if (fdl_str_starts(key, FDL_SCRATCH_NAME) && (key[scratch] == '\0' || key[scratch] == '/'))
        return fdl_fail(error, FDL_USAGE, key, "'%s' is no key here: '%s" FDL_SCRATCH_NAME "/' is the store's own", key,
                        store->address);
    return fdl_str_format(path, error, "%s%s", store->address, key);
}

static bool is_gone(int errno_value) {
    return errno_value == ENOENT || errno_value == ENOTDIR;
}

/* Why the root cannot be entered; FDL_OK when it can. */
static fdl_code check_root(const fdl_store *store, fdl_error *error) {
    struct stat info;
    if (stat(store->address, &info) == 0)
        return FDL_OK;
    if (is_gone(errno))
        return fdl_fail(error, FDL_NOT_FOUND, store->address, "no folder '%s'", store->address);
    return fdl_file_error(error, "read", store->address, errno);
}

/* Nothing at the key; when the whole root is missing, that is the news. */
static fdl_code missing(const fdl_store *store, const char *key, fdl_error *error) {
    atomic_bool *entered = &((fdl_folder_store *)(uintptr_t)store)->entered;
    fdl_code code = atomic_load(entered) ? FDL_OK : check_root(store, error);
    if (code == FDL_OK)
        atomic_store(entered, true);
    return code != FDL_OK ? code : fdl_fail(error, FDL_NOT_FOUND, key, "no object '%s' in '%s'", key, store->address);
}

fdl_code fdl_folder_open(const fdl_store *store, const char *key, int *fd, struct stat *info, fdl_error *error) {
    char *path;
    fdl_code code = fdl_folder_path(store, key, &path, error);
    if (code != FDL_OK)
        return code;
    int opened;
    do {
        opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* never hang on a pipe */
    } while (opened < 0 && errno == EINTR);
    if (opened >= 0 && fstat(opened, info) == 0 && S_ISREG(info->st_mode))
        *fd = opened;
    else if (opened >= 0 || is_gone(errno) || errno == ENAMETOOLONG || errno == ENXIO)
        code = missing(store, key, error);
    else
        code = fdl_file_error(error, "read", path, errno);
    if (opened >= 0 && code != FDL_OK)
        close(opened);
    free(path);
    return code;
}

/* The part of the file from `offset` on, to its end or `length` bytes; `*done` says how many there were. */
static fdl_code stream(int fd, const char *key, uint64_t offset, uint64_t length, fdl_sink sink, void *sink_data,
                       uint64_t *done, fdl_error *error) {
    char piece[65536];
    *done = 0;
    while (*done < length) {
        uint64_t rest = length - *done;
        ssize_t got = pread(fd, piece, rest < sizeof piece ? (size_t)rest : sizeof piece, (off_t)(offset + *done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fdl_file_error(error, "read", key, errno);
        if (got == 0)
            return FDL_OK;
        fdl_code code = sink(sink_data, piece, (size_t)got, error);
        if (code != FDL_OK)
            return code;
        *done += (uint64_t)got;
    }
    return FDL_OK;
}

static int64_t to_ms(struct timespec time) {
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void large_etag(const struct stat *info, char out[FDL_ETAG_LIMIT_BYTES]) {
    snprintf(out, FDL_ETAG_LIMIT_BYTES, "%llx-%llx-%llx.%lx-%llx.%lx", (unsigned long long)info->st_ino,
             (unsigned long long)info->st_size, (unsigned long long)info->st_mtim.tv_sec,
             (unsigned long)info->st_mtim.tv_nsec, (unsigned long long)info->st_ctim.tv_sec,
             (unsigned long)info->st_ctim.tv_nsec);
}

/* The first 16 bytes of the SHA-256, in hex; a ref has hardly more bytes than that, and is its own ETag. */
static fdl_code small_etag(const fdl_buf *bytes, char out[FDL_ETAG_LIMIT_BYTES], fdl_error *error) {
    char digest[65];
    if (bytes->length <= TINY_LIMIT_BYTES) {
        out[0] = '.'; /* no digest starts so */
        fdl_hex_write((const unsigned char *)bytes->data, bytes->length, out + 1);
        return FDL_OK;
    }
    fdl_code code = fdl_sha256_bytes(bytes->data, bytes->length, digest, error);
    if (code == FDL_OK) {
        digest[32] = '\0';
        fdl_str_fit(out, FDL_ETAG_LIMIT_BYTES, digest);
    }
    return code;
}

fdl_code fdl_folder_describe(int fd, const struct stat *info, const char *key, fdl_object *object, fdl_buf *small,
                             fdl_error *error) {
    *object = (fdl_object){.size_bytes = (uint64_t)info->st_size, .modified_ms = to_ms(info->st_mtim)};
    if (object->size_bytes > SMALL_LIMIT_BYTES) {
        large_etag(info, object->etag);
        return FDL_OK;
    }

    fdl_buf own = {0};
    fdl_buf *bytes = small ? small : &own;
    fdl_buf_init(bytes, SMALL_LIMIT_BYTES);
    uint64_t done;
    fdl_code code = stream(fd, key, 0, object->size_bytes, fdl_buf_sink, bytes, &done, error);
    if (code == FDL_OK)
        code = small_etag(bytes, object->etag, error);
    object->size_bytes = done;
    if (code != FDL_OK || bytes == &own)
        fdl_buf_clear(bytes);
    return code;
}

/* Hands over what `range` asks for, from `small` where the bytes are there already. */
static fdl_code hand_over(int fd, const char *key, const fdl_range *range, uint64_t size, const fdl_buf *small,
                          fdl_sink sink, void *sink_data, fdl_error *error) {
    uint64_t offset;
    uint64_t length;
    uint64_t done;
    fdl_code code = fdl_range_cut(range, key, size, &offset, &length, error);
    if (code != FDL_OK || length == 0)
        return code;
    if (small->data)
        return sink(sink_data, small->data + offset, (size_t)length, error);
    code = stream(fd, key, offset, length, sink, sink_data, &done, error);
    if (code == FDL_OK && done < length)
        code = fdl_fail(error, FDL_FAILED, key, "'%s' was cut short while it was read; try again", key);
    return code;
}

static fdl_code folder_get(fdl_store *store, const char *key, const fdl_range *range, fdl_sink sink, void *sink_data,
                           fdl_object *object, fdl_error *error) {
    int fd;
    struct stat info;
    fdl_object found;
    fdl_buf small = {0};
    fdl_code code = fdl_folder_open(store, key, &fd, &info, error);
    if (code != FDL_OK)
        return code;
    if (object)
        code = fdl_folder_describe(fd, &info, key, &found, &small, error);
    else
        found = (fdl_object){.size_bytes = (uint64_t)info.st_size}; /* enough for the range */
    if (code == FDL_OK)
        code = hand_over(fd, key, range, found.size_bytes, &small, sink, sink_data, error);
    if (code == FDL_OK && object)
        *object = found;
    fdl_buf_clear(&small);
    close(fd);
    return code;
}

static fdl_code folder_head(fdl_store *store, const char *key, fdl_object *object, fdl_error *error) {
    int fd;
    struct stat info;
    fdl_object found;
    fdl_code code = fdl_folder_open(store, key, &fd, &info, error);
    if (code != FDL_OK)
        return code;
    code = fdl_folder_describe(fd, &info, key, &found, NULL, error);
    if (code == FDL_OK)
        *object = found;
    close(fd);
    return code;
}

/* Of data files there are many, and none needs to be opened for this. */
static fdl_code folder_size(fdl_store *store, const char *key, uint64_t *size_bytes, fdl_error *error) {
    char *path;
    struct stat info;
    fdl_code code = fdl_folder_path(store, key, &path, error);
    if (code != FDL_OK)
        return code;
    bool found = stat(path, &info) == 0;
    if (found && S_ISREG(info.st_mode))
        *size_bytes = (uint64_t)info.st_size;
    else if (found || is_gone(errno) || errno == ENAMETOOLONG)
        code = missing(store, key, error);
    else
        code = fdl_file_error(error, "read", path, errno);
    free(path);
    return code;
}

/* ---- listing ------------------------------------------------------------ */

/* A walk down the folders; `path` is where it stands, and the key follows the root in it. */
typedef struct walk {
    fdl_buf path;
    size_t root_length;
    fdl_depth depth;
    fdl_entry_callback callback;
    void *data;
} walk;

/* The folders above the one being listed: a symlink back to one of them is not followed. */
typedef struct chain {
    const struct chain *above;
    dev_t device;
    ino_t inode;
} chain;

static fdl_code list_folder(walk *w, const char *start, const chain *above, fdl_error *error);

static fdl_code stop_at_first(void *found, const fdl_entry *entry, fdl_error *error) {
    (void)entry;
    (void)error;
    *(bool *)found = true;
    return FDL_FAILED;
}

/* The folder at w->path. */
static fdl_code tell_folder(const walk *w, fdl_error *error) {
    return w->callback(w->data, &(fdl_entry){.key = w->path.data + w->root_length, .folder = true}, error);
}

/* A folder is an entry only when an object lies below it; empty ones are what deleted objects left. */
static fdl_code list_as_folder(walk *w, const chain *above, fdl_error *error) {
    bool found = false;
    walk below = {.path = w->path,
                  .root_length = w->root_length,
                  .depth = FDL_ALL_NAMES,
                  .callback = stop_at_first,
                  .data = &found};
    fdl_code code = list_folder(&below, "", above, error);
    w->path = below.path; /* it may have moved */
    return found ? tell_folder(w, error) : code;
}

/* One name in a folder, and what it was when the folder was read.  There may be a million. */
typedef struct item {
    char *name;
    uint64_t size_bytes;
    int64_t modified_ms;
    mode_t mode;
} item;

typedef struct items {
    item *list;
    size_t count;
} items;

static void items_clear(items *found) {
    for (size_t i = 0; i < found->count; i++)
        free(found->list[i].name);
    free(found->list);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const item *)a)->name, ((const item *)b)->name);
}

static bool is_hidden(const walk *w, const char *name) {
    bool at_root = w->path.length == w->root_length;
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || (at_root && strcmp(name, FDL_SCRATCH_NAME) == 0);
}

/* What stands behind a name; false when it vanished meanwhile. */
static bool look(const walk *w, DIR *folder, const struct dirent *entry, item *out) {
    struct stat info;
    bool by_type = (w->depth == FDL_ALL_NAMES || w->depth == FDL_FOLDER_NAMES) && entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN;
    if (by_type) {
        *out = (item){.mode = DTTOIF(entry->d_type)};
        return true;
    }
    /* From the folder: a path from the root is a walk each. */
    if (fstatat(dirfd(folder), entry->d_name, &info, 0) != 0)
        return false;
    *out = (item){.size_bytes = (uint64_t)info.st_size, .modified_ms = to_ms(info.st_mtim), .mode = info.st_mode};
    return true;
}

/* What is in the open folder and starts with `start`. */
static fdl_code read_items(const walk *w, DIR *folder, const char *start, items *found, fdl_error *error) {
    fdl_code code = FDL_OK;
    struct dirent *entry;
    while (code == FDL_OK && (errno = 0, entry = readdir(folder)) != NULL) {
        item made;
        if (is_hidden(w, entry->d_name) || !fdl_str_starts(entry->d_name, start) || !look(w, folder, entry, &made))
            continue;
        code = fdl_grow(&found->list, found->count, sizeof *found->list, error);
        if (code == FDL_OK)
            code = fdl_str_copy(&made.name, entry->d_name, error);
        if (code == FDL_OK)
            found->list[found->count++] = made;
    }
    if (code == FDL_OK && errno != 0 && !entry)
        code = fdl_file_error(error, "list", w->path.data, errno);
    return code;
}

/* The entry whose path stands in w->path.  Names that are no keys are passed over. */
static fdl_code list_entry(walk *w, const item *found, const chain *above, fdl_error *error) {
    const char *key = w->path.data + w->root_length;
    if (fdl_key_check(key, NULL) != FDL_OK)
        return FDL_OK;
    if (S_ISDIR(found->mode)) {
        fdl_code code = fdl_buf_add_str(&w->path, "/", error);
        if (code != FDL_OK)
            return code;
        if (w->depth == FDL_FOLDER_NAMES)
            return tell_folder(w, error);
        return w->depth == FDL_ONE_LEVEL ? list_as_folder(w, above, error) : list_folder(w, "", above, error);
    }
    if (!S_ISREG(found->mode))
        return FDL_OK;
    fdl_entry entry = {.key = key, .object = {.size_bytes = found->size_bytes, .modified_ms = found->modified_ms}};
    return w->callback(w->data, &entry, error);
}

/* Holds nothing open while the callback runs, so that it may delete what it is told, and depth costs no descriptors. */
static fdl_code list_names(walk *w, const char *start, const chain *here, fdl_error *error) {
    items found = {0};
    DIR *folder = opendir(w->path.data);
    if (!folder)
        return is_gone(errno) ? FDL_OK : fdl_file_error(error, "list", w->path.data, errno);
    fdl_code code = read_items(w, folder, start, &found, error);
    closedir(folder);
    if (found.count > 0)
        qsort(found.list, found.count, sizeof *found.list, by_name);
    size_t length = w->path.length;
    for (size_t i = 0; code == FDL_OK && i < found.count; i++) {
        code = fdl_buf_add_str(&w->path, found.list[i].name, error);
        if (code == FDL_OK)
            code = list_entry(w, &found.list[i], here, error);
        w->path.length = length;
        w->path.data[length] = '\0';
    }
    items_clear(&found);
    return code;
}

/* Lists what lies in the folder at w->path and starts with `start`. */
static fdl_code list_folder(walk *w, const char *start, const chain *above, fdl_error *error) {
    struct stat info;
    if (stat(w->path.data, &info) != 0)
        return is_gone(errno) ? FDL_OK : fdl_file_error(error, "list", w->path.data, errno);
    for (const chain *c = above; c; c = c->above) {
        if (c->device == info.st_dev && c->inode == info.st_ino)
            return FDL_OK;
    }
    return list_names(w, start, &(chain){.above = above, .device = info.st_dev, .inode = info.st_ino}, error);
}

static fdl_code folder_list(fdl_store *store, const char *prefix, fdl_depth depth, fdl_entry_callback callback,
                            void *data, fdl_error *error) {
    walk w = {.root_length = strlen(store->address), .depth = depth, .callback = callback, .data = data};
    fdl_code code = check_root(store, error);
    if (code != FDL_OK)
        return code;
    if (fdl_str_starts(prefix, FDL_SCRATCH_NAME "/"))
        return FDL_OK;

    /* The folder that the prefix names for certain, and the beginning of the names in it. */
    const char *slash = strrchr(prefix, '/');
    const char *start = slash ? slash + 1 : prefix;
    fdl_buf_init(&w.path, w.root_length + 2 * FDL_KEY_LIMIT_BYTES);
    code = fdl_buf_add_str(&w.path, store->address, error);
    if (code == FDL_OK)
        code = fdl_buf_add(&w.path, prefix, (size_t)(start - prefix), error);
    if (code == FDL_OK)
        code = list_folder(&w, start, NULL, error);
    fdl_buf_clear(&w.path);
    return code;
}

/* ---- the store ---------------------------------------------------------- */

static void folder_free(fdl_store *store) {
    pthread_mutex_destroy(&((fdl_folder_store *)store)->kept_lock);
    free(store->address);
    free(store);
}

static const fdl_store_ops folder_ops = {
    .kind = "folder",
    .get = folder_get,
    .head = folder_head,
    .size = folder_size,
    .put = fdl_folder_put,
    .place = fdl_folder_place,
    .remove = fdl_folder_delete,
    .list = folder_list,
    .sync = fdl_folder_sync_key,
    .remove_many = fdl_folder_remove_many,
    .free = folder_free,
};

fdl_code fdl_store_open_folder(const fdl_context *context, const char *path, fdl_store **out, fdl_error *error) {
    fdl_folder_store *folder = NULL;
    char *root = NULL;
    fdl_code code = fdl_path_absolute(path, &root, error);
    if (code == FDL_OK)
        code = fdl_alloc(&folder, 1, sizeof *folder, error);
    if (code != FDL_OK)
        goto done;
    folder->store =
        (fdl_store){.ops = &folder_ops, .context = context, .can_list = true, .local = true};
    code = fdl_str_format(&folder->store.address, error, "%s%s", root, strcmp(root, "/") == 0 ? "" : "/");
    if (code != FDL_OK)
        goto done;
    pthread_mutex_init(&folder->kept_lock, NULL);
    *out = &folder->store;
    folder = NULL;
done:
    free(folder);
    free(root);
    return code;
}
