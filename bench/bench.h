/* What suite programs share: a clock, pairs of measurements, and the lines bench/run.py reads.
 *
 * Each repetition times ours and the reference next to each other, so that a busy machine slows
 * both. run.py turns the samples into minimum, median and spread of their ratio. */
#ifndef WR_BENCH_H
#define WR_BENCH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct bench_figure {
    const char *name;   /* case */
    const char *figure; /* what of it */
    const char *kind;   /* "speed", "slowdown" or "value" */
    const char *goal;   /* ">=0.9", "<200", "-" */
    const char *unit;   /* "s", "ns", "bytes" */
    const char *ours;
    const char *reference; /* "-" for a value */
} bench_figure;

/* Reads --quick; call first. */
void bench_init(int argc, char **argv);
bool bench_quick(void);

double bench_seconds(void);

/* Times `ours` against `reference`, both called with `user`, alternating. */
void bench_pair(const bench_figure *figure, void (*ours)(void *user), void (*reference)(void *user),
                void *user);

/* Reports values measured by other means. */
void bench_declare(const bench_figure *figure);
void bench_sample(const bench_figure *figure, double ours, double reference);

#endif
