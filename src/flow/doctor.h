/*
 * doctor.h - what the parts of doctor share.
 *
 *   doctor.c          this machine
 *   doctor_repo.c     a repository: who we are there, and whether it can be read
 *   doctor_store.c    its store: what readers and writers rely on
 */
#ifndef FDL_FLOW_DOCTOR_H
#define FDL_FLOW_DOCTOR_H

#include "fdl/flow.h"

typedef struct doctor {
    const fdl_context *context;
    fdl_diagnosis_callback callback;
    void *data;
} doctor;

void fdl_doctor_tell(const doctor *d, const char *name, fdl_health health, const char *format, ...) FDL_PRINTF(4, 5);

/* How the web server behind an http store hands out the file at `key`; with its clock where that is the store's. */
void fdl_doctor_web_server(const doctor *d, const char *name, fdl_store *store, const char *key, bool with_clock);

/* Room, permissions, the clock, old states of objects, and the promises; whatever of it the store has. */
void fdl_doctor_store(const doctor *d, fdl_repo *repo);

#endif
