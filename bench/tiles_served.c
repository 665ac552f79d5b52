/* One rank that does what standard input says, a line at a time, and answers with the seconds it
 * took, so that a peer in another language can take its turn in between.
 *     field N                N^3 f4 in memory, and in the file FOLDER/tiles-field.npy
 *     write PATH CODEC       the same as a new Zarr array of version 2, from creating to closing
 *     read PATH              an array, from opening to closing; it must be the same
 *     open PATH              a matrix of f8, each the number of its place
 *     get I0 I1 J0 J1        a section of it; it must be right
 *     put I0 I1 J0 J1        the same written
 *     close */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_tiles.h"

enum { SIDE = 64 };

typedef struct desk {
    tiles_box all;
    float *field, *back;
    weir_array *open;
} desk;

static void write_array(const desk *d, const char *path, const char *codec)
{
    const int64_t tile[] = {SIDE, SIDE, SIDE}, n = d->all.shape[0];
    weir_array_info info = {.type = WEIR_F4, .dimensions = 3, .shape = {n, n, n}};
    if (codec) {
        info.format = WEIR_ZARR2;
        info.tile = tile;
        info.codec = codec;
    }
    weir_array *array = tiles_create(path, &info);
    tiles_write(array, &d->all, d->field);
    tiles_must(weir_array_close(array), "close");
}

static void read_array(const desk *d, const char *path)
{
    weir_array *array = tiles_open(path);
    tiles_read(array, &d->all, d->back);
    tiles_must(weir_array_close(array), "close");
}

static void make_field(desk *d, int64_t n)
{
    d->all = (tiles_box){.dimensions = 3, .shape = {n, n, n}, .hi = {n, n, n}};
    d->field = tiles_memory(n * n * n * 4);
    d->back = tiles_memory(n * n * n * 4);
    tiles_field(&d->all, d->field);
    write_array(d, tiles_path("field.npy"), NULL);
}

/* Each number is that of its place: writes them to memory, or says whether they are there. */
static bool go_through(const tiles_box *b, double *memory, bool compare)
{
    bool same = true;
    for (int64_t i = b->lo[0]; i < b->hi[0]; i++)
        for (int64_t k = b->lo[1]; k < b->hi[1]; k++, memory++)
            if (compare)
                same = same && *memory == (double)(i * b->shape[1] + k);
            else
                *memory = (double)(i * b->shape[1] + k);
    return same;
}

/* Memory is there before the clock starts. */
static double move(const desk *d, bool get, const char *where)
{
    long long at[4];
    if (sscanf(where, "%lld %lld %lld %lld", &at[0], &at[1], &at[2], &at[3]) != 4)
        contest_stop("bad section");
    const tiles_box b = {.dimensions = 2,
                         .shape = {0, weir_array_get_info(d->open)->shape[1]},
                         .lo = {at[0], at[2]},
                         .hi = {at[1], at[3]}};
    double *memory = tiles_memory(tiles_box_count(&b) * 8);
    if (!get)
        go_through(&b, memory, false);
    const double start = bench_seconds();
    if (get)
        tiles_read(d->open, &b, memory);
    else
        tiles_write(d->open, &b, memory);
    const double took = bench_seconds() - start;
    if (!go_through(&b, memory, true))
        contest_stop("a section is another");
    free(memory);
    return took;
}

static double obey(desk *d, const char *verb, const char *first, const char *second)
{
    const double start = bench_seconds();
    if (!strcmp(verb, "field"))
        make_field(d, atoll(first));
    else if (!strcmp(verb, "write"))
        write_array(d, first, second);
    else if (!strcmp(verb, "read"))
        read_array(d, first);
    else if (!strcmp(verb, "open"))
        d->open = tiles_open(first);
    else if (!strcmp(verb, "close"))
        tiles_must(weir_array_close(d->open), "close");
    else
        contest_stop("no such verb");
    const double took = bench_seconds() - start;
    if (!strcmp(verb, "read") &&
        memcmp(d->back, d->field, (size_t)tiles_box_count(&d->all) * 4) != 0)
        contest_stop("an array is another");
    return took;
}

void tiles_serve(void)
{
    desk d = {0};
    char line[5000], verb[20], first[4096], second[200];
    while (fgets(line, sizeof line, stdin)) {
        int after = 0, words = sscanf(line, "%19s %n%4095s %199s", verb, &after, first, second);
        if (words < 1)
            break;
        const bool get = !strcmp(verb, "get"), section = get || !strcmp(verb, "put");
        printf("%.9g\n", section ? move(&d, get, line + after) : obey(&d, verb, first, second));
        fflush(stdout);
    }
    free(d.field);
    free(d.back);
}
