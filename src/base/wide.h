/* Functions with the machine's wider vectors, where it has them. A function that is marked WR_WIDE
 * must only be called if wr_has_wide(). */
#ifndef WR_BASE_WIDE_H
#define WR_BASE_WIDE_H

#include <stdbool.h>

#ifdef __x86_64__
#define WR_WIDE __attribute__((target("avx2")))
static inline bool wr_has_wide(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define WR_WIDE
static inline bool wr_has_wide(void)
{
    return false;
}
#endif

#endif
