/* Calls at their edges, for any world: nothing to do, the end of the file, ranks that disagree. */
#ifndef WR_TESTS_CALL_CASES_H
#define WR_TESTS_CALL_CASES_H

#include "file/file.h"

/* [collective] All cases on the file `path`, which is created, opened with these hints. */
void check_calls(wr_world *w, const char *path, const char *hints);

/* [collective] Writes interleaved pieces with holes, reads them back, and checks them. */
void check_round_trip(wr_world *w, weir_file *f);

#endif
