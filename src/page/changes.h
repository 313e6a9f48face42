/* changes.h - what a version changed, told from two dataset.json alone. */
#ifndef FDL_PAGE_CHANGES_H
#define FDL_PAGE_CHANGES_H

#include <jansson.h>

#include "page/html.h"

/* A section that tells which tables and columns came, went and changed, and how the rows' number did. */
void fdl_page_changes(fdl_html *html, const json_t *before, const json_t *after);

#endif
