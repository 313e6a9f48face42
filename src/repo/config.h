/*
 * config.h - the rules of fdl.json, for who writes one.
 */
#ifndef FDL_REPO_CONFIG_H
#define FDL_REPO_CONFIG_H

#include <stddef.h>

#include "fdl/error.h"

/* FDL_USAGE, naming the field, unless these bytes are an fdl.json that readers take. */
fdl_code fdl_config_check(const char *bytes, size_t length, fdl_error *error);

#endif
