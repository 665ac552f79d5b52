/* What a rank's storage does, counted by events of its own, phase by phase. */
#ifndef WR_TESTS_IO_COUNT_H
#define WR_TESTS_IO_COUNT_H

#include "runtime/world.h"

enum { IO_PHASES = 16 };

typedef struct io_count {
    int phase;
    struct {
        int64_t requests, runs, bytes; /* runs: requests of those that are strided, each counted */
    } read[IO_PHASES], write[IO_PHASES];
} io_count;

/* For files that are opened from now on; counts are complete when the world is closed. */
void io_count_watch(wr_world *world, io_count *count);

/* What comes now counts for the next phase; they are numbered from 0. */
void io_count_next(wr_world *world);

#endif
