#include "bench.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { REPEAT = 21, REPEAT_QUICK = 7 };

/* A sample repeats a step until this much time has passed. */
static const double sample_seconds = 0.02;

static bool quick;

void bench_init(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        quick = quick || !strcmp(argv[i], "--quick");
}

bool bench_quick(void)
{
    return quick;
}

double bench_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void bench_declare(const bench_figure *f)
{
    printf("figure\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", f->name, f->figure, f->kind, f->goal, f->unit,
           f->ours, f->reference);
}

void bench_sample(const bench_figure *f, double ours, double reference)
{
    printf("sample\t%s\t%s\t%.9g\t", f->name, f->figure, ours);
    if (!strcmp(f->kind, "value"))
        printf("-\n");
    else
        printf("%.9g\n", reference);
    fflush(stdout);
}

static double time_step(void (*step)(void *user), void *user)
{
    double start = bench_seconds(), now;
    int64_t times = 0;
    do {
        step(user);
        times++;
        now = bench_seconds();
    } while (now - start < sample_seconds);
    return (now - start) / (double)times;
}

void bench_pair(const bench_figure *figure, void (*ours)(void *user), void (*reference)(void *user),
                void *user)
{
    bench_declare(figure);
    ours(user);
    reference(user);
    for (int i = 0; i < (quick ? REPEAT_QUICK : REPEAT); i++)
        bench_sample(figure, time_step(ours, user), time_step(reference, user));
}
