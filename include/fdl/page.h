/*
 * page.h - a repository as pages for a browser: what `fdl site` writes and
 * `fdl serve` answers with.
 *
 * Plain HTML that reads without script, with one style sheet and one script
 * beside it.  No data file is read and no catalog opened.
 */
#ifndef FDL_PAGE_H
#define FDL_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "repo.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fdl_page_options {
    const char *root;            /* where readers find the repository; NULL: fdl.json's url, else its address */
    const char *allowed_signers; /* whose signatures are good; NULL: nobody's */
    bool files;                  /* links are to files ("version-<id>.html"), not to a host ("?version=<id>") */
} fdl_page_options;

/* What the pages link to, beside themselves: fdl.css and fdl.js.  Constant. */
FDL_API const char *fdl_page_style(void);
FDL_API const char *fdl_page_script(void);

/* The Content-Security-Policy to send along, so that nothing but our own files is ever run or loaded.  Constant. */
FDL_API const char *fdl_page_policy(void);

/*
 * The page of a version; of HEAD's with branches, tags and the history when
 * `revision` is NULL.  `*out` is the caller's, released with free().
 */
FDL_API fdl_code fdl_page(fdl_repo *repo, const char *revision, const fdl_page_options *options, char **out,
                          size_t *length_bytes, fdl_error *error);

/* Writes index.html, a page for each version that the first page lists, style and script into a folder, made if need be. */
FDL_API fdl_code fdl_site(fdl_repo *repo, const char *folder, const fdl_page_options *options, size_t *pages,
                          fdl_error *error);

#ifdef __cplusplus
}
#endif
#endif
