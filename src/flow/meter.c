/* meter.c - see meter.h. */
#include "flow/meter.h"

#include <pthread.h>
#include <stdlib.h>

#include "util/text.h"

struct fdl_meter {
    const fdl_context *context;
    pthread_mutex_t lock; /* guards what follows, and lets one call of the watcher through at a time */
    fdl_progress now;
};

fdl_meter *fdl_meter_start(const fdl_context *context, const char *what) {
    fdl_meter *meter = NULL;
    if (!context || !context->progress || fdl_alloc(&meter, 1, sizeof *meter, NULL) != FDL_OK)
        return NULL;
    if (pthread_mutex_init(&meter->lock, NULL) != 0) {
        free(meter);
        return NULL;
    }
    meter->context = context;
    meter->now.what = what;
    return meter;
}

static void add(fdl_meter *meter, const fdl_progress *more, int64_t bytes) {
    if (!meter)
        return;
    pthread_mutex_lock(&meter->lock);
    meter->now.files_done += more->files_done;
    meter->now.files_total += more->files_total;
    meter->now.bytes_done += (uint64_t)bytes; /* which may be fewer than 0 */
    meter->now.bytes_total += more->bytes_total;
    meter->now.ended = more->ended;
    meter->context->progress(meter->context->progress_data, &meter->now);
    pthread_mutex_unlock(&meter->lock);
}

void fdl_meter_expect(fdl_meter *meter, uint64_t files, uint64_t bytes) {
    add(meter, &(fdl_progress){.files_total = files, .bytes_total = bytes}, 0);
}

void fdl_meter_moved(void *meter, int64_t bytes) {
    add(meter, &(fdl_progress){.files_done = 0}, bytes);
}

void fdl_meter_file(fdl_meter *meter) {
    add(meter, &(fdl_progress){.files_done = 1}, 0);
}

void fdl_meter_end(fdl_meter *meter) {
    if (!meter)
        return;
    add(meter, &(fdl_progress){.ended = true}, 0);
    pthread_mutex_destroy(&meter->lock);
    free(meter);
}
