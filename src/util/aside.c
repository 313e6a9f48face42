/* aside.c - see aside.h. */
#include "util/aside.h"

static void *run(void *data) {
    fdl_aside *aside = data;
    aside->code = aside->work(aside->data, &aside->error);
    return NULL;
}

void fdl_aside_start(fdl_aside *aside, fdl_code (*work)(void *data, fdl_error *error), void *data) {
    *aside = (fdl_aside){.work = work, .data = data};
    aside->has_thread = pthread_create(&aside->thread, NULL, run, aside) == 0;
    if (!aside->has_thread)
        run(aside);
}

fdl_code fdl_aside_end(fdl_aside *aside, fdl_error *error) {
    if (aside->has_thread)
        pthread_join(aside->thread, NULL);
    fdl_code code = aside->code;
    if (code != FDL_OK)
        *error = aside->error;
    *aside = (fdl_aside){0};
    return code;
}
