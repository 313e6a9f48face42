/*
 * version.h - which FDL this is, and which format it writes.
 *
 * The one place: the build, the shared library's name, fdl.pc and `fdl
 * --version` all read it here.
 */
#ifndef FDL_VERSION_H
#define FDL_VERSION_H

#define FDL_VERSION "0.1.0"

/* The version of the on-store format this library writes; it reads every 0.x. */
#define FDL_FORMAT "0.1"

#endif
