/* Three significant digits, with the unit that leaves a number from 1 to 1023. */
#include "report_units.h"

#include <stdio.h>
#include <string.h>

static const char *const binary[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

static void put(double value, const char *unit, char *out)
{
    const int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(out, UNITS_TEXT, "%.*f %s", digits, value, unit);
}

char *units_bytes(double bytes, char *out)
{
    int unit = 0;
    for (; bytes >= 1023.5 && unit < 6; unit++)
        bytes /= 1024;
    if (!unit)
        snprintf(out, UNITS_TEXT, "%.0f %s", bytes, bytes >= 0.5 && bytes < 1.5 ? "byte" : "bytes");
    else if (bytes < 1000 && (double)(int)bytes == bytes)
        snprintf(out, UNITS_TEXT, "%.0f %s", bytes, binary[unit]);
    else
        put(bytes, binary[unit], out);
    return out;
}

char *units_rate(double rate, char *out)
{
    units_bytes(rate, out);
    strncat(out, "/s", UNITS_TEXT - strlen(out) - 1);
    return out;
}

char *units_time(double ns, char *out)
{
    if (ns < 1e3)
        snprintf(out, UNITS_TEXT, "%.0f ns", ns);
    else if (ns < 0.9995e6)
        put(ns / 1e3, "us", out);
    else if (ns < 0.9995e9)
        put(ns / 1e6, "ms", out);
    else if (ns < 600e9)
        put(ns / 1e9, "s", out);
    else if (ns < 36000e9)
        put(ns / 60e9, "min", out);
    else
        put(ns / 3600e9, "h", out);
    return out;
}

char *units_count(int64_t count, char *out)
{
    char digits[UNITS_TEXT], *to = out;
    const int length = snprintf(digits, sizeof digits, "%lld", (long long)count);
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return out;
}

double units_step(double end, int most)
{
    static const double steps[] = {2, 2.5, 2};
    double step = 1;
    if (end <= 0)
        return 1;
    while (step * most > end)
        step /= 10;
    for (int i = 0; step * most < end; i++)
        step *= steps[i % 3];
    return step;
}

double units_binary_step(double end, int most)
{
    double step = 1;
    while (step * most < end)
        step *= 2;
    return step;
}

double units_of_time(double end, const char **name)
{
    static const struct {
        double most, ns;
        const char *name;
    } units[] = {{1e6, 1e3, "us"}, {1e9, 1e6, "ms"}, {600e9, 1e9, "s"}, {36000e9, 60e9, "min"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end < units[i].most) {
            *name = units[i].name;
            return units[i].ns;
        }
    *name = "h";
    return 3600e9;
}
