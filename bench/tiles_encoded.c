/* Writing and reading with deflate, by all ranks, from creating or opening the array to closing it:
 * Weir in HDF5 and in Zarr, parallel HDF5, and the codec alone, one process a core. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cores.h"
#include "bench.h"
#include "bench_tiles.h"
#include "codec/codec.h"

enum { DEPTH = 32, SIDE = 128, LEVEL = 6, TILE = SIDE * SIDE * DEPTH * 4 };

static const char codec_text[] = "shuffle,zlib:6";
static const int64_t tile_shape[3] = {SIDE, SIDE, DEPTH};

typedef struct job {
    tiles_box own;
    float *data, *back;
    int tiles; /* of this rank */
    char *raw; /* these, one after the other */
    char **encoded;
    int64_t *length;
    wr_codec_desk *desk;
    int workers;
} job;

static weir_array_info info_of(const job *j, int format)
{
    weir_array_info info = {.type = WEIR_F4,
                            .dimensions = 3,
                            .format = format,
                            .tile = tile_shape,
                            .codec = codec_text};
    memcpy(info.shape, j->own.shape, sizeof j->own.shape);
    return info;
}

static void write_weir(const job *j, const char *path, int format)
{
    const weir_array_info info = info_of(j, format);
    weir_array *array = tiles_create(path, &info);
    tiles_write(array, &j->own, j->data);
    tiles_must(weir_array_close(array), "close");
}

static void read_weir(const job *j, const char *path)
{
    weir_array *array = NULL;
    tiles_must(weir_array_open(MPI_COMM_WORLD, path, WEIR_READ, NULL, &array), path);
    tiles_read(array, &j->own, j->back);
    tiles_must(weir_array_close(array), "close");
}

static void write_h5(void *user)
{
    write_weir(user, tiles_path("e.h5:/x"), 0);
}

static void write_zarr(void *user)
{
    write_weir(user, tiles_path("e.zarr"), WEIR_ZARR2);
}

static void write_peer(void *user)
{
    const job *j = user;
    tiles_hdf5_write(tiles_path("peer.h5"), &j->own, tile_shape, LEVEL, j->data);
}

static void read_h5(void *user)
{
    read_weir(user, tiles_path("e.h5:/x"));
}

static void read_zarr(void *user)
{
    read_weir(user, tiles_path("e.zarr"));
}

static void read_peer(void *user)
{
    const job *j = user;
    tiles_hdf5_read(tiles_path("peer.h5"), &j->own, j->back);
}

/* As many tiles as a core's share of all; who has fewer takes them again. */
static void encode_alone(void *user)
{
    const job *j = user;
    for (int i = 0; i < j->tiles * contest_ranks / j->workers; i++) {
        const void *out;
        int64_t length;
        tiles_must(
            wr_codecs_encode(j->desk, j->raw + (int64_t)(i % j->tiles) * TILE, &out, &length),
            "encode");
    }
}

static void decode_alone(void *user)
{
    const job *j = user;
    for (int i = 0; i < j->tiles * contest_ranks / j->workers; i++) {
        const int t = i % j->tiles;
        tiles_must(
            wr_codecs_decode(j->desk, 0, j->encoded[t], j->length[t], j->raw + (int64_t)t * TILE),
            "decode");
    }
}

static void cut_tiles(job *j)
{
    const int64_t rows = j->own.hi[0] - j->own.lo[0], columns = j->own.hi[1] - j->own.lo[1];
    char *to = j->raw;
    for (int64_t a = 0; a < rows; a += SIDE)
        for (int64_t b = 0; b < columns; b += SIDE)
            for (int64_t i = a; i < a + SIDE; i++, to += SIDE * DEPTH * 4)
                memcpy(to, j->data + (i * columns + b) * DEPTH, SIDE * DEPTH * 4);
}

