/*
 * fdl.h - the public C API of libfdl, in one include.
 *
 * FDL keeps versions of a DuckLake catalog on object storage the way Git keeps
 * commits.  This header pulls in the parts in reading order:
 *
 *   fdl/version.h  which FDL this is, and which format it writes
 *   fdl/error.h    how every call reports failure
 *   fdl/context.h  what the caller hands to every call: notes, DuckDB, limits
 *   fdl/store.h    bytes by key, and the contract a backend must keep
 *   fdl/repo.h     a repository: settings, refs, version records, history
 *   fdl/flow.h     one verb a function: init, checkout, commit, push, ...
 *   fdl/page.h     a repository as pages for a browser
 *
 * fdl/host.h, a repository behind HTTP, is included by itself: few programs are servers.
 *
 * Conventions, the same in every header:
 *   - A function that can fail returns an fdl_code (FDL_OK is 0), takes an
 *     fdl_error as its last parameter, and puts results into out-parameters,
 *     which stay untouched on failure unless said otherwise.
 *   - Strings are UTF-8 and NUL-terminated.  Sizes are bytes, names say units.
 *   - What a function hands out through `**out` or a struct is the caller's and
 *     is released by the matching _free or _clear, which accept NULL.
 *   - A struct of options is zeroed but for what is wanted.  NULL is a zeroed one; where something must be named,
 *     that is FDL_USAGE.
 *   - Nothing here is locked: one object belongs to one thread at a time.
 */
#ifndef FDL_H
#define FDL_H

#include "fdl/context.h"
#include "fdl/error.h"
#include "fdl/flow.h"
#include "fdl/page.h"
#include "fdl/repo.h"
#include "fdl/store.h"
#include "fdl/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library at run time, e.g. "0.1.0". */
FDL_API const char *fdl_version_string(void);

#ifdef __cplusplus
}
#endif
#endif
