/* The kernel's own peak counts shared memory too, so the peak is made to stay: what is freed stays
 * with the process, and what a step has added when it returns is the most it had at any time. Only
 * memory mapped past malloc, and unmapped again, would escape. */
#include "growth.h"

#include <malloc.h>
#include <stdio.h>
#include <sys/prctl.h>

static int64_t private_bytes(void)
{
    char line[256];
    long long kilobytes = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && kilobytes < 0 && fgets(line, sizeof line, f))
        sscanf(line, "RssAnon: %lld", &kilobytes);
    if (f)
        fclose(f);
    return kilobytes < 0 ? -1 : kilobytes << 10;
}

int64_t growth_measure(void (*step)(void *user), void *user)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* a huge page would count 2 MiB for a touch */
    malloc_trim(0);                        /* what earlier steps left must not serve this one */
    int64_t before = private_bytes();
    step(user);
    int64_t after = private_bytes();
    if (before < 0 || after < 0)
        return -1;
    return after > before ? after - before : 0;
}
