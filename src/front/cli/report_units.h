/* Figures as people read them: "1.3 GiB", "2.31 s", "812 MiB/s". Each is written into `out`, of
 * UNITS_TEXT bytes, which is returned. */
#ifndef WR_CLI_REPORT_UNITS_H
#define WR_CLI_REPORT_UNITS_H

#include <stdint.h>

enum { UNITS_TEXT = 32 };

char *units_bytes(double bytes, char *out);
char *units_rate(double bytes_per_second, char *out);
char *units_time(double ns, char *out);
char *units_count(int64_t count, char *out); /* 12,345 */

/* 1, 2 or 5 times a power of ten, so that at most `most` steps reach `end`. */
double units_step(double end, int most);

/* A power of two, likewise, at least 1. */
double units_binary_step(double end, int most);

/* Microseconds, milliseconds, seconds, minutes or hours in which a time of `end` ns is labelled:
 * its ns, and its name. */
double units_of_time(double end, const char **name);

#endif
