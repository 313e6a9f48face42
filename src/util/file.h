/*
 * file.h - files and folders of this machine: whole reads with a limit, writes
 * that are there whole or not at all, folders, removal.
 *
 * Errors carry the path as their key and say what could not be done and why
 * ("cannot write '/x/y': no space left on device").  ENOENT and ENOTDIR
 * are FDL_NOT_FOUND; EACCES, EPERM and EROFS are FDL_DENIED.
 */
#ifndef FDL_UTIL_FILE_H
#define FDL_UTIL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fdl/error.h"

/* "cannot <verb> '<path>': <why, from errno, lower case>" with the code errno stands for. */
fdl_code fdl_file_error(fdl_error *error, const char *verb, const char *path, int errno_value);

/* With a NUL behind it, released with free(); more than the limit is FDL_REFUSED. */
fdl_code fdl_file_read(const char *path, size_t limit_bytes, char **out, size_t *length, fdl_error *error);

/* Temporary name beside it, fsync, rename, fsync of the folder. */
fdl_code fdl_file_write(const char *path, const void *bytes, size_t length, fdl_error *error);

/* Copies to a new file, durable and there whole or not at all; a target that exists is FDL_CONFLICT. */
fdl_code fdl_file_copy(const char *from, const char *to, fdl_error *error);

/* The pieces these are made of, for those who need other steps in between. */

/* A new empty file named "<near>.<random>.tmp", open for reading and writing; `*path` is released with free(). */
fdl_code fdl_temp_create(const char *near, char **path, int *fd, fdl_error *error);
/* Writes all bytes; `path` is what the file is called in errors. */
fdl_code fdl_fd_write(int fd, const char *path, const void *bytes, size_t length, fdl_error *error);
/* Copies `from` from where it stands to its end. */
fdl_code fdl_fd_copy(int from, const char *from_path, int to, const char *to_path, fdl_error *error);
/* Whether a time of a file is so old that what changes it now gets another: file systems' clocks tick in up to 10 ms. */
bool fdl_file_time_tells(int64_t seconds, int64_t nanoseconds);
fdl_code fdl_fd_sync(int fd, const char *path, fdl_error *error);
/* Lets the disk begin with bytes that were written, so that syncing waits the less.  A hint: what fails is told by fdl_fd_sync. */
void fdl_fd_sync_begin(int fd, uint64_t offset_bytes, uint64_t length_bytes);
/* The same, then close(2) in every case. */
fdl_code fdl_fd_finish(int fd, const char *path, fdl_error *error);
/* As rename(2), errno included, but a target that exists stays: EEXIST. */
int fdl_rename_new(const char *from, const char *to);

/* rename(2) over what is there, then fsync of the target's folder. */
fdl_code fdl_file_rename(const char *from, const char *to, fdl_error *error);

bool fdl_file_exists(const char *path);
fdl_code fdl_file_size(const char *path, uint64_t *size_bytes, fdl_error *error);

/* A missing file is FDL_OK. */
fdl_code fdl_file_remove(const char *path, fdl_error *error);

/* The folder and its parents, durable; one that is there is FDL_OK. */
fdl_code fdl_folder_make(const char *path, fdl_error *error);
/* The folder and all in it, symlinks not followed; a missing one is FDL_OK. */
fdl_code fdl_folder_remove(const char *path, fdl_error *error);
fdl_code fdl_folder_sync(const char *path, fdl_error *error);
fdl_code fdl_file_sync(const char *path, fdl_error *error);

/* Absolute, without ".", ".." and double '/', symlinks kept; need not exist.  Released with free(). */
fdl_code fdl_path_absolute(const char *path, char **out, fdl_error *error);
/* The folder of an absolute path, without a final '/' (but "/" itself).  Released with free(). */
fdl_code fdl_path_folder(const char *path, char **out, fdl_error *error);

/*
 * An advisory lock held by an open file, gone when the process dies.  Waits at
 * most `wait_ms`, then FDL_BUSY naming the path.  `*fd` is closed to release it.
 */
fdl_code fdl_lock_take(const char *path, int wait_ms, int *fd, fdl_error *error);
void fdl_lock_release(int fd);

#endif
