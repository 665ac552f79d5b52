/* A plane across all shards of a Zarr array, which has an element of each row of a tile, against a
 * loop that opens the shards, reads their indexes and decodes the tiles, with a thread a core. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cores.h"
#include "bench_tiles.h"
#include "codec/codec.h"

enum { SIDE = 64, TILE = SIDE * SIDE * SIDE * 4, MOST_THREADS = 64 };

static const char codec_text[] = "zstd:3";

typedef struct job {
    int64_t n, half; /* shards are half x half x n */
    int64_t at;      /* the plane, which is another one each time */
    weir_array *array;
    float *ours, *plain;
    wr_codecs codecs;
    int threads;
    atomic_int next;
} job;

static void make_array(const job *j)
{
    const int64_t tile[] = {SIDE, SIDE, SIDE}, shard[] = {j->half, j->half, j->n};
    const weir_array_info info = {.type = WEIR_F4,
                                  .dimensions = 3,
                                  .shape = {j->n, j->n, j->n},
                                  .format = WEIR_ZARR,
                                  .tile = tile,
                                  .shard = shard,
                                  .codec = codec_text};
    weir_array *array = tiles_create(tiles_path("s.zarr"), &info);
    float *data = tiles_memory(j->half * j->half * j->n * 4);
    for (int s = 0; s < 4; s++) {
        tiles_box box = {.dimensions = 3, .shape = {j->n, j->n, j->n}};
        box.lo[0] = s / 2 * j->half;
        box.lo[1] = s % 2 * j->half;
        box.hi[0] = box.lo[0] + j->half;
        box.hi[1] = box.lo[1] + j->half;
        box.hi[2] = j->n;
        tiles_field(&box, data);
        tiles_write(array, &box, data);
    }
    free(data);
    tiles_must(weir_array_close(array), "close");
}

static void read_weir(void *user)
{
    job *j = user;
    const tiles_box plane = {.dimensions = 3,
                             .shape = {j->n, j->n, j->n},
                             .lo = {0, 0, j->at},
                             .hi = {j->n, j->n, j->at + 1}};
    tiles_read(j->array, &plane, j->ours);
}

/* The tiles of one shard that the plane meets. */
static void read_shard(job *j, int shard, wr_codec_desk *desk, float *tile)
{
    const int64_t across = j->half / SIDE, deep = j->n / SIDE, tiles = across * across * deep;
    const int64_t row = shard / 2 * j->half, column = shard % 2 * j->half;
    char name[40];
    struct stat s;
    snprintf(name, sizeof name, "s.zarr/c/%d/%d/0", shard / 2, shard % 2);
    int fd = open(tiles_path(name), O_RDONLY);
    uint64_t *index = malloc((size_t)tiles * 16);
    char *encoded = malloc((size_t)wr_codecs_bound(&j->codecs, TILE));
    if (fd < 0 || fstat(fd, &s) || !index || !encoded ||
        pread(fd, index, (size_t)tiles * 16, s.st_size - tiles * 16 - 4) != tiles * 16)
        contest_stop("cannot read a shard");
    for (int64_t t = 0; t < across * across; t++) {
        const uint64_t *entry = index + 2 * (t * deep + j->at / SIDE);
        const int64_t length = (int64_t)entry[1];
        if (pread(fd, encoded, (size_t)length, (off_t)entry[0]) != length ||
            wr_codecs_decode(desk, 0, encoded, length, tile))
            contest_stop("cannot read a tile");
        for (int64_t i = 0; i < SIDE; i++)
            for (int64_t k = 0; k < SIDE; k++)
                j->plain[(row + t / across * SIDE + i) * j->n + column + t % across * SIDE + k] =
                    tile[(i * SIDE + k) * SIDE + j->at % SIDE];
    }
    free(encoded);
    free(index);
    close(fd);
}

static void *read_shards(void *user)
{
    job *j = user;
    wr_codec_desk *desk = NULL;
    tiles_must(wr_codec_desk_new(&j->codecs, TILE, &desk), "codec");
    float *tile = tiles_memory(TILE);
    for (int shard = atomic_fetch_add(&j->next, 1); shard < 4;
         shard = atomic_fetch_add(&j->next, 1))
        read_shard(j, shard, desk, tile);
    free(tile);
    wr_codec_desk_free(desk);
    return NULL;
}

/* Goes on to the next plane, so it comes last. */
static void read_plain(void *user)
{
    job *j = user;
    pthread_t thread[MOST_THREADS];
    atomic_store(&j->next, 0);
    for (int i = 1; i < j->threads; i++)
        if (pthread_create(&thread[i], NULL, read_shards, j))
            contest_stop("no thread");
    read_shards(j);
    for (int i = 1; i < j->threads; i++)
        pthread_join(thread[i], NULL);
    if (memcmp(j->ours, j->plain, (size_t)(j->n * j->n * 4)) != 0)
        contest_stop("the plane by hand is another");
    j->at = (j->at + 37) % j->n;
}

void tiles_shards(int64_t n)
{
    cpu_set_t cores;
    char name[80];
    CPU_ZERO(&cores);
    sched_getaffinity(0, sizeof cores, &cores);
    job j = {.n = n, .half = n / 2, .threads = (int)wr_cores_of(&cores)};
    j.threads = j.threads < 4 ? j.threads : 4; /* there are no more shards */
    j.ours = tiles_memory(n * n * 4);
    j.plain = tiles_memory(n * n * 4);
    tiles_must(wr_codecs_parse(codec_text, 4, &j.codecs), "codec");
    make_array(&j);
    j.array = tiles_open(tiles_path("s.zarr"));
    snprintf(name, sizeof name, "a plane across all shards, %lld^3 f4", (long long)n);
    contest c = {.part = "shards", .name = name, .op = "read", .seconds = 4, .warm = true};
    c.user = &j;
    c.list[0] = (contestant){.step = read_weir};
    c.list[1] = (contestant){.step = read_plain};
    contest_run(&c);
    tiles_must(weir_array_close(j.array), "close");
    tiles_remove(tiles_path("s.zarr"));
    free(j.ours);
    free(j.plain);
}