static void encode_all(job *j)
{
    double bytes[2] = {(double)j->tiles * TILE, 0}, all[2];
    for (int i = 0; i < j->tiles; i++) {
        const void *out;
        tiles_must(wr_codecs_encode(j->desk, j->raw + (int64_t)i * TILE, &out, &j->length[i]),
                   "encode");
        j->encoded[i] = tiles_memory(j->length[i]);
        memcpy(j->encoded[i], out, (size_t)j->length[i]);
        bytes[1] += (double)j->length[i];
    }
    MPI_Allreduce(bytes, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (contest_rank == 0)
        printf("encoded\tratio\tdeflate\t%.9g\n", all[0] / all[1]);
}

static int count_cores(void)
{
    cpu_set_t cores;
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    const int64_t count = wr_cores_of(&cores);
    return count < contest_ranks ? (int)count : contest_ranks;
}

static void prepare(job *j, int64_t n)
{
    wr_codecs codecs;
    int grid[2] = {0, 0};
    tiles_must(weir_distribution_grid(contest_ranks, 2, grid), "grid");
    const int64_t at[2] = {contest_rank / grid[1], contest_rank % grid[1]};
    *j = (job){.own = {.dimensions = 3, .shape = {n, n, DEPTH}, .hi = {0, 0, DEPTH}},
               .workers = count_cores()};
    for (int d = 0; d < 2; d++) {
        j->own.lo[d] = n / SIDE * at[d] / grid[d] * SIDE;
        j->own.hi[d] = n / SIDE * (at[d] + 1) / grid[d] * SIDE;
    }
    const int64_t bytes = 4 * tiles_box_count(&j->own);
    j->tiles = (int)(bytes / TILE);
    j->data = tiles_memory(bytes);
    j->back = tiles_memory(bytes);
    j->raw = tiles_memory(bytes);
    j->encoded = tiles_memory(j->tiles * (int64_t)sizeof *j->encoded);
    j->length = tiles_memory(j->tiles * (int64_t)sizeof *j->length);
    tiles_field(&j->own, j->data);
    tiles_must(wr_codecs_parse(codec_text, 4, &codecs), "codec");
    tiles_must(wr_codec_desk_new(&codecs, TILE, &j->desk), "codec");
    cut_tiles(j);
    encode_all(j);
}

static void release(job *j)
{
    for (int i = 0; i < j->tiles; i++)
        free(j->encoded[i]);
    free(j->encoded);
    free(j->length);
    free(j->raw);
    free(j->back);
    free(j->data);
    wr_codec_desk_free(j->desk);
}

/* All of them have made the same array, each by the eyes of another. */
static void check(job *j, void (*read)(void *), const char *what)
{
    const size_t bytes = 4 * (size_t)tiles_box_count(&j->own);
    memset(j->back, 0, bytes);
    read(j);
    if (memcmp(j->back, j->data, bytes) != 0)
        contest_stop(what);
}

static void read_h5_by_peer(void *user)
{
    const job *j = user;
    tiles_hdf5_read(tiles_path("e.h5"), &j->own, j->back);
}

static void read_peer_by_weir(void *user)
{
    read_weir(user, tiles_path("peer.h5:/x"));
}

/* Where a repetition is so long that it stays the only one, there is another contest. */
static void run(const job *j, const char *op, const contestant *list, bool peer)
{
    contest c = {.part = "encoded", .op = op, .user = (void *)j};
    char name[80];
    snprintf(name, sizeof name, "%lld x %lld x %d f4", (long long)j->own.shape[0],
             (long long)j->own.shape[1], DEPTH);
    c.name = name;
    for (int i = 0; i < (peer ? 4 : 3); i++)
        c.list[i] = list[i];
    for (int i = 0; i < (bench_quick() ? 1 : 2); i++)
        contest_run(&c);
}

void tiles_encoded(int64_t n)
{
    job j;
    prepare(&j, n);
    const bool peer = tiles_hdf5_write(tiles_path("peer.h5"), &j.own, tile_shape, LEVEL, j.data);
    const contestant write[] = {{.step = write_h5},
                                {.step = write_zarr},
                                {.step = encode_alone, .ranks = j.workers},
                                {.step = write_peer}};
    const contestant read[] = {{.step = read_h5},
                               {.step = read_zarr},
                               {.step = decode_alone, .ranks = j.workers},
                               {.step = read_peer}};
    run(&j, "write", write, peer);
    check(&j, read_h5, "Weir reads another array than it wrote in HDF5");
    check(&j, read_zarr, "Weir reads another array than it wrote in Zarr");
    if (peer) {
        check(&j, read_h5_by_peer, "HDF5 reads another array than Weir wrote");
        check(&j, read_peer_by_weir, "Weir reads another array than HDF5 wrote");
    }
    run(&j, "read", read, peer);
    tiles_remove(tiles_path("e.h5:/x"));
    tiles_remove(tiles_path("e.zarr"));
    if (peer && contest_rank == 0)
        remove(tiles_path("peer.h5"));
    release(&j);
}
