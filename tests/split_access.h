/* A collective access in the form that MPI-IO's split collectives have: there is no other way to
 * it, and the engine's tests make it without MPI. */
#ifndef WR_TESTS_SPLIT_ACCESS_H
#define WR_TESTS_SPLIT_ACCESS_H

#include "file/file.h"

/* To be ended by waiting for the request. */
static inline int begin_all(weir_file *f, wr_access_request a, weir_request **out)
{
    wr_run_pattern nothing;
    wr_start how = {.together = true, .form = WR_SPLIT, .code = wr_file_complete(&a, &nothing)};
    return wr_file_start(f, &a, &how, out);
}

#endif
