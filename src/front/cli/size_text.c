/* Printing of shapes and sizes. */
#include "size_text.h"

#include <stdio.h>

void cli_print_sizes(int count, const int64_t *sizes)
{
    for (int d = 0; d < count; d++)
        printf("%s%lld", d ? "," : "", (long long)sizes[d]);
}

void cli_print_bytes(int64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    double size = (double)bytes;
    while (size >= 1024) {
        size /= 1024;
        unit++;
    }
    if (unit)
        printf("%.1f %s, ", size, units[unit]);
    printf("%lld bytes", (long long)bytes);
}
