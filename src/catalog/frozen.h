/*
 * frozen.h - what stands behind fdl_frozen: a session with one catalog, whose
 * views are in the schema "a" (see live.h).
 */
#ifndef FDL_CATALOG_FROZEN_H
#define FDL_CATALOG_FROZEN_H

#include "catalog/catalog.h"
#include "catalog/live.h"

struct fdl_frozen {
    char *path;
    fdl_live catalog;
    fdl_duck *duck;
};

#endif
