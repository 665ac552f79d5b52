/* Collective access far into a sparse file, for any world. */
#ifndef WR_TESTS_FAR_CASES_H
#define WR_TESTS_FAR_CASES_H

#include "file/file.h"

/* [collective] Writes and reads around offset `base`, and up to it: ranks beside each other, far
 * apart, and interleaved with strides of a good part of `base`. The file is created. */
void check_far(wr_world *w, const char *path, const char *hints, int64_t base);

#endif
