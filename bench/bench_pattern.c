/* Suite `pattern`: packing against memcpy and hand-written loops, seeking, memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "pattern/cursor.h"
#include "weir/weir.h"

typedef struct packing {
    weir_pattern *pattern;
    int64_t bytes, stride;
    char *memory, *buffer;
} packing;

static void pack(void *user)
{
    packing *p = user;
    weir_pattern_pack(p->pattern, 0, p->bytes, p->memory, p->buffer);
}

static void unpack(void *user)
{
    packing *p = user;
    weir_pattern_unpack(p->pattern, 0, p->bytes, p->memory, p->buffer);
}

static void copy_in(void *user)
{
    packing *p = user;
    memcpy(p->buffer, p->memory, (size_t)p->bytes);
}

static void copy_out(void *user)
{
    packing *p = user;
    memcpy(p->memory, p->buffer, (size_t)p->bytes);
}

/* What a programmer writes by hand for one array: element type known, stride a variable. */
typedef struct pair {
    double re, im;
} pair;

#define HAND_LOOPS(type, name)                                                                     \
    static void gather_##name(void *user)                                                          \
    {                                                                                              \
        packing *p = user;                                                                         \
        type *restrict to = (type *)(void *)p->buffer;                                             \
        const type *restrict from = (const type *)(const void *)p->memory;                         \
        int64_t count = p->bytes / (int64_t)sizeof(type);                                          \
        int64_t step = p->stride / (int64_t)sizeof(type);                                          \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i] = from[i * step];                                                                \
    }                                                                                              \
    static void scatter_##name(void *user)                                                         \
    {                                                                                              \
        packing *p = user;                                                                         \
        type *restrict to = (type *)(void *)p->memory;                                             \
        const type *restrict from = (const type *)(const void *)p->buffer;                         \
        int64_t count = p->bytes / (int64_t)sizeof(type);                                          \
        int64_t step = p->stride / (int64_t)sizeof(type);                                          \
        for (int64_t i = 0; i < count; i++)                                                        \
            to[i * step] = from[i];                                                                \
    }

HAND_LOOPS(float, 4)
HAND_LOOPS(double, 8)
HAND_LOOPS(pair, 16)

typedef void step(void *user);

static packing prepare(int64_t count, int64_t run, int64_t stride)
{
    packing p = {.bytes = count * run, .stride = stride};
    size_t span = (size_t)(count * stride + run);
    p.memory = aligned_alloc(64, (span + 63) / 64 * 64);
    p.buffer = aligned_alloc(64, ((size_t)p.bytes + 63) / 64 * 64);
    if (!p.memory || !p.buffer || weir_pattern_strided(0, count, run, stride, &p.pattern)) {
        fprintf(stderr, "bench_pattern: out of memory\n");
        exit(1);
    }
    memset(p.memory, 1, span);
    memset(p.buffer, 2, (size_t)p.bytes);
    return p;
}

static void finish(packing *p)
{
    weir_pattern_free(p->pattern);
    free(p->memory);
    free(p->buffer);
}

static void bench_large_runs(int64_t total, const char *size)
{
    char name[64];
    snprintf(name, sizeof name, "64 KiB runs, %s", size);
    packing p = prepare(total >> 16, 1 << 16, (1 << 16) + 4096);
    bench_figure f = {name, "pack", "speed", ">=0.9", "s", "weir_pattern_pack", "one memcpy"};
    bench_pair(&f, pack, copy_in, &p);
    f.figure = "unpack";
    f.ours = "weir_pattern_unpack";
    bench_pair(&f, unpack, copy_out, &p);
    finish(&p);
}

static void bench_elements(int64_t element, int64_t total, const char *size, step *gather,
                           step *scatter)
{
    char name[64];
    snprintf(name, sizeof name, "%lld-byte elements, stride 4, %s", (long long)element, size);
    packing p = prepare(total / element, element, 4 * element);
    bench_figure f = {name, "pack", "speed", ">=0.8", "s", "weir_pattern_pack", "C loop"};
    bench_pair(&f, pack, gather, &p);
    f.figure = "unpack";
    f.ours = "weir_pattern_unpack";
    bench_pair(&f, unpack, scatter, &p);
    finish(&p);
}

