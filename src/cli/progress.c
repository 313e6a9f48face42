/*
 * progress.c - how far a transfer is, on stderr: on a terminal one line that is
 * written anew, elsewhere a line now and then, with -q nothing.
 *
 * What is over at once says nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "util/ident.h"
#include "util/text.h"

enum {
    TERMINAL_FIRST_MS = 1000,
    TERMINAL_EACH_MS = 100,
    PLAIN_EACH_MS = 10000,
};

/* "45 s", "3:07", "2:15:00" */
static void write_duration(uint64_t seconds, char out[32]) {
    if (seconds < 60)
        snprintf(out, 32, "%" PRIu64 " s", seconds);
    else if (seconds < 3600)
        snprintf(out, 32, "%" PRIu64 ":%02" PRIu64, seconds / 60, seconds % 60);
    else
        snprintf(out, 32, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, seconds / 3600, seconds / 60 % 60, seconds % 60);
}

/* "uploading 12 of 40 files, 1.2 GB of 3.4 GB, 25.0 MB/s, 1:28 left" */
static void write_line(const fdl_progress *now, int64_t spent_ms, char out[200]) {
    char done[32], total[32], rate[32], left[32] = "?";
    uint64_t a_second = spent_ms > 0 ? now->bytes_done * 1000 / (uint64_t)spent_ms : 0;
    uint64_t to_come = now->bytes_total > now->bytes_done ? now->bytes_total - now->bytes_done : 0;
    if (a_second > 0)
        write_duration(to_come / a_second, left);
    snprintf(out, 200, "%s %" PRIu64 " of %" PRIu64 " files, %s of %s, %s/s, %s left", now->what, now->files_done,
             now->files_total, fdl_size_text(now->bytes_done, done), fdl_size_text(now->bytes_total, total),
             fdl_size_text(a_second, rate), left);
}

/* Notes come from many threads: what is shown belongs to who holds stderr. */
void cli_progress_clear(cli *c) {
    flockfile(stderr);
    if (c->progress.shown) {
        fputs("\r\033[K", stderr);
        c->progress.shown = false;
    }
    funlockfile(stderr);
}

void cli_progress(void *data, const fdl_progress *now) {
    cli *c = data;
    char line[200];
    int64_t time_ms = fdl_steady_ms();
    bool terminal = isatty(STDERR_FILENO) != 0;
    if (c->quiet)
        return;
    if (now->ended) {
        cli_progress_clear(c);
        c->progress.started_ms = 0;
        return;
    }
    if (!c->progress.started_ms) {
        c->progress.started_ms = time_ms;
        c->progress.next_ms = time_ms + (terminal ? TERMINAL_FIRST_MS : PLAIN_EACH_MS);
    }
    if (time_ms < c->progress.next_ms)
        return;
    c->progress.next_ms = time_ms + (terminal ? TERMINAL_EACH_MS : PLAIN_EACH_MS);
    write_line(now, time_ms - c->progress.started_ms, line);
    if (!terminal) {
        fprintf(stderr, "fdl: %s\n", line);
        return;
    }
    flockfile(stderr);
    fprintf(stderr, "\r%s\033[K", line);
    c->progress.shown = true;
    funlockfile(stderr);
}
