/* What the log says that was done, beside what it says that was planned. */
#ifndef WR_TESTS_TOLD_H
#define WR_TESTS_TOLD_H

#include "runtime/world.h"

/* Every line of this world's log is kept from now on. */
void told_listen(wr_world *world);

/* Compares every record of what was done with the plan it belongs to; then forgets all. */
void told_check(void);

/* How often each kind of thing was done, over all checks, by what it is called in the log: "way
 * sieve", "exchange shm", "locks modify", "by thread". */
int64_t told_count(const char *what);

#endif
