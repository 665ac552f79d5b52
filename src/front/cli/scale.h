/* Which numbers a picture shows, from which to which, and where round ones are. */
#ifndef WR_CLI_SCALE_H
#define WR_CLI_SCALE_H

#include <stdbool.h>
#include <stdint.h>

#include "colours.h"

/* Two numbers of an option. */
typedef struct cli_pair {
    int given;
    double lo, hi;
} cli_pair;

const char *cli_parse_range(const char *text, void *out);      /* cli_pair: -1,1 or -1:1 */
const char *cli_parse_percentile(const char *text, void *out); /* cli_pair: 2,98 */

typedef struct cli_scale {
    bool log;
    bool symmetric; /* about 0, if there are numbers on both sides of it */
    double lo, hi;
    bool below, above; /* numbers beyond these were seen */
    bool seen[CLI_KINDS];
} cli_scale;

/* Sets the rest of a scale for what is to be shown: as `range` says, or `percentile` of these
 * numbers, or all of them. Returns 0, or WEIR_ENOMEM. */
int cli_scale_fit(cli_scale *scale, const double *value, int64_t count, const cli_pair *range,
                  const cli_pair *percentile);

enum cli_kind cli_scale_kind(const cli_scale *scale, double value);

/* 0 to 1, where `value` is a number. */
double cli_scale_place(const cli_scale *scale, double value);

/* What a legend says of a kind. */
const char *cli_scale_name(const cli_scale *scale, enum cli_kind kind);

enum { CLI_TICKS = 16, CLI_TICK_TEXT = 24 };

typedef struct cli_ticks {
    int count;
    double at[CLI_TICKS];
    char text[CLI_TICKS][CLI_TICK_TEXT];
    int exponent; /* texts are to be taken times 10 to this; of decades they are exponents */
    bool decades;
} cli_ticks;

/* At most `most` (CLI_TICKS) of a scale. */
void cli_ticks_of_scale(const cli_scale *scale, int most, cli_ticks *out);

/* At most `most` round whole numbers from lo to hi, which may be less. */
void cli_ticks_of_indices(int64_t lo, int64_t hi, int most, cli_ticks *out);

#endif
