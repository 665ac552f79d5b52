/* The two clocks, in nanoseconds. */
#ifndef WR_BASE_CLOCK_H
#define WR_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t wr_clock_read(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* For durations: never goes back, and means nothing to another machine. */
static inline int64_t wr_clock_ns(void)
{
    return wr_clock_read(CLOCK_MONOTONIC);
}

/* For moments that ranks compare: the time of day, which all machines have in common. */
static inline int64_t wr_clock_day_ns(void)
{
    return wr_clock_read(CLOCK_REALTIME);
}

#endif
