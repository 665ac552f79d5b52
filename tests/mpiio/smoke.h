/* The parts of the smoke test; each is given the name of a file that it may overwrite. All are
 * collective. */
#ifndef WR_TESTS_SMOKE_H
#define WR_TESTS_SMOKE_H

#include "mpiio/door_support.h"

/* Reading and writing. */
void smoke_transfers(const char *path);

/* Error handlers, error strings, numbers of files in Fortran. */
void smoke_handlers(const char *path);

#endif
