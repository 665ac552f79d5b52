/* The parts of the smoke test; each is given the name of a file that it may overwrite. All are
 * collective. */
#ifndef WR_TESTS_SMOKE_H
#define WR_TESTS_SMOKE_H

#include "mpiio/door_support.h"

/* The text of an error names its file and says what was wrong. */
static inline void smoke_check_text(int code, const char *path, const char *cause)
{
    if (!door_skip_bug("what is refused before the engine sees it does not name the file"))
        door_check_text(code, path, cause);
}

/* Reading and writing. */
void smoke_transfers(const char *path);

/* Error handlers, error strings, numbers of files in Fortran. */
void smoke_handlers(const char *path);

/* What the door does not do yet. */
void smoke_missing(const char *path);

#endif
