/* Suite `tiles`: arrays in tiles, encoded or not, and arrays in files of other programs;
 * bench/tiles.py runs it.
 *   bench_tiles encoded FOLDER N     N x N x 32 f4 with deflate by all ranks, against parallel HDF5
 *                                    and against the codec alone
 *   bench_tiles shards FOLDER N      a plane of N^3 f4 in shards, against reading it by hand
 *   bench_tiles lines FOLDER N       a row and a column of N x N f8 in tiles
 *   bench_tiles planes FOLDER N      the three planes of N^3 f4 in tiles
 *   bench_tiles sections FOLDER N    of N x N f8 in HDF5 and NetCDF, against .npy
 *   bench_tiles columns FOLDER N     N x N f8 in HDF5 by blocks of columns
 *   bench_tiles serve FOLDER 0       one rank does what lines of standard input say
 */
#include "bench_tiles.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[3000];

int64_t tiles_box_count(const tiles_box *box)
{
    int64_t count = 1;
    for (int d = 0; d < box->dimensions; d++)
        count *= box->hi[d] - box->lo[d];
    return count;
}

void tiles_box_share(tiles_box *box, int dimension)
{
    const int64_t lo = box->lo[dimension], all = box->hi[dimension] - lo;
    box->lo[dimension] = lo + all * contest_rank / contest_ranks;
    box->hi[dimension] = lo + all * (contest_rank + 1) / contest_ranks;
}

void tiles_must(int code, const char *what)
{
    if (code)
        contest_stop(what);
}

const char *tiles_path(const char *name)
{
    static char path[8][4096];
    static int next;
    char *out = path[next++ % 8];
    snprintf(out, sizeof path[0], "%s/tiles-%s", folder, name);
    return out;
}

void *tiles_memory(int64_t bytes)
{
    char *memory = malloc((size_t)bytes);
    if (!memory)
        contest_stop("no memory");
    else
        memset(memory, 1, (size_t)bytes);
    return memory;
}

static float noise(int64_t i, int64_t j, int64_t k)
{
    uint64_t h = (uint64_t)(i * 73856093 ^ j * 19349663 ^ k * 83492791) * 0x9e3779b97f4a7c15U;
    return (float)(h >> 59); /* 5 bits */
}

void tiles_field(const tiles_box *b, float *to)
{
    for (int64_t i = b->lo[0]; i < b->hi[0]; i++)
        for (int64_t j = b->lo[1]; j < b->hi[1]; j++) {
            const float smooth = 4096 * sinf((float)i * 0.004F) * cosf((float)j * 0.006F);
            for (int64_t k = b->lo[2]; k < b->hi[2]; k++)
                *to++ = (rintf(smooth + 100 * (float)k) + noise(i, j, k)) / 1024;
        }
}

weir_array *tiles_create(const char *path, const weir_array_info *info)
{
    weir_array *array = NULL;
    tiles_must(weir_array_create(MPI_COMM_WORLD, path, info, &(weir_array_options){.overwrite = 1},
                                 NULL, &array),
               path);
    return array;
}

weir_array *tiles_open(const char *path)
{
    weir_array *array = NULL;
    tiles_must(weir_array_open(MPI_COMM_WORLD, path, WEIR_READ | WEIR_WRITE, NULL, &array), path);
    return array;
}

void tiles_read(weir_array *array, const tiles_box *box, void *base)
{
    const weir_selection s = {.lo = box->lo, .hi = box->hi};
    tiles_must(weir_array_read_all(array, &s, NULL, base, NULL), "read");
}

void tiles_write(weir_array *array, const tiles_box *box, const void *base)
{
    const weir_selection s = {.lo = box->lo, .hi = box->hi};
    tiles_must(weir_array_write_all(array, &s, NULL, base, NULL), "write");
}

/* Of a file of another program all of it: there is nothing else in it. */
void tiles_remove(const char *path)
{
    char file[4096];
    const char *inside = strstr(path, ":/");
    snprintf(file, sizeof file, "%.*s", inside ? (int)(inside - path) : 4000, path);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!inside)
        tiles_must(weir_array_remove(MPI_COMM_WORLD, path), "remove");
    else if (contest_rank == 0 && remove(file))
        contest_stop(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    contest_init(argc, argv);
    if (argc < 4)
        return fprintf(stderr, "usage: bench_tiles PART FOLDER N\n"), 2;
    const int64_t n = atoll(argv[3]);
    snprintf(folder, sizeof folder, "%s", argv[2]);
    if (!strcmp(argv[1], "encoded"))
        tiles_encoded(n);
    else if (!strcmp(argv[1], "shards"))
        tiles_shards(n);
    else if (!strcmp(argv[1], "lines"))
        tiles_lines(n, 2);
    else if (!strcmp(argv[1], "planes"))
        tiles_lines(n, 3);
    else if (!strcmp(argv[1], "sections"))
        tiles_sections(n);
    else if (!strcmp(argv[1], "columns"))
        tiles_columns(n);
    else if (!strcmp(argv[1], "serve"))
        tiles_serve();
    MPI_Finalize();
    return 0;
}
