/*
 * asked.h - a pending version that lies in the repository, whose ref the host
 * moves when somebody approves: what it said is kept beside the version, in
 * "<work>.fdl/pending/<id>/request.txt", the number of the request or 0.
 */
#ifndef FDL_FLOW_ASKED_H
#define FDL_FLOW_ASKED_H

#include "fdl/flow.h"
#include "flow/work.h"

/* `number` 0: the host gave none, it only does not let us move the ref. */
fdl_code fdl_asked_save(const fdl_work *work, const char *id, int64_t number, fdl_error *error);
fdl_code fdl_asked_forget(const fdl_work *work, const char *id, fdl_error *error);

/*
 * What is known of it, with a look at the host's word where there is one; state
 * FDL_NOT_ASKED when nothing is.
 */
fdl_code fdl_asked_read(const fdl_work *work, fdl_repo *repo, const char *id, fdl_request *out, fdl_error *error);

/* The number in a key "refs/requests/<number>"; 0 when it is none. */
int64_t fdl_asked_number(const char *key);

#endif
