/* How much memory of its own a step takes at its peak. Linux and glibc. */
#ifndef WR_GROWTH_H
#define WR_GROWTH_H

#include <stdint.h>

/* Bytes of private memory the process had at some time during the step beyond those before it, or
 * -1; memory shared with other processes is not in it. From then on malloc keeps what is freed, so
 * nothing should be timed after it. [local] */
int64_t growth_measure(void (*step)(void *user), void *user);

#endif
