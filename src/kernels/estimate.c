/* Lines about what an operator would do, appended to a fixed buffer and cut where that is full. */
#include "kernels/estimate.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void wr_estimate_say(weir_estimate *e, const char *format, ...)
{
    const size_t used = strlen(e->how), left = sizeof e->how - used;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(e->how + used, left, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= left)
        memcpy(e->how + sizeof e->how - 4, "...", 4);
}

void wr_estimate_say_steps(weir_estimate *e, int64_t steps)
{
    wr_estimate_say(e, ", %lld step%s", (long long)steps, steps == 1 ? "" : "s");
}

void wr_estimate_say_slabs(weir_estimate *e, const char *name, const wr_slab_shape *shape)
{
    wr_estimate_say(e, "%s of ", name);
    for (int d = 0; d < shape->dimensions; d++)
        wr_estimate_say(e, d ? " x %lld" : "%lld", (long long)shape->block[d]);
    if (!shape->dimensions)
        wr_estimate_say(e, "1");
    wr_estimate_say_steps(e, shape->steps);
}