enum { ROW = 16, ROWS = 512 };

/* Every second row of 16 elements of every second plane: short inner loops. */
static void gather_rows(void *user)
{
    packing *p = user;
    double *restrict to = (double *)(void *)p->buffer;
    const double *restrict from = (const double *)(const void *)p->memory;
    for (int64_t i = 0; i < ROWS; i += 2)
        for (int64_t j = 0; j < ROWS; j += 2)
            for (int64_t k = 0; k < 2 * ROW; k += 2)
                *to++ = from[(i * ROWS + j) * 2 * ROW + k];
}

static void bench_short_rows(void)
{
    int64_t shape[] = {ROWS, ROWS, 2 * ROW}, two[] = {2, 2, 2};
    weir_shape whole = {.dimensions = 3, .element = 8, .size = shape};
    weir_selection s = {.step = two};
    packing p = prepare(ROWS * ROWS * 2 * ROW, 8, 8);
    weir_pattern_free(p.pattern);
    if (weir_pattern_section(&whole, &s, NULL, &p.pattern))
        exit(1);
    p.bytes = weir_pattern_bytes(p.pattern);
    bench_figure f = {"3-d section, 16 elements a row",
                      "pack",
                      "speed",
                      "-",
                      "s",
                      "weir_pattern_pack",
                      "C loops"};
    bench_pair(&f, pack, gather_rows, &p);
    finish(&p);
}

enum { SEEKS = 4096 };

typedef struct seeking {
    const weir_pattern *pattern;
    int64_t position[SEEKS];
    int64_t sum; /* keeps the seeks from being optimised away */
} seeking;

static void seek_all(seeking *s, void (*seek)(wr_cursor *c, int64_t to))
{
    wr_cursor c;
    wr_cursor_init(&c, s->pattern);
    for (int i = 0; i < SEEKS; i++) {
        seek(&c, s->position[i]);
        s->sum += c.now.offset;
    }
}

static void bench_seeks(seeking *k, const char *figure, void (*seek)(wr_cursor *c, int64_t to))
{
    bench_figure f = {"10^12 runs", figure, "value", "<200", "ns", "wr_cursor", "-"};
    bench_declare(&f);
    for (int i = 0; i < (bench_quick() ? 7 : 21); i++) {
        double start = bench_seconds();
        seek_all(k, seek);
        bench_sample(&f, 1e9 * (bench_seconds() - start) / SEEKS, 0);
    }
}

static void bench_seek(void)
{
    /* (10^4)^3 runs: every second 4-byte element of a 3-d array of side 20000 */
    int64_t shape[] = {20000, 20000, 20000}, two[] = {2, 2, 2};
    weir_shape whole = {.dimensions = 3, .element = 4, .size = shape};
    weir_selection s = {.step = two};
    static seeking k;
    weir_pattern *pattern;
    if (weir_pattern_section(&whole, &s, NULL, &pattern))
        exit(1);
    k.pattern = pattern;
    uint64_t state = 1;
    for (int i = 0; i < SEEKS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        k.position[i] = (int64_t)(state >> 1) % weir_pattern_bytes(pattern);
    }
    bench_seeks(&k, "random seek by data position", wr_cursor_seek_data);
    bench_seeks(&k, "random seek by offset", wr_cursor_seek_offset);
    bench_figure m = {"10^12 runs", "memory", "value", "<1024", "bytes", "weir_pattern", "-"};
    bench_declare(&m);
    bench_sample(&m, (double)weir_pattern_footprint(pattern), 0);
    weir_pattern_free(pattern);
}

int main(int argc, char **argv)
{
    bench_init(argc, argv);
    static const struct {
        int64_t bytes;
        const char *name;
    } sizes[] = {{4 << 20, "4 MiB"}, {128 << 20, "128 MiB"}};
    for (int i = 0; i < 2; i++) {
        bench_large_runs(sizes[i].bytes, sizes[i].name);
        bench_elements(4, sizes[i].bytes, sizes[i].name, gather_4, scatter_4);
        bench_elements(8, sizes[i].bytes, sizes[i].name, gather_8, scatter_8);
        bench_elements(16, sizes[i].bytes, sizes[i].name, gather_16, scatter_16);
    }
    bench_short_rows();
    bench_seek();
    return 0;
}
