/* page.h - what the files of this folder share. */
#ifndef FDL_PAGE_PAGE_H
#define FDL_PAGE_PAGE_H

/* Versions that the first page lists; fdl site writes a page for each. */
#define FDL_PAGE_HISTORY 200

/* The policy as it may stand in a page itself. */
extern const char fdl_page_meta_policy[];

#endif
