/* checker.h - fdl_admit in a process of its own. */
#ifndef FDL_FLOW_CHECKER_H
#define FDL_FLOW_CHECKER_H

#include "fdl/repo.h"

/* Runs the context's checker; what it finds is told as fdl_admit tells it, that it died or hung is FDL_REFUSED. */
fdl_code fdl_checker_admit(fdl_repo *repo, const char *branch, const char *expected, const char *id, fdl_error *error);

#endif
