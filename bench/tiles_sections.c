/* Sections of a matrix in HDF5, contiguous, and in classic NetCDF, against the same of a .npy file;
 * and all of a matrix in HDF5 by blocks of columns, which h5_columns.py does with h5py. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_tiles.h"

enum { FORMATS = 3 };

static const char *const names[FORMATS] = {"m.npy", "m.h5:/x", "m.nc:/x"};

typedef struct job {
    tiles_box own;
    weir_array *array[FORMATS];
    double *memory;
    bool write;
} job;

static void fill(const job *j, double *memory)
{
    const tiles_box *b = &j->own;
    for (int64_t i = b->lo[0]; i < b->hi[0]; i++)
        for (int64_t k = b->lo[1]; k < b->hi[1]; k++)
            *memory++ = (double)(i * b->shape[1] + k);
}

static void move(const job *j, int format)
{
    if (j->write)
        tiles_write(j->array[format], &j->own, j->memory);
    else
        tiles_read(j->array[format], &j->own, j->memory);
}

static void move_npy(void *user)
{
    move(user, 0);
}

static void move_hdf5(void *user)
{
    move(user, 1);
}

static void move_netcdf(void *user)
{
    move(user, 2);
}

/* All of the array, a share of the rows each. */
static void make_array(job *j, int format, int64_t n)
{
    const weir_array_info info = {.type = WEIR_F8, .dimensions = 2, .shape = {n, n}};
    j->own = (tiles_box){.dimensions = 2, .shape = {n, n}, .hi = {n, n}};
    tiles_box_share(&j->own, 0);
    j->array[format] = tiles_create(tiles_path(names[format]), &info);
    j->memory = tiles_memory(tiles_box_count(&j->own) * 8);
    fill(j, j->memory);
    tiles_write(j->array[format], &j->own, j->memory);
    tiles_must(weir_array_close(j->array[format]), "close");
    free(j->memory);
    j->array[format] = tiles_open(tiles_path(names[format]));
}

/* What is in the file is what belongs there. */
static void check_format(const job *j, int format)
{
    const int64_t count = tiles_box_count(&j->own);
    double *want = tiles_memory(count * 8 + 1);
    fill(j, want);
    memset(j->memory, 1, (size_t)count * 8);
    tiles_read(j->array[format], &j->own, j->memory);
    if (memcmp(j->memory, want, (size_t)count * 8) != 0)
        contest_stop("a section is another");
    free(want);
}

static void check(const job *j)
{
    for (int format = 0; format < FORMATS; format++)
        check_format(j, format);
}

static void run(job *j, const char *what)
{
    char name[80];
    snprintf(name, sizeof name, "%s of %lld x %lld f8", what, (long long)j->own.shape[0],
             (long long)j->own.shape[1]);
    j->memory = tiles_memory(tiles_box_count(&j->own) * 8 + 1);
    check(j);
    for (int write = 0; write < 2; write++) {
        contest c = {.part = "sections", .name = name, .op = write ? "write" : "read", .user = j};
        j->write = write;
        c.seconds = 1.5;
        c.warm = true;
        c.list[0] = (contestant){.step = move_npy, .calls = 3};
        c.list[1] = (contestant){.step = move_hdf5, .calls = 3};
        c.list[2] = (contestant){.step = move_netcdf, .calls = 3};
        contest_run(&c);
    }
    check(j);
    free(j->memory);
}

void tiles_sections(int64_t n)
{
    job j = {0};
    for (int format = 0; format < FORMATS; format++)
        make_array(&j, format, n);
    const tiles_box whole = {.dimensions = 2, .shape = {n, n}, .hi = {n, n}};
    static const struct {
        const char *name;
        int share; /* the dimension that ranks share */
    } cases[] = {{"200 rows", 0}, {"200 columns", 1}, {"a box of half", 0}};
    for (int i = 0; i < 3; i++) {
        j.own = whole;
        for (int d = 0; d < 2; d++)
            if (i == 2 || i == d) {
                j.own.lo[d] = n / 4 + 3;
                j.own.hi[d] = j.own.lo[d] + (i == 2 ? n / 2 : 200);
            }
        tiles_box_share(&j.own, cases[i].share);
        run(&j, cases[i].name);
    }
    for (int format = 0; format < FORMATS; format++) {
        tiles_must(weir_array_close(j.array[format]), "close");
        tiles_remove(tiles_path(names[format]));
    }
}

void tiles_columns(int64_t n)
{
    char name[80];
    job j = {0};
    make_array(&j, 1, n);
    j.own.lo[0] = 0;
    j.own.hi[0] = j.own.hi[1] = n;
    tiles_box_share(&j.own, 1);
    j.memory = tiles_memory(tiles_box_count(&j.own) * 8);
    fill(&j, j.memory);
    snprintf(name, sizeof name, "%lld x %lld f8 by columns", (long long)n, (long long)n);
    for (int write = 1; write >= 0; write--) {
        contest c = {.part = "columns", .name = name, .op = write ? "write" : "read", .user = &j};
        j.write = write;
        c.seconds = 1;
        c.warm = true;
        c.list[0] = (contestant){.step = move_hdf5};
        contest_run(&c);
        check_format(&j, 1);
    }
    free(j.memory);
    tiles_must(weir_array_close(j.array[1]), "close");
    tiles_remove(tiles_path(names[1]));
}
