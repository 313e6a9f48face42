/* releases.h - which DuckDB reads what. */
#ifndef FDL_FLOW_RELEASES_H
#define FDL_FLOW_RELEASES_H

/* The DuckLake format that a release reads ("1.4.4", "v1.5.0"; "1.5" is the newest 1.5); NULL: not known. */
const char *fdl_format_of_release(const char *release);

#endif
