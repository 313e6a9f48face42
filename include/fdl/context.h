/*
 * context.h - what a caller hands to every call: where notes go, where DuckDB
 * is, and how many transfers may run at once.
 *
 * A zeroed fdl_context is valid: silent, DuckDB looked for in the usual places.
 * The library keeps the pointer and the strings in it; they must outlive every
 * object opened with them.
 */
#ifndef FDL_CONTEXT_H
#define FDL_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fdl_note_level {
    FDL_NOTE_WARNING, /* worth a person's attention although the call goes on */
    FDL_NOTE_INFO,    /* what is being done */
    FDL_NOTE_DETAIL   /* shown with -v */
} fdl_note_level;

/* How far a transfer of files has come.  Totals may still grow. */
typedef struct fdl_progress {
    const char *what; /* "uploading", "downloading", "copying" */
    uint64_t files_done, files_total;
    uint64_t bytes_done, bytes_total;
    bool ended; /* done or given up: nothing more comes of this one */
} fdl_progress;

typedef struct fdl_context {
    /* Receives one line without a newline; may be NULL. */
    void (*note)(void *note_data, fdl_note_level level, const char *line);
    void *note_data;

    /* Watches a transfer; called often and from any thread, but never twice at once.  May be NULL. */
    void (*progress)(void *progress_data, const fdl_progress *now);
    void *progress_data;

    /* Path of libduckdb; NULL: $FDL_LIBDUCKDB, then the places docs/internals/catalog.md lists. */
    const char *libduckdb;

    /* Transfers at once; 0: the default of 8. */
    int jobs;

    /*
     * The fdl program, to look at strangers' versions in a process of its own: DuckDB
     * can be made to hang or die by a file made for it.  NULL: fdl_admit looks in this one.
     */
    const char *checker;

    /* Accept a store that does not keep conditional writes (--unsafe-no-conditions). */
    bool unsafe_no_conditions;
} fdl_context;

/* Formats one line and hands it to context->note, if there is one. */
FDL_API void fdl_note(const fdl_context *context, fdl_note_level level, const char *format, ...) FDL_PRINTF(3, 4);

#ifdef __cplusplus
}
#endif
#endif
