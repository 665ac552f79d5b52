/* Lines of a matrix and planes of a cube in tiles that are not encoded, by all ranks together or by
 * one: a contestant for each direction, at another place each time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench_tiles.h"

typedef struct job {
    int dimensions;
    int64_t shape[3], place[3]; /* where the next line or plane is, by direction */
    int type;
    weir_array *array;
    void *memory;
    bool write;
} job;

/* What an array has at a place: small enough for f4. */
static double value(const job *j, const int64_t *at)
{
    const int64_t k = j->dimensions > 2 ? at[2] : 0;
    return (double)((at[0] * 4099 + at[1] * 17 + k) % 8388593);
}

/* Fills dense memory with what belongs there, times `sign`, or returns whether that is there. */
static bool go_through(const job *j, const tiles_box *b, double sign, bool compare)
{
    int64_t at[3], next = 0;
    const bool cube = j->dimensions > 2;
    bool same = true;
    for (at[0] = b->lo[0]; at[0] < b->hi[0]; at[0]++)
        for (at[1] = b->lo[1]; at[1] < b->hi[1]; at[1]++)
            for (at[2] = cube ? b->lo[2] : 0; at[2] < (cube ? b->hi[2] : 1); at[2]++, next++) {
                const double want = sign * value(j, at);
                if (compare)
                    same = same && want == (cube ? (double)((float *)j->memory)[next]
                                                 : ((double *)j->memory)[next]);
                else if (cube)
                    ((float *)j->memory)[next] = (float)want;
                else
                    ((double *)j->memory)[next] = want;
            }
    return same;
}

/* This rank's share of index `place` of a dimension. */
static tiles_box line_of(const job *j, int direction, int64_t place)
{
    tiles_box b = {.dimensions = j->dimensions};
    for (int d = 0; d < j->dimensions; d++) {
        b.shape[d] = b.hi[d] = j->shape[d];
        b.lo[d] = 0;
    }
    b.lo[direction] = place;
    b.hi[direction] = place + 1;
    tiles_box_share(&b, direction ? 0 : 1);
    return b;
}

static void move(job *j, int direction)
{
    const tiles_box line = line_of(j, direction, j->place[direction]);
    j->place[direction] = (j->place[direction] + 389) % j->shape[direction];
    if (j->write)
        tiles_write(j->array, &line, j->memory);
    else
        tiles_read(j->array, &line, j->memory);
}

static void move_0(void *user)
{
    move(user, 0);
}

static void move_1(void *user)
{
    move(user, 1);
}

static void move_2(void *user)
{
    move(user, 2);
}

static void fill(job *j)
{
    enum { THICK = 64 };
    for (int64_t i = 0; i < j->shape[0]; i += THICK) {
        tiles_box b = {.dimensions = j->dimensions, .lo = {i}, .hi = {i + THICK}};
        b.hi[0] = b.hi[0] < j->shape[0] ? b.hi[0] : j->shape[0];
        for (int d = 1; d < j->dimensions; d++)
            b.hi[d] = j->shape[d];
        tiles_box_share(&b, 0);
        j->memory = tiles_memory(tiles_box_count(&b) * weir_type_bytes(j->type) + 1);
        go_through(j, &b, 1, false);
        tiles_write(j->array, &b, j->memory);
        free(j->memory);
    }
}

/* What is read is what was filled in; a line that is written takes the place of the old one. */
static void check(job *j)
{
    for (int d = 0; d < j->dimensions; d++) {
        const tiles_box line = line_of(j, d, 5);
        for (int sign = 1; sign >= -1; sign -= 2) {
            tiles_read(j->array, &line, j->memory);
            if (!go_through(j, &line, sign, true))
                contest_stop("a line is another");
            go_through(j, &line, -sign, false);
            tiles_write(j->array, &line, j->memory);
        }
    }
}

static void run(job *j, const char *format, const char *path, const weir_array_info *info)
{
    char name[80];
    j->array = tiles_create(path, info);
    fill(j);
    tiles_must(weir_array_close(j->array), "close");
    j->array = tiles_open(path);
    j->memory = tiles_memory(j->shape[0] * (j->dimensions > 2 ? j->shape[1] : 1) * 8);
    check(j);
    if (j->dimensions > 2)
        snprintf(name, sizeof name, "planes of %lld^3 f4, %s", (long long)j->shape[0], format);
    else
        snprintf(name, sizeof name, "lines of %lld x %lld f8, %s", (long long)j->shape[0],
                 (long long)j->shape[1], format);
    for (int write = 0; write < 2; write++) {
        contest c = {.part = "lines", .name = name, .op = write ? "write" : "read", .user = j};
        j->write = write;
        c.seconds = 1.5;
        c.warm = true;
        c.list[0] = (contestant){.step = move_0, .calls = j->dimensions > 2 ? 1 : 10};
        c.list[1] = (contestant){.step = move_1, .calls = c.list[0].calls};
        if (j->dimensions > 2)
            c.list[2] = (contestant){.step = move_2};
        contest_run(&c);
    }
    tiles_must(weir_array_close(j->array), "close");
    tiles_remove(path);
    free(j->memory);
}

/* Tiles of 8 KiB of a matrix, unless each is a file, and of 128 KiB of a cube. */
void tiles_lines(int64_t n, int dimensions)
{
    static const int64_t small[] = {32, 32, 32}, large[] = {64, 64};
    job j = {
        .dimensions = dimensions, .shape = {n, n, n}, .type = dimensions > 2 ? WEIR_F4 : WEIR_F8};
    weir_array_info info = {.type = j.type, .dimensions = dimensions, .tile = small};
    for (int d = 0; d < dimensions; d++)
        info.shape[d] = n;
    run(&j, "HDF5 chunks", tiles_path("l.h5:/x"), &info);
    info.tile = dimensions > 2 ? small : large;
    run(&j, "Zarr chunks", tiles_path("l.zarr"), &info);
}
