/*
 * support.c - see support.h.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/support.h"
#include "util/file.h"
#include "util/text.h"

void test_expect(fdl_code wanted, fdl_code got, const fdl_error *error, const char *call, const char *file, int line) {
    if (got != wanted) {
        print_error("%s\nis '%s', not '%s': %s\n", call, fdl_code_name(got), fdl_code_name(wanted),
                    got == FDL_OK ? "" : error->message);
        _fail(file, line);
    }
    if (got != FDL_OK && (error->code != got || !error->message[0] || strchr(error->message, '\n'))) {
        print_error("%s\nreturned '%s' and filled the error with '%s': \"%s\"\n", call, fdl_code_name(got),
                    fdl_code_name(error->code), error->message);
        _fail(file, line);
    }
}

void test_expect_said(const char *part, const fdl_error *error, const char *file, int line) {
    if (!strstr(error->message, part)) {
        print_error("the message does not speak of \"%s\": %s\n", part, error->message);
        _fail(file, line);
    }
}

char *test_scratch_make(void) {
    const char *base = getenv("TMPDIR");
    char *path = test_path(base && base[0] ? base : "/tmp", "fdl-test-XXXXXX");
    if (!mkdtemp(path))
        fail_msg("cannot make a scratch folder '%s'", path);
    return path;
}

void test_scratch_drop(char *path) {
    fdl_error error;
    if (path)
        expect_ok(fdl_folder_remove(path, &error), &error);
    free(path);
}

char *test_path(const char *folder, const char *name) {
    char *path = NULL;
    fdl_error error;
    expect_ok(fdl_str_format(&path, &error, "%s/%s", folder, name), &error);
    return path;
}

static bool write_text(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    return close(fd) == 0 && done;
}

/* A namespace in which this process may mount: as it is for root, as its own root for others. */
static bool may_mount(void) {
    if (unshare(CLONE_NEWNS) == 0)
        return true;
    char users[64];
    char groups[64];
    snprintf(users, sizeof users, "0 %u 1", (unsigned)getuid());
    snprintf(groups, sizeof groups, "0 %u 1", (unsigned)getgid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && write_text("/proc/self/setgroups", "deny") &&
           write_text("/proc/self/uid_map", users) && write_text("/proc/self/gid_map", groups);
}

bool test_mount_small(const char *folder, size_t size_bytes) {
    char options[64];
    snprintf(options, sizeof options, "size=%zu", size_bytes);
    return may_mount() && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", folder, "tmpfs", 0, options) == 0;
}

void test_in_processes(int count, int (*work)(void *data, int number), void *data) {
    int gate[2]; /* all children wait for its end, so that they start together */
    assert_int_equal(pipe(gate), 0);
    fflush(NULL);
    for (int number = 0; number < count; number++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            char byte;
            close(gate[1]);
            while (read(gate[0], &byte, 1) < 0 && errno == EINTR)
                ;
            int failed = work(data, number) != 0;
            fflush(NULL);
            _exit(failed);
        }
    }
    close(gate[0]);
    close(gate[1]);
    int failures = 0;
    for (int number = 0; number < count; number++) {
        int status;
        assert_true(wait(&status) > 0);
        failures += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    assert_int_equal(failures, 0);
}

void *test_shared_make(size_t size_bytes) {
    void *memory = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

void test_shared_drop(void *memory, size_t size_bytes) {
    munmap(memory, size_bytes);
}
