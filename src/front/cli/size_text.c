/* Units are powers of 1024. */
#include "size_text.h"

#include <stdio.h>

void cli_print_sizes(int count, const int64_t *sizes)
{
    for (int d = 0; d < count; d++)
        printf("%s%lld", d ? "," : "", (long long)sizes[d]);
}

void cli_size_text(int64_t bytes, bool exact, char out[CLI_SIZE])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    double size = (double)bytes;
    for (; size >= 1023.95 && !exact; unit++)
        size /= 1024;
    if (unit)
        snprintf(out, CLI_SIZE, "%.1f %s", size, units[unit]);
    else
        snprintf(out, CLI_SIZE, exact ? "%lld" : "%lld B", (long long)bytes);
}

void cli_print_bytes(int64_t bytes)
{
    char text[CLI_SIZE];
    cli_size_text(bytes, false, text);
    if (bytes >= 1024)
        printf("%s, ", text);
    printf("%lld bytes", (long long)bytes);
}
