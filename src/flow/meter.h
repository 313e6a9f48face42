/*
 * meter.h - how far a transfer of many files has come, told to whoever watches
 * (context->progress).
 */
#ifndef FDL_FLOW_METER_H
#define FDL_FLOW_METER_H

#include "fdl/store.h"

/* Several threads may add to one.  NULL does nothing. */
typedef struct fdl_meter fdl_meter;

/* NULL where nobody watches, or without memory for it. */
fdl_meter *fdl_meter_start(const fdl_context *context, const char *what);
void fdl_meter_end(fdl_meter *meter);

/* So much more is to come. */
void fdl_meter_expect(fdl_meter *meter, uint64_t files, uint64_t bytes);

/* An fdl_moved, its data being the meter. */
void fdl_meter_moved(void *meter, int64_t bytes);

/* One file more is done. */
void fdl_meter_file(fdl_meter *meter);

#endif
