/* pages.h - what a browser gets at the root: the repository as pages (fdl/page.h). */
#ifndef FDL_HOST_PAGES_H
#define FDL_HOST_PAGES_H

#include "host/request.h"

fdl_code fdl_host_page_answer(fdl_host_request *request, fdl_error *error);

/* fdl.css and fdl.js */
fdl_code fdl_host_page_file_answer(fdl_host_request *request, fdl_error *error);

#endif
