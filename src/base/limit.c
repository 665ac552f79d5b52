/* RLIMIT_FSIZE as one number, asked anew each time: a program may change it. */
#include "base/limit.h"

#include <sys/resource.h>

int64_t wr_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= (rlim_t)INT64_MAX)
        return INT64_MAX;
    return (int64_t)limit.rlim_cur;
}
