/* make demo: a strided section of a file, written and read back through each storage backend. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pattern/cursor.h"
#include "storage/storage.h"

/* A 2048 x 2048 array of 8 bytes; 1024 elements out of every second row. */
enum { N = 2048, FROM = 512, TO = 1536, STEP = 2 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int fail(const char *what)
{
    char text[600];
    weir_error_format(weir_error_last(), text, sizeof text);
    fprintf(stderr, "demo: %s: %s\n", what, text);
    return 1;
}

/* Moves the pattern's data between the file and `memory`, one transfer a batch; MB/s or -1. */
static double move(wr_storage *s, const weir_pattern *p, enum wr_direction direction, char *memory)
{
    wr_cursor c;
    double start = seconds();
    wr_cursor_init(&c, p);
    for (wr_batch b; wr_cursor_next(&c, INT64_MAX, &b);) {
        wr_transfer t = {.direction = direction,
                         .offset = b.offset,
                         .run = b.run,
                         .count = b.count,
                         .stride = b.stride,
                         .memory = memory + b.data,
                         .memory_stride = b.run};
        if (wr_storage_run(s, &t))
            return -1;
    }
    return 1e-6 * (double)weir_pattern_bytes(p) / (seconds() - start);
}

static int show(const char *backend, const char *direct, const weir_pattern *p, const char *path)
{
    static const enum wr_direction both[] = {WR_WRITE, WR_READ};
    wr_tunables tunables;
    wr_storage *s;
    wr_tunables_init(&tunables);
    if (wr_tunables_set(&tunables, "storage", backend) ||
        wr_tunables_set(&tunables, "direct", direct))
        return fail(backend);
    wr_storage_options options = {.tunables = &tunables};
    int flags = WR_OPEN_READ | WR_OPEN_WRITE | WR_OPEN_CREATE;
    if (wr_storage_open(path, flags, &options, &s))
        return fail(backend);
    int64_t bytes = weir_pattern_bytes(p);
    char *memory[2] = {malloc((size_t)bytes), calloc(1, (size_t)bytes)};
    double rate[2] = {-1, -1};
    for (int64_t i = 0; i < bytes; i++)
        memory[0][i] = (char)(i * 7 + i / 4096);
    for (int i = 0; i < 2; i++)
        rate[i] = move(s, p, both[i], memory[i]);
    bool right = rate[0] > 0 && rate[1] > 0 && !memcmp(memory[0], memory[1], (size_t)bytes);
    if (!right)
        fail(backend);
    printf("  %-6s %-9s write %7.0f MB/s   read %7.0f MB/s   data %s\n", backend,
           strcmp(direct, "always") ? "" : "O_DIRECT", rate[0], rate[1], right ? "right" : "WRONG");
    free(memory[0]);
    free(memory[1]);
    wr_storage_close(s);
    return !right;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "demo.bin";
    int64_t shape[] = {N, N}, lo[] = {0, FROM}, hi[] = {N, TO}, step[] = {STEP, 1};
    weir_shape whole = {.dimensions = 2, .element = 8, .size = shape};
    weir_selection section = {.lo = lo, .hi = hi, .step = step};
    weir_pattern *p;
    if (weir_pattern_section(&whole, &section, NULL, &p))
        return fail("section");
    printf(
        "[::%d, %d:%d] of a %d x %d array of 8 bytes: %lld runs of %d bytes, described in %lld\n",
        STEP, FROM, TO, N, N, (long long)weir_pattern_pieces(p), (TO - FROM) * 8,
        (long long)weir_pattern_footprint(p));
    int wrong = 0;
    for (const wr_storage_ops *const *b = wr_storage_backends; *b; b++) {
        wrong += show((*b)->name, "never", p, path);
        if (strcmp((*b)->name, "mem"))
            wrong += show((*b)->name, "always", p, path);
    }
    unlink(path);
    weir_pattern_free(p);
    return wrong > 0;
}
